/* parsed_stencil.c: parses and analyses a stencil. */
#include "library/lookup/parsed_stencil.h"

#include <stdlib.h>

static halotune_status list_coefficients(struct parsed_stencil *parsed) {
  const struct stencil *stencil = parsed->stencil;
  parsed->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *parsed->coefficients);
  if (!parsed->coefficients) return fail_memory();
  for (int i = 0; i < stencil->coefficient_count; i++) parsed->coefficients[i] = stencil->coefficients[i].name;
  return HALOTUNE_OK;
}

halotune_status parsed_stencil_make(const struct source *source, struct parsed_stencil **out) {
  struct parsed_stencil *parsed = calloc(1, sizeof *parsed);
  *out = NULL;
  halotune_status status = parsed ? stencil_parse(source, &parsed->stencil) : fail_memory();
  if (status == HALOTUNE_OK) status = analysis_make(parsed->stencil, &parsed->analysis);
  if (status == HALOTUNE_OK) status = list_coefficients(parsed);
  if (status != HALOTUNE_OK) {
    parsed_stencil_free(parsed);
    return status;
  }
  facts_fill_stencil(parsed->stencil, parsed->analysis, parsed->facts);
  parsed->is_basic = parsed->stencil->has_basic_fields && parsed->facts[FACT_uses_axes] == 0 &&
                     analysis_is_plain(parsed->analysis, parsed->stencil);
  *out = parsed;
  return HALOTUNE_OK;
}

void parsed_stencil_free(struct parsed_stencil *parsed) {
  if (!parsed) return;
  free(parsed->coefficients);
  analysis_free(parsed->analysis);
  stencil_free(parsed->stencil);
  free(parsed);
}
