/* emulated_check.h: one variant in one scene on the host backend: executed, and everything looked at that can be wrong. */
#ifndef TUNER_VERIFY_EMULATED_CHECK_H
#define TUNER_VERIFY_EMULATED_CHECK_H

#include "stencil/generate/generate.h"
#include "tuner/emulate/emulation.h"
#include "tuner/verify/compare.h"
#include "tuner/verify/scene.h"

/* What can come of it beside the outcomes of a compile and of a run on the host: enumerator, name. */
#define CHECK_OUTCOME_LIST(X)                                                                             \
  X(PASSED, "passed")                                                                                     \
  X(NOT_RUN, "not_run") /* a rule leaves it out, or there is nothing to compute, or it did not compile */ \
  X(HOST, "host")       /* see emulation_outcome_name */                                                  \
  X(CHANGED_INPUT, "changed_input")                                                                       \
  X(WROTE_OUTSIDE, "wrote_outside") /* of the box: skipped points, ghosts, padding */                     \
  X(WRONG, "wrong_result")                                                                                \
  X(OTHER_BITS, "other_bits") /* right, but not the same as those of other variants, where they are to be */

#define CHECK_AS_ENUMERATOR(name, text) CHECK_##name,
enum check_outcome { CHECK_OUTCOME_LIST(CHECK_AS_ENUMERATOR) };
#undef CHECK_AS_ENUMERATOR

/* "wrong_result"; a static string. */
const char *check_outcome_name(enum check_outcome outcome);

enum { CHECK_TEXT_BYTES = 1024 };

struct check_result {
  enum check_outcome outcome;
  const char *name;            /* of the outcome, whoever gives it: "wrong_result", "divergent_barrier" */
  struct comparison worst;     /* of all outputs, the one with the largest error */
  struct hash outputs;         /* the bits of all outputs; 0 where the run did not come so far */
  char text[CHECK_TEXT_BYTES]; /* what is wrong, as a person would say it; "" if nothing is */
};

struct check_order {
  enum emulation_order threads, blocks;
  uint64_t seed;
};

/* Execute a variant and compare. With one step, outputs are poisoned before, and every element that is not in the box must
 * still hold the poison, bit for bit; with several, all buffers start as the scene says and change places.
 *   batch, variant  the compiled source
 *   generated       its launch, for the scene's domain
 *   out             how it went
 * Returns HALOTUNE_OK; else what emulation_run returns, or HALOTUNE_MEMORY. Threads: any number at once, for different variants. */
halotune_status emulated_check(struct emulation_batch *batch, int variant, const struct generated *generated,
                               const struct scene *scene, struct check_order order, struct check_result *out);

#endif
