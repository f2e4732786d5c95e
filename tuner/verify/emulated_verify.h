/* emulated_verify.h: verifies many variants on the emulation, each in all scenes. */
#ifndef TUNER_VERIFY_EMULATED_VERIFY_H
#define TUNER_VERIFY_EMULATED_VERIFY_H

#include "base/identity/hash.h"
#include "tuner/verify/scenes.h"

/* The result of one variant: its first failure, or the scene with the largest error. */
struct verify_row {
  const struct template *template;
  struct configuration configuration;
  struct check_result result; /* CHECK_NOT_RUN if it did not compile (`name` says how) or its rules allow no scene */
  const char *scene;          /* the scene of that result; "" if there is none */
  int scene_count, run_count; /* scenes that the rules allow; launches in all orders */
  /* rules exclude it from every scene; false without a scene: no grid has a point to compute */
  bool is_left_out;
  bool is_not_comparable;          /* there is no scene: the reference is not finite, or has no finite error bound */
  const struct scene_set *scenes;  /* the scenes for the steps of its launches; NULL: there are none */
  struct hash outputs[MAX_SCENES]; /* hash of all outputs after the last run in each scene; 0 where there is none */
  double compile_time_ms, run_time_ms;
};

/* The progress of a verification. */
struct verify_progress {
  long done, count;      /* variants with a result, and all variants */
  int compiled, sources; /* sources of the variants that run next; both are equal while these run */
};

struct verify_request {
  const struct stencil *stencil;
  const struct analysis *analysis;
  /* scenes of this problem. Once the ending of their request has come, compilers are killed, and no further scene
   * begins */
  struct scene_sets *scenes;
  enum dtype dtype;
  struct device_limits limits;
  struct emulation_options options; /* without `ending`, `compiled` and `context`, which are set here */
  int threads;                      /* 0: one for each CPU */
  int group;         /* variants that are compiled before the first of them runs; 0: EMULATED_VERIFY_GROUP */
  bool reproducible; /* the variants form sums in the same order, so their outputs must be bit-identical */
  /* called often, from any thread but one at a time, with the context of `row`; may be NULL */
  void (*progress)(void *context, const struct verify_progress *progress);
};

enum { EMULATED_VERIFY_GROUP = 32 }; /* the default, and the most */

struct verify_variant {
  const struct template *template;
  struct configuration configuration;
};

/* Verify variants.
 *   row      called once for each variant, in their order, in the caller's thread; returning false ends the
 *            verification. After a stop it is called for those variants that are done
 *   context  passed to `row` and to `progress`
 * Returns HALOTUNE_OK whatever the results are, and also if `row` or a stop ended it; else the errors of
 * emulation_build and emulation_run. */
halotune_status emulated_verify(const struct verify_request *request, const struct verify_variant *variants, long count,
                                bool (*row)(void *context, const struct verify_row *row), void *context);

#endif
