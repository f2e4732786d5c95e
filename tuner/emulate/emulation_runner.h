/* emulation_runner.h: the process that executes one variant. */
#ifndef EMULATE_EMULATION_RUNNER_H
#define EMULATE_EMULATION_RUNNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fail.h"
#include "tuner/emulate/runtime/counts.h"

struct emulation_runner {
  pid_t pid; /* 0: it does not run */
  int socket;
  int log; /* a file in memory that is its stderr */
};

extern const struct emulation_runner emulation_runner_none;

/* Wall-clock time that a runner has beyond ten times the processor time of a request, and that it has to end after it
 * closed its socket. Tests make it shorter. */
extern int emulation_runner_grace_ms;

/* Start a runner. It ends when it is stopped, when a kernel fails, and soon after this program ends.
 *   program  path of the runner's program
 *   object   path of the compiled variant
 *   folder   the descriptor through which these paths lead (own_folder_hold); -1: none
 *   out      unchanged on failure
 * Returns HALOTUNE_OK or HALOTUNE_IO. */
halotune_status emulation_runner_start(const char *program, const char *object, int folder,
                                       struct emulation_runner *out);

/* Let the runner execute a request, and wait for the outcome. After any outcome except EMULATION_OK the runner is
 * stopped.
 *   descriptors  of the request's buffers
 *   counts       filled after EMULATION_OK of a request that counts; else NULL
 * Returns HALOTUNE_OK, or HALOTUNE_IO if the runner cannot be reached; it is then stopped, too. */
halotune_status emulation_runner_ask(struct emulation_runner *runner, const struct emulation_request *request,
                                     const int *descriptors, struct emulation_outcome *out,
                                     struct emulation_counts *counts);

/* Stop the runner if it runs. */
void emulation_runner_stop(struct emulation_runner *runner);

#endif
