/* emulation_runner.h: the process that executes one variant. */
#ifndef EMULATE_EMULATION_RUNNER_H
#define EMULATE_EMULATION_RUNNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fail.h"
#include "tuner/emulate/runtime/protocol.h"

struct emulation_runner {
  pid_t pid; /* 0: it does not run */
  int socket;
  int log; /* a file in memory that is its stderr */
};

extern const struct emulation_runner emulation_runner_none;

/* Start one. It ends when it is stopped, when a kernel goes wrong, and soon after this program does.
 *   program  the runner's file
 *   object   the variant's
 *   out      untouched on failure
 * Returns HALOTUNE_OK or HALOTUNE_IO. */
halotune_status emulation_runner_start(const char *program, const char *object, struct emulation_runner *out);

/* Let it execute a request and wait for the outcome. After any but EMULATION_OK it is stopped.
 *   descriptors  of the request's buffers
 * Returns HALOTUNE_OK; HALOTUNE_IO when it cannot be reached, and it is stopped then, too. */
halotune_status emulation_runner_ask(struct emulation_runner *runner, const struct emulation_request *request,
                                     const int *descriptors, struct emulation_outcome *out);

/* End it, if it runs. */
void emulation_runner_stop(struct emulation_runner *runner);

#endif
