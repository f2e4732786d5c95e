/* selftest_try.h: what the files of `halotune selftest` share; private to them. */
#ifndef CLI_SELFTEST_SELFTEST_TRY_H
#define CLI_SELFTEST_SELFTEST_TRY_H

#include <signal.h>

#include "tuner/cli/options/command.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/progress.h"
#include "tuner/measure/backends/backend.h"

/* The state of the test. */
struct selftest {
  const struct invocation *invocation;
  struct compiler *compiler;
  struct backend_handle backend;
  bool as_json, fails_fast; /* fails_fast: the first failure ends the test */
  json_t *rows;
  long variant_count, failed_count;
  const volatile sig_atomic_t *stop; /* not 0: the user ends the test */
  struct progress line;
};

/* A variant while it is compiled. */
struct selftest_item {
  struct variant_spec spec;
  struct generated generated;
};

/* Whether to continue: the user may end the test, and --fail-fast ends it with the first failure. */
static inline bool selftest_goes_on(const struct selftest *s) {
  return !*s->stop && (!s->fails_fast || s->failed_count == 0);
}

/* Compile some items, and try each on the device as soon as it is compiled.
 *   scene  the problem that the backend holds */
halotune_status selftest_items(struct selftest *s, const struct scene *scene, const struct selftest_item *items,
                               long count);

/* Print a line for a problem that is done.
 *   variants_before, failed_before  the counts before the problem */
void selftest_say_done(struct selftest *s, const struct scene *scene, long variants_before, long failed_before);

/* Show on a terminal the current work for a problem.
 *   what  such as "inputs and reference" */
void selftest_tell(struct selftest *s, const struct scene_request *request, const char *what);

/* Make a scene and give it to the backend.
 *   steps         time steps of each launch
 *   coefficients  has room for all of the stencil; receives values that are not the defaults */
halotune_status selftest_scene(struct selftest *s, const struct stencil *stencil, const struct analysis *analysis,
                               enum dtype dtype, const struct domain *domain, int steps, double *coefficients,
                               enum launch_mode launch, struct scene *scene);

/* Try one stencil in its element types and on its grids.
 *   name  name of the stencil, or path of its file */
halotune_status selftest_stencil(struct selftest *s, char *name);

#endif
