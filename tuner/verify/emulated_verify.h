/* emulated_verify.h: many variants, each proven in all scenes on the host backend. */
#ifndef TUNER_VERIFY_EMULATED_VERIFY_H
#define TUNER_VERIFY_EMULATED_VERIFY_H

#include "tuner/verify/scenes.h"

/* What came of one variant: of its first failure, or of the scene with the largest error. */
struct verify_row {
  const struct template *template;
  struct configuration configuration;
  struct check_result result; /* CHECK_NOT_RUN where it did not compile (`name` says how) or no scene keeps its rules */
  const char *scene;          /* the scene of that result; "" if there is none */
  int scene_count, run_count; /* in how many scenes the rules keep it; launches, all orders and steps counted */
  struct hash outputs[MAX_SCENES]; /* the bits of all outputs after the last run in each scene; 0 where there is none */
  double compile_time_ms, run_time_ms;
};

struct verify_request {
  const struct stencil *stencil;
  const struct analysis *analysis;
  const struct scenes *scenes;
  enum dtype dtype;
  struct device_limits limits;
  struct emulation_options options;
  int threads;       /* 0 for one a CPU */
  bool reproducible; /* variants of one order of summation, whose outputs are compared bit for bit, too */
};

struct verify_variant {
  const struct template *template;
  struct configuration configuration;
};

/* Verify variants.
 *   row      called once for each, in their order, from the caller's thread; false ends it early
 *   context  passed on
 * Returns HALOTUNE_OK whatever comes of the variants, also when `row` ended it; else what emulation_build and emulation_run return. */
halotune_status emulated_verify(const struct verify_request *request, const struct verify_variant *variants, long count,
                                bool (*row)(void *context, const struct verify_row *row), void *context);

#endif
