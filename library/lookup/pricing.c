/* pricing.c: computes once for each family of rows what does not depend on the question. */
#include "library/lookup/pricing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/wide_vectors.h"
#include "db/store/launch_text.h"
#include "library/lookup/similar.h"

struct predict_gpu pricing_gpu(const struct catalog *catalog, const struct known_device *device) {
  const bool is_measured = device->model >= 0 && !device->is_emulation;
  return (struct predict_gpu){device->sm_count, device->memory_gbs, device->l2_bytes,
                              is_measured ? catalog->devices[device->model].copy_gbs : 0,
                              device->is_emulation ? 0 : device->capability};
}

bool pricing_is_fitted(const struct known_device *model) {
  return model->fitted_by >= 0 && predict_is_sensible(&model->prediction);
}

/* Sort by configuration, then in the order of the catalog. Texts decide, not where they lie: a trend takes some of many
 * rows, and the answers would differ from process to process. */
static int compare_rows(const void *left, const void *right) {
  const struct served *const *a = left, *const *b = right;
  if ((*a)->template_at != (*b)->template_at) return (*a)->template_at < (*b)->template_at ? -1 : 1;
  if ((*a)->parameters != (*b)->parameters) return strcmp((*a)->parameters, (*b)->parameters);
  return *a < *b ? -1 : *a > *b;
}

/* Everything that is needed to price the rows of a family. */
struct pricing {
  struct halotune_ctx *ctx;
  const struct parsed_stencil *parsed;
  const struct known_device *device; /* the GPU of the measurements */
  struct predict_gpu gpu;
  enum dtype dtype;
};

static struct domain domain_of(const struct pricing *p, const struct served *row) {
  const struct grid grid = {{(long)row->n[0], (long)row->n[1], (long)row->n[2]}};
  return domain_dense(p->parsed->stencil, p->parsed->analysis, &grid);
}

/* Find the shape of a row's configuration. */
static halotune_status price_shape(const struct pricing *p, const struct served *row, struct priced_shape *out) {
  const struct template *template;
  struct bindings bindings;
  struct fail_kept before;
  double facts[FACT_COUNT];
  *out = (struct priced_shape){.template_at = row->template_at, .parameters = row->parameters};
  fail_keep(&before);
  halotune_status status = context_template(p->ctx, row->template_at, &template);
  if (status == HALOTUNE_OK) status = configuration_read(template, row->parameters, &out->configuration);
  if (status == HALOTUNE_PARSE) fail_put_back(&before); /* other rows answer, so that nothing failed */
  if (status == HALOTUNE_PARSE) return HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  const struct domain domain = domain_of(p, row);
  facts_fill(p->parsed->stencil, p->parsed->analysis, p->dtype, &domain, &p->device->limits, row->reproducible, facts);
  status = bindings_make(template, facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, &out->configuration);
  out->shape = predict_shape_of(&bindings, row->occupancy_64 / 64.0, p->device->limits.max_threads_sm);
  out->is_usable = true;
  out->can_group = similar_can_group(template);
  bindings_free(&bindings);
  return HALOTUNE_OK;
}

static struct predict_cost cost_measured(const struct pricing *p, const struct predict_model *model,
                                         const struct priced_shape *shape, const struct served *row) {
  const struct domain domain = domain_of(p, row);
  const struct predict_work work = predict_work_of(p->parsed->stencil, p->parsed->analysis, p->dtype, &domain);
  struct predict_cost cost;
  predict_cost(model, &shape->shape, &work, &p->gpu, &cost);
  return cost;
}

static struct priced_row price_row(const struct pricing *p, const struct priced_family *family,
                                   const struct priced_shape *shape, const struct served *row) {
  const struct predict_cost cost = cost_measured(p, &family->model, shape, row);
  return (struct priced_row){.row = (int)(row - p->ctx->catalog.rows),
                             .log_excess = logf((float)row->time_ms) - cost.log_ms[row->launch],
                             .shares = predict_shares_of(row->time_ms, &cost, (enum launch_mode)row->launch),
                             .cost = cost};
}

static struct row_kind kind_of(const struct served *row, const struct priced_family *family,
                               const struct priced_shape *shape) {
  const int mode = (row->launch == LAUNCH_GRAPH ? MODE_GRAPH : 0) | (row->cache == CACHE_COLD ? MODE_COLD : 0) |
                   (row->reproducible ? MODE_REPRODUCIBLE : 0);
  return (struct row_kind){.shape = (int)(shape - family->shapes),
                           .mode = (unsigned char)(shape->is_usable ? mode : MODE_NONE)};
}

static halotune_status price_rows(const struct pricing *p, const struct served **rows, struct priced_family *family) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < family->row_count && status == HALOTUNE_OK; i++) {
    struct priced_shape *shape = i > 0 ? &family->shapes[family->shape_count - 1] : NULL;
    if (!shape || rows[i]->template_at != shape->template_at || rows[i]->parameters != shape->parameters) {
      shape = &family->shapes[family->shape_count++];
      status = price_shape(p, rows[i], shape);
      shape->first = i;
    }
    shape->end = i + 1;
    family->rows[i] = price_row(p, family, shape, rows[i]);
    family->kinds[i] = kind_of(rows[i], family, shape);
  }
  return status;
}

/* Mark the rows of the configurations that have a winner. */
static void mark_winners(const struct served **rows, struct priced_family *family) {
  for (int s = 0; s < family->shape_count; s++) {
    const struct priced_shape *shape = &family->shapes[s];
    bool has_winner = false;
    for (int i = shape->first; i < shape->end; i++) has_winner = has_winner || !rows[i]->is_finalist;
    for (int i = shape->first; i < shape->end && has_winner && shape->is_usable; i++)
      family->kinds[i].mode |= MODE_WINS;
  }
}

/* Find the trend of a family, and subtract it from its rows. */
static halotune_status price_trend(struct priced_family *family) {
  struct trend_row *rows = calloc((size_t)family->row_count + 1, sizeof *rows);
  if (!rows) return fail_memory();
  for (int s = 0; s < family->shape_count; s++) {
    const struct priced_shape *shape = &family->shapes[s];
    for (int i = shape->first; i < shape->end; i++) {
      const struct priced_row *row = &family->rows[i];
      const bool counts = family->follows[family->kinds[i].mode];
      rows[i] = (struct trend_row){row->cost.size, s, counts ? (double)row->log_excess : NAN};
    }
  }
  halotune_status status = trend_make(rows, family->row_count, &family->trend);
  family->least_excess[false] = family->least_excess[true] = INFINITY;
  for (int i = 0; i < family->row_count && status == HALOTUNE_OK; i++) {
    struct priced_row *row = &family->rows[i];
    const bool follows = family->follows[family->kinds[i].mode];
    if (follows) row->log_excess -= trend_at(&family->trend, &row->cost.size);
    float *least = &family->least_excess[follows];
    *least = fminf(*least, row->log_excess);
  }
  free(rows);
  return status;
}

/* Find neighbours that are ranked together. */
static void find_alike(struct priced_family *family) {
  for (int i = family->row_count - 1; i >= 0; i--) {
    struct row_kind *kind = &family->kinds[i];
    const struct row_kind *next = i + 1 < family->row_count ? kind + 1 : NULL;
    const bool is_like_next = next && kind->mode == next->mode;
    kind->alike_end = is_like_next ? next->alike_end : i + 1;
  }
}

/* Copy the rows of a configuration into columns. */
static void fill_columns(struct priced_family *family, const struct priced_shape *priced) {
  const struct predict_shape *shape = &priced->shape;
  for (int i = priced->first; i < priced->end; i++) {
    const struct priced_row *row = &family->rows[i];
    const enum launch_mode launch = family->kinds[i].mode & MODE_GRAPH ? LAUNCH_GRAPH : LAUNCH_STREAM;
    const float values[PRICED_COLUMNS] = {
        [PRICED_EXCESS] = row->log_excess,         [PRICED_START] = row->shares.log_start,
        [PRICED_WORK] = row->shares.log_work,      [PRICED_BYTES] = row->cost.size.log2[0],
        [PRICED_X] = row->cost.size.log2[1],       [PRICED_Y] = row->cost.size.log2[2],
        [PRICED_Z] = row->cost.size.log2[3],       [PRICED_UNALIGNED] = row->cost.size.unaligned,
        [PRICED_FACTOR] = row->cost.factor,        [PRICED_FILL] = row->cost.features[PREDICT_fill],
        [PRICED_UNSTEADY] = shape->unsteady,       [PRICED_LAUNCH] = row->cost.launch_share[launch],
        [PRICED_TILE_X] = shape->tile[0],          [PRICED_TILE_Y] = shape->tile[1],
        [PRICED_TILE_Z] = shape->tile[2],          [PRICED_BLOCKS] = shape->blocks,
        [PRICED_SM_BLOCKS] = shape->blocks_per_sm, [PRICED_CLUSTER] = shape->cluster_blocks};
    for (int c = 0; c < PRICED_COLUMNS; c++) family->columns[c][i] = values[c];
  }
}

static halotune_status price_family(struct halotune_ctx *ctx, const struct lookup_family *range,
                                    struct priced_family **out) {
  const struct catalog *catalog = &ctx->catalog;
  const struct known_device *device = &catalog->devices[range->model];
  const size_t count = (size_t)(range->end - range->first);
  struct pricing pricing = {
      .ctx = ctx, .device = device, .gpu = pricing_gpu(catalog, device), .dtype = (enum dtype)range->dtype};
  struct priced_family *family = calloc(1, sizeof *family);
  const struct served **rows = calloc(count + 1, sizeof *rows);
  halotune_status status = family && rows ? HALOTUNE_OK : fail_memory();
  *out = NULL;
  if (status == HALOTUNE_OK) status = context_stencil(ctx, range->stencil, &pricing.parsed);
  if (status == HALOTUNE_OK) {
    family->row_count = (int)count;
    family->shapes = calloc(count + 1, sizeof *family->shapes);
    family->rules[0] = calloc(DTYPE_COUNT * (count + 1), sizeof *family->rules[0]);
    for (int i = 1; i < DTYPE_COUNT && family->rules[0]; i++) family->rules[i] = family->rules[i - 1] + count;
    family->rows = calloc(count + 1, sizeof *family->rows);
    family->column_length = wide_length((int)count);
    family->kinds = calloc((size_t)family->column_length + 1, sizeof *family->kinds);
    family->columns[0] = calloc(PRICED_COLUMNS * ((size_t)family->column_length + 1), sizeof *family->columns[0]);
    for (int c = 1; c < PRICED_COLUMNS && family->columns[0]; c++)
      family->columns[c] = family->columns[c - 1] + family->column_length;
    if (!family->shapes || !family->rules[0] || !family->rows || !family->kinds || !family->columns[0])
      status = fail_memory();
    family->model = pricing_is_fitted(device) ? device->prediction : predict_default();
    family->blocks_cost = predict_blocks_cost(&family->model);
    for (int mode = 0; mode < MODE_NONE; mode++) family->follows[mode] = range->steps == 1 && !(mode & MODE_COLD);
    for (size_t i = 0; i < count; i++) rows[i] = &catalog->rows[range->first + (int)i];
    qsort(rows, count, sizeof *rows, compare_rows);
  }
  if (status == HALOTUNE_OK) status = price_rows(&pricing, rows, family);
  if (status == HALOTUNE_OK) mark_winners(rows, family);
  if (status == HALOTUNE_OK) status = price_trend(family);
  if (status == HALOTUNE_OK) find_alike(family);
  for (int i = (int)count; status == HALOTUNE_OK && i < family->column_length; i++) family->kinds[i].mode = MODE_NONE;
  for (int i = 0; status == HALOTUNE_OK && i < family->shape_count; i++) fill_columns(family, &family->shapes[i]);
  free(rows);
  if (status == HALOTUNE_OK) *out = family;
  else priced_family_free(family);
  return status;
}

/* If several threads make a family at the same time, the results are equal, and the first one is kept. */
halotune_status pricing_family(struct halotune_ctx *ctx, int number, const struct priced_family **out) {
  _Atomic(struct priced_family *) *kept = &ctx->table.priced[number];
  struct priced_family *family = atomic_load_explicit(kept, memory_order_acquire), *none = NULL;
  halotune_status status = HALOTUNE_OK;
  if (!family && (status = price_family(ctx, &ctx->table.families[number], &family)) == HALOTUNE_OK) {
    if (!atomic_compare_exchange_strong(kept, &none, family)) {
      priced_family_free(family);
      family = none;
    }
  }
  *out = family;
  return status;
}
