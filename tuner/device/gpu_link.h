/* gpu_link.h: the program's end of a GPU worker: started, asked with a deadline, killed, started again. */
#ifndef DEVICE_GPU_LINK_H
#define DEVICE_GPU_LINK_H

#include "tuner/device/gpu_worker.h"

/* How a request ended for the worker. */
enum gpu_link_end {
  GPU_LINK_ANSWERED,
  GPU_LINK_DIED, /* it is gone, or what it said makes no sense */
  GPU_LINK_HUNG, /* no answer in time */
};

/* End with gpu_link_close. After any end but an answer no worker runs. */
struct gpu_link {
  struct spawner spawner;
  struct gpu_window *window;
  pid_t pid;  /* 0: no worker */
  int socket; /* -1: none */
  struct text reply;
  int last_slot;   /* whose kernel may have run when the worker ended; -1: none */
  char death[128]; /* how it ended, as a sentence's end: "killed by signal 9 (Killed)" */
};

/* Start the spawner; no worker yet. Call it before the program has threads.
 *   program  NULL: GPU workers; tests start others
 *   out      after any outcome gpu_link_close() tidies up
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status gpu_link_open(const struct spawner_program *program, struct gpu_link *out);
void gpu_link_close(struct gpu_link *link);

halotune_status gpu_link_start(struct gpu_link *link);

/* Whether there is a worker, as far as the last call saw. */
static inline bool gpu_link_is_up(const struct gpu_link *link) { return link->pid != 0; }

/* Kill the worker, if there is one. */
void gpu_link_stop(struct gpu_link *link);

/* Send a request, complete with gpu_message_end, and wait for the reply.
 *   deadline_ms  for all of it
 *   reply        filled where it was answered; valid until the next call
 * Returns how it ended; `link->death` tells what came of the worker. */
enum gpu_link_end gpu_link_call(struct gpu_link *link, const struct text *request, double deadline_ms,
                                struct gpu_reply *reply);

#endif
