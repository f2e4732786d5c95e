/* emulation.h: generated CUDA executed on the CPU, thread by thread, to show that a kernel is right where there is no GPU, and to
 * name what is wrong with it. The system's C++ compiler compiles the source against a header of ours; a process for each
 * variant executes it, so that a kernel may crash, hang or overwrite what it likes. Times mean nothing for a GPU. */
#ifndef EMULATE_EMULATION_H
#define EMULATE_EMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "gpu/workers/compile_pool.h"
#include "tuner/emulate/emulation_buffer.h"
#include "tuner/emulate/runtime/outcome.h"
#include "tuner/emulate/runtime/protocol.h"

struct host_source {
  const char *name;           /* what messages call it: "star7_direct.cu" */
  const char *text;           /* CUDA C++, as NVRTC would get it */
  const char *const *kernels; /* their names, as in extern "C" */
  int kernel_count;
};

/* All zero is a good choice. */
struct host_options {
  bool sanitize;        /* with AddressSanitizer and UndefinedBehaviorSanitizer */
  int workers;          /* compiles at once, as parallel_threads takes it */
  int timeout_ms;       /* of one compile; 0: HOST_COMPILE_TIMEOUT_MS */
  const char *compiler; /* NULL: what $HALOTUNE_CXX names, else g++, clang++ or c++ */
  const char *folder; /* of the cache; NULL: halotune/host in $XDG_CACHE_HOME, else in ~/.cache, else a temporary one */
  uint64_t cache_bytes;           /* the most that it keeps when a batch is freed; 0: CACHE_FOLDER_MAX_BYTES */
  void (*warn)(const char *text); /* of a cache that is damaged or cannot be written; any thread; NULL: to stderr */
};

enum { HOST_COMPILE_TIMEOUT_MS = 60000 };

struct host_compile {
  enum compile_outcome outcome;
  bool cached; /* it was compiled before; the time is then that of finding it */
  double time_ms;
  const char *log; /* what the compiler said; "" where it said nothing or the variant was cached */
};

struct host_batch;

/* Compile variants, several at a time; those that were compiled before, with the same compiler and flags, are taken from the
 * cache.
 *   sources  only read during the call
 *   out      the caller's, ended with host_batch_free; NULL on failure
 * Returns HALOTUNE_OK also if variants do not compile, see host_batch_compile; HALOTUNE_NOT_FOUND where there is no C++
 * compiler; HALOTUNE_COMPILE if it does not compile even our own runner, the detail being its log; HALOTUNE_IO where
 * neither the cache nor a temporary folder can be written; HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status host_build(const struct host_source *sources, int count, const struct host_options *options,
                           struct host_batch **out);

/* How the compile of a variant went, numbered as the sources were. Valid as long as the batch. */
const struct host_compile *host_batch_compile(const struct host_batch *batch, int variant);

/* End the processes of all variants, and the batch. NULL is fine. */
void host_batch_free(struct host_batch *batch);

struct host_argument {
  enum host_argument_kind kind;
  struct host_buffer *buffer; /* of a buffer: what is passed is a pointer into it; of a texture or map: what it shows */
  size_t offset_bytes;        /* of all these: from the start of it */
  const void *bytes;          /* of bytes: the value of a scalar or a struct, */
  size_t byte_count;          /* and its size, which has to be the parameter's */
  struct host_wire_texture texture; /* of a texture: its shape; what is passed is a texture object */
  struct host_wire_tensor tensor;   /* of a tensor map: its shape; what is passed is a TensorMap */
};

struct host_launch {
  const char *kernel;
  unsigned grid[3], block[3];
  unsigned cluster[3];       /* blocks of a cluster; 0 counts as 1 */
  bool overlaps;             /* buffers fault until the kernel has waited for what precedes it */
  size_t shared_bytes;       /* dynamic shared memory of a block */
  size_t shared_limit_bytes; /* what the GPU in mind has of it; 0: HOST_SHARED_LIMIT_BYTES */
  const struct host_argument *arguments;
  int argument_count;              /* at most HOST_MAX_ARGUMENTS, with HOST_MAX_BUFFERS different buffers */
  enum host_order threads, blocks; /* who has its turn first; blocks have no random order */
  uint64_t seed;                   /* of a random order */
  int timeout_ms;                  /* of processor time; 0: HOST_RUN_TIMEOUT_MS */
};

enum {
  HOST_SHARED_LIMIT_BYTES = 227 * 1024, /* the most that any GPU gives to a block */
  HOST_RUN_TIMEOUT_MS = 10000,
};

/* Execute one launch and look at its buffers: at the canaries around them and for poison in them. What is wrong with the
 * kernel is an outcome; after any but HOST_OK the buffers hold what the kernel left there.
 *   variant  one that was compiled
 *   out      how it went
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a variant that did not compile, too many arguments or a random order of blocks;
 * HALOTUNE_IO when no process can be started. Threads: any number at once, for different variants and buffers. */
halotune_status host_run(struct host_batch *batch, int variant, const struct host_launch *launch,
                         struct host_outcome *out);

/* End the process of a variant that is not to run for now. The next run starts another one: call it when all runs of a
 * variant are done, lest every variant of a batch keep one. */
void host_rest(struct host_batch *batch, int variant);

/* The name of an outcome: "divergent_barrier". */
const char *host_outcome_name(int kind);

#endif
