/* pick.c: from options to a list of variants. */
#include "tuner/cli/pick.h"

#include <stdlib.h>

#include "base/array.h"

static halotune_status add(struct picked *picked, int *capacity, const struct template *template,
                           const struct configuration *configuration) {
  struct verify_variant *variants = array_grow(picked->variants, (int)picked->count, capacity, sizeof *variants);
  if (!variants) return fail_memory();
  picked->variants = variants;
  variants[picked->count++] = (struct verify_variant){template, *configuration};
  return HALOTUNE_OK;
}

halotune_status pick_variants(const struct invocation *invocation, const struct problem *problem, long otherwise,
                              struct picked *out) {
  int capacity = 0;
  (void)problem, (void)otherwise;
  *out = (struct picked){.count = 0};
  halotune_status status = templates_open(invocation, &out->templates);
  for (int i = 0; i < out->templates.count && status == HALOTUNE_OK; i++) {
    struct configuration configuration;
    status = option_configuration(invocation, out->templates.list[i], &configuration);
    if (status == HALOTUNE_OK) status = add(out, &capacity, out->templates.list[i], &configuration);
  }
  if (status != HALOTUNE_OK) picked_free(out);
  return status;
}

void picked_free(struct picked *picked) {
  free(picked->variants);
  templates_free(&picked->templates);
  *picked = (struct picked){.count = 0};
}
