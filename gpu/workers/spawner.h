/* spawner.h: a process that makes processes.
 *
 * It is forked while the program has one thread and no GPU, and it forks every worker, also those that replace a dead
 * one hours later. So no worker is ever forked from a program with threads, where a lock that another thread held at
 * that moment would stay locked in the child for ever, nor with a GPU context, which the child would keep alive. */
#ifndef GPU_WORKERS_SPAWNER_H
#define GPU_WORKERS_SPAWNER_H

#include <sys/types.h>

#include "base/fail.h"
#include "base/text.h"

/* What the spawner runs. Both get `state` as it was when spawner_open was called. */
struct spawner_program {
  const char *name;     /* what messages call a worker: "compile worker" */
  const char *prepares; /* what prepare does, as in "while it ...": "loaded NVRTC" */
  /* Once, in the spawner: load what all workers use. Appends facts for spawner_open's caller, or fails. NULL: nothing. */
  halotune_status (*prepare)(void *state, struct text *facts);
  /* In each worker: serve until the other end of the socket closes. The worker ends when it returns. */
  void (*serve)(void *state, int socket);
  void *state;
};

struct spawner {
  int socket; /* to the spawner's process; -1: none */
  pid_t pid;
  const char *name; /* the program's */
};

/* Start the spawner and wait until it is prepared.
 *   facts  receives what prepare appended
 *   out    after any outcome spawner_close() tidies up
 * Returns HALOTUNE_OK, what prepare returned (the detail is its own), or HALOTUNE_IO.
 * Threads: call it before the program has others. The spawner and its workers die with the thread that opened it.
 * Signals: workers ignore those of a terminal (Ctrl-C), because it is for the program to decide. */
halotune_status spawner_open(const struct spawner_program *program, struct text *facts, struct spawner *out);

/* Start a worker.
 *   pid     receives its process, to be ended by spawner_stop
 *   socket  receives the other end of its socket, the caller's
 * Returns HALOTUNE_OK or HALOTUNE_IO (no more processes or files, or the spawner is gone). */
halotune_status spawner_start(struct spawner *spawner, pid_t *pid, int *socket);

/* Kill a worker, unless it is dead already, and wait for its end. Returns its wait status (see waitpid), 0 if unknown.
 */
int spawner_stop(struct spawner *spawner, pid_t pid);

/* End the spawner. Its workers have to be stopped before; any left die with it. */
void spawner_close(struct spawner *spawner);

#endif
