/* emulation.h: executes generated CUDA on the CPU, thread by thread. It shows without a GPU that a kernel is right, or
 * says what is wrong with it. The system's C++ compiler compiles the source with our header cuda_and_ptx_on_cpu.h. Each
 * variant is executed by a process of its own, so a kernel may crash, hang or overwrite any memory. Its times say
 * nothing about a GPU. */
#ifndef EMULATE_EMULATION_H
#define EMULATE_EMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/system/ending.h"
#include "gpu/workers/compile_pool.h"
#include "tuner/emulate/emulation_buffer.h"
#include "tuner/emulate/runtime/counts.h"
#include "tuner/emulate/runtime/outcome.h"
#include "tuner/emulate/runtime/protocol.h"

struct emulation_source {
  const char *name;           /* its name in messages: "star7_direct.cu" */
  const char *text;           /* CUDA C++, the same that NVRTC gets */
  const char *const *kernels; /* the names of its kernels, which are extern "C" */
  int kernel_count;
};

/* Zeros choose the defaults. */
struct emulation_options {
  bool sanitize;        /* use AddressSanitizer and UndefinedBehaviorSanitizer */
  bool counts;          /* compile for emulation_count: with -O2, and a call before each access */
  int workers;          /* compiles at the same time, see parallel_threads */
  int timeout_ms;       /* the limit of one compile; 0: EMULATION_COMPILE_TIMEOUT_MS */
  const char *compiler; /* NULL: the one that $HALOTUNE_CXX names, else g++, clang++ or c++ */
  /* folder of the cache; NULL: halotune/host in $XDG_CACHE_HOME, else in ~/.cache, else a temporary one */
  const char *folder;
  uint64_t cache_bytes; /* the size to which a freed batch trims the cache; 0: CACHE_FOLDER_MAX_BYTES */
  /* called in any thread for a damaged cache or one that cannot be written; NULL: write to stderr */
  void (*warn)(const char *text);
  struct ending ending; /* once it has come, the compilers are killed, and no further compile begins */
  /* called after each compile with the number of them, by one thread at a time; may be NULL */
  void (*compiled)(void *context, int done);
  void *context; /* context of `compiled` */
};

enum { EMULATION_COMPILE_TIMEOUT_MS = 600000 };

struct emulation_compile {
  enum compile_outcome outcome;
  bool cached; /* it came from the cache; time_ms is then the time to find it */
  double time_ms;
  const char *log; /* the compiler's messages; "" if there were none or the variant was cached */
};

struct emulation_batch;

/* Compile variants, several at a time. Variants that were compiled before with the same compiler and flags come from
 * the cache.
 *   sources  only read during the call
 *   out      the caller ends it with emulation_batch_free; NULL on failure
 * Returns HALOTUNE_OK, also if variants do not compile (see emulation_batch_compile); HALOTUNE_NOT_FOUND if there is no
 * C++ compiler; HALOTUNE_COMPILE if it cannot compile our own runner, with its log as detail; HALOTUNE_CANCELLED once
 * the ending has come; HALOTUNE_IO if neither the cache nor a temporary folder can be written; HALOTUNE_MEMORY.
 * Threads: any number at once. */
halotune_status emulation_build(const struct emulation_source *sources, int count,
                                const struct emulation_options *options, struct emulation_batch **out);

/* How the compile of a variant went. Variants are numbered like the sources. Valid as long as the batch. */
const struct emulation_compile *emulation_batch_compile(const struct emulation_batch *batch, int variant);

/* End the processes of all variants and free the batch. NULL is allowed. */
void emulation_batch_free(struct emulation_batch *batch);

struct emulation_argument {
  enum emulation_argument_kind kind;
  struct emulation_buffer *buffer; /* a buffer, into which the kernel gets a pointer, or the data of a texture or map */
  size_t offset_bytes;             /* for all of these: offset from the buffer's start */
  const void *bytes;               /* for bytes: the value of a scalar or struct */
  size_t byte_count;               /* its size, which must be that of the parameter */
  struct emulation_wire_texture texture; /* for a texture: its shape; the kernel gets a texture object */
  struct emulation_wire_tensor tensor;   /* for a tensor map: its shape; the kernel gets a TensorMap */
};

struct emulation_launch {
  const char *kernel;
  unsigned grid[3], block[3];
  unsigned cluster[3];       /* blocks of a cluster; 0 counts as 1 */
  bool overlaps;             /* accesses to buffers fault until the kernel has waited for the work before it */
  bool cooperative;          /* all blocks are live at the same time */
  size_t shared_bytes;       /* dynamic shared memory of a block */
  size_t shared_limit_bytes; /* the limit of the simulated GPU; 0: EMULATION_SHARED_LIMIT_BYTES */
  const struct emulation_argument *arguments;
  int argument_count; /* at most EMULATION_MAX_ARGUMENTS, with EMULATION_MAX_BUFFERS different buffers */
  /* the orders in which threads and blocks take turns; blocks have no random order */
  enum emulation_order threads, blocks;
  uint64_t seed;  /* seed of a random order */
  int timeout_ms; /* limit of processor time; 0: EMULATION_RUN_TIMEOUT_MS */
};

enum {
  EMULATION_SHARED_LIMIT_BYTES = 227 * 1024, /* the most that any GPU gives to a block */
  EMULATION_RUN_TIMEOUT_MS = 10000,
};

/* Execute one launch. Then check the canaries around its buffers, and look for poison in them. An error of the kernel
 * is an outcome. After any outcome except EMULATION_OK the buffers hold what the kernel left in them.
 *   variant  one that was compiled
 *   out      how the run ended
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a variant that did not compile, too many arguments or a random order of
 * blocks; HALOTUNE_IO if no process can be started. Threads: any number at once, for different variants and buffers. */
halotune_status emulation_run(struct emulation_batch *batch, int variant, const struct emulation_launch *launch,
                              struct emulation_outcome *out);

/* Execute one block of a launch, with the other blocks of its cluster, and count its accesses to memory. The variant
 * was compiled with the option `counts`. Canaries and poison are not checked. Threads run in ascending order.
 *
 * These counts are exact for the block, as g++ compiled it: instructions of warps and their lanes, sectors, wavefronts,
 * and the places that are touched. They differ from a GPU's where nvcc compiles differently. nvcc may take a vector
 * apart that is a plain C++ load, and it may load a value twice if many instructions lie between. If the lanes of a
 * warp skip different turns of a loop, those turns count as one instruction between two barriers, and a GPU may issue
 * several. Reads of a thread that waits for other blocks count as often as they happen here. Only g++ compiles
 * for counting.
 *   block   its index in the grid
 *   out     how the run went
 *   counts  filled after EMULATION_OK; buffers are numbered in the order in which the arguments first name them
 * Returns as emulation_run. */
halotune_status emulation_count(struct emulation_batch *batch, int variant, const struct emulation_launch *launch,
                                const unsigned block[3], struct emulation_outcome *out,
                                struct emulation_counts *counts);

/* End the process of a variant; its next run starts a new one. Call it when all runs of a variant are done, so that not
 * every variant of a batch keeps a process. */
void emulation_rest(struct emulation_batch *batch, int variant);

/* The name of an outcome: "divergent_barrier". */
const char *emulation_outcome_name(int kind);

#endif
