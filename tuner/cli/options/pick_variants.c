/* pick_variants.c: turns options into a list of variants. */
#include "tuner/cli/options/pick_variants.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/file/grid_text.h"
#include "stencil/template/space.h"
#include "tuner/cli/options/option_set.h"
#include "tuner/cli/output/variant_text.h"

struct pick {
  const struct problem *problem;
  struct picked *out;
  bool one;    /* only one configuration: that of --set, completed with defaults */
  long sample; /* size of the sample; LONG_MAX for all */
  uint64_t seed;
};

static halotune_status picked_add(struct picked *picked, const struct template *template,
                                  const struct configuration *configurations, long count) {
  for (long i = 0; i < count; i++) {
    if (!array_room(picked->variants, picked->count, picked->room)) return fail_memory();
    picked->variants[picked->count++] = (struct verify_variant){template, configurations[i]};
  }
  return HALOTUNE_OK;
}

/* Add the one configuration, or a sample of `share` configurations that the rules keep. */
static halotune_status pick_from(const struct invocation *invocation, const struct pick *pick,
                                 const struct template *template, struct bindings *bindings, long share) {
  struct configuration configuration, *sample = NULL;
  bool fixed[MAX_PARAMETERS];
  long count = 0;
  if (pick->one) {
    halotune_status status = option_configuration(invocation, template, bindings, &configuration);
    return status == HALOTUNE_OK ? picked_add(pick->out, template, &configuration, 1) : status;
  }
  halotune_status status = option_set(invocation, template, fixed, &configuration);
  if (status == HALOTUNE_OK) status = space_sample(bindings, fixed, &configuration, share, pick->seed, &sample, &count);
  if (status == HALOTUNE_OK && count > 0) status = picked_add(pick->out, template, sample, count);
  free(sample);
  return status;
}

/* Set the detail: no variant is left.
 *   reason  why the only template has none; "" if its rules leave out all of its configurations */
static halotune_status fail_none(const struct problem *problem, const char *reason) {
  const struct stencil *stencil = problem->loaded.stencil;
  struct text grid = {0};
  if (*reason)
    return fail(HALOTUNE_ARGUMENT, "no template has a variant of %s that the options allow; %s", stencil->name, reason);
  grid_text(&problem->grid, stencil->dims, &grid);
  fail(HALOTUNE_ARGUMENT,
       "no template has a variant of %s on %s points that the options allow; 'halotune space %s' with the same options "
       "counts what each rule excludes",
       stencil->name, text_string(&grid), stencil->name);
  text_free(&grid);
  return HALOTUNE_ARGUMENT;
}

/* Give each template that applies to the problem an equal share of the rest of the sample. If there are several
 * templates, one that lacks a parameter of --set, or whose rules exclude its values, is skipped. */
static halotune_status pick_all(const struct invocation *invocation, const struct pick *pick) {
  const struct templates *templates = &pick->out->templates;
  struct bindings *bindings = calloc((size_t)templates->count + 1, sizeof *bindings);
  char reason[FAIL_TEXT_BYTES / 2] = "";
  halotune_status status = bindings ? option_set_known(invocation, templates) : fail_memory();
  int left = 0;
  for (int i = 0; i < templates->count && status == HALOTUNE_OK; i++) {
    status = problem_bindings(pick->problem, templates->list[i], &bindings[i]);
    if (status == HALOTUNE_OK) left += space_refusal(&bindings[i]) == NULL;
  }
  for (int i = 0; i < templates->count && status == HALOTUNE_OK; i++) {
    const struct rule *refusal = space_refusal(&bindings[i]);
    if (refusal && templates->count == 1)
      snprintf(reason, sizeof reason, "template %s does not apply: %s", templates->list[i]->name, refusal->otherwise);
    if (refusal || left == 0) continue;
    long share = pick->sample == LONG_MAX ? LONG_MAX : (pick->sample - pick->out->count + left - 1) / left;
    left--;
    status = pick_from(invocation, pick, templates->list[i], &bindings[i], share);
    if (status == HALOTUNE_ARGUMENT && templates->count > 1) {
      snprintf(reason, sizeof reason, "%s", fail_text());
      status = HALOTUNE_OK;
    }
  }
  for (int i = 0; bindings && i < templates->count; i++) bindings_free(&bindings[i]);
  free(bindings);
  if (status != HALOTUNE_OK || pick->out->count > 0) return status;
  return fail_none(pick->problem, reason);
}

halotune_status pick_variants(const struct invocation *invocation, const struct problem *problem, long otherwise,
                              struct picked *out) {
  struct pick pick = {.problem = problem, .out = out};
  long seed;
  *out = (struct picked){.count = 0};
  pick.one = option_value(invocation, "set") && !option_value(invocation, "sample");
  halotune_status status = option_whole(invocation, "sample", 0, 1L << 40, otherwise, &pick.sample);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "seed", 0, 1L << 62, 1, &seed);
  if (status != HALOTUNE_OK) return status;
  if (pick.sample == 0) pick.sample = LONG_MAX;
  pick.seed = (uint64_t)seed;
  if ((status = templates_open(invocation, &out->templates)) == HALOTUNE_OK) status = pick_all(invocation, &pick);
  if (status != HALOTUNE_OK) picked_free(out);
  return status;
}

void picked_free(struct picked *picked) {
  free(picked->variants);
  templates_free(&picked->templates);
  *picked = (struct picked){.count = 0};
}
