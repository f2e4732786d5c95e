/* gpu_worker.h: the process that owns the GPU's context, and the messages between it and the program.
 *
 * A message is its length in 8 bytes, then that many bytes. A request holds a number of enum gpu_request, followed by
 * the values that its row lists. A reply is a struct gpu_reply and a payload. Fields and cubins of any size are sent in
 * parts through a window, which is memory that both processes share. It is mapped before either process starts, has no
 * name and no descriptor, and disappears with the processes, however they end. */
#ifndef DEVICE_GPU_WORKER_H
#define DEVICE_GPU_WORKER_H

#include "base/files/pack.h"
#include "gpu/workers/spawner.h"
#include "tuner/device/gpu_energy.h"

enum { GPU_MESSAGE_HEAD_BYTES = 8, GPU_MESSAGE_MOST_BYTES = 1 << 20, GPU_WINDOW_BYTES = 64 << 20 };

/* The requests, their contents, and the payloads of their replies. A number is a u64, a structure its bytes. */
#define GPU_REQUEST_LIST(X)                                                                                            \
  X(OPEN)        /* ordinal -> struct gpu_opened */                                                                    \
  X(CUBIN)       /* offset, bytes; they are in the window: a part of the cubin of the next PREPARE or LOAD */          \
  X(PREPARE)     /* bytes of the cubin, that of gpu_check_source */                                                    \
  X(PROBLEM)     /* struct gpu_problem */                                                                              \
  X(UPLOAD)      /* enum gpu_upload, number, offset in bytes, bytes; they are in the window */                         \
  X(MAKE_FIELDS) /* struct gpu_recipe -> struct gpu_made */                                                            \
  X(DOWNLOAD)    /* enum gpu_upload, number, offset in bytes, bytes; they come into the window */                      \
  X(LOAD)       /* slot, is_roof, verify, kernel_plan, gpu_results, bytes of the cubin -> gpu_look_back if verified */ \
  X(UNLOAD)     /* slot */                                                                                             \
  X(SAMPLE)     /* rounds, warm, checks, count, slot and batch of each -> times; with checks, gpu_results of each */   \
  X(RECHECK)    /* slot -> two of struct gpu_look_back: as it was found, and after another run */                      \
  X(VERIFY_ALL) /* slot -> struct gpu_look_back: outputs are compared at all points */                                 \
  X(KEEP_WARM)  /* milliseconds, a double */                                                                           \
  X(ENERGY) /* slot, ms of an application, least ms, least changes -> struct gpu_energy; NVML is opened at the first */

#define GPU_REQUEST_AS_ENUMERATOR(name) GPU_REQUEST_##name,
enum gpu_request { GPU_REQUEST_LIST(GPU_REQUEST_AS_ENUMERATOR) GPU_REQUEST_COUNT };
#undef GPU_REQUEST_AS_ENUMERATOR

/* What the worker found when it opened the GPU. */
struct gpu_opened {
  struct device_facts device;
  int cuda; /* 13000 for CUDA 13.0 */
  char pci_bus_id[32];
};

struct gpu_window {
  volatile int
      slot; /* the slot whose kernel may be running, to name a kernel that hangs or kills its process; -1: none */
  char bytes[GPU_WINDOW_BYTES] __attribute__((aligned(4096)));
};

/* When the parts of a request ended, by clock_ms(). LOADED is the end of the first part of requests that have two: the
 * load before the verification, and the inspection before the recheck. A mark that does not apply equals the mark
 * before it. */
enum gpu_mark { GPU_MARK_BEGIN, GPU_MARK_LOADED, GPU_MARK_RAN, GPU_MARK_END, GPU_MARK_COUNT };

/* How a request ended. */
struct gpu_reply {
  halotune_status status;
  const char *detail;   /* if the status is not HALOTUNE_OK */
  enum outcome outcome; /* for HALOTUNE_NO_GPU: what the failure says about the variant */
  int slot;             /* for SAMPLE: the slot that failed */
  bool is_lost;         /* the worker must be replaced */
  const char *payload;
  size_t payload_bytes;
  double marks_ms[GPU_MARK_COUNT];
};

/* The spawner's program for GPU workers.
 *   window  shared memory, mapped before the spawner is opened; must live as long as the spawner */
struct spawner_program gpu_worker_program(struct gpu_window *window);

/* Begin a request, and complete it. The values that are packed between these calls are its content. */
void gpu_request_begin(struct text *out, enum gpu_request request);
void gpu_message_end(struct text *out);

/* Read the body of a reply. Pointers in `out` point into the body. Returns false for a body that no worker writes. */
bool gpu_reply_read(const char *body, size_t length, struct gpu_reply *out);

#endif
