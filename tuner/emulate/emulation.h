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

struct emulation_source {
  const char *name;           /* what messages call it: "star7_direct.cu" */
  const char *text;           /* CUDA C++, as NVRTC would get it */
  const char *const *kernels; /* their names, as in extern "C" */
  int kernel_count;
};

/* All zero is a good choice. */
struct emulation_options {
  bool sanitize;        /* with AddressSanitizer and UndefinedBehaviorSanitizer */
  int workers;          /* compiles at once, as parallel_threads takes it */
  int timeout_ms;       /* of one compile; 0: EMULATION_COMPILE_TIMEOUT_MS */
  const char *compiler; /* NULL: what $HALOTUNE_CXX names, else g++, clang++ or c++ */
  const char *folder; /* of the cache; NULL: halotune/host in $XDG_CACHE_HOME, else in ~/.cache, else a temporary one */
  uint64_t cache_bytes;           /* the most that it keeps when a batch is freed; 0: CACHE_FOLDER_MAX_BYTES */
  void (*warn)(const char *text); /* of a cache that is damaged or cannot be written; any thread; NULL: to stderr */
};

enum { EMULATION_COMPILE_TIMEOUT_MS = 60000 };

struct emulation_compile {
  enum compile_outcome outcome;
  bool cached; /* it was compiled before; the time is then that of finding it */
  double time_ms;
  const char *log; /* what the compiler said; "" where it said nothing or the variant was cached */
};

struct emulation_batch;

/* Compile variants, several at a time; those that were compiled before, with the same compiler and flags, are taken from the
 * cache.
 *   sources  only read during the call
 *   out      the caller's, ended with emulation_batch_free; NULL on failure
 * Returns HALOTUNE_OK also if variants do not compile, see emulation_batch_compile; HALOTUNE_NOT_FOUND where there is no C++
 * compiler; HALOTUNE_COMPILE if it does not compile even our own runner, the detail being its log; HALOTUNE_IO where
 * neither the cache nor a temporary folder can be written; HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status emulation_build(const struct emulation_source *sources, int count,
                                const struct emulation_options *options, struct emulation_batch **out);

/* How the compile of a variant went, numbered as the sources were. Valid as long as the batch. */
const struct emulation_compile *emulation_batch_compile(const struct emulation_batch *batch, int variant);

/* End the processes of all variants, and the batch. NULL is fine. */
void emulation_batch_free(struct emulation_batch *batch);

struct emulation_argument {
  enum emulation_argument_kind kind;
  struct emulation_buffer
      *buffer;         /* of a buffer: what is passed is a pointer into it; of a texture or map: what it shows */
  size_t offset_bytes; /* of all these: from the start of it */
  const void *bytes;   /* of bytes: the value of a scalar or a struct, */
  size_t byte_count;   /* and its size, which has to be the parameter's */
  struct emulation_wire_texture texture; /* of a texture: its shape; what is passed is a texture object */
  struct emulation_wire_tensor tensor;   /* of a tensor map: its shape; what is passed is a TensorMap */
};

struct emulation_launch {
  const char *kernel;
  unsigned grid[3], block[3];
  unsigned cluster[3];       /* blocks of a cluster; 0 counts as 1 */
  bool overlaps;             /* buffers fault until the kernel has waited for what precedes it */
  size_t shared_bytes;       /* dynamic shared memory of a block */
  size_t shared_limit_bytes; /* what the GPU in mind has of it; 0: EMULATION_SHARED_LIMIT_BYTES */
  const struct emulation_argument *arguments;
  int argument_count; /* at most EMULATION_MAX_ARGUMENTS, with EMULATION_MAX_BUFFERS different buffers */
  enum emulation_order threads, blocks; /* who has its turn first; blocks have no random order */
  uint64_t seed;                        /* of a random order */
  int timeout_ms;                       /* of processor time; 0: EMULATION_RUN_TIMEOUT_MS */
};

enum {
  EMULATION_SHARED_LIMIT_BYTES = 227 * 1024, /* the most that any GPU gives to a block */
  EMULATION_RUN_TIMEOUT_MS = 10000,
};

/* Execute one launch and look at its buffers: at the canaries around them and for poison in them. What is wrong with the
 * kernel is an outcome; after any but EMULATION_OK the buffers hold what the kernel left there.
 *   variant  one that was compiled
 *   out      how it went
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a variant that did not compile, too many arguments or a random order of blocks;
 * HALOTUNE_IO when no process can be started. Threads: any number at once, for different variants and buffers. */
halotune_status emulation_run(struct emulation_batch *batch, int variant, const struct emulation_launch *launch,
                              struct emulation_outcome *out);

/* End the process of a variant that is not to run for now. The next run starts another one: call it when all runs of a
 * variant are done, lest every variant of a batch keep one. */
void emulation_rest(struct emulation_batch *batch, int variant);

/* The name of an outcome: "divergent_barrier". */
const char *emulation_outcome_name(int kind);

#endif
