/* emulated_check.h: executes one variant in one scene on the emulation, and checks everything that can be wrong. */
#ifndef TUNER_VERIFY_EMULATED_CHECK_H
#define TUNER_VERIFY_EMULATED_CHECK_H

#include "base/identity/hash.h"
#include "tuner/verify/compare.h"
#include "tuner/verify/emulated_fields.h"

/* The results besides the outcomes of a compile and of an emulated run: enumerator, name. */
#define CHECK_OUTCOME_LIST(X)                                                                                 \
  X(PASSED, "passed")                                                                                         \
  X(NOT_RUN, "not_run") /* a rule excludes the variant, there is nothing to compute, or it did not compile */ \
  X(HOST, "host")       /* see emulation_outcome_name */                                                      \
  X(CHANGED_INPUT, "changed_input")                                                                           \
  X(WROTE_OUTSIDE, "wrote_outside") /* to skipped points, ghosts or padding */                                \
  X(WRONG, "wrong_result")                                                                                    \
  X(OTHER_BITS, "other_bits") /* right, but not bit-identical to other variants as required */

#define CHECK_AS_ENUMERATOR(name, text) CHECK_##name,
enum check_outcome { CHECK_OUTCOME_LIST(CHECK_AS_ENUMERATOR) };
#undef CHECK_AS_ENUMERATOR

/* The name of an outcome, such as "wrong_result"; a static string. */
const char *check_outcome_name(enum check_outcome outcome);

enum { CHECK_TEXT_BYTES = 1024 };

struct check_result {
  enum check_outcome outcome;
  /* name of the outcome, also of those of emulation.h: "wrong_result", "divergent_barrier" */
  const char *name;
  struct comparison worst;     /* errors of the output with the largest error */
  struct hash outputs;         /* hash of the bits of all outputs; 0 if the run did not get so far */
  char text[CHECK_TEXT_BYTES]; /* the error in a sentence; "" if there is none */
};

/* Execute a variant, and compare its outputs. With one launch, outputs are poisoned before the run, and every element
 * outside the box must still hold the poison, bit for bit. With several launches, all buffers start as the scene says,
 * and exchange their places. If the stencil's file allows outputs in the memory of inputs, a variant that passed with
 * one launch is launched once more with such outputs.
 *   batch, variant  the compiled source
 *   generated       its launch for the scene's domain, with as many steps as the scene says
 *   out             how it went
 * Returns HALOTUNE_OK; else the errors of emulation_run, or HALOTUNE_MEMORY. Threads: any number at once, for different
 * variants. */
halotune_status emulated_check(struct emulation_batch *batch, int variant, const struct generated *generated,
                               const struct scene *scene, struct check_order order, struct check_result *out);

#endif
