/* fake.h: a driver for tests on machines without a GPU: a libcuda (and a libnvidia-ml) that executes kernels on the CPU and
 * fails on command. $HALOTUNE_LIBCUDA and $HALOTUNE_LIBNVML select it; no program of ours knows of it.
 *
 * It knows no stencil. A module's source is found in the cubin cache ($XDG_CACHE_HOME/halotune) by the cubin's hash, compiled
 * by the host emulation at the first launch, and executed by it; sizes of arguments, registers and the most threads come from
 * the cubin. What a GPU would refuse is refused. A kernel that the emulation finds to fault poisons the context: the launch
 * succeeds, each later call returns the error. Streams are in order, and synchronous; times are those of a virtual clock. A
 * kernel called spin is not executed: its first argument is rounds of arithmetic, that pass on the virtual clock alone.
 *
 * The environment, read at the first call:
 *   HALOTUNE_FAKE_DEVICES=N           GPUs; 1
 *   HALOTUNE_FAKE_NAME=TEXT           of the GPU; "NVIDIA H200"
 *   HALOTUNE_FAKE_CAPABILITY=N        90; any
 *   HALOTUNE_FAKE_SMS=N               132
 *   HALOTUNE_FAKE_L2_MB=N             60
 *   HALOTUNE_FAKE_MEMORY_MB=N         143771; an allocation beyond it is out of memory
 *   HALOTUNE_FAKE_CUDA=N              the newest CUDA that the driver runs; 13000
 *   HALOTUNE_FAKE_STATE=FILE          clock, counts of faults and what is lost for good, shared by all processes that name the
 *                                     file; without it each process has its own
 *   HALOTUNE_FAKE_LOG=FILE            a line for each module that is loaded: "loaded FACTOR STENCIL HASH VALUES": how much slower than
 *                                     the best it is, and what its source says of itself; for each fault that struck: "fault CALL NUMBER"; and for
 *                                     each kernel that faults: "kernel NAME: WHY"
 *   HALOTUNE_FAKE_OTHERS=N            processes that use the GPU; 0
 *   HALOTUNE_FAKE_ALONE=N             the first N times that a process asks for them, there are none; 0
 *   HALOTUNE_FAKE_SKIP=1              a launch executes only where memory that it gets has been written by a copy or a fill
 *                                     since it last took part in one that did, or where its kernel is called check...;
 *                                     others only take their virtual time
 *   HALOTUNE_FAKE_BACKWARDS=1         the last block and the last thread execute first
 *   HALOTUNE_FAKE_MEMO=FOLDER         what small launches gave is kept there by content, so that no later process computes it
 *                                     again; and sources by their cubins' hash
 *   HALOTUNE_FAKE_MODEL=FILE          times; see model.c
 *   HALOTUNE_FAKE_FAULT=FAULT;...     see below
 *
 * FAULT is CALL[@WORD,...][#N[+]]=ACTION
 *   CALL      a function of the driver, with or without _v2, or *
 *   WORD      words that the kernel's source holds, as in "block_x=64"; only calls about a kernel have one
 *   #N, #N+   the Nth such call alone, counted from 1; the Nth and all later ones; without it every one
 *   ACTION
 *     NAME           return CUDA_ERROR_NAME; one that a GPU does not recover from sticks to the process
 *     later:NAME     the call succeeds, and then the error sticks, as with a kernel that faults while it runs
 *     slow:MS        take longer, by the wall clock
 *     stretch:FACTOR take longer, by the virtual clock
 *     hang           never return
 *     kill:SIGNAL    end the process: KILL, SEGV, ABRT or a number
 *     lost           the device is gone: each later call of this process returns DEVICE_UNAVAILABLE
 *     gone           the same for all processes that share the state
 *     corrupt[:N]    after the launch, element N (0) of the last buffer's part that the kernel got has one bit turned
 *     write:OFFSET   after the launch, a word is written that many bytes from where the last pointer points
 *     input:OFFSET   the same for the first pointer
 *     throttle:MS    for that long by the virtual clock, the GPU is slowed down by heat, and NVML says so */
#ifndef TESTS_FAKE_CUDA_FAKE_H
#define TESTS_FAKE_CUDA_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "gpu/architecture/arch.h"
#include "gpu/driver/cu.h"
#include "tuner/emulate/emulation.h"

/* The exported functions, declared from the list of those that are used, so that none is missed and none differs. Each is
 * named fake_MEMBER here, and as the driver's in the library. */
#define AS_EXPORT(member, symbol, params) \
  __attribute__((visibility("default"))) CUresult fake_##member params __asm__(symbol);
CU_LIST(AS_EXPORT)
#undef AS_EXPORT

/* The error of a name without CUDA_ERROR_. False if there is none. */
bool fake_error_find(const char *name, CUresult *out);

/* Whether a context that met it is lost. */
bool fake_error_sticks(CUresult result);

enum { MAX_FAULTS = 64 };

struct fake_state {
  double clock_us; /* virtual */
  double throttled_until_us;
  double outlier_until_us, outlier_factor;
  double correlated; /* the present value of correlated noise, in standard deviations */
  double correlated_at_us;
  uint64_t random_index;        /* how many random numbers were drawn */
  long long counts[MAX_FAULTS]; /* calls that each fault matched */
  bool gone;
};

/* The state; made at the first call. Held under the lock. */
struct fake_state *fake_state(void);

/* All calls hold one lock. */
void fake_lock(void);
void fake_unlock(const bool *locked);

/* An environment variable's number, or what it is without one. */
long long fake_number(const char *name, long long otherwise);

/* Append a line to the log, if there is one. */
void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The error that sticks to this process; CUDA_SUCCESS for none. */
extern CUresult fake_sticky;

/* What a fault does to a launch, beside returning an error. */
struct fake_damage {
  bool corrupts, writes, writes_input;
  long long element, offset_bytes;
  double stretch; /* of its time; 0: none */
};

/* Begin a call: strike with the faults that match it.
 *   call    "cuMemAlloc_v2"
 *   source  of the kernel that it is about; NULL for none
 *   damage  what to do in a launch; may be NULL
 * Returns what the call must return at once, if that is not CUDA_SUCCESS. */
CUresult fake_begin(const char *call, const char *source, struct fake_damage *damage);

/* The beginning of each function: takes the lock, and returns where a fault says so. */
#define ENTER_ABOUT(call, source, damage)                                        \
  __attribute__((cleanup(fake_unlock))) const bool locked = (fake_lock(), true); \
  const CUresult begun = fake_begin(call, source, damage);                       \
  if (begun != CUDA_SUCCESS) return begun;                                       \
  (void)locked
#define ENTER(call) ENTER_ABOUT(call, NULL, NULL)

/* Whether the calling thread has a current context. */
bool fake_has_context(void);
#define NEED_CONTEXT() \
  if (!fake_has_context()) return CUDA_ERROR_INVALID_CONTEXT

size_t fake_memory_bytes(void);
int fake_capability(void);

/* Those of its architecture; of sm_90's for one that Halotune does not know. */
const struct sm_limits *fake_limits(void);

struct fake_memory {
  CUdeviceptr begin;
  size_t bytes;
  struct emulation_buffer *buffer;
  bool is_written; /* by a copy or a fill, since a launch that executed had it */
};

/* The allocation that an address lies in; NULL for none. */
struct fake_memory *fake_memory_find(CUdeviceptr address);

/* A texture object: what it shows. NULL for a handle that is none. */
struct fake_texture {
  CUtexObject handle; /* 0: free */
  CUdeviceptr begin;
  struct emulation_wire_texture shape;
};
const struct fake_texture *fake_texture_find(CUtexObject handle);

/* A tensor map: what it was encoded from (tensor.c). False for bytes that are none. */
bool fake_tensor_find(const void *bytes, size_t byte_count, CUdeviceptr *array, struct emulation_wire_tensor *shape);

/* Whether launches on a stream are put into a graph (stream.c). */
bool fake_is_capturing(CUstream stream);

CUresult fake_copy_now(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult fake_fill_now(CUdeviceptr to, unsigned word, size_t count);

enum { FAKE_MAX_PARAMETERS = EMULATION_MAX_ARGUMENTS, FAKE_MAX_KERNELS = 16 };

struct fake_module;

struct fake_kernel {
  char name[EMULATION_NAME_BYTES];
  int parameter_count;
  unsigned parameter_bytes[FAKE_MAX_PARAMETERS];
  int registers, static_shared_bytes;
  int max_threads; /* of a block */
};

/* Size of a cubin; 0 for what is none. */
size_t cubin_bytes(const void *image);

/* Read its kernels. Returns how many; 0 for none, or a cubin that is not understood. */
int cubin_kernels(const void *image, struct fake_kernel kernels[FAKE_MAX_KERNELS]);

struct fake_function {
  struct fake_module *module;
  const struct fake_kernel *kernel;
  int max_shared_bytes; /* dynamic, of a block */
};

struct fake_module {
  char *source;
  struct hash hash; /* of the cubin */
  struct fake_kernel kernels[FAKE_MAX_KERNELS];
  struct fake_function functions[FAKE_MAX_KERNELS];
  int kernel_count;
  double factor;                 /* of the model: how much slower than the best */
  struct emulation_batch *batch; /* NULL until the first launch executes */
};

/* The module's batch, its source compiled if it is not yet; other modules' processes are ended. NULL, and said on stderr, if
 * the emulation does not compile it. */
struct emulation_batch *fake_module_batch(struct fake_module *module);

struct fake_launch {
  struct fake_function *function;
  unsigned grid[3], block[3], cluster[3], shared_bytes;
  bool overlaps;                                      /* programmatic dependent launch */
  unsigned char arguments[EMULATION_PARAMETER_BYTES]; /* one behind the other, each at a multiple of 8 */
};

/* Execute it and let its time pass. `damage` may be NULL. */
CUresult fake_launch_now(const struct fake_launch *launch, bool is_graph, const struct fake_damage *damage);

/* What a launch is a function of, and whether it is small enough to be kept. */
bool memo_key(const struct fake_launch *launch, const struct emulation_argument *arguments, int count,
              struct hash *out);
bool memo_get(struct hash key, const struct emulation_argument *arguments);

/* A copy of the memory, from malloc, to be compared with what the launch leaves. */
unsigned char *memo_before(const struct emulation_argument *arguments, int count);
void memo_put(struct hash key, const struct emulation_argument *arguments, int count, const unsigned char *before);

/* The source of a cubin, from malloc; NULL where it is not kept. */
char *memo_source(struct hash cubin);
void memo_put_source(struct hash cubin, const char *source);

/* How much slower than the best a cubin is that comes from this source; 1 or more. */
double model_factor(struct hash cubin, const char *source);

/* The time of one launch without noise.
 *   bytes  that the kernel has pointers to */
double model_time_us(double factor, double bytes);

/* Let a launch's or a copy's time pass, noise and all. */
void model_pass(double time_us);

/* Between the kernels of a stream or a graph. */
double model_gap_us(bool is_graph);

bool model_is_throttled(void);
int model_clock_mhz(void);

#endif
