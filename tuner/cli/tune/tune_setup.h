/* tune_setup.h: what a `halotune tune` needs: compiler, backend, databases, and the copy, whose speed is the roof. */
#ifndef CLI_TUNE_TUNE_SETUP_H
#define CLI_TUNE_TUNE_SETUP_H

#include "tuner/cli/options/templates.h"
#include "tuner/cli/tune/task_list.h"
#include "tuner/cli/tune/tune_backend.h"
#include "tuner/search/tune/task_phases.h"

/* Start with {0}; end with tune_setup_close. `tools` points into the struct, which must not move. */
struct tune_setup {
  struct tune_tools tools;
  struct backend_handle backend;
  struct store
      /* the database of --hints, then the installed one; if winners are equally near, that of the first database
       * counts */
      *hints[2];
  int hint_count;
  struct planned_stencil copy;     /* its pointers are NULL if no stencil `copy` is installed */
  struct templates copy_templates; /* all templates that are found, including those that --template does not name */
};

/* Open compilers and backend.
 *   workers, compile_timeout_ms  of the compilers
 * Returns HALOTUNE_OK; HALOTUNE_NO_GPU; or the errors of the functions that open them. */
halotune_status tune_setup_tools(const struct tune_backend *which, int workers, int compile_timeout_ms,
                                 struct tune_setup *out);

/* Open the databases, and find the copy. A starter database that cannot be read is reported on stderr and skipped, and
 * so is a database of --hints that takes too long to read.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for --no-hints with --hints, and for a --db that is the recording itself; or
 * the errors of store_open. */
halotune_status tune_setup_databases(const struct invocation *invocation, const struct tune_backend *which,
                                     const struct tune_options *options, struct tune_setup *out);

void tune_setup_close(struct tune_setup *setup);

#endif
