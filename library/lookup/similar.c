/* similar.c: ranks the rows of other stencils and GPUs by their distance from a problem. */
#include "library/lookup/similar.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "db/store/launch_text.h"

/* So many configurations are refused before a default answers. */
enum { SIMILAR_MOST_REFUSED = 64 };

/* What a difference costs. A factor of two in traffic costs as much as another shape. */
static const float other_shape = 1, other_boundary = 0.5f, other_field = 0.5f, factor_of_reach = 1, factor_of_bytes = 1,
                   other_linearity = 0.5f, other_dtype = 0.75f, other_model = 0.25f, other_arch = 0.5f,
                   factor_of_points = 0.5f, factor_of_row = 0.25f, other_alignment = 0.25f, other_mode = 0.25f;

/* Of the expected time, as a share of it. */
static const double similar_error = 0.4;

static float factor(double a, double b) { return fabsf(log2f((float)(a / b))); }

static int staged_count(const struct parsed_stencil *parsed) {
  int count = 0;
  for (int i = 0; i < parsed->stencil->input_count; i++) count += is_staged(parsed->analysis, i);
  return count;
}

float similar_distance(const struct parsed_stencil *a, const struct parsed_stencil *b) {
  const struct stencil *s = a->stencil, *t = b->stencil;
  const struct analysis *x = a->analysis, *y = b->analysis;
  if (s->dims != t->dims || s->kind != t->kind) return INFINITY;
  float distance = 0;
  if (x->shape != y->shape) distance += other_shape;
  if (x->is_linear != y->is_linear) distance += other_linearity;
  for (int axis = 0; axis < s->dims; axis++) {
    distance += factor_of_reach / (float)s->dims * factor(1.0 + x->radius[axis], 1.0 + y->radius[axis]);
    if (s->boundary[axis][SIDE_LOW].rule != t->boundary[axis][SIDE_LOW].rule)
      distance += other_boundary / (float)s->dims;
  }
  distance += other_field * (float)abs(staged_count(a) - staged_count(b));
  distance += factor_of_bytes * factor(x->bytes_per_point[DTYPE_F32], y->bytes_per_point[DTYPE_F32]);
  return distance;
}

/* The distance of what all rows of a family have in common; infinite if none of them may answer. */
static float family_distance(const struct question *q, const struct lookup_family *family, const float *kin) {
  const struct known_device *device = &q->ctx->catalog.devices[family->model];
  float distance = kin[family->stencil];
  if (device->is_emulation != q->device->is_emulation) return INFINITY;
  if (family->dtype != q->key.dtype) distance += other_dtype;
  if (family->model != q->device->model) distance += other_model;
  if (device->capability != q->device->capability) distance += other_arch;
  return distance;
}

static float row_distance(const struct question *q, const struct served *row) {
  const uint32_t *n = q->key.n;
  float distance = factor_of_points * factor((double)n[0] * n[1] * n[2], (double)row->n[0] * row->n[1] * row->n[2]);
  distance += factor_of_row * factor(n[0], row->n[0]);
  if ((n[0] % 4 == 0) != (row->n[0] % 4 == 0)) distance += other_alignment;
  if (q->key.launch && q->key.launch != row->launch + 1) distance += other_mode;
  if (q->key.cache && q->key.cache != row->cache + 1) distance += other_mode;
  return distance;
}

/* The place of a row in the order of distance. */
struct ranked_row {
  float distance;
  int row;
};

static bool is_behind(struct ranked_row a, struct ranked_row b) {
  return a.distance > b.distance || (a.distance == b.distance && a.row > b.row);
}

/* Find the first row behind `last`. Returns false if there is none. */
static bool find_next(const struct question *q, const float *kin, struct ranked_row last, struct ranked_row *out) {
  const struct lookup_table *table = &q->ctx->table;
  *out = (struct ranked_row){INFINITY, -1};
  for (int f = 0; f < table->family_count; f++) {
    const struct lookup_family *family = &table->families[f];
    const float common = family_distance(q, family, kin);
    for (int i = family->first; i < family->end && common < out->distance; i++) {
      const struct served *row = &table->catalog->rows[i];
      if (row->steps != q->key.steps || (q->key.reproducible && !row->reproducible)) continue;
      const struct ranked_row here = {common + row_distance(q, row), i};
      if (here.distance < out->distance && is_behind(here, last)) *out = here;
    }
  }
  return out->row >= 0;
}

/* Find the distance of each stencil of the databases from that of the question. */
static halotune_status find_kin(const struct question *q, float *kin) {
  const struct catalog *catalog = &q->ctx->catalog;
  for (int i = 0; i < catalog->stencil_count; i++) {
    const struct parsed_stencil *other;
    kin[i] = INFINITY;
    if (!*catalog->stencils[i].newest) continue; /* without a row */
    halotune_status status = context_stencil(q->ctx, i, &other);
    if (status == HALOTUNE_PARSE) continue;
    if (status != HALOTUNE_OK) return status;
    kin[i] = similar_distance(q->parsed, other);
  }
  return HALOTUNE_OK;
}

/* Whether the problem uses what stencils can say since lately. The rules of an older version of a template do not know
 * it, so they leave out no problem whose result the version would get wrong. */
static bool needs_current_template(const struct question *q) {
  return q->facts[FACT_uses_axes] > 0 || !analysis_is_plain(q->parsed->analysis, q->parsed->stencil);
}

/* Whether the configuration of a row fits the problem. */
static halotune_status try_row(const struct question *q, const struct served *row, struct answer *out, bool *fits) {
  const struct template *template;
  *fits = false;
  *out = (struct answer){.row = row, .template_at = row->template_at, .match = HALOTUNE_MATCH_SIMILAR};
  halotune_status status = context_template(q->ctx, row->template_at, &template);
  if (status == HALOTUNE_OK) status = configuration_read(template, row->parameters, &out->configuration);
  if (status == HALOTUNE_PARSE) return HALOTUNE_OK;
  if (status != HALOTUNE_OK || choose_is_refuted(q, row)) return status;
  bool is_superseded = false;
  if (needs_current_template(q)) status = context_is_superseded(q->ctx, row->template_at, &is_superseded);
  if (status != HALOTUNE_OK || is_superseded) return status;
  return choose_check(q, template, &out->configuration, fits);
}

static halotune_status walk(const struct question *q, const float *kin, struct answer *out) {
  const struct served *rows = q->ctx->catalog.rows, *refused[SIMILAR_MOST_REFUSED];
  struct ranked_row at = {-1, -1};
  int count = 0;
  while (count < SIMILAR_MOST_REFUSED && find_next(q, kin, at, &at)) {
    const struct served *row = &rows[at.row];
    bool fits, is_new = true;
    /* Equal parameters are one text of the catalog. */
    for (int i = 0; i < count && is_new; i++)
      is_new = refused[i]->parameters != row->parameters || refused[i]->template_at != row->template_at;
    if (!is_new) continue;
    halotune_status status = try_row(q, row, out, &fits);
    if (status != HALOTUNE_OK || fits) return status;
    refused[count++] = row;
  }
  *out = (struct answer){.row = NULL};
  return HALOTUNE_OK;
}

halotune_status choose_similar(const struct question *q, struct answer *out) {
  struct fail_kept before;
  float *kin = malloc(((size_t)q->ctx->catalog.stencil_count + 1) * sizeof *kin);
  *out = (struct answer){.row = NULL};
  if (!kin) return fail_memory();
  fail_keep(&before);
  halotune_status status = find_kin(q, kin);
  if (status == HALOTUNE_OK) status = walk(q, kin, out);
  if (status == HALOTUNE_OK && out->row)
    out->prediction = (struct prediction){
        similar_expected_ms(&q->ctx->catalog, out->row, q->parsed, &q->key, q->device), similar_error};
  if (status == HALOTUNE_OK) fail_put_back(&before); /* a stencil that cannot be read is no failure here */
  free(kin);
  return status;
}

double similar_expected_ms(const struct catalog *catalog, const struct served *row,
                           const struct parsed_stencil *stencil, const struct lookup_key *key,
                           const struct known_device *device) {
  const struct known_device *measured = &catalog->devices[row->device];
  const double bytes = (double)key->n[0] * key->n[1] * key->n[2] * stencil->analysis->bytes_per_point[key->dtype];
  const double speed = device->memory_gbs > 0 && measured->memory_gbs > 0 ? device->memory_gbs / measured->memory_gbs
                       : device->model == row->model                      ? 1
                                                                          : NAN;
  const double least_ms = 0.0015; /* what a launch takes at least */
  return row->bytes > 0 ? fmax(row->time_ms * bytes / (double)row->bytes / speed, isnan(speed) ? NAN : least_ms) : NAN;
}
