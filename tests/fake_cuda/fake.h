/* fake.h: a driver for tests on machines without a GPU. It is a libcuda (and a libnvidia-ml) that executes kernels on
 * the CPU and fails on command. $HALOTUNE_LIBCUDA and $HALOTUNE_LIBNVML select it; no program of ours knows about it.
 *
 * The driver knows no stencil. It finds a module's source in the cubin cache ($XDG_CACHE_HOME/halotune) by the cubin's
 * hash. The emulation compiles the source at the first launch, and executes it. Sizes of arguments, registers and the
 * most threads come from the cubin. The driver refuses what a GPU would refuse. If the emulation finds a fault in a
 * kernel, the launch succeeds, and each later call returns the error. Streams are in order, and synchronous unless they
 * are lazy. Times are those of a virtual clock. A kernel named spin is not executed: its first argument is a number of
 * rounds of arithmetic, which only advance the virtual clock. With more than one block it also sleeps for a
 * millisecond.
 *
 * The environment is read at the first call:
 *   HALOTUNE_FAKE_DEVICES=N           number of GPUs; 1
 *   HALOTUNE_FAKE_HOST=N              a number of the host, 0 to 255, so that GPUs of several hosts differ
 *   HALOTUNE_FAKE_NAME=TEXT           name of the GPU; "NVIDIA H200"
 *   HALOTUNE_FAKE_CAPABILITY=N        any; 90
 *   HALOTUNE_FAKE_SMS=N               132
 *   HALOTUNE_FAKE_L2_MB=N             60
 *   HALOTUNE_FAKE_MEMORY_MB=N         an allocation beyond it is out of memory; 143771
 *   HALOTUNE_FAKE_CUDA=N              the newest CUDA that the driver supports; 13000
 *   HALOTUNE_FAKE_STATE=FILE          clock, counts of faults and permanent losses, shared by all processes that name
 *                                     the file; without it each process has its own
 *   HALOTUNE_FAKE_LOG=FILE            a line for each loaded module: "loaded FACTOR STENCIL HASH VALUES", which says
 *                                     how much slower it is than the best, and what its source says about itself; for
 *                                     each fault that occurred: "fault CALL NUMBER"; and for each kernel that faults:
 *                                     "kernel NAME: WHY"
 *   HALOTUNE_FAKE_OTHERS=N            other processes that use the GPU; 0
 *   HALOTUNE_FAKE_ALONE=N             there are no other processes the first N times that a process asks for them; 0
 *   HALOTUNE_FAKE_SKIP=1              execute a launch only if its memory was written by a copy or a fill since the
 *                                     last executed launch with this memory, or if its kernel is named check...,
 *                                     fill... or reference...; other launches only take their virtual time. A kernel
 *                                     named fill... counts as a fill
 *   HALOTUNE_FAKE_LAZY=N              bit K of N: the stream that the process makes as number K, from 0, is lazy: its
 *                                     work executes only when something waits for it; 0
 *   HALOTUNE_FAKE_BACKWARDS=1         the last block and the last thread execute first
 *   HALOTUNE_FAKE_MEMO=FOLDER         keeps the results of small launches there by content, so that no later process
 *                                     computes them again; also sources, by their cubins' hash
 *   HALOTUNE_FAKE_MODEL=FILE          times; see model.c
 *   HALOTUNE_FAKE_ENERGY=US           NVML's counter of energy shows a new value each so many us of the virtual clock:
 *                                     350 W at work; 90 W for 1 ms where nothing ran since it was last read. 20000;
 *                                     with 0 there is no counter
 *   HALOTUNE_FAKE_NVML=CALL           NVML never returns from this call: init or clock
 *   HALOTUNE_FAKE_GO=FILE             what calls with the fault `wait` wait for
 *   HALOTUNE_FAKE_FAULT=FAULT;...     see below
 *
 * FAULT is CALL[@WORD,...][#N[+]]=ACTION
 *   CALL      a function of the driver, with or without _v2, or *
 *   WORD      words that the kernel's source must contain, such as "block_x=64"; only calls about a kernel match
 *   #N, #N+   only the Nth such call, counted from 1; the Nth and all later ones; without it every call
 *   ACTION
 *     NAME           return CUDA_ERROR_NAME; if a GPU does not recover from the error, all later calls of the process
 *                    return it
 *     later:NAME     the call succeeds, and all later calls return the error, as after a kernel that faults while it
 *                    runs
 *     slow:MS        take longer by the wall clock
 *     wait           not return before the file $HALOTUNE_FAKE_GO exists
 *     stretch:FACTOR take longer by the virtual clock
 *     hang           never return
 *     kill:SIGNAL    end the process: KILL, SEGV, ABRT or a number
 *     lost           the device is gone: each later call of this process returns DEVICE_UNAVAILABLE
 *     gone           the same for all processes that share the state
 *     corrupt[:N]    after the launch, flip one bit of element N (0) in the part of the last buffer that the kernel got
 *     write:OFFSET   after the launch, write a word this many bytes after the address of the last pointer
 *     write:OFFSET:N the same for the pointer that N others follow
 *     input:OFFSET   the same for the first pointer
 *     throttle:MS    for this long by the virtual clock, heat slows the GPU down, and NVML says so */
#ifndef TESTS_FAKE_CUDA_FAKE_H
#define TESTS_FAKE_CUDA_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/identity/hash.h"
#include "gpu/architecture/arch.h"
#include "gpu/driver/cu.h"
#include "tuner/emulate/emulation.h"

/* The exported functions. They are declared from the list of functions that we use, so none is missing and none
 * differs. Each is named fake_MEMBER here, and has the driver's name in the library. */
#define AS_EXPORT(member, symbol, params) \
  __attribute__((visibility("default"))) CUresult fake_##member params __asm__(symbol);
CU_LIST(AS_EXPORT)
CU_OPTIONAL_LIST(AS_EXPORT)
#undef AS_EXPORT

/* Find an error by its name without CUDA_ERROR_. Returns false if there is none. */
bool fake_error_find(const char *name, CUresult *out);

/* Whether the error destroys the context. */
bool fake_error_sticks(CUresult result);

enum { MAX_FAULTS = 64 };

struct fake_state {
  double clock_us; /* the virtual clock */
  double throttled_until_us;
  double outlier_until_us, outlier_factor;
  double correlated; /* present value of the correlated noise, in standard deviations */
  double correlated_at_us;
  double energy_mj;                             /* used so far */
  double counted_mj, counted_at_us, read_at_us; /* what NVML's counter shows, since when, and when it was last read */
  uint64_t random_index;                        /* random numbers drawn so far */
  long long counts[MAX_FAULTS];                 /* calls that each fault matched */
  bool gone;
};

/* The state, made at the first call. Hold the lock while using it. */
struct fake_state *fake_state(void);

/* All calls hold one lock. */
void fake_lock(void);
void fake_unlock(const bool *locked);

/* The number in an environment variable, or `otherwise` if it is not set. */
long long fake_number(const char *name, long long otherwise);

/* Append a line to the log, if there is one. */
void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The error that all later calls of this process return; CUDA_SUCCESS for none. */
extern CUresult fake_sticky;

/* The effects of a fault on a launch, besides an error. */
struct fake_damage {
  bool corrupts, writes, writes_input;
  long long element, offset_bytes;
  int pointers_after; /* with `writes`: how many follow the address that is meant */
  double stretch;     /* factor of its time; 0: none */
};

/* Begin a call: apply the faults that match it.
 *   call    "cuMemAlloc_v2"
 *   source  of the kernel that the call is about; NULL for none
 *   damage  receives what to do in a launch; may be NULL
 * Returns what the call must return at once, if that is not CUDA_SUCCESS. */
CUresult fake_begin(const char *call, const char *source, struct fake_damage *damage);

/* The beginning of each function: take the lock, and return if a fault says so. */
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

/* The limits of the GPU's architecture, or those of sm_90 if Halotune does not know it. */
const struct sm_limits *fake_limits(void);

struct fake_memory {
  CUdeviceptr begin;
  size_t bytes;
  struct emulation_buffer *buffer;
  bool is_written;    /* by a copy or a fill since the last executed launch with it */
  struct hash *parts; /* of its content (content.c); NULL for a large allocation */
};

/* Find the allocation that contains an address. Returns NULL for none. */
struct fake_memory *fake_memory_find(CUdeviceptr address);

/* Begin to know the content of an allocation, which is zeros. */
void content_make(struct fake_memory *memory);

/* Whatever writes to an allocation calls this at each write, or its content's hash would be that of the old bytes.
 * Returns the host address of byte `at`. */
unsigned char *content_change(struct fake_memory *memory, size_t at, size_t bytes);

/* Record that bytes were filled with a word, or copied. `at` of a fill is a multiple of 4. */
void content_fill(struct fake_memory *memory, size_t at, size_t bytes, uint32_t word);
void content_copy(struct fake_memory *to, size_t to_at, const struct fake_memory *from, size_t from_at, size_t bytes);

/* The hash of an allocation's bytes. */
struct hash content_hash(struct fake_memory *memory);

/* A texture object. fake_texture_find returns NULL for an invalid handle. */
struct fake_texture {
  CUtexObject handle; /* 0: free */
  CUdeviceptr begin;
  struct emulation_wire_texture shape;
};
const struct fake_texture *fake_texture_find(CUtexObject handle);

/* Find the array and shape from which a tensor map was encoded (tensor.c). Returns false for bytes that are no tensor
 * map. */
bool fake_tensor_find(const void *bytes, size_t byte_count, CUdeviceptr *array, struct emulation_wire_tensor *shape);

/* Whether launches on a stream are captured in a graph (stream.c). */
bool fake_is_capturing(CUstream stream);

/* Copy between host and device on a stream. */
CUresult fake_submit_host_copy(CUdeviceptr gpu, void *host, size_t bytes, bool to_host, CUstream stream);

/* Let a stream wait for an event. */
CUresult fake_stream_wait(CUstream stream, CUevent event);

/* Execute all work that lazy streams still have. */
CUresult fake_drain_all(void);

CUresult fake_copy_now(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult fake_to_device_now(CUdeviceptr to, const void *from, size_t bytes);
CUresult fake_to_host_now(void *to, CUdeviceptr from, size_t bytes);
CUresult fake_fill_now(CUdeviceptr to, unsigned word, size_t count);

enum { FAKE_MAX_PARAMETERS = EMULATION_MAX_ARGUMENTS, FAKE_MAX_KERNELS = 16 };

struct fake_module;

struct fake_kernel {
  char name[EMULATION_NAME_BYTES];
  int parameter_count;
  unsigned parameter_bytes[FAKE_MAX_PARAMETERS];
  int registers, static_shared_bytes;
  int max_threads; /* per block */
};

/* The size of a cubin; 0 if the bytes are not a cubin. */
size_t cubin_bytes(const void *image);

/* Read the kernels of a cubin. Returns their number; 0 for none, or for a cubin that is not understood. */
int cubin_kernels(const void *image, struct fake_kernel kernels[FAKE_MAX_KERNELS]);

struct fake_function {
  struct fake_module *module;
  const struct fake_kernel *kernel;
  int max_shared_bytes; /* dynamic, per block */
};

struct fake_module {
  char *source;
  struct hash hash; /* of the cubin */
  struct fake_kernel kernels[FAKE_MAX_KERNELS];
  struct fake_function functions[FAKE_MAX_KERNELS];
  int kernel_count;
  double factor;                 /* from the model: how much slower than the best */
  struct emulation_batch *batch; /* NULL until the first launch executes */
};

/* Get the module's batch, and compile its source if that was not done yet. The processes of other modules are ended.
 * Returns NULL, with a message on stderr, if the emulation cannot compile it. */
struct emulation_batch *fake_module_batch(struct fake_module *module);

struct fake_launch {
  struct fake_function *function;
  unsigned grid[3], block[3], cluster[3], shared_bytes;
  bool overlaps;                                      /* programmatic dependent launch */
  bool cooperative;                                   /* all blocks run at the same time */
  unsigned char arguments[EMULATION_PARAMETER_BYTES]; /* one after the other, each at a multiple of 8 */
};

/* The arguments of a launch in the emulation's form, and the memory to which they point. */
struct fake_arguments {
  struct emulation_argument host[FAKE_MAX_PARAMETERS];
  struct fake_memory *memory[FAKE_MAX_PARAMETERS]; /* NULL for an argument that is not a pointer */
  int count;
};

/* Execute a launch and advance the clock. `damage` may be NULL. */
CUresult fake_launch_now(const struct fake_launch *launch, bool is_graph, const struct fake_damage *damage);

/* Hash everything on which the result of a launch depends. Returns false if the launch is too large to be kept. */
bool memo_key(const struct fake_launch *launch, const struct fake_arguments *arguments, struct hash *out);
bool memo_get(struct hash key, const struct fake_arguments *arguments);

/* Copy the memory of a launch, to compare it with what the launch leaves. The copy is from malloc. */
unsigned char *memo_before(const struct fake_arguments *arguments);
void memo_put(struct hash key, const struct fake_arguments *arguments, const unsigned char *before);

/* The source of a cubin, from malloc; NULL if it is not kept. */
char *memo_source(struct hash cubin);
void memo_put_source(struct hash cubin, const char *source);

/* How much slower than the best a cubin from this source is; 1 or more. */
double model_factor(struct hash cubin, const char *source);

/* The time of one launch without noise.
 *   bytes  in all memory to which the kernel has pointers */
double model_time_us(double factor, double bytes);

/* Advance the clock by the time of a launch or a copy, with noise, and the energy with it. */
void model_pass(double time_us);

/* What the counter of energy shows, in millijoules. */
double model_energy_mj(void);

/* The gap between the kernels of a stream or a graph. */
double model_gap_us(bool is_graph);

bool model_is_throttled(void);
int model_clock_mhz(void);

#endif
