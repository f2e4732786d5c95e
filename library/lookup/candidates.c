/* candidates.c: computes the cost of each configuration on the question's problem, and adds a few numbers for each row
 * (pricing.h). */
#include "library/lookup/candidates.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/branchless.h"
#include "base/numbers/wide_vectors.h"
#include "db/store/launch_text.h"
#include "library/lookup/kin.h"
#include "library/lookup/pricing.h"
#include "library/predict/rough_costs.h"

/* Errors that another GPU or mode adds, as shares of the time. */
static const float no_time = 20; /* a time of a GPU says nothing about an emulation */
static const float other_model = 0.10f, other_arch = 0.20f, other_dtype = 0.10f, other_launch = 0.03f,
                   other_cache = 0.10f, fewer_variants = 0.03f;

/* A variant that lost on its own grid is less likely to be the best of another one than its predicted time says: the
 * many variants that lost by little would win by chance. */
static const float lost = 0.03f;

/* A template that wins for stencils without images may be slow at finding images. On an H200 most are: `direct`, `flat`
 * and `zmarch` take 6 to 13 times as long as `patch` for a periodic star, and 1.0 to 1.3 times for the star itself. */
static const float unknown_images = 0.5f;

/* The candidate that looks best among uncertain ones is mostly overrated. So this number of standard deviations is
 * added to each predicted time. */
static const float caution = 3;

/* A bound is lowered by this much, which is more than the rounding of it and of the ranks above it: they are not summed
 * in the same order. */
static const float rounding = 1e-4F;

/* The rank of a row whose predicted time is not a finite number, as when a template's formulas give more blocks than a
 * float can count. It comes behind all others, but it is a candidate. */
static const float last_rank = FLT_MAX;

/* Replace unknown numbers of a GPU by those of the GPU of the measurement. */
static struct predict_gpu gpu_like(const struct catalog *catalog, const struct known_device *device,
                                   const struct predict_gpu *measured) {
  struct predict_gpu gpu = pricing_gpu(catalog, device);
  if (!(gpu.sm_count > 0)) gpu.sm_count = measured->sm_count;
  if (!(gpu.memory_gbs > 0)) gpu.memory_gbs = measured->memory_gbs;
  if (!(gpu.l2_bytes > 0)) gpu.l2_bytes = measured->l2_bytes;
  if (!(gpu.copy_gbs > 0) && measured->memory_gbs > 0) /* its copies reach the same share of the peak */
    gpu.copy_gbs = measured->copy_gbs / measured->memory_gbs * gpu.memory_gbs;
  return gpu;
}

bool candidates_is_own(const struct question *q, int stencil, int model) {
  const struct known_device *measured = &q->ctx->catalog.devices[model];
  if (stencil != q->key.stencil) return false;
  if (model == q->device->model) return true;
  return measured->capability == q->device->capability && !measured->is_emulation;
}

static bool is_own(const struct question *q, const struct lookup_family *family) {
  return candidates_is_own(q, family->stencil, family->model);
}

/* The error that rows of a family add, in the mode that is asked for. */
static float error_of_kin(const struct candidates *c, const struct lookup_family *family) {
  const struct question *q = c->question;
  const bool is_model = family->model == q->device->model,
             is_arch = q->ctx->catalog.devices[family->model].capability == q->device->capability;
  float error = is_model ? 0 : q->device->is_emulation ? no_time : is_arch ? other_model : other_arch;
  if (family->dtype != q->key.dtype) error += other_dtype;
  if (family->stencil != q->key.stencil) error += c->kin->errors[family->stencil];
  return error;
}

/* The same in each mode; infinite where a row does not have the bits that are asked for. No mode adds less than the one
 * that is asked for. Of other stencils only winners count. */
static void errors_of_modes(const struct question *q, float error, bool is_own, float out[MODE_COUNT]) {
  const struct lookup_key *key = &q->key;
  const float of_launch[2] = {0, other_launch}, of_cache[2] = {0, other_cache},
              of_variants[2] = {0, key->reproducible ? 0 : fewer_variants};
  const int graph = key->launch == LAUNCH_GRAPH + 1 ? MODE_GRAPH : 0,
            cold = key->cache == CACHE_COLD + 1 ? MODE_COLD : 0;
  out[MODE_NONE] = INFINITY;
  for (int mode = 0; mode < MODE_WINS; mode++) {
    const float sum = error + of_launch[(mode & MODE_GRAPH) != graph] + of_cache[(mode & MODE_COLD) != cold] +
                      of_variants[(mode & MODE_REPRODUCIBLE) != 0];
    const bool has_bits = !key->reproducible || (mode & MODE_REPRODUCIBLE);
    out[mode | MODE_WINS] = has_bits ? sum : INFINITY;
    out[mode] = is_own ? out[mode | MODE_WINS] + lost : INFINITY;
  }
}

/* The error that a row adds because it is not known how well its template finds images. */
static float error_of_images(const struct candidates *c, int stencil, int template_at) {
  if (!c->kin || !c->kin->has_images || c->kin->has_images[stencil]) return 0;
  const bool *finds_images = c->kin->finds_images[c->question->device->is_emulation]; /* its rows are compared alone */
  return finds_images[c->question->ctx->catalog.templates[template_at].same_name] ? 0 : unknown_images;
}

/* If the program says no launch mode, it is taken to launch as the row was measured. */
static enum launch_mode mode_asked(const struct question *q, const struct served *row) {
  return (enum launch_mode)(q->key.launch ? q->key.launch - 1 : row->launch);
}

/* What all configurations that were measured on one model of GPU have in common on the question's problem and GPU. */
struct asked_place {
  int model;
  struct predict_place place;
  struct asked_place *next;
};

/* Find the place for rows of a family. Families of one model share it. Returns NULL when memory is out. */
static const struct predict_place *place_asked(struct candidates *c, const struct priced_family *family,
                                               const struct lookup_family *range) {
  const struct catalog *catalog = &c->question->ctx->catalog;
  struct asked_place *at = c->places;
  while (at && at->model != range->model) at = at->next;
  if (at) return &at->place;
  at = arena_alloc(&c->arena, sizeof *at);
  if (!at) return NULL;
  const struct predict_gpu measured = pricing_gpu(catalog, &catalog->devices[range->model]);
  const struct predict_gpu gpu = gpu_like(catalog, c->question->device, &measured);
  predict_place_of(&family->model, &c->work, &gpu, &at->place);
  at->model = range->model;
  at->next = c->places;
  c->places = at;
  return &at->place;
}

/* The work of the question. */
static struct predict_work work_asked(const struct question *q) {
  return predict_work_of(q->parsed->stencil, q->parsed->analysis, (enum dtype)q->key.dtype, &q->domain);
}

/* The numbers for ranking rows: those of a configuration on the question's problem, and the model's errors. */
struct rank_terms {
  struct predict_size size;
  struct predict_bounds bounds;
  float factor, fill, launch_share, log_ms;
  float of_change, of_fill, of_launch, of_apart, of_unsteady; /* errors of the model */
};

/* The logarithm of a row's milliseconds, with a penalty for the error.
 *   kin, trend  what the row's mode adds to the error, and the trend of its family */
static inline float rank_row(const struct rank_terms *t, float *const columns[PRICED_COLUMNS], int row, float kin,
                             float trend) {
  const struct predict_size size = {
      {columns[PRICED_BYTES][row], columns[PRICED_X][row], columns[PRICED_Y][row], columns[PRICED_Z][row]},
      columns[PRICED_UNALIGNED][row]};
  const struct predict_bounds shares = {columns[PRICED_START][row], columns[PRICED_WORK][row]};
  const float error = kin + t->of_change * fabsf(t->factor - columns[PRICED_FACTOR][row]) +
                      t->of_fill * fabsf(t->fill - columns[PRICED_FILL][row]) +
                      t->of_launch * fabsf(t->launch_share - columns[PRICED_LAUNCH][row]) +
                      t->of_apart * (1 - predict_nearness(&t->size, &size)) +
                      t->of_unsteady * t->launch_share * columns[PRICED_UNSTEADY][row];
  const float scaled = columns[PRICED_EXCESS][row] + t->log_ms + trend;
  const float least = predict_log_least(shares, t->bounds);
  const float rank = (scaled > least ? scaled : least) + caution * error;
  return rank < last_rank ? rank : last_rank; /* also if the rank is NaN */
}

/* A family on the question's problem and GPU. */
struct asked_family {
  int number;  /* in the table */
  bool is_own; /* see candidates_is_own */
  const struct priced_family *priced;
  const struct predict_place *place;
  struct asked_family *next, *next_ranked;
  float error; /* see error_of_kin */
  float trend; /* of the family */
  float bound; /* no row of it has a lower rank; infinite: its rows are ranked */
  /* These are computed when the rows are ranked. */
  float kin[MODE_COUNT];      /* see errors_of_modes */
  float trends[MODE_COUNT];   /* the trend where rows follow it, else 0 */
  struct block_terms *blocks; /* of each row; NULL where few configurations have many rows */
  /* For each row a logarithm of milliseconds, with a penalty for the error. Infinite: the row is not a candidate, or
   * was taken. After the last row, infinite values fill the last vector. */
  float *ranks;
  /* For the first row of each configuration: whether its rows have their ranks. Else they have bounds, and no rank is
   * lower than its bound. The ranks are computed when no lower rank and no lower bound is left. */
  bool *is_exact;
  int least; /* the place of the least rank; -1: ranks have changed */
};

/* The launch mode in which all rows are ranked. */
static enum launch_mode mode_of_ranks(const struct question *q) {
  return q->key.launch == LAUNCH_GRAPH + 1 ? LAUNCH_GRAPH : LAUNCH_STREAM;
}

/* What a configuration's rows are compared with.
 *   cost  of the configuration, or that which all have in common */
static struct rank_terms terms_of(const struct question *q, const struct asked_family *family,
                                  const struct predict_cost *cost) {
  const double *c = family->priced->model.coefficients;
  const enum launch_mode mode = mode_of_ranks(q);
  return (struct rank_terms){.size = cost->size,
                             .bounds = predict_bounds_of(cost, mode),
                             .factor = cost->factor,
                             .fill = cost->features[PREDICT_fill],
                             .launch_share = cost->launch_share[mode],
                             .log_ms = cost->log_ms[mode],
                             .of_change = (float)c[PREDICT_sigma_change],
                             .of_fill = (float)c[PREDICT_sigma_fill],
                             .of_launch = (float)c[PREDICT_sigma_launch],
                             .of_apart = (float)c[PREDICT_sigma_apart],
                             .of_unsteady = (float)c[PREDICT_sigma_unsteady]};
}

/* Rank rows that add the same to errors and have the same trend. */
static inline void rank_alike(const struct rank_terms *terms, float *const columns[PRICED_COLUMNS], int first, int end,
                              float kin, float trend, float *restrict ranks) {
  const struct rank_terms t = *terms;
  EACH_TURN_ALONE
  for (int i = first; i < end; i++) ranks[i - first] = rank_row(&t, columns, i, kin, trend);
}

WITH_WIDE_VECTORS static void rank_alike_wide(const struct rank_terms *terms, float *const columns[PRICED_COLUMNS],
                                              int first, int end, float kin, float trend, float *restrict ranks) {
  rank_alike(terms, columns, first, end, kin, trend, ranks);
}

/* Rank rows of a family. Rows that are not eligible get an infinite rank. */
static void rank_rows(const struct asked_family *family, const struct rank_terms *terms, int first, int end,
                      float *restrict ranks) {
  enum { MANY_ROWS = 16 };
  float *columns[PRICED_COLUMNS];
  memcpy(columns, family->priced->columns, sizeof columns);
  for (int from = first, to; from < end; from = to) {
    const struct row_kind *kind = &family->priced->kinds[from];
    const float kin = family->kin[kind->mode], trend = family->trends[kind->mode];
    to = kind->alike_end < end ? kind->alike_end : end;
    if (kin == INFINITY) {
      for (int i = from; i < to; i++) ranks[i - first] = INFINITY;
    } else if (to - from >= MANY_ROWS && HAS_WIDE_VECTORS) {
      rank_alike_wide(terms, columns, from, to, kin, trend, ranks + (from - first));
    } else if (to - from >= MANY_ROWS) {
      rank_alike(terms, columns, from, to, kin, trend, ranks + (from - first));
    } else { /* the other ways take longer to begin */
      for (int i = from; i < to; i++) ranks[i - first] = rank_row(terms, columns, i, kin, trend);
    }
  }
}

typedef float lanes_of_floats __attribute__((vector_size(WIDE_LANES * sizeof(float))));
typedef int32_t lanes_of_bits __attribute__((vector_size(WIDE_LANES * sizeof(int32_t))));

/* The place of the least rank; of equal ones the first. A compiler does not find the vectors by itself.
 *   count  of whole vectors, more than 0 */
INTO_WIDE_VECTORS int find_least(const float *ranks, int count) {
  lanes_of_floats least, others;
  lanes_of_bits places = {0, 1, 2, 3, 4, 5, 6, 7}, at = places;
  memcpy(&least, ranks, sizeof least);
  for (int i = WIDE_LANES; i < count; i += WIDE_LANES) {
    memcpy(&others, ranks + i, sizeof others);
    at += WIDE_LANES;
    const lanes_of_bits is_less = others < least;
    least = (lanes_of_floats)((is_less & (lanes_of_bits)others) | (~is_less & (lanes_of_bits)least));
    places = (is_less & at) | (~is_less & places);
  }
  float value = least[0];
  int place = count;
  for (int lane = 1; lane < WIDE_LANES; lane++) value = least[lane] < value ? least[lane] : value;
  for (int lane = 0; lane < WIDE_LANES; lane++) {
    const int its = least[lane] == value ? places[lane] : count;
    place = its < place ? its : place;
  }
  return place;
}

WITH_WIDE_VECTORS static int find_least_wide(const float *ranks, int count) { return find_least(ranks, count); }

/* Leave out rows of a family. */
static void leave_out(struct asked_family *family, int first, int end) {
  for (int i = first; i < end; i++) family->ranks[i] = INFINITY;
  family->least = -1;
}

static bool is_own_stencil(const struct candidates *c, const struct asked_family *family) {
  return c->question->ctx->table.families[family->number].stencil == c->question->key.stencil;
}

static void cost_of_shape(const struct candidates *c, const struct asked_family *family,
                          const struct priced_shape *shape, struct predict_cost *out) {
  const struct predict_model *model = &family->priced->model;
  if (family->blocks) predict_cost_of_blocks(model, family->blocks, shape->first, family->place, out);
  else predict_cost_in(model, &shape->shape, family->place, out);
  out->unsteady = shape->shape.unsteady;
  if (!is_own_stencil(c, family)) out->log_least_ms = family->place->log_borrowed_ms[shape->can_group];
}

/* Compute the ranks of a configuration's rows. */
static void rank_shape(struct candidates *c, struct asked_family *family, const struct priced_shape *shape) {
  const struct question *q = c->question;
  const float of_images =
      caution * error_of_images(c, q->ctx->table.families[family->number].stencil, shape->template_at);
  float *ranks = &family->ranks[shape->first];
  struct predict_cost cost;
  family->is_exact[shape->first] = true;
  family->least = -1;
  cost_of_shape(c, family, shape, &cost);
  const struct rank_terms terms = terms_of(q, family, &cost);
  rank_rows(family, &terms, shape->first, shape->end, ranks);
  for (int i = 0; i < shape->end - shape->first && of_images != 0; i++) ranks[i] += of_images;
}

/* What each of several rows adds to the error, and the trend that it follows. */
struct row_terms {
  float kin[ROUGH_AT_ONCE], trend[ROUGH_AT_ONCE];
};

INTO_WIDE_VECTORS void rank_roughly(const struct rank_terms *terms, const struct rough_costs *costs,
                                    const struct row_terms *of_rows, float *const columns[PRICED_COLUMNS], int first,
                                    int count, float *restrict ranks) {
  struct rank_terms t = *terms;
  EACH_TURN_ALONE
  for (int i = 0; i < count; i++) {
    t.bounds.log_start = costs->log_start[i];
    t.factor = costs->factor[i];
    t.fill = costs->fill[i];
    t.launch_share = costs->launch_share[i];
    t.log_ms = costs->log_ms[i];
    ranks[i] = rank_row(&t, columns, first + i, of_rows->kin[i], of_rows->trend[i]);
  }
}

WITH_WIDE_VECTORS static void rank_roughly_wide(const struct rank_terms *terms, const struct rough_costs *costs,
                                                const struct row_terms *of_rows, float *const columns[PRICED_COLUMNS],
                                                int first, int count, float *restrict ranks) {
  rank_roughly(terms, costs, of_rows, columns, first, count, ranks);
}

/* Give rows of a family, whole vectors of at most ROUGH_AT_ONCE, bounds: ranks from rough costs, lowered by what these
 * may be wrong by. Rows that are not eligible get an infinite one. Before, the ranks are 0, or infinite where a row is
 * left out. */
static void bound_rows(const struct question *q, const struct asked_family *family, int first, int count) {
  const struct priced_family *priced = family->priced;
  const struct rank_terms terms = terms_of(q, family, &family->place->common);
  const float may_be_wrong =
      rounding + rough_error * (1 + caution * (terms.of_change + terms.of_fill + terms.of_launch + terms.of_unsteady));
  float *bounds = &family->ranks[first];
  struct rough_costs costs;
  struct row_terms of_rows;
  rough_costs_of(&priced->model, &family->blocks[first / WIDE_LANES], count, family->place, mode_of_ranks(q), &costs);
  for (int i = 0; i < count; i++) {
    const int mode = priced->kinds[first + i].mode;
    of_rows.kin[i] = family->kin[mode] + bounds[i];
    of_rows.trend[i] = family->trends[mode];
  }
  if (HAS_WIDE_VECTORS) rank_roughly_wide(&terms, &costs, &of_rows, priced->columns, first, count, bounds);
  else rank_roughly(&terms, &costs, &of_rows, priced->columns, first, count, bounds);
  for (int i = 0; i < count; i++) bounds[i] = pick(of_rows.kin[i] < INFINITY, bounds[i] - may_be_wrong, INFINITY);
}

/* Leave out configurations that are known not to fit. Those of other stencils stay, because choose() counts how many
 * are refused: its answer must not depend on earlier questions. Returns whether any configuration is left. */
static bool leave_out_hopeless(struct candidates *c, struct asked_family *family) {
  const struct rules_again *rules = family->priced->rules[c->question->key.dtype];
  int left = family->priced->shape_count;
  if (!c->is_hopeful || !is_own_stencil(c, family)) return true;
  for (int i = 0; i < family->priced->shape_count; i++) {
    const struct priced_shape *shape = &family->priced->shapes[i];
    if (!question_is_hopeless(&c->problem, &rules[i], &c->verdicts)) continue;
    leave_out(family, shape->first, shape->end);
    left--;
  }
  return left > 0;
}

/* Rank the rows of a family. A family of few configurations gets no bounds: they take as long as the ranks. */
static void rank_family(struct candidates *c, struct asked_family *family) {
  enum { FEW_SHAPES = 2 };
  const struct priced_family *priced = family->priced;
  float *const *columns = priced->columns;
  const struct shape_columns shapes = {.tile = {columns[PRICED_TILE_X], columns[PRICED_TILE_Y], columns[PRICED_TILE_Z]},
                                       .blocks = columns[PRICED_BLOCKS],
                                       .blocks_per_sm = columns[PRICED_SM_BLOCKS],
                                       .cluster_blocks = columns[PRICED_CLUSTER]};
  const bool has_bounds = family->blocks && priced->shape_count > FEW_SHAPES;
  family->bound = INFINITY;
  family->least = -1;
  *c->unused = family;
  c->unused = &family->next_ranked;
  c->ranked_count++;
  leave_out(family, priced->row_count, priced->column_length);
  if (!leave_out_hopeless(c, family)) return;
  errors_of_modes(c->question, family->error, family->is_own, family->kin);
  for (int mode = 0; mode < MODE_COUNT; mode++) family->trends[mode] = priced->follows[mode] ? family->trend : 0;
  if (family->blocks)
    block_terms_of(&shapes, priced->column_length, family->place->work, family->place->sm_count, family->blocks);
  for (int first = 0; has_bounds && first < priced->column_length; first += ROUGH_AT_ONCE) {
    const int left = priced->column_length - first;
    bound_rows(c->question, family, first, left < ROUGH_AT_ONCE ? left : ROUGH_AT_ONCE);
  }
  if (has_bounds) return;
  for (int i = 0; i < priced->shape_count; i++) {
    if (family->ranks[priced->shapes[i].first] < INFINITY) rank_shape(c, family, &priced->shapes[i]);
  }
}

/* No row of a family has a lower rank if its rows follow such a trend.
 *   error  see error_of_kin */
static float bound_of(const struct question *q, const struct priced_family *priced, const struct predict_place *place,
                      float error, float trend) {
  const float with_trend = priced->least_excess[true] + trend;
  const float least = with_trend < priced->least_excess[false] ? with_trend : priced->least_excess[false];
  if (!priced->blocks_cost) return -INFINITY;
  const float bound = place->common.log_ms[mode_of_ranks(q)] + caution * error + least - rounding;
  return isnan(bound) ? -INFINITY : bound;
}

/* An infinite limit leaves out nothing, not even a row whose time is not a number. */
static bool is_beyond(const struct candidates *c, float bound) { return c->limit < INFINITY && bound >= c->limit; }

/* Add a family to those whose rows are candidates. Its other members are set by the caller. Returns NULL when memory is
 * out. */
static struct asked_family *add_family(struct candidates *c, const struct priced_family *priced) {
  enum { FEW_ROWS = 16 }; /* of a configuration */
  const size_t length = (size_t)priced->column_length;
  const bool has_blocks = priced->row_count < FEW_ROWS * priced->shape_count;
  struct asked_family *family = arena_alloc(&c->arena, sizeof *family);
  if (!family) return NULL;
  family->priced = priced;
  family->ranks = arena_alloc(&c->arena, length * sizeof *family->ranks);
  family->is_exact = arena_alloc(&c->arena, length * sizeof *family->is_exact);
  if (has_blocks) family->blocks = arena_reserve(&c->arena, length / WIDE_LANES * sizeof *family->blocks);
  if (!family->ranks || !family->is_exact || (has_blocks && !family->blocks)) return NULL;
  if (c->last) c->last->next = family;
  else c->first = family;
  c->last = family;
  return family;
}

/* Add a family, if a row of it can have a rank below the limit. */
static halotune_status ask_family(struct candidates *c, int number, bool is_own_family) {
  const struct question *q = c->question;
  const struct lookup_family *range = &q->ctx->table.families[number];
  const struct priced_family *priced;
  halotune_status status = pricing_family(q->ctx, number, &priced);
  if (status != HALOTUNE_OK) return status;
  const struct predict_place *place = place_asked(c, priced, range);
  if (!place) return fail_memory();
  const float error = error_of_kin(c, range);
  if (is_beyond(c, bound_of(q, priced, place, error, -trend_most))) return HALOTUNE_OK; /* its trend takes longer */
  const float trend = trend_at(&priced->trend, &place->common.size), bound = bound_of(q, priced, place, error, trend);
  if (is_beyond(c, bound)) return HALOTUNE_OK;
  struct asked_family *family = add_family(c, priced);
  if (!family) return fail_memory();
  family->number = number;
  family->is_own = is_own_family;
  family->place = place;
  family->error = error;
  family->trend = trend;
  family->bound = is_own_family && range->dtype == q->key.dtype ? -INFINITY : bound; /* it is ranked in any case */
  return HALOTUNE_OK;
}

/* Find the family with the least bound. */
static void find_next(struct candidates *c) {
  c->next = NULL;
  for (struct asked_family *family = c->first; family; family = family->next) {
    if (family->bound < (c->next ? c->next->bound : INFINITY)) c->next = family;
  }
}

void candidates_begin(const struct question *q, bool is_hopeful, struct candidates *out) {
  *out = (struct candidates){.question = q,
                             .work = work_asked(q),
                             .problem = question_rules_problem(q),
                             .verdicts = question_verdicts(q),
                             .unused = &out->ranked,
                             .is_hopeful = is_hopeful,
                             .limit = INFINITY};
}

/* Whether another model's family has no more rows than the family of its stencil, type and number of time steps on this
 * model of GPU, whose rows are nearer. */
static bool has_own_rows(const struct question *q, const struct lookup_family *family) {
  const struct lookup_table *table = &q->ctx->table;
  if (family->model == q->device->model) return false;
  for (int i = table->first_family[family->stencil]; i < table->first_family[family->stencil + 1]; i++) {
    const struct lookup_family *own = &table->families[i];
    if (own->model == q->device->model && own->dtype == family->dtype && own->steps == family->steps &&
        own->end - own->first >= family->end - family->first)
      return true;
  }
  return false;
}

/* Whether a family is asked before others. Own rows of another model are not, where has_own_rows says so. */
static bool comes_first(const struct question *q, const struct lookup_family *family) {
  return is_own(q, family) && !has_own_rows(q, family);
}

halotune_status candidates_add_own(struct candidates *c) {
  const struct question *q = c->question;
  const struct lookup_table *table = &q->ctx->table;
  const int end = table->first_family[q->key.stencil + 1];
  halotune_status status = HALOTUNE_OK;
  for (int i = table->first_family[q->key.stencil]; i < end && status == HALOTUNE_OK; i++) {
    const struct lookup_family *family = &table->families[i];
    if (context_is_over(q->ctx)) break;
    if (family->steps == q->key.steps && comes_first(q, family)) status = ask_family(c, i, true);
  }
  find_next(c);
  return status;
}

void candidates_restart(struct candidates *c) {
  c->is_hopeful = false;
  c->dropped = NULL;
  c->ranked = NULL;
  c->unused = &c->ranked;
  c->ranked_count = 0;
  for (struct asked_family *family = c->first; family; family = family->next) {
    family->bound = -INFINITY; /* it is ranked in any case */
    family->next_ranked = NULL;
    memset(family->ranks, 0, (size_t)family->priced->row_count * sizeof *family->ranks);
    memset(family->is_exact, 0, (size_t)family->priced->row_count * sizeof *family->is_exact);
  }
  find_next(c);
}

halotune_status candidates_add_others(struct candidates *c, float limit, float most_error) {
  const struct question *q = c->question;
  halotune_status status = kin_of_question(q, &c->kin);
  if (status != HALOTUNE_OK) return status;
  c->limit = limit;
  for (int i = 0; i < c->kin->family_count && status == HALOTUNE_OK; i++) {
    const int number = c->kin->families[i];
    const struct lookup_family *family = &q->ctx->table.families[number];
    if (context_is_over(q->ctx)) break;
    if (family->steps == q->key.steps && !comes_first(q, family) &&
        q->ctx->catalog.devices[family->model].is_emulation == q->device->is_emulation &&
        error_of_kin(c, family) < most_error && (most_error == INFINITY || !has_own_rows(q, family)))
      status = ask_family(c, number, is_own(q, family));
  }
  find_next(c);
  return status;
}

halotune_status candidates_add_all(struct candidates *c) {
  halotune_status status = candidates_add_own(c);
  return status == HALOTUNE_OK ? candidates_add_others(c, INFINITY, INFINITY) : status;
}

static halotune_match match_of(const struct question *q, const struct lookup_family *family) {
  if (!is_own(q, family) || family->dtype != q->key.dtype) return HALOTUNE_MATCH_SIMILAR;
  return family->model == q->device->model ? HALOTUNE_MATCH_NEAR_GRID : HALOTUNE_MATCH_SAME_ARCH;
}

struct prediction candidates_predict(const struct candidates *c, const struct candidate *candidate) {
  const struct question *q = c->question;
  const struct asked_family *family = candidate->family;
  const struct lookup_family *range = &q->ctx->table.families[family->number];
  const struct predict_model *model = &family->priced->model;
  const struct priced_row *priced = &family->priced->rows[candidate->priced];
  const struct row_kind *kind = &family->priced->kinds[candidate->priced];
  const struct served *row = candidate->row;
  struct predict_cost asked;
  if (!(q->device->memory_gbs > 0) && row->model != q->device->model) return (struct prediction){NAN, NAN};
  cost_of_shape(c, family, candidate->shape, &asked);
  const bool follows = family->priced->follows[kind->mode];
  const float trend = follows ? family->trend - trend_at(&family->priced->trend, &priced->cost.size) : 0;
  return predict(model, row->time_ms, &priced->cost, (enum launch_mode)row->launch, &asked, mode_asked(q, row),
                 (double)trend,
                 (double)(family->kin[kind->mode] + error_of_images(c, range->stencil, row->template_at)));
}

struct rules_again *candidates_rules_again(const struct candidates *c, const struct candidate *candidate) {
  const struct priced_family *priced = candidate->family->priced;
  if (!is_own_stencil(c, candidate->family)) return NULL;
  return &priced->rules[c->question->key.dtype][candidate->shape - priced->shapes];
}

/* A configuration that was dropped. */
struct dropped {
  const struct priced_shape *shape;
  bool is_own_stencil; /* of a row of the question's stencil */
  bool is_whole;       /* all configurations of the template, in each of its versions */
  struct dropped *next;
};

/* Whether a configuration was dropped, maybe as one of another family. Rows of the stencil itself use their own version
 * of the template. Rows of other stencils use the installed version. */
static bool is_dropped(const struct candidates *c, const struct asked_family *family,
                       const struct priced_shape *shape) {
  for (const struct dropped *at = c->dropped; at; at = at->next) {
    const struct known_template *templates = c->question->ctx->catalog.templates;
    if (at->is_own_stencil != is_own_stencil(c, family)) continue;
    if (at->is_whole && templates[shape->template_at].same_name == templates[at->shape->template_at].same_name)
      return true;
    if (shape->parameters == at->shape->parameters && shape->template_at == at->shape->template_at) return true;
  }
  return false;
}

/* The ranked family with the least rank, of equal ones the first; NULL: none is ranked. */
static struct asked_family *find_least_family(struct candidates *c) {
  struct asked_family *least = NULL;
  for (struct asked_family *family = c->ranked; family; family = family->next_ranked) {
    const int length = family->priced->column_length;
    if (family->least < 0)
      family->least = HAS_WIDE_VECTORS ? find_least_wide(family->ranks, length) : find_least(family->ranks, length);
    if (!least || family->ranks[family->least] < least->ranks[least->least]) least = family;
  }
  return least;
}

/* The family of the best rank; NULL: none is left. Bounds that are below it are replaced by ranks. */
static struct asked_family *find_best(struct candidates *c) {
  struct asked_family *family;
  while (!context_is_over(c->question->ctx) && (family = find_least_family(c)) &&
         family->ranks[family->least] < c->limit) {
    const struct priced_shape *shape = &family->priced->shapes[family->priced->kinds[family->least].shape];
    if (is_dropped(c, family, shape)) leave_out(family, shape->first, shape->end);
    else if (!family->is_exact[shape->first]) rank_shape(c, family, shape);
    else return family;
  }
  return NULL;
}

/* Rank the rows of the family with the least bound, if it is below a rank. Returns whether it is. */
static bool rank_next(struct candidates *c, float rank) {
  if (!c->next || !(c->next->bound < rank) || context_is_over(c->question->ctx)) return false;
  rank_family(c, c->next);
  find_next(c);
  return true;
}

int candidates_count(struct candidates *c) {
  int count = 0;
  while (rank_next(c, INFINITY)) continue;
  for (const struct asked_family *family = c->ranked; family; family = family->next_ranked) {
    for (int s = 0; s < family->priced->shape_count; s++) {
      const struct priced_shape *shape = &family->priced->shapes[s];
      if (is_dropped(c, family, shape)) continue;
      for (int row = shape->first; row < shape->end; row++) count += family->ranks[row] < INFINITY;
    }
  }
  return count;
}

/* Take the row with the least rank out of its family. */
static void take_least(const struct candidates *c, struct asked_family *family, struct candidate *out) {
  const struct question *q = c->question;
  const int row = family->least;
  *out = (struct candidate){.row = &q->ctx->catalog.rows[family->priced->rows[row].row],
                            .shape = &family->priced->shapes[family->priced->kinds[row].shape],
                            .rank = family->ranks[row],
                            .match = match_of(q, &q->ctx->table.families[family->number]),
                            .family = family,
                            .priced = row};
  leave_out(family, row, row + 1);
}

bool candidates_take(struct candidates *c, struct candidate *out) {
  while (rank_next(c, -FLT_MAX)) continue;
  struct asked_family *best = find_best(c);
  while (rank_next(c, best ? best->ranks[best->least] : c->limit)) best = find_best(c);
  if (!best) return false;
  take_least(c, best, out);
  return true;
}

halotune_status candidates_drop(struct candidates *c, const struct candidate *refused, bool is_whole) {
  struct dropped *dropped = arena_alloc(&c->arena, sizeof *dropped);
  if (!dropped) return fail_memory();
  *dropped = (struct dropped){refused->shape, is_own_stencil(c, refused->family), is_whole, c->dropped};
  c->dropped = dropped;
  return HALOTUNE_OK;
}

void candidates_free(struct candidates *c) {
  arena_free(&c->arena);
  *c = (struct candidates){0};
}
