/* selftest_try.h: what the files of `halotune selftest` share. */
#ifndef CLI_SELFTEST_SELFTEST_TRY_H
#define CLI_SELFTEST_SELFTEST_TRY_H

#include "tuner/cli/options/command.h"
#include "tuner/cli/output/output.h"
#include "tuner/measure/backends/backend.h"

/* The test at work. */
struct selftest {
  const struct invocation *invocation;
  struct compiler *compiler;
  struct backend_handle backend;
  bool as_json, fails_fast; /* fails_fast: the first failure ends it */
  json_t *rows;
  long variant_count, failed_count;
};

/* A variant on its way through the compiler. */
struct selftest_item {
  struct variant_spec spec;
  struct generated generated;
};

/* Whether there is more to try. */
static inline bool selftest_goes_on(const struct selftest *s) { return !s->fails_fast || s->failed_count == 0; }

/* Compile some items, and try each on the device in the order in which the compiles end; tell what came of it.
 *   scene  the backend's problem */
halotune_status selftest_items(struct selftest *s, const struct scene *scene, const struct selftest_item *items,
                               long count);

/* A line for a problem that is done, with what was counted since. */
void selftest_say_done(const struct selftest *s, const struct scene *scene, long variants_before, long failed_before);

/* A scene with coefficients that are not the defaults, on the backend.
 *   coefficients  of which there is room for all; receives them */
halotune_status selftest_scene(struct selftest *s, const struct stencil *stencil, const struct analysis *analysis,
                               enum dtype dtype, const struct domain *domain, double *coefficients,
                               enum launch_mode launch, struct scene *scene);

/* One stencil, in its types and on its grids.
 *   name  of the stencil or its file */
halotune_status selftest_stencil(struct selftest *s, char *name);

#endif
