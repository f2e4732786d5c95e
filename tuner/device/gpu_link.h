/* gpu_link.h: the program's end of the connection to a GPU worker. It starts and kills a worker, and sends requests
 * with a deadline. Its caller decides whether another worker is started. */
#ifndef DEVICE_GPU_LINK_H
#define DEVICE_GPU_LINK_H

#include "tuner/device/gpu_worker.h"

/* How a request ended. */
enum gpu_link_end {
  GPU_LINK_ANSWERED,
  GPU_LINK_DIED, /* the worker is gone, or its reply makes no sense */
  GPU_LINK_HUNG, /* no answer in time */
};

/* End with gpu_link_close. No worker runs after any end except GPU_LINK_ANSWERED. */
struct gpu_link {
  struct spawner spawner;
  struct gpu_window *window;
  pid_t pid;      /* 0: no worker */
  int socket;     /* -1: none */
  bool has_stuck; /* a worker that was killed is not known to have ended; no other one starts */
  struct text reply;
  int last_slot;   /* the slot whose kernel may have run when the worker ended; -1: none */
  char death[128]; /* how the worker ended, as the end of a sentence: "killed by signal 9 (Killed)" */
};

/* Start the spawner, without a worker. Call it before the program starts threads.
 *   program  NULL: GPU workers; tests start other programs
 *   out      after any outcome gpu_link_close() tidies up
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status gpu_link_open(const struct spawner_program *program, struct gpu_link *out);
void gpu_link_close(struct gpu_link *link);

/* Start a worker. Returns the errors of spawner_start; HALOTUNE_IO also if an earlier worker is not known to have
 * ended: two at once would disturb each other's times. */
halotune_status gpu_link_start(struct gpu_link *link);

/* Whether there was a worker at the end of the last call. */
static inline bool gpu_link_is_up(const struct gpu_link *link) { return link->pid != 0; }

/* Kill the worker, if there is one. */
void gpu_link_stop(struct gpu_link *link);

/* Send a request, which gpu_message_end has completed, and wait for the reply.
 *   deadline_ms  for the request and the reply together
 *   reply        filled if there is an answer; valid until the next call
 * Returns how the request ended. `link->death` says how the worker ended. */
enum gpu_link_end gpu_link_call(struct gpu_link *link, const struct text *request, double deadline_ms,
                                struct gpu_reply *reply);

#endif
