/* candidates.c: computes the cost of each configuration on the question's problem, and adds a few numbers for each row
 * (pricing.h). */
#include "library/lookup/candidates.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/wide_vectors.h"
#include "db/store/launch_text.h"
#include "library/lookup/pricing.h"
#include "library/lookup/similar.h"

/* Errors that another GPU or mode adds, as shares of the time. */
static const float no_time = 20; /* a time of a GPU says nothing about an emulation */
static const float other_model = 0.10f, other_arch = 0.20f, other_dtype = 0.10f, other_launch = 0.03f,
                   other_cache = 0.10f, fewer_variants = 0.03f;

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

/* Whether rows of a family are candidates. */
static bool is_asked(const struct candidates *c, const struct lookup_family *family) {
  const struct question *q = c->question;
  if (is_own(q, family)) return c->has_own;
  return c->kin_errors && isfinite(c->kin_errors[family->stencil]) &&
         q->ctx->catalog.devices[family->model].is_emulation == q->device->is_emulation;
}

/* The errors that rows of a family add, in each mode. */
static void errors_of_kin(const struct candidates *c, const struct lookup_family *family, float out[MODE_COUNT]) {
  const struct question *q = c->question;
  const struct lookup_key *key = &q->key;
  const bool wants_graph = key->launch == LAUNCH_GRAPH + 1, wants_cold = key->cache == CACHE_COLD + 1;
  const bool is_model = family->model == q->device->model,
             is_arch = q->ctx->catalog.devices[family->model].capability == q->device->capability;
  float error = is_model ? 0 : q->device->is_emulation ? no_time : is_arch ? other_model : other_arch;
  if (family->dtype != key->dtype) error += other_dtype;
  if (family->stencil != key->stencil) error += c->kin_errors[family->stencil];
  for (int mode = 0; mode < MODE_COUNT; mode++) {
    out[mode] = error;
    if (wants_graph != ((mode & MODE_GRAPH) != 0)) out[mode] += other_launch;
    if (wants_cold != ((mode & MODE_COLD) != 0)) out[mode] += other_cache;
    if (!key->reproducible && (mode & MODE_REPRODUCIBLE)) out[mode] += fewer_variants;
  }
}

/* What a row adds to the error because nothing tells how its template finds images. */
static float error_of_images(const struct candidates *c, int stencil, int template_at) {
  if (!c->has_images || c->has_images[stencil]) return 0;
  return c->finds_images[c->question->ctx->catalog.templates[template_at].same_name] ? 0 : unknown_images;
}

/* If the program says no launch mode, it is taken to launch as the row was measured. */
static enum launch_mode mode_asked(const struct question *q, const struct served *row) {
  return (enum launch_mode)(q->key.launch ? q->key.launch - 1 : row->launch);
}

/* Compute what all configurations of a family have in common on the question's problem and GPU. */
static void place_asked(const struct question *q, const struct priced_family *family, const struct lookup_family *range,
                        const struct predict_work *work, struct predict_place *out) {
  const struct catalog *catalog = &q->ctx->catalog;
  const struct predict_gpu measured = pricing_gpu(catalog, &catalog->devices[range->model]);
  const struct predict_gpu gpu = gpu_like(catalog, q->device, &measured);
  predict_place_of(&family->model, work, &gpu, out);
}

/* The work of the question. */
static struct predict_work work_asked(const struct question *q) {
  return predict_work_of(q->parsed->stencil, q->parsed->analysis, (enum dtype)q->key.dtype, &q->domain);
}

/* The numbers for ranking rows: those of a configuration on the question's problem, and the model's errors. */
struct rank_terms {
  struct predict_size size;
  struct predict_bounds bounds;
  float factor, launch_share, log_ms;
  float of_size, of_change, of_launch, of_apart; /* errors of the model */
};

/* The logarithm of a row's milliseconds, with a penalty for the error.
 *   kin, trend  what the row's mode adds to the error, and the trend of its family */
static inline float rank_row(const struct rank_terms *t, float *const columns[PRICED_COLUMNS], int row, float kin,
                             float trend) {
  const struct predict_size size = {
      {columns[PRICED_BYTES][row], columns[PRICED_X][row], columns[PRICED_Y][row], columns[PRICED_Z][row]},
      columns[PRICED_UNALIGNED][row]};
  const struct predict_bounds shares = {columns[PRICED_START][row], columns[PRICED_WORK][row]};
  const float error = kin + t->of_size * fabsf(t->size.log2[0] - size.log2[0]) +
                      t->of_change * fabsf(t->factor - columns[PRICED_FACTOR][row]) +
                      t->of_launch * fabsf(t->launch_share - columns[PRICED_LAUNCH][row]) +
                      t->of_apart * (1 - predict_nearness(&t->size, &size));
  const float scaled = columns[PRICED_EXCESS][row] + t->log_ms + trend;
  const float least = predict_log_least(shares, t->bounds);
  const float rank = (scaled > least ? scaled : least) + caution * error;
  return rank < last_rank ? rank : last_rank; /* also if the rank is NaN */
}

/* A family on the question's problem and GPU. */
struct asked_family {
  int number; /* in the table */
  const struct priced_family *priced;
  struct predict_place place;
  float kin[MODE_COUNT]; /* what errors_of_kin says */
  float trend;
  int first_rank; /* where its ranks begin in those of the candidates */
  float bound;    /* no row of it has a lower rank; infinite: its rows are listed */
};

/* What a configuration's rows are compared with.
 *   cost  of the configuration, or that which all have in common */
static struct rank_terms terms_of(const struct question *q, const struct asked_family *family,
                                  const struct predict_cost *cost) {
  const double *c = family->priced->model.coefficients;
  const enum launch_mode mode = q->key.launch == LAUNCH_GRAPH + 1 ? LAUNCH_GRAPH : LAUNCH_STREAM; /* one for all */
  return (struct rank_terms){.size = cost->size,
                             .bounds = predict_bounds_of(cost, mode),
                             .factor = cost->factor,
                             .launch_share = cost->launch_share[mode],
                             .log_ms = cost->log_ms[mode],
                             .of_size = (float)c[PREDICT_sigma_size],
                             .of_change = (float)c[PREDICT_sigma_change],
                             .of_launch = (float)c[PREDICT_sigma_launch],
                             .of_apart = (float)c[PREDICT_sigma_apart]};
}

/* Whether a row has the number of steps and the bits that the question asks for. */
static bool is_eligible(const struct question *q, const struct priced_row *row) {
  return row->steps == q->key.steps && !(q->key.reproducible && !(row->mode & MODE_REPRODUCIBLE));
}

/* Rank rows that add the same to errors and have the same trend. */
static inline void rank_alike(const struct rank_terms *terms, float *const columns[PRICED_COLUMNS], int first, int end,
                              float kin, float trend, float *restrict ranks) {
  const struct rank_terms t = *terms;
  for (int i = first; i < end; i++) ranks[i - first] = rank_row(&t, columns, i, kin, trend);
}

WITH_WIDE_VECTORS static void rank_alike_wide(const struct rank_terms *terms, float *const columns[PRICED_COLUMNS],
                                              int first, int end, float kin, float trend, float *restrict ranks) {
  rank_alike(terms, columns, first, end, kin, trend, ranks);
}

/* Rank rows of a family. Rows that are not eligible get an infinite rank. */
static void rank_rows(const struct question *q, const struct asked_family *family, const struct rank_terms *terms,
                      int first, int end, float *restrict ranks) {
  enum { MANY_ROWS = 16 };
  const struct priced_row *rows = family->priced->rows;
  float *columns[PRICED_COLUMNS];
  memcpy(columns, family->priced->columns, sizeof columns);
  for (int from = first, to; from < end; from = to) {
    const struct priced_row *row = &rows[from];
    const float kin = family->kin[row->mode], trend = priced_row_follows_trend(row) ? family->trend : 0;
    to = row->alike_end < end ? row->alike_end : end;
    if (!is_eligible(q, row)) {
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

/* The least of many ranks goes through several lanes. A compiler does not find the vectors by itself. */
static inline float least_of_lanes(const float *ranks, int count) {
  enum { LANES = 8 };
  typedef float lanes_of_floats __attribute__((vector_size(LANES * sizeof(float))));
  typedef int32_t lanes_of_bits __attribute__((vector_size(LANES * sizeof(int32_t))));
  lanes_of_floats lanes, others;
  float least = INFINITY;
  int i = LANES;
  memcpy(&lanes, ranks, sizeof lanes);
  for (; i + LANES <= count; i += LANES) {
    memcpy(&others, ranks + i, sizeof others);
    const lanes_of_bits is_less = others < lanes;
    lanes = (lanes_of_floats)((is_less & (lanes_of_bits)others) | (~is_less & (lanes_of_bits)lanes));
  }
  for (int lane = 0; lane < LANES; lane++) least = lanes[lane] < least ? lanes[lane] : least;
  for (; i < count; i++) least = ranks[i] < least ? ranks[i] : least;
  return least;
}

WITH_WIDE_VECTORS static float least_of_wide(const float *ranks, int count) { return least_of_lanes(ranks, count); }

/* The least rank; infinite if there is none. */
static float least_of(const float *ranks, int count) {
  enum { MANY_RANKS = 16 };
  float least = INFINITY;
  if (count >= MANY_RANKS) return HAS_WIDE_VECTORS ? least_of_wide(ranks, count) : least_of_lanes(ranks, count);
  for (int i = 0; i < count; i++) least = ranks[i] < least ? ranks[i] : least;
  return least;
}

static float *ranks_of(const struct candidates *c, const struct ranked *ranked) {
  const struct asked_family *family = &c->families[ranked->family];
  return &c->ranks[family->first_rank + family->priced->shapes[ranked->shape].first];
}

static int rows_of(const struct candidates *c, const struct ranked *ranked) {
  const struct priced_shape *shape = &c->families[ranked->family].priced->shapes[ranked->shape];
  return shape->end - shape->first;
}

/* A number by which configurations are sorted: by rank, and equal ones in the order in which they were listed. */
static uint64_t heap_key(float rank, int order) {
  const float positive_zero = rank + 0.0F;
  uint32_t bits;
  memcpy(&bits, &positive_zero, sizeof bits);
  bits ^= bits >> 31 ? UINT32_MAX : UINT32_C(1) << 31; /* floats then compare as these numbers do */
  return (uint64_t)bits << 32 | (uint32_t)order;
}

/* Put a configuration, which may be behind others of its branch, where it belongs. */
static void heap_sink(struct candidates *c, int at) {
  const struct ranked sinking = c->list[at];
  for (int next; (next = 2 * at + 1) < c->list_count; at = next) {
    if (next + 1 < c->list_count && c->list[next + 1].key < c->list[next].key) next++;
    if (sinking.key < c->list[next].key) break;
    c->list[at] = c->list[next];
  }
  c->list[at] = sinking;
}

/* Make a heap of a list to which configurations were added. */
static void heap_make(struct candidates *c) {
  if (c->heap_count == c->list_count) return;
  for (int at = c->list_count / 2; at-- > 0;) heap_sink(c, at);
  c->heap_count = c->list_count;
}

/* Give the best configuration another rank. */
static void heap_change(struct candidates *c, float rank) {
  c->list[0].rank = rank;
  c->list[0].key = heap_key(rank, (int)(uint32_t)c->list[0].key);
  heap_sink(c, 0);
}

/* Whether a configuration is left out because it is known not to fit. Rows of other stencils may use another version of
 * the template, which only the caller knows. */
static bool is_left_out(const struct candidates *c, const struct asked_family *family,
                        const struct priced_shape *shape) {
  const struct question *q = c->question;
  const struct template *template;
  if (!c->is_hopeful || q->ctx->table.families[family->number].stencil != q->key.stencil) return false;
  return context_template(q->ctx, shape->template_at, &template) == HALOTUNE_OK &&
         question_is_hopeless(q, template, &shape->configuration);
}

/* Compute the ranks of a configuration's rows. */
static void rank_shape(struct candidates *c, struct ranked *ranked) {
  const struct question *q = c->question;
  const struct asked_family *family = &c->families[ranked->family];
  const struct priced_shape *shape = &family->priced->shapes[ranked->shape];
  const float of_images =
      caution * error_of_images(c, q->ctx->table.families[family->number].stencil, shape->template_at);
  float *ranks = ranks_of(c, ranked);
  struct predict_cost cost;
  ranked->is_bound = false;
  ranked->rank = INFINITY;
  if (is_left_out(c, family, shape)) return;
  predict_cost_in(&family->priced->model, &shape->shape, &family->place, &cost);
  const struct rank_terms terms = terms_of(q, family, &cost);
  rank_rows(q, family, &terms, shape->first, shape->end, ranks);
  for (int i = 0; i < shape->end - shape->first && of_images != 0; i++) ranks[i] += of_images;
  ranked->rank = least_of(ranks, shape->end - shape->first);
}

/* Give all rows of a family bounds: the rank of a row whose blocks cost nothing, and whose error is the least. */
static void bound_rows(struct candidates *c, const struct asked_family *family) {
  struct rank_terms terms = terms_of(c->question, family, &family->place.common);
  terms.of_change = terms.of_launch = 0;
  rank_rows(c->question, family, &terms, 0, family->priced->row_count, &c->ranks[family->first_rank]);
}

/* List the configurations of a family. A bound takes as long as a rank, without the cost of the row's configuration. */
static void list_family(struct candidates *c, int at) {
  enum { FEW_ROWS = 16 }; /* of a configuration */
  struct asked_family *family = &c->families[at];
  const struct priced_family *priced = family->priced;
  const bool has_bounds = predict_blocks_cost(&priced->model) && priced->row_count < FEW_ROWS * priced->shape_count;
  const bool is_all = is_own(c->question, &c->question->ctx->table.families[family->number]); /* finalists, too */
  family->bound = INFINITY;
  if (has_bounds) bound_rows(c, family);
  for (int number = 0; number < priced->shape_count; number++) {
    struct ranked ranked = {.family = at, .shape = number, .is_bound = true};
    if (!priced->shapes[number].is_usable || !(is_all || priced->shapes[number].has_winner)) continue;
    if (has_bounds) ranked.rank = least_of(ranks_of(c, &ranked), rows_of(c, &ranked)) - rounding;
    else rank_shape(c, &ranked);
    if (!(ranked.rank < INFINITY)) continue;
    ranked.key = heap_key(ranked.rank, family->first_rank + priced->shapes[number].first);
    c->list[c->list_count++] = ranked;
  }
}

/* No row of a family has a lower rank. */
static float bound_of(const struct candidates *c, const struct asked_family *family) {
  const struct rank_terms terms = terms_of(c->question, family, &family->place.common);
  float least = family->kin[0];
  if (!predict_blocks_cost(&family->priced->model)) return -INFINITY;
  for (int mode = 1; mode < MODE_COUNT; mode++) least = fminf(least, family->kin[mode]);
  const float bound = terms.log_ms + caution * least +
                      fminf(family->priced->least_excess[true] + family->trend, family->priced->least_excess[false]) -
                      rounding;
  return isnan(bound) ? -INFINITY : bound;
}

static halotune_status ask_family(const struct question *q, int number, struct candidates *out) {
  const struct lookup_family *range = &q->ctx->table.families[number];
  struct asked_family *family = &out->families[out->family_count];
  family->number = number;
  halotune_status status = pricing_family(q->ctx, number, &family->priced);
  if (status != HALOTUNE_OK) return status;
  errors_of_kin(out, range, family->kin);
  place_asked(q, family->priced, range, &out->work, &family->place);
  family->trend = trend_at(&family->priced->trend, &family->place.common.size);
  family->bound = bound_of(out, family);
  out->family_count++;
  family->first_rank = out->rank_count;
  out->rank_count += family->priced->row_count;
  /* Other rows are listed when they are needed. */
  if (is_own(q, range) && range->dtype == q->key.dtype) list_family(out, out->family_count - 1);
  return HALOTUNE_OK;
}

/* Find what rows of each stencil of the databases add to the error. A stencil that this program cannot read says
 * nothing. */
static halotune_status find_kin(struct candidates *c) {
  const struct question *q = c->question;
  const struct catalog *catalog = &q->ctx->catalog;
  struct fail_kept before;
  c->kin_errors = malloc(((size_t)catalog->stencil_count + 1) * sizeof *c->kin_errors);
  if (!c->kin_errors) return fail_memory();
  fail_keep(&before);
  for (int i = 0; i < catalog->stencil_count; i++) {
    const struct parsed_stencil *other;
    c->kin_errors[i] = i == q->key.stencil ? 0 : INFINITY;
    if (i == q->key.stencil || !*catalog->stencils[i].newest) continue; /* without a row */
    halotune_status status = context_stencil(q->ctx, i, &other);
    if (status != HALOTUNE_OK && status != HALOTUNE_PARSE) return status;
    if (status == HALOTUNE_OK) c->kin_errors[i] = similar_error(similar_distance(q->parsed, other));
  }
  fail_put_back(&before);
  return HALOTUNE_OK;
}

/* Find which stencils have images, and which templates have rows of them, if the question's stencil has images. */
static halotune_status find_images(struct candidates *c) {
  const struct question *q = c->question;
  const struct catalog *catalog = &q->ctx->catalog;
  if (!similar_has_images(q->parsed)) return HALOTUNE_OK;
  c->has_images = calloc((size_t)catalog->stencil_count + 1, sizeof *c->has_images);
  c->finds_images = calloc((size_t)catalog->template_count + 1, sizeof *c->finds_images);
  if (!c->has_images || !c->finds_images) return fail_memory();
  for (int i = 0; i < catalog->stencil_count; i++) {
    const struct parsed_stencil *other = atomic_load_explicit(&catalog->stencils[i].parsed, memory_order_acquire);
    /* find_kin() has read all stencils but the question's own, which a program may have added by another name. */
    c->has_images[i] = i == q->key.stencil || (other && similar_has_images(other));
  }
  for (int i = 0; i < catalog->row_count; i++) {
    const struct served *row = &catalog->rows[i];
    if (catalog->devices[row->device].is_emulation != q->device->is_emulation) continue; /* they rank nothing */
    if (c->has_images[row->stencil]) c->finds_images[catalog->templates[row->template_at].same_name] = true;
  }
  return HALOTUNE_OK;
}

halotune_status candidates_find(const struct question *q, enum candidates_range range, bool is_hopeful,
                                struct candidates *out) {
  const struct lookup_table *table = &q->ctx->table;
  const bool is_all = range != CANDIDATES_OWN;
  const int first = is_all ? 0 : table->first_family[q->key.stencil];
  const int end = is_all ? table->family_count : table->first_family[q->key.stencil + 1];
  size_t most = 0, families = 0;
  *out = (struct candidates){.question = q,
                             .work = work_asked(q),
                             .is_hopeful = is_hopeful,
                             .has_own = range != CANDIDATES_OTHER,
                             .limit = INFINITY};
  halotune_status status = is_all ? find_kin(out) : HALOTUNE_OK;
  if (is_all && status == HALOTUNE_OK) status = find_images(out);
  if (status != HALOTUNE_OK) return status;
  for (int i = first; i < end; i++) {
    if (!is_asked(out, &table->families[i])) continue;
    most += (size_t)(table->families[i].end - table->families[i].first);
    families++;
  }
  out->list = malloc((most + 1) * sizeof *out->list);
  out->dropped = malloc((most + 1) * sizeof *out->dropped);
  out->ranks = malloc((most + 1) * sizeof *out->ranks);
  out->families = malloc((families + 1) * sizeof *out->families);
  if (!out->list || !out->dropped || !out->ranks || !out->families) return fail_memory();
  for (int i = first; i < end && status == HALOTUNE_OK; i++) {
    if (is_asked(out, &table->families[i])) status = ask_family(q, i, out);
  }
  return status;
}

static halotune_match match_of(const struct question *q, const struct lookup_family *family) {
  if (!is_own(q, family) || family->dtype != q->key.dtype) return HALOTUNE_MATCH_SIMILAR;
  return family->model == q->device->model ? HALOTUNE_MATCH_NEAR_GRID : HALOTUNE_MATCH_SAME_ARCH;
}

/* Describe a row of a configuration. */
static void describe_candidate(const struct candidates *c, const struct ranked *ranked, int row,
                               struct candidate *out) {
  const struct question *q = c->question;
  const struct asked_family *family = &c->families[ranked->family];
  *out = (struct candidate){.row = &q->ctx->catalog.rows[family->priced->rows[row].row],
                            .shape = &family->priced->shapes[ranked->shape],
                            .rank = ranked->rank,
                            .match = match_of(q, &q->ctx->table.families[family->number]),
                            .family = ranked->family,
                            .priced = row};
}

struct prediction candidates_predict(const struct candidates *c, const struct candidate *candidate) {
  const struct question *q = c->question;
  const struct asked_family *family = &c->families[candidate->family];
  const struct lookup_family *range = &q->ctx->table.families[family->number];
  const struct predict_model *model = &family->priced->model;
  const struct priced_row *priced = &family->priced->rows[candidate->priced];
  const struct served *row = candidate->row;
  struct predict_cost asked;
  if (!(q->device->memory_gbs > 0) && row->model != q->device->model) return (struct prediction){NAN, NAN};
  predict_cost_in(model, &candidate->shape->shape, &family->place, &asked);
  const float trend =
      priced_row_follows_trend(priced) ? family->trend - trend_at(&family->priced->trend, &priced->cost.size) : 0;
  return predict(model, row->time_ms, &priced->cost, (enum launch_mode)row->launch, &asked, mode_asked(q, row),
                 (double)trend,
                 (double)(family->kin[priced->mode] + error_of_images(c, range->stencil, row->template_at)));
}

/* Whether a configuration was dropped, maybe as one of another family. Rows of the stencil itself use their own version
 * of the template. Rows of other stencils use the installed version. */
static bool is_dropped(const struct candidates *c, const struct ranked *ranked) {
  const struct question *q = c->question;
  const struct asked_family *family = &c->families[ranked->family];
  const struct priced_shape *shape = &family->priced->shapes[ranked->shape];
  const bool is_own_row = q->ctx->table.families[family->number].stencil == q->key.stencil;
  for (int i = 0; i < c->dropped_count; i++) {
    const struct asked_family *its_family = &c->families[c->dropped[i].family];
    const struct priced_shape *its_shape = &its_family->priced->shapes[c->dropped[i].shape];
    if (shape->parameters == its_shape->parameters && shape->template_at == its_shape->template_at &&
        is_own_row == (q->ctx->table.families[its_family->number].stencil == q->key.stencil))
      return true;
  }
  return false;
}

/* The configuration of the best row; NULL: none is left. Bounds that are below it are replaced by ranks. */
static struct ranked *rank_best(struct candidates *c) {
  struct ranked *best = c->list;
  heap_make(c);
  while (c->list_count > 0 && best->rank < c->limit) {
    const bool is_out = is_dropped(c, best);
    if (!is_out && !best->is_bound) return best;
    if (!is_out) rank_shape(c, best);
    heap_change(c, is_out ? INFINITY : best->rank);
  }
  return NULL;
}

/* List the rows of families whose bound is below a rank. Returns whether there were any. */
static bool list_more(struct candidates *c, float rank) {
  bool is_more = false;
  for (int i = 0; i < c->family_count; i++) {
    if (!(c->families[i].bound < rank)) continue;
    list_family(c, i);
    is_more = true;
  }
  return is_more;
}

int candidates_count(struct candidates *c) {
  int count = 0;
  list_more(c, INFINITY);
  for (int i = 0; i < c->list_count; i++) {
    const float *ranks = ranks_of(c, &c->list[i]);
    const bool is_left = c->list[i].rank < INFINITY && !is_dropped(c, &c->list[i]);
    const int rows = is_left ? rows_of(c, &c->list[i]) : 0;
    for (int row = 0; row < rows; row++) count += ranks[row] < INFINITY;
  }
  return count;
}

bool candidates_take(struct candidates *c, struct candidate *out) {
  struct ranked *best = rank_best(c);
  if (list_more(c, best ? best->rank : c->limit)) best = rank_best(c);
  if (!best) return false;
  float *ranks = ranks_of(c, best);
  int row = 0;
  while (ranks[row] != best->rank) row++;
  ranks[row] = INFINITY;
  describe_candidate(c, best, c->families[best->family].priced->shapes[best->shape].first + row, out);
  heap_change(c, least_of(ranks, rows_of(c, best)));
  return true;
}

void candidates_drop(struct candidates *c, const struct candidate *refused) {
  const struct priced_family *priced = c->families[refused->family].priced;
  c->dropped[c->dropped_count++] = (struct dropped){refused->family, (int)(refused->shape - priced->shapes)};
}

void candidates_free(struct candidates *c) {
  free(c->list);
  free(c->dropped);
  free(c->ranks);
  free(c->families);
  free(c->kin_errors);
  free(c->has_images);
  free(c->finds_images);
  *c = (struct candidates){0};
}

struct prediction candidates_exact(const struct served *row) {
  const double intervals_half_widths = 1.96; /* standard deviations from the median to the end of a 95 % interval */
  return (struct prediction){row->time_ms, (row->high_ms - row->low_ms) / (2 * intervals_half_widths) / row->time_ms};
}
