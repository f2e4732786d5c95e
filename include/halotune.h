/* halotune.h: the public interface of Halotune, complete in this one file. docs/library.md shows it at work.
 *
 *   halotune_open -> halotune_lookup -> halotune_kernel_create -> halotune_kernel_launch, as often as you like
 *
 * Names start with halotune_ (HALOTUNE_ for macros and enumerators). Functions never print and never exit; they return a
 * halotune_status, and leave the detail of a failure to halotune_error. C99, C++11; no other header is needed. Members and
 * enumerators are only ever added behind those that are there, and structs that a caller allocates have room for them. */
#ifndef HALOTUNE_H
#define HALOTUNE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HALOTUNE_VERSION_MAJOR 0
#define HALOTUNE_VERSION_MINOR 1
#define HALOTUNE_VERSION_PATCH 0
#define HALOTUNE_VERSION "0.1.0"

/* 100 * (100 * major + minor) + patch, for #if. */
#define HALOTUNE_VERSION_NUMBER (10000 * HALOTUNE_VERSION_MAJOR + 100 * HALOTUNE_VERSION_MINOR + HALOTUNE_VERSION_PATCH)

#if defined(__GNUC__)
#define HALOTUNE_API __attribute__((visibility("default")))
#else
#define HALOTUNE_API
#endif

/* Everything that a call can report: name, number, sentence. The numbers are pinned, because they end up in scripts and
 * databases; a new status takes the next free number. */
#define HALOTUNE_STATUS_LIST(X)                                         \
  X(OK, 0, "success")                                                   \
  X(NOT_FOUND, 1, "nothing of that name or for that problem was found") \
  X(NO_GPU, 2, "no usable CUDA driver or device")                       \
  X(DB, 3, "the tuning database reported an error")                     \
  X(PARSE, 4, "a text file has an error")                               \
  X(IO, 5, "a file could not be read or written")                       \
  X(MEMORY, 6, "out of memory")                                         \
  X(ARGUMENT, 7, "an argument is out of its range")                     \
  X(NO_NVRTC, 8, "NVRTC, NVIDIA's run-time compiler, was not found")    \
  X(COMPILE, 9, "the compiler rejected the source")

#define HALOTUNE_AS_ENUMERATOR(name, number, text) HALOTUNE_##name = number,
typedef enum { HALOTUNE_STATUS_LIST(HALOTUNE_AS_ENUMERATOR) } halotune_status;
#undef HALOTUNE_AS_ENUMERATOR

/* The sentence of a status, in English. Never NULL; a static string, also for a number that this version does not know.
 * Threads: any number at once. Since 0.1. */
HALOTUNE_API const char *halotune_strstatus(halotune_status status);

/* The version of the library that the program runs with, as text: "0.1.0". A static string. Since 0.1. */
HALOTUNE_API const char *halotune_version(void);

/* What was tuned, read once and never changed afterwards. */
typedef struct halotune_ctx halotune_ctx;

/* Read tuning databases.
 *   paths  SQLite files that `halotune tune` wrote, the one to be asked first in front. NULL: the user's ($HALOTUNE_DB, else
 *          $XDG_DATA_HOME/halotune/halotune.db, else ~/.local/share/halotune/halotune.db), then the one that was installed
 *          with Halotune (share/halotune/starter.db beside the folder that this library lies in, else where it was built
 *          for); each may be missing, as before the first tune. So a misspelt $HALOTUNE_DB is no error: pass the path where the
 *          file has to be there
 *   count  how many; 0 with NULL
 *   out    the caller's, ended with halotune_close; NULL on failure
 * No file is changed, and none is needed afterwards but for stored machine code. One that an older Halotune wrote is read as well, by
 * way of a copy in memory (up to 1 GiB), until a 'halotune tune' has brought it up to date. Rows that were imported without trust are not
 * read. No CUDA driver is needed.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where a named file is missing; HALOTUNE_DB for one that is damaged, no database, or of a
 * newer version, or of an older one and larger; HALOTUNE_MEMORY. Threads: not while another one changes the environment. Since 0.1. */
HALOTUNE_API halotune_status halotune_open(const char *const *paths, int count, halotune_ctx **out);

/* End. Kernels that were made from it stay usable. NULL is fine. No other thread may be using it. Since 0.1. */
HALOTUNE_API void halotune_close(halotune_ctx *ctx);

/* What exactly went wrong in this thread's last call that failed: which file, which line, what the driver said, what to do. ""
 * before the first failure; valid until the thread's next one.
 *   ctx  may be NULL, as after a failed halotune_open
 * Threads: any number at once, each has a text of its own. Since 0.1. */
HALOTUNE_API const char *halotune_error(const halotune_ctx *ctx);

typedef enum { HALOTUNE_F32 = 0, HALOTUNE_F64 = 1 } halotune_dtype;

/* How launches were timed: one by one on a stream, or many in a CUDA graph. ANY prefers stream. */
typedef enum { HALOTUNE_LAUNCH_ANY = 0, HALOTUNE_LAUNCH_STREAM = 1, HALOTUNE_LAUNCH_GRAPH = 2 } halotune_launch_mode;

/* What lay in the L2 cache: what a time loop leaves there, or nothing of use. ANY prefers steady. */
typedef enum { HALOTUNE_CACHE_ANY = 0, HALOTUNE_CACHE_STEADY = 1, HALOTUNE_CACHE_COLD = 2 } halotune_cache_mode;

/* What is to be computed. Set what you do not use to zero. */
typedef struct {
  const char *stencil; /* its name: the newest of that name; or the 32 digits of its hash */
  const char
      *device; /* NULL: the device of the calling thread's current CUDA context; a number such as "0": that device; else
                           its name or uuid as `halotune db info` prints them, or an architecture such as "sm_90". An emulated
                           device is found by its name alone */
  long long grid[3]; /* points in x, y, z, ghost layers included; 0 counts as 1 */
  halotune_dtype dtype;
  halotune_launch_mode launch;
  halotune_cache_mode cache;
  int reproducible; /* 1: only a variant whose results are, bit for bit, those of every other one that is found so. 0: any */
} halotune_problem;

/* How well an answer fits the question, best first: enumerator, number, name, meaning. */
#define HALOTUNE_MATCH_LIST(X)                                                                       \
  X(EXACT, 0, "exact", "measured for this problem on this model of GPU")                             \
  X(STALE, 1, "stale", "the same, but the template has changed since; right, and worth tuning anew") \
  X(NEAR_GRID, 2, "near_grid", "measured on this model of GPU for another grid or mode")             \
  X(SAME_ARCH, 3, "same_arch", "measured on another GPU of this architecture")                       \
  X(DEFAULT, 4, "default", "not measured: a template's defaults")

#define HALOTUNE_AS_ENUMERATOR(name, number, text, meaning) HALOTUNE_MATCH_##name = number,
typedef enum { HALOTUNE_MATCH_LIST(HALOTUNE_AS_ENUMERATOR) } halotune_match;
#undef HALOTUNE_AS_ENUMERATOR

/* "near_grid"; a static string, never NULL. Since 0.1. */
HALOTUNE_API const char *halotune_match_name(halotune_match match);

/* A configuration for a problem, and what is known of it. It owns nothing: its texts live as long as the ctx or a kernel that was
 * made from it. A number that is not known is NaN. */
typedef struct {
  halotune_match match;
  int is_stale;      /* 1: made with a template that has changed since, whatever the match */
  long long grid[3]; /* as asked for, and so are these three */
  halotune_dtype dtype;
  halotune_launch_mode launch;
  halotune_cache_mode cache;
  const char *stencil;      /* its name */
  const char *stencil_hash; /* 32 hexadecimal digits */
  const char *template_name;
  const char *parameters; /* all of them as a JSON object: {"block_x":32,"storage":"planes"} */
  int parameter_count;
  double time_ms;         /* of one application, as measured: median, and its 95 % interval; NaN where the time */
  double low_ms, high_ms; /* was replayed from a recording without samples */
  double bandwidth_gbs;   /* effective, as measured: compulsory bytes over time; NaN for an emulated device */
  double roof_share;      /* of the fastest copy of the same bytes, as measured; NaN for an emulated device */
  double expected_ms; /* time_ms where that is for this problem; else scaled by bytes, and by the GPUs' memory rates */
  long long measured_grid[3]; /* what these times are of; 0 for a default */
  const char *measured_on;    /* the GPU's name; "" for a default */
  const char *date;           /* when, UTC, ISO 8601; "" for a default */
  double age_s;               /* seconds since then */
  const char *driver, *nvrtc; /* versions it was measured with; "" for a default */
  int reproducible;           /* as asked for */
  const void *reserved[7];
} halotune_config;

/* Find the best configuration for a problem. Every answer is correct for the grid that was asked for: one whose rules the grid or
 * the GPU breaks is never given.
 *   problem  only read during the call
 *   out      untouched on any error
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where no database knows the stencil, or no trusted template there can compute it
 * (run `halotune tune`), or the device's name is unknown; HALOTUNE_ARGUMENT for a grid that the stencil cannot have;
 * HALOTUNE_NO_GPU where the device is not given by name and there is no driver, no such device, or no current context;
 * HALOTUNE_PARSE or HALOTUNE_MEMORY.
 * Threads: any number at once, without a lock where the match is exact. Since 0.1. */
HALOTUNE_API halotune_status halotune_lookup(halotune_ctx *ctx, const halotune_problem *problem, halotune_config *out);

/* One parameter of a configuration. */
typedef struct {
  char name[64];
  char value[64]; /* as the template spells it: "32", "planes" */
  double number;  /* the same as a number; NaN for a word */
} halotune_parameter;

/* A parameter by its name, or by its position from 0 up to and without parameter_count.
 * Returns HALOTUNE_OK, or HALOTUNE_NOT_FOUND. Threads: any number at once. Since 0.1. */
HALOTUNE_API halotune_status halotune_config_parameter(const halotune_config *config, const char *name,
                                                       halotune_parameter *out);
HALOTUNE_API halotune_status halotune_config_parameter_at(const halotune_config *config, int position,
                                                          halotune_parameter *out);

/* A compiled kernel in a CUDA context. */
typedef struct halotune_kernel halotune_kernel;

/* How all fields lie in memory and which points are computed, in elements; zeroes are the dense grid, and all that the boundary
 * rules allow to compute. */
typedef struct {
  long long row, plane; /* distance of neighbours in y and in z; 0: nx, and row times ny */
  long long low[3],
      high[3]; /* the box to compute, low <= point < high; high 0: as far as the rules allow, likewise low */
} halotune_layout;

/* Make a kernel in the calling thread's current CUDA context: from stored machine code where that is right for the problem, else
 * compiled with NVRTC from the stored texts, and kept in the cache of cubins.
 *   coefficients  a value for each, in the order of the stencil's file; NULL: for this grid the defaults of the stencil that the
 *                 database knows
 *   layout        NULL: a dense grid
 *   out           the caller's, ended with halotune_kernel_free; NULL on failure
 * Where the layout breaks a rule of the configuration's template, the best other one that fits is taken.
 * Returns HALOTUNE_OK; HALOTUNE_NO_GPU (no driver, no current context, what the driver said); HALOTUNE_NO_NVRTC or HALOTUNE_COMPILE where
 * it had to be compiled; HALOTUNE_ARGUMENT for a layout or coefficients that are impossible; HALOTUNE_PARSE; HALOTUNE_MEMORY.
 * Threads: any number at once; compiling takes a lock. Since 0.1. */
HALOTUNE_API halotune_status halotune_kernel_create(halotune_ctx *ctx, const halotune_config *config,
                                                    const double *coefficients, const halotune_layout *layout,
                                                    halotune_kernel **out);

struct CUstream_st; /* CUDA's; CUstream and cudaStream_t are pointers to it */

/* Launch once on a stream of the kernel's context, and return at once. Legal while the stream is being captured, but for the first
 * launch on a set of pointers.
 *   inputs, outputs  device pointers, in the order of the stencil's file; a CUdeviceptr is cast to (void *)
 * The first launch on a set of pointers checks them: pointers that the kernel's vectors, textures or tensor maps cannot take
 * get the best other variant that can, compiled then. Outputs may not overlap each other or inputs; but an output may be the input itself where
 * the stencil reads only the point that it writes.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for NULL, misaligned or overlapping pointers; HALOTUNE_NO_GPU with what the driver said, such
 * as for an earlier launch; what halotune_kernel_create returns. Threads: any number at once, without a lock but for the first
 * launch on a set of pointers. Since 0.1. */
HALOTUNE_API halotune_status halotune_kernel_launch(halotune_kernel *kernel, struct CUstream_st *stream,
                                                    const void *const *inputs, void *const *outputs);

/* What a kernel is. Its texts live as long as the kernel. */
typedef struct {
  const char *name;   /* in its source */
  const char *source; /* CUDA, complete */
  const char *template_name;
  const char *parameters; /* as in halotune_config, of the variant that runs */
  const char *code;       /* where its machine code is from: "database", "cache" or "compiled" */
  int input_count, output_count, coefficient_count;
  unsigned grid[3], block[3];
  unsigned dynamic_shared_bytes;
  int alignment_bytes; /* that pointers need, lest another variant runs */
  int steps;           /* time steps of one launch */
  long long elements;  /* that each field takes */
  const void *reserved[8];
} halotune_kernel_facts;

/* Describe a kernel. Threads: any number at once. Since 0.1. */
HALOTUNE_API void halotune_kernel_info(const halotune_kernel *kernel, halotune_kernel_facts *out);

/* End a kernel; launches that are under way must have ended. NULL is fine. Since 0.1. */
HALOTUNE_API void halotune_kernel_free(halotune_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
