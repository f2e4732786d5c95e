/* pick_variants.h: which variants a command works on: one that the user spelled out, or a seeded sample of what the rules keep. */
#ifndef CLI_OPTIONS_PICK_VARIANTS_H
#define CLI_OPTIONS_PICK_VARIANTS_H

#include "tuner/cli/options/problem.h"
#include "tuner/verify/emulated_verify.h"

/* The options that pick_variants reads. */
#define PICK_OPTIONS                                                                                                 \
  {"set", "NAME=VALUE,...", "fix parameters; without --sample the others take their defaults, or what rules allow"}, \
      {"sample", "N", "so many variants, drawn evenly from each template; 0 for all"}, {                             \
    "seed", "N", "of the sample and the inputs, 1 by default"                                                        \
  }

/* Owns the templates, too; end with picked_free. */
struct picked {
  struct templates templates;
  struct verify_variant *variants;
  long count;
};

/* Choose variants for a problem, by template in order of the templates' names.
 *   otherwise  the size of the sample where neither --sample nor --set is given
 *   out        filled on success
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for options that make no sense, and where one variant was asked for that a rule
 * leaves out; what templates_open returns; HALOTUNE_MEMORY. */
halotune_status pick_variants(const struct invocation *invocation, const struct problem *problem, long otherwise,
                              struct picked *out);

void picked_free(struct picked *picked);

#endif
