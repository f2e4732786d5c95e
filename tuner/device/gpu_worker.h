/* gpu_worker.h: the process that owns the GPU's context, and the messages between it and the program.
 *
 * A message is its length in 8 bytes and then that many. A request is a number of enum gpu_request, then what its
 * row says; a reply is struct gpu_reply and a payload. Fields and cubins cross through a window, memory that both
 * processes share: part by part, so that they may have any size. It was mapped before either process began, has no name
 * and no descriptor, and goes with them, however they end. */
#ifndef DEVICE_GPU_WORKER_H
#define DEVICE_GPU_WORKER_H

#include "base/pack.h"
#include "gpu/workers/spawner.h"
#include "tuner/device/gpu_session.h"

enum { GPU_MESSAGE_HEAD_BYTES = 8, GPU_MESSAGE_MOST_BYTES = 1 << 20, GPU_WINDOW_BYTES = 64 << 20 };

/* Request, what it carries, and the reply's payload; a number is a u64, a structure its bytes. */
#define GPU_REQUEST_LIST(X)                                                                                            \
  X(OPEN)      /* ordinal -> struct gpu_opened */                                                                      \
  X(CUBIN)     /* offset, bytes; they are in the window: a part of the cubin of the next PREPARE or LOAD */            \
  X(PREPARE)   /* bytes of the cubin, that of gpu_check_source */                                                      \
  X(PROBLEM)   /* struct gpu_problem */                                                                                \
  X(UPLOAD)    /* enum gpu_upload, number, offset in bytes, bytes; they are in the window */                           \
  X(LOAD)      /* slot, is_roof, verify, struct kernel_plan, bytes of the cubin -> struct gpu_look_back if verified */ \
  X(UNLOAD)    /* slot */                                                                                              \
  X(SAMPLE)    /* rounds, warm, count, slot and batch of each -> times as doubles, up to a failure if there is one */  \
  X(RECHECK)   /* slot -> two of struct gpu_look_back: as it was found, and after another run */                       \
  X(KEEP_WARM) /* milliseconds, a double */

#define GPU_REQUEST_AS_ENUMERATOR(name) GPU_REQUEST_##name,
enum gpu_request { GPU_REQUEST_LIST(GPU_REQUEST_AS_ENUMERATOR) GPU_REQUEST_COUNT };
#undef GPU_REQUEST_AS_ENUMERATOR

/* What the worker found when it opened the GPU. */
struct gpu_opened {
  struct device_facts device;
  int cuda; /* 13000 */
  char pci_bus_id[32];
};

struct gpu_window {
  volatile int
      slot; /* whose kernel may be running, so that one that never ends or kills its process has a name; -1: none */
  char bytes[GPU_WINDOW_BYTES] __attribute__((aligned(4096)));
};

/* How a request ended. */
struct gpu_reply {
  halotune_status status;
  const char *detail;   /* where the status is not HALOTUNE_OK */
  enum outcome outcome; /* of HALOTUNE_NO_GPU: what that says about the variant */
  int slot;             /* of SAMPLE: the one that failed */
  bool is_lost;         /* the worker has to be replaced */
  const char *payload;
  size_t payload_bytes;
};

/* A worker of the spawner.
 *   window  shared memory, mapped before the spawner is opened; must live as long as the spawner */
struct spawner_program gpu_worker_program(struct gpu_window *window);

/* Begin a request, and complete it: what is packed between them is its content. */
void gpu_request_begin(struct text *out, enum gpu_request request);
void gpu_message_end(struct text *out);

/* Read the body of a reply. What `out` points to lies in the body. Returns false for one that no worker writes. */
bool gpu_reply_read(const char *body, size_t length, struct gpu_reply *out);

#endif
