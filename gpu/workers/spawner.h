/* spawner.h: a process that starts worker processes.
 *
 * It is forked while the program has one thread and no GPU, and it forks every worker, including replacements for dead
 * workers hours later. A program with threads or a GPU context must not fork workers itself: a lock that another thread
 * holds during the fork would stay locked in the child for ever, and the child would keep the GPU context alive. */
#ifndef GPU_WORKERS_SPAWNER_H
#define GPU_WORKERS_SPAWNER_H

#include <sys/types.h>

#include "base/fail.h"
#include "base/text/text.h"

/* What the spawner runs. Both functions get `state` as it was when spawner_open was called. */
struct spawner_program {
  const char *name;     /* the name of a worker in messages: "compile worker" */
  const char *prepares; /* what prepare does, for messages with "while it ...": "loaded NVRTC" */
  /* Called once in the spawner: load what all workers use. It appends facts for the caller of spawner_open, or fails.
   * NULL: there is nothing to prepare. */
  halotune_status (*prepare)(void *state, struct text *facts);
  /* Called in each worker: serve until the other end of the socket closes. The worker ends when it returns. */
  void (*serve)(void *state, int socket);
  void *state;
  size_t memory_bytes; /* that a worker may have besides what it has at its start; 0: no limit */
  int answer_ms;       /* the longest wait for the spawner to be prepared, or to start a worker; 0: SPAWNER_ANSWER_MS */
  int end_ms;          /* the longest wait for the end of a worker that was killed; 0: SPAWNER_END_MS */
};

/* A worker's end may take longer, because the driver gives back all that it held. */
enum { SPAWNER_ANSWER_MS = 120000, SPAWNER_END_MS = 600000 };

struct spawner {
  int socket; /* socket to the spawner's process; -1: none */
  pid_t pid;
  const char *name; /* from the spawner_program */
  int answer_ms;    /* likewise */
  int end_ms;       /* likewise */
  char loss[96];    /* how the spawner was lost, as the end of a sentence: "was killed by signal 9 (Killed)" */
};

/* Start the spawner and wait until it is prepared. A spawner that does not answer in time is killed.
 *   facts  receives what prepare appended
 *   out    after any outcome spawner_close() tidies up
 * Returns HALOTUNE_OK, what prepare returned (with its detail), or HALOTUNE_IO.
 * Threads: call it before the program starts others. The spawner and its workers die with the thread that opened it.
 * Signals: workers ignore those of a terminal (Ctrl-C), because the program decides when they end. */
halotune_status spawner_open(const struct spawner_program *program, struct text *facts, struct spawner *out);

/* Start a worker.
 *   pid     receives its process, which spawner_stop ends
 *   socket  receives the program's end of the worker's socket, which the caller closes
 * Returns HALOTUNE_OK, or HALOTUNE_IO if there are too many processes or files, or if the spawner is gone
 * or silent. A silent one is killed, and all its workers with it. */
halotune_status spawner_start(struct spawner *spawner, pid_t *pid, int *socket);

/* Kill a worker if it still runs, and wait for its end.
 * Returns its wait status (see waitpid); PROCESS_NOT_ENDED of process.h if it has not ended in the spawner's
 * end_ms, or if the spawner is gone or silent. */
int spawner_stop(struct spawner *spawner, pid_t pid);

/* End the spawner. Stop its workers first; workers that are left die with it. */
void spawner_close(struct spawner *spawner);

#endif
