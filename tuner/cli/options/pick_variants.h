/* pick_variants.h: the variants that a command works on: the one that --set describes, or a seeded sample. */
#ifndef CLI_OPTIONS_PICK_VARIANTS_H
#define CLI_OPTIONS_PICK_VARIANTS_H

#include "tuner/cli/options/problem.h"
#include "tuner/verify/emulated_verify.h"

/* The options that pick_variants reads.
 *   otherwise  the size of the sample by default, as text: "100" */
#define PICK_OPTIONS(otherwise)                                                                                      \
  {"set", "NAME=VALUE,...",                                                                                          \
   "fix these parameters; without --sample the others take their defaults, or the nearest values that rules allow"}, \
      {"sample", "N", "number of variants, drawn evenly from each template; 0 for all; " otherwise " by default"}, { \
    "seed", "N", "random seed of the sample and the inputs; 1 by default"                                            \
  }

/* Owns the templates, too; end with picked_free. */
struct picked {
  struct templates templates;
  struct verify_variant *variants;
  long count, room;
};

/* Choose variants for a problem, sorted by the names of their templates.
 *   otherwise  size of the sample without --sample and --set
 *   out        filled on success
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for wrong options, and if no template has a variant that they allow; the
 * errors of templates_open; HALOTUNE_MEMORY. */
halotune_status pick_variants(const struct invocation *invocation, const struct problem *problem, long otherwise,
                              struct picked *out);

void picked_free(struct picked *picked);

#endif
