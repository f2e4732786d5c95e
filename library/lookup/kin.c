/* kin.c: compares a stencil with all stencils of the databases once. */
#include "library/lookup/kin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "library/lookup/similar.h"

/* Find what rows of each stencil add to the error. A stencil that this program cannot read, or has no time to read,
 * says nothing: its error is NAN, whether or not another question has read it. */
static halotune_status find_errors(const struct question *q, struct kin *kin) {
  const struct catalog *catalog = &q->ctx->catalog;
  struct fail_kept before;
  kin->errors = malloc(((size_t)catalog->stencil_count + 1) * sizeof *kin->errors);
  if (!kin->errors) return fail_memory();
  fail_keep(&before);
  for (int i = 0; i < catalog->stencil_count; i++) {
    const struct parsed_stencil *other;
    kin->errors[i] = i == q->key.stencil ? 0 : NAN;
    if (i == q->key.stencil || !catalog->stencils[i].is_kin) continue;
    /* a name that disputes verdicts of other names has its rows for itself */
    if (strcmp(catalog->stencils[i].hash, catalog->stencils[q->key.text_of].hash) == 0) continue;
    if (context_is_over(q->ctx)) continue;
    halotune_status status = context_stencil(q->ctx, i, &other);
    if (status != HALOTUNE_OK && status != HALOTUNE_PARSE) return status;
    if (status == HALOTUNE_OK) kin->errors[i] = similar_error(similar_distance(q->parsed, other));
  }
  fail_put_back(&before);
  return HALOTUNE_OK;
}

/* List the families of stencils that say something. */
static halotune_status list_families(const struct question *q, struct kin *kin) {
  const struct lookup_table *table = &q->ctx->table;
  kin->families = malloc(((size_t)table->family_count + 1) * sizeof *kin->families);
  if (!kin->families) return fail_memory();
  for (int i = 0; i < table->family_count; i++) {
    if (isfinite(kin->errors[table->families[i].stencil])) kin->families[kin->family_count++] = i;
  }
  return HALOTUNE_OK;
}

/* What find_errors() has read of a stencil; NULL: it cannot be read. The question's own one may have been added by
 * another name. */
static const struct parsed_stencil *parsed_of(const struct question *q, int stencil) {
  if (stencil == q->key.stencil) return q->parsed;
  return atomic_load_explicit(&q->ctx->catalog.stencils[stencil].parsed, memory_order_acquire);
}

/* Find the stencils whose rows say how well a template finds the images of the question's stencil, and the templates
 * that have such rows. Rows of a stencil whose taps lie on the axes say nothing of images at corners. */
static halotune_status find_images(const struct question *q, struct kin *kin) {
  const struct catalog *catalog = &q->ctx->catalog;
  const bool is_on_axes = analysis_taps_on_axes(q->parsed->analysis);
  if (!similar_has_images(q->parsed)) return HALOTUNE_OK;
  kin->has_images = calloc((size_t)catalog->stencil_count + 1, sizeof *kin->has_images);
  for (int i = 0; i < 2; i++)
    kin->finds_images[i] = calloc((size_t)catalog->template_count + 1, sizeof *kin->finds_images[i]);
  if (!kin->has_images || !kin->finds_images[0] || !kin->finds_images[1]) return fail_memory();
  for (int i = 0; i < catalog->stencil_count; i++) {
    const struct parsed_stencil *other = isnan(kin->errors[i]) ? NULL : parsed_of(q, i);
    kin->has_images[i] = other && similar_has_images(other) &&
                         (is_on_axes || i == q->key.stencil || !analysis_taps_on_axes(other->analysis));
  }
  for (int i = 0; i < catalog->row_count; i++) {
    const struct served *row = &catalog->rows[i];
    bool *finds_images = kin->finds_images[catalog->devices[row->model].is_emulation];
    if (kin->has_images[row->stencil]) finds_images[catalog->templates[row->template_at].same_name] = true;
  }
  return HALOTUNE_OK;
}

/* If several threads make the kin of a stencil at the same time, the results are equal, and the first one is kept. */
halotune_status kin_of_question(const struct question *q, const struct kin **out) {
  _Atomic(struct kin *) *kept = &q->ctx->catalog.stencils[q->key.text_of].kin;
  struct kin *kin = atomic_load_explicit(kept, memory_order_acquire), *none = NULL;
  halotune_status status = HALOTUNE_OK;
  *out = kin;
  if (kin) return HALOTUNE_OK;
  kin = calloc(1, sizeof *kin);
  if (!kin) return fail_memory();
  status = find_errors(q, kin);
  if (status == HALOTUNE_OK) status = list_families(q, kin);
  if (status == HALOTUNE_OK) status = find_images(q, kin);
  if (status == HALOTUNE_OK && atomic_compare_exchange_strong(kept, &none, kin)) {
    *out = kin;
    return HALOTUNE_OK;
  }
  kin_free(kin);
  *out = none;
  return status;
}
