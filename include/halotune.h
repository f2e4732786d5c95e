/* halotune.h: the public interface of Halotune. It needs no other header. docs/library.md shows programs that use it.
 *
 * A program makes these calls in this order:
 *   halotune_open            read the databases of tuned kernels, once
 *   halotune_lookup          find the best configuration for a problem
 *   halotune_kernel_create   build its kernel for the current CUDA context
 *   halotune_kernel_launch   launch it, any number of times; or
 *   halotune_run             advance a solver by any number of time steps
 *
 * Rules that hold for every function:
 *   - Names start with halotune_. Macros and enumerators start with HALOTUNE_.
 *   - No function prints or exits. A function that can fail returns a halotune_status; halotune_error has the detail.
 *   - Pointers must not be NULL unless the function's comment allows NULL.
 *   - NVRTC and the start of the driver run in a thread of their own, for at most 5 minutes and 90 s. Where the system
 *     gives no thread, the call returns HALOTUNE_MEMORY. A thread that is late is left in its call. Then end the
 *     program with _exit, because exit takes down libraries that this thread is still in.
 *   - The header is valid C99 and C++11.
 *   - Later versions add members and enumerators only behind those of today. The structs that a caller allocates have
 *     reserved members for this.
 *
 * A grid is given as its numbers of points in x, y, z. Neighbours in x are neighbours in memory. */
#ifndef HALOTUNE_H
#define HALOTUNE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HALOTUNE_VERSION_MAJOR 0
#define HALOTUNE_VERSION_MINOR 2
#define HALOTUNE_VERSION_PATCH 0
#define HALOTUNE_VERSION "0.2.0"

/* The version as one number, 100 * (100 * major + minor) + patch, for #if. */
#define HALOTUNE_VERSION_NUMBER (10000 * HALOTUNE_VERSION_MAJOR + 100 * HALOTUNE_VERSION_MINOR + HALOTUNE_VERSION_PATCH)

#if defined(__GNUC__)
#define HALOTUNE_API __attribute__((visibility("default")))
#else
#define HALOTUNE_API
#endif

/* All statuses: name, number, sentence. A number never changes, because scripts and databases store it. A new status
 * takes the next free number. */
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
  X(COMPILE, 9, "the compiler rejected the source")                     \
  X(CANCELLED, 10, "the caller cancelled it")

#define HALOTUNE_AS_ENUMERATOR(name, number, text) HALOTUNE_##name = number,
typedef enum { HALOTUNE_STATUS_LIST(HALOTUNE_AS_ENUMERATOR) } halotune_status;
#undef HALOTUNE_AS_ENUMERATOR

/* Get the English sentence of a status: "out of memory".
 * Returns a static string, never NULL. A number that this version does not know gives "unknown status".
 * Threads: any number at once. Since 0.1. */
HALOTUNE_API const char *halotune_strstatus(halotune_status status);

/* Get the version of the library that the program runs with: "0.2.0". HALOTUNE_VERSION is the version that the program
 * was compiled with.
 * Returns a static string, never NULL. Threads: any number at once. Since 0.1. */
HALOTUNE_API const char *halotune_version(void);

/* The contents of tuning databases, read by halotune_open, and the stencils that the program added. */
typedef struct halotune_ctx halotune_ctx;

/* Read tuning databases into a new ctx. Takes milliseconds. Needs no CUDA driver.
 *   paths  SQLite files that `halotune tune` wrote. The first has precedence over the later ones. NULL stands for two
 *          files, each of which may be missing:
 *          1. the user's database: $HALOTUNE_DB, else $XDG_DATA_HOME/halotune/halotune.db, else
 *             ~/.local/share/halotune/halotune.db
 *          2. the starter database that was installed with Halotune: share/halotune/starter.db beside the folder that
 *             holds the library, else below the PREFIX that the library was built for
 *          Hence a misspelt $HALOTUNE_DB is not an error. If the file must exist, pass its path.
 *   count  number of paths; 0 if paths is NULL
 *   out    receives the ctx; the caller ends it with halotune_close. NULL on failure
 * No file is changed. Afterwards the files are read again only for stored machine code. A database of an older Halotune
 * is migrated in memory, up to 1 GiB; `halotune tune` migrates the file itself. Rows that were imported without --trust
 * are ignored.
 *
 * After fork, the child opens its own ctx. In the child, calls on a ctx or a kernel of the parent return
 * HALOTUNE_ARGUMENT, and halotune_close and halotune_kernel_free do nothing. A fork waits while another thread reads a
 * database. A program that holds a lock of its own while it calls the library, and guards this lock by pthread_atfork,
 * calls pthread_atfork after the library is loaded.
 * Returns HALOTUNE_OK
 *         HALOTUNE_NOT_FOUND  a file of `paths` does not exist
 *         HALOTUNE_DB         a file is damaged, is no tuning database, was written by a newer Halotune, or was written
 *                             by an older Halotune and is too large; or another user's link in a folder of all users
 *                             leads to it; halotune_error says which and what to do
 *         HALOTUNE_ARGUMENT   paths, count or out is invalid
 *         HALOTUNE_MEMORY
 * Threads: any number at once, while none of them changes the environment. Since 0.1. */
HALOTUNE_API halotune_status halotune_open(const char *const *paths, int count, halotune_ctx **out);

/* End a ctx. Configurations of this ctx become invalid. Kernels that were made from it stay usable, and so do the texts
 * of a configuration that a kernel was made from.
 *   ctx  may be NULL
 * Threads: no other thread may be using this ctx. Since 0.1. */
HALOTUNE_API void halotune_close(halotune_ctx *ctx);

/* Get the detail of the last call that failed in this thread: which file, which line, what the driver said, what to do.
 *   ctx  any ctx, or NULL, as after a failed halotune_open
 * Returns "" before the first failure, never NULL. The text is valid until this thread's next failure.
 * Threads: any number at once; each thread has its own text. Since 0.1. */
HALOTUNE_API const char *halotune_error(const halotune_ctx *ctx);

/* Make a stencil known to a ctx, so that lookups with its name or hash find it. No file is changed.
 *   text  the stencil's file, as docs/stencil-format.md describes it, ended by a NUL; only read during the call
 * From then on the name means this stencil, also if a database has another stencil of that name. If a database has
 * results for a stencil of the same meaning, they are used. The coefficients' defaults are those of the text. Adding
 * the same text again changes nothing. A ctx takes 256 stencils.
 * Returns HALOTUNE_OK
 *         HALOTUNE_PARSE     the text is no stencil; halotune_error names the line
 *         HALOTUNE_ARGUMENT  an argument is NULL, or the ctx has 256 added stencils
 *         HALOTUNE_MEMORY
 * Threads: any number at once, also beside lookups. Since 0.2. */
HALOTUNE_API halotune_status halotune_stencil_add(halotune_ctx *ctx, const char *text);

/* What a stencil's file says. Its texts and lists live as long as the ctx. */
typedef struct {
  const char *name;
  const char *hash; /* 64 hexadecimal digits */
  const char *text; /* the file's text */
  int dims;         /* 1, 2 or 3 */
  int input_count, output_count, coefficient_count;
  const char *const *inputs; /* names, in the order in which calls take the fields */
  const char *const *outputs;
  const char *const *coefficients; /* names, in the order in which halotune_kernel_create takes the values */
  /* How many points the taps of a step reach in x, y, z, towards smaller and towards larger indices. A halo for N steps
   * is N times as deep. */
  int reach_low[3], reach_high[3];
  const void *reserved[5];
} halotune_stencil_facts;

/* Describe a stencil.
 *   stencil  its name or hash, as in a halotune_problem
 *   out      receives the facts; it owns nothing; untouched on any error
 * Returns HALOTUNE_OK
 *         HALOTUNE_NOT_FOUND  no database knows the stencil (see halotune_stencil_add)
 *         HALOTUNE_PARSE      a text in a database cannot be read (run `halotune db check`)
 *         HALOTUNE_ARGUMENT   an argument is NULL
 *         HALOTUNE_MEMORY
 * Threads: any number at once. Since 0.2. */
HALOTUNE_API halotune_status halotune_stencil_info(halotune_ctx *ctx, const char *stencil, halotune_stencil_facts *out);

/* Compute a stencil's coefficients where only some are given. A default that uses another coefficient uses its given
 * value.
 *   stencil  its name or hash
 *   grid     points in x, y, z, which defaults may use; 0 counts as 1
 *   given    coefficient_count numbers, NaN for a default; NULL: all are defaults
 *   values   receives coefficient_count numbers, for halotune_kernel_create; untouched on any error
 * Returns HALOTUNE_OK
 *         HALOTUNE_NOT_FOUND  no database knows the stencil (see halotune_stencil_add)
 *         HALOTUNE_ARGUMENT   a pointer or a number of points is invalid, or a value is not finite
 *         HALOTUNE_PARSE      a text in a database cannot be read (run `halotune db check`)
 *         HALOTUNE_MEMORY
 * Threads: any number at once. Since 0.2. */
HALOTUNE_API halotune_status halotune_stencil_coefficients(halotune_ctx *ctx, const char *stencil,
                                                           const long long grid[3], const double *given,
                                                           double *values);

/* The element type of all fields: float or double. */
typedef enum { HALOTUNE_F32 = 0, HALOTUNE_F64 = 1 } halotune_dtype;

/* How the program launches: one launch at a time on a stream, or many launches in a CUDA graph. Each variant was timed
 * in one of these two ways. ANY takes results of either. It prefers those that this user measured, then STREAM. */
typedef enum { HALOTUNE_LAUNCH_ANY = 0, HALOTUNE_LAUNCH_STREAM = 1, HALOTUNE_LAUNCH_GRAPH = 2 } halotune_launch_mode;

/* What the L2 cache holds when the kernel starts. STEADY: what the previous step of a time loop left there. COLD: none
 * of the fields. ANY takes results of either and prefers STEADY. */
typedef enum { HALOTUNE_CACHE_ANY = 0, HALOTUNE_CACHE_STEADY = 1, HALOTUNE_CACHE_COLD = 2 } halotune_cache_mode;

/* A problem to find a kernel for. Set members that you do not use to zero. */
typedef struct {
  /* The stencil's name, which means the newest stencil of that name, or the 64 hexadecimal digits of its hash. */
  const char *stencil;
  /* NULL: the device of this thread's current CUDA context. "0", "1", ...: the CUDA device of that number. Otherwise a
   * device's name or uuid as `halotune db info` prints it, a GPU of `halotune list gpus`, or an architecture such as
   * "sm_90". Names are found without case and in parts: "h100". An emulated device is found by its name only. */
  const char *device;
  long long grid[3]; /* points in x, y, z, ghost layers included; 0 for an axis that the stencil does not have */
  halotune_dtype dtype;
  halotune_launch_mode launch;
  halotune_cache_mode cache;
  /* 1: accept only variants that all give the same bits for the same inputs. 0: accept any variant. */
  int reproducible;
  /* The most time steps that a launch may advance. 0 and 1: a launch is one application of the stencil. More, or
   * HALOTUNE_STEPS_ANY: the launch that takes the least time a step, for halotune_run. */
  int steps;
} halotune_problem;

/* A launch may advance any number of time steps (halotune_problem.steps). */
#define HALOTUNE_STEPS_ANY (-1)

/* How well an answer fits the problem: enumerator, number, name, meaning. From best to worst: EXACT, STALE, NEAR_GRID,
 * SAME_ARCH, SIMILAR, DEFAULT.
 * EXACT: if the row's run ended early, another row answers instead if it is expected to be faster by more than the
 * prediction's error.
 * SIMILAR: the configuration won for the other element type, where that is expected to be faster than what won for
 * this one on other grids. Or no row of this stencil and architecture fits, and it won for another stencil (the nearest
 * in shape, linearity, reach, boundary rules, fields, bytes and taps) or architecture. It keeps all rules of its
 * template for this stencil, grid and GPU, and its source is generated for this stencil. Nobody has run or verified
 * this very kernel. */
#define HALOTUNE_MATCH_LIST(X)                                                                                   \
  X(EXACT, 0, "exact", "measured for this problem on this model of GPU")                                         \
  X(STALE, 1, "stale", "measured for this problem, but the template has changed since: correct, but tune again") \
  X(NEAR_GRID, 2, "near_grid", "measured on this model of GPU for another grid or mode")                         \
  X(SAME_ARCH, 3, "same_arch", "measured on another GPU of this architecture")                                   \
  X(DEFAULT, 4, "default", "not measured: a template's defaults")                                                \
  X(SIMILAR, 5, "similar", "not measured: what won for a similar problem")

#define HALOTUNE_AS_ENUMERATOR(name, number, text, meaning) HALOTUNE_MATCH_##name = number,
typedef enum { HALOTUNE_MATCH_LIST(HALOTUNE_AS_ENUMERATOR) } halotune_match;
#undef HALOTUNE_AS_ENUMERATOR

/* Get the name of a match: "near_grid".
 * Returns a static string, never NULL. A number that this version does not know gives "unknown match".
 * Threads: any number at once. Since 0.1. */
HALOTUNE_API const char *halotune_match_name(halotune_match match);

/* A configuration for a problem, with its measurements. It owns nothing: its texts live as long as the ctx, or as a
 * kernel that was made from it. A number that is not known is NaN. */
typedef struct {
  halotune_match match;
  int is_stale; /* 1: the template has changed since this configuration was measured; can be 1 for every match */

  /* The problem, as the caller gave it. */
  long long grid[3];
  halotune_dtype dtype;
  halotune_launch_mode launch;
  halotune_cache_mode cache;

  const char *stencil; /* name: what halotune_stencil_info and halotune_stencil_coefficients take for this answer */
  const char *stencil_hash; /* 64 hexadecimal digits; stencils that differ in values of coefficients have the same */
  const char *template_name;
  const char *parameters; /* all parameters as a JSON object: {"block_x":32,"storage":"planes"} */
  int parameter_count;

  /* Time of one launch on measured_grid and measured_on: median and its 95 % interval. A launch advances `steps` time
   * steps. low_ms and high_ms are NaN if the time came from a recording without samples. */
  double time_ms;
  double low_ms, high_ms;
  /* Of the problem that was asked for: NaN where it was not measured (neither EXACT nor STALE) and for an emulated
   * device. */
  double bandwidth_gbs; /* compulsory bytes over time_ms, in GB/s */
  double roof_share;    /* time of the fastest copy of the same bytes over time_ms */
  /* Predicted time on the grid and device that were asked for. Equals time_ms for EXACT and STALE. For other measured
   * rows it is time_ms, times the ratio of a model's times on the asked and on the measured problem and device, and
   * times 1 to 1.13, because the row that looks best among uncertain ones is mostly overrated. NaN for a default, and
   * for another device than the measured one if its memory rate is not known. */
  double expected_ms;
  long long measured_grid[3];   /* the grid of the measurement; 0, 0, 0 for a default */
  const char *measured_on;      /* name of the GPU of the measurement; "" for a default */
  const char *date;             /* date of the measurement: UTC, ISO 8601; "" for a default */
  double age_s;                 /* seconds since that date */
  const char *driver, *nvrtc;   /* their versions at the measurement; "" for a default */
  int reproducible;             /* as the caller gave it */
  int steps;                    /* time steps that a launch advances, at least 1 */
  const char *measured_stencil; /* name of the stencil of the measurement: another than `stencil` for some SIMILAR
                                   answers; "" for a default */
  double expected_error;        /* one standard deviation of expected_ms, as a share of it: 0.1 is 10 % */
  const void *reserved[8];
} halotune_config;

/* Find the best configuration for a problem. Every answer computes the given grid correctly: a configuration is never
 * returned if the grid or the GPU breaks a rule of its template, unless the database has it as the winner of this very
 * problem.
 *   problem  stencil, device, grid, element type and modes; read only during the call
 *   out      receives the configuration; untouched on any error
 * Returns HALOTUNE_OK
 *         HALOTUNE_NOT_FOUND  no database knows the stencil (see halotune_stencil_add); or no trusted template can
 *                             compute the problem; or no GPU of that name is known
 *         HALOTUNE_ARGUMENT   the stencil cannot have this grid or element type, the device's name fits several GPUs
 *                             equally well, or an argument is invalid
 *         HALOTUNE_NO_GPU     `device` is NULL or a number, and there is no driver, no such device, or no current
 *                             context; or the driver has not answered in 90 s, and this ctx asks it no more
 *         HALOTUNE_PARSE      a text in a database cannot be read (run `halotune db check`)
 *         HALOTUNE_MEMORY
 * Threads: any number at once. A lookup for single steps with an exact match of a complete run takes a lock only where
 * a device or template is new to the ctx; any other lookup ranks rows and may take a lock. Since 0.1. */
HALOTUNE_API halotune_status halotune_lookup(halotune_ctx *ctx, const halotune_problem *problem, halotune_config *out);

/* How to tune. Zeros and NULL take the defaults. */
typedef struct {
  const char *program; /* NULL: $HALOTUNE_PROGRAM, else `halotune` in a folder of PATH that begins with a slash */
  /* Receives the result. NULL: the first path of halotune_open, else the user's own database. If it is none of the
   * databases of halotune_open, lookups of this ctx search it before them from then on. Other ctx do not search it. */
  const char *database;
  const char *backend; /* NULL: the GPU. "host": the emulation, for tests, whose times do not rank variants */
  double budget_s;     /* seconds for the search; 0: 20. 2 are enough for most grids (docs/library.md) */
  int max_variants;    /* end the search after so many variants; 0: no limit */
  const void *reserved[6];
} halotune_tune_options;

/* Called in the tuning thread about ten times a second.
 *   elapsed_s  since the call
 *   line       the last line that the program wrote, or what the call waits for; only valid during the call
 * Returns 0 to go on. Any other number cancels. */
typedef int halotune_tune_progress(void *user, double elapsed_s, const char *line);

/* Tune a problem now, and let the ctx answer with the result. It runs the installed program `halotune tune` in a
 * process of its own and waits for it; a CUDA error there leaves this process as it is. A result is stored in the
 * database, so that the next halotune_open has it. Other processes of this user that tune the same problem at the
 * same time wait for each other, and take the result of the first. The program does not search ./templates and
 * ./kernels of the working directory; folders that HALOTUNE_TEMPLATE_PATH and HALOTUNE_PATH name are searched.
 *   problem   as for halotune_lookup; `device` is NULL (the GPU of the current context) or a number, unless the backend
 *             is "host". HALOTUNE_STEPS_ANY lets the program choose the steps
 *   options   NULL: the defaults
 *   progress  NULL: none
 *   user      passed to `progress`
 * Afterwards lookups on this ctx use the new contents of its databases. Configurations and kernels from before
 * stay valid: each call keeps what was read before, as much memory as halotune_open took, until halotune_close.
 * Whatever fails, the ctx answers as before. A program that is cancelled is killed; its finished
 * measurements are kept.
 * Returns HALOTUNE_OK
 *         HALOTUNE_NOT_FOUND  there is no such program (install Halotune, or set HALOTUNE_PROGRAM); neither the ctx nor
 *                             the program knows the stencil (see halotune_stencil_add); or no variant is correct
 *         HALOTUNE_CANCELLED  `progress` returned another number than 0
 *         HALOTUNE_NO_GPU     there is no driver, no current context, or no such device
 *         HALOTUNE_ARGUMENT   an argument or option is invalid
 *         HALOTUNE_DB, HALOTUNE_PARSE, HALOTUNE_IO  the program reported an error, which halotune_error repeats; or
 *                             it took two minutes more than its budget; or another process that tunes the problem
 *                             did not end within this budget and ten minutes
 *         HALOTUNE_MEMORY
 * Threads: any number at once, also beside lookups; not while another thread changes the environment. Since 0.2. */
HALOTUNE_API halotune_status halotune_tune(halotune_ctx *ctx, const halotune_problem *problem,
                                           const halotune_tune_options *options, halotune_tune_progress *progress,
                                           void *user);

/* One parameter of a configuration. */
typedef struct {
  char name[64];
  char value[64]; /* as the template writes it: "32", "planes" */
  double number;  /* the value as a number; NaN if the value is a word */
} halotune_parameter;

/* Get one parameter of a configuration, by name or by position.
 *   config    from halotune_lookup
 *   name      such as "block_x"
 *   position  from 0 to parameter_count - 1
 *   out       receives the parameter; owns nothing; untouched on any error
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is no such parameter; HALOTUNE_ARGUMENT if an argument is NULL, or
 * if halotune_lookup did not fill the configuration.
 * Threads: any number at once. Since 0.1. */
HALOTUNE_API halotune_status halotune_config_parameter(const halotune_config *config, const char *name,
                                                       halotune_parameter *out);
HALOTUNE_API halotune_status halotune_config_parameter_at(const halotune_config *config, int position,
                                                          halotune_parameter *out);

/* A compiled kernel, loaded into a CUDA context. */
typedef struct halotune_kernel halotune_kernel;

/* How the fields lie in memory, and which box of points is computed. All inputs and outputs have this layout, except
 * inputs that lie along some axes only (see halotune_kernel_field). The unit of all members is elements. A member that
 * is 0 takes the value of a dense grid on which every possible point is computed. */
typedef struct {
  long long row;   /* distance of neighbours in y; 0: points in x */
  long long plane; /* distance of neighbours in z; 0: row times points in y */
  /* The box of points to compute: low <= point < high. 0: as far as the stencil's boundary rules allow. */
  long long low[3], high[3];
} halotune_layout;

/* Make a kernel in the CUDA context that is current in this thread. If the database holds machine code that was built
 * for the same problem, that code is loaded. Otherwise the source is generated for this problem and compiled by NVRTC,
 * and the result is kept in the cache of compiled kernels.
 *   config        from halotune_lookup on the same ctx
 *   coefficients  one value for each coefficient, in the order of the stencil's file. NULL: the stencil's defaults
 *   layout        NULL: a dense grid, every possible point
 *   out           receives the kernel; the caller ends it with halotune_kernel_free. NULL on failure
 * If the layout or the GPU breaks a rule of the configuration's template, the configuration of as many or fewer steps
 * with the least expected time of a step is used; halotune_kernel_info tells which.
 * If a launch of the configuration advances several time steps, the call also makes kernels for fewer steps, down to
 * one, so that halotune_run can advance any number of steps. Each makes at most half as many as the one before.
 * Returns HALOTUNE_OK
 *         HALOTUNE_NO_GPU     there is no driver or no current context, or the driver reported an error
 *         HALOTUNE_NO_NVRTC   a kernel must be compiled, and NVRTC was not found or failed (`halotune doctor`)
 *         HALOTUNE_COMPILE    NVRTC rejected the source, and halotune_error has its message; or it did not end within
 *                             5 minutes, and is left in a thread of its own
 *         HALOTUNE_ARGUMENT   the layout or a coefficient is impossible, config is not from this ctx, or the ctx was
 *                             opened before a fork
 *         HALOTUNE_NOT_FOUND  no configuration fits the layout
 *         HALOTUNE_PARSE      a text in a database cannot be read (run `halotune db check`)
 *         HALOTUNE_MEMORY
 * Threads: any number at once. Compiling takes a lock of the ctx. Since 0.1. */
HALOTUNE_API halotune_status halotune_kernel_create(halotune_ctx *ctx, const halotune_config *config,
                                                    const double *coefficients, const halotune_layout *layout,
                                                    halotune_kernel **out);

/* Make kernels for several boxes of one grid from one lookup, such as the interior and the faces of a rank's part of a
 * larger grid. All of them advance equally many time steps a launch: config->steps, or the next
 * smaller number for which each box has a configuration. For each box the configuration is kept if its rules allow it;
 * otherwise the best other one is used.
 *   layouts  as for halotune_kernel_create, one for each box. Boxes may overlap
 *   count    number of boxes, at least 1
 *   out      receives `count` kernels; the caller ends each with halotune_kernel_free. All are NULL on failure
 * Kernels with different configurations need not give the same bits. They do if config->reproducible is 1.
 * Launches of these kernels may overlap in time on several streams, if none writes what another one reads or writes.
 * Returns what halotune_kernel_create returns, for the first box that fails.
 * Threads: as halotune_kernel_create. Since 0.2. */
HALOTUNE_API halotune_status halotune_kernel_create_boxes(halotune_ctx *ctx, const halotune_config *config,
                                                          const double *coefficients, const halotune_layout *layouts,
                                                          int count, halotune_kernel **out);

/* A CUDA stream. CUstream of cuda.h and cudaStream_t of the runtime are pointers to this struct. */
struct CUstream_st;

/* Launch a kernel once on a stream, and return without waiting for it.
 *   stream   a stream of the kernel's CUDA context
 *   inputs   device pointers, in the order of the stencil's file; cast a CUdeviceptr to (void *)
 *   outputs  the same for the outputs; behind them the arrays that a launch of several time steps writes in addition
 *            (see halotune_kernel_facts.output_count)
 * The kernel's CUDA context must be current. Each field holds halotune_kernel_facts.elements elements of the element
 * type, except masks and inputs along some axes only (see halotune_kernel_field). An output must
 * not overlap another output or an input, with one exception: an output may be the same pointer as an input if the
 * stencil reads only the point that it writes, or if the stencil's file says so for these two (`in_place`).
 *
 * The first launch on a set of pointers checks the pointers. If the kernel's vectors, textures or tensor maps cannot
 * use them (see alignment_bytes), the best other variant that can use them is compiled and launched. Later launches
 * skip the check. While a stream is being captured, only later launches are allowed.
 * Returns HALOTUNE_OK
 *         HALOTUNE_ARGUMENT  a pointer is NULL, not aligned to its element type, or overlaps another
 *         HALOTUNE_NO_GPU    the driver reported an error, which can be the error of an earlier launch
 *         any status of halotune_kernel_create, if another variant had to be compiled
 * Threads: any number at once. Only the first launch on a set of pointers takes a lock. Since 0.1. */
HALOTUNE_API halotune_status halotune_kernel_launch(halotune_kernel *kernel, struct CUstream_st *stream,
                                                    const void *const *inputs, void *const *outputs);

/* Advance the fields of a solver by any number of time steps on a stream, and return without waiting. The call launches
 * the kernel as often as whole launches fit. Then it advances the steps that are left with kernels for fewer steps,
 * at last with single ones. Between launches the fields exchange their buffers as the stencil's `iterate` says. No data
 * is copied.
 *   stream  a stream of the kernel's CUDA context
 *   fields  device pointers: halotune_kernel_facts.input_count inputs in the order of the stencil's file, then
 *           halotune_kernel_facts.output_count buffers for outputs. On return the list is sorted anew: fields[i] is the
 *           buffer that holds input i after the last step. The buffer of an output that no input takes keeps its
 *           place. The other buffers are free. Hence the next call takes the list as it is
 *   steps   1 to HALOTUNE_RUN_MOST_STEPS
 * The kernel's CUDA context must be current. Each field has the size that halotune_kernel_field tells. No two fields
 * overlap, with two exceptions: inputs that no step changes may; and an output may be the buffer of the input that the
 * stencil's file names for it in `in_place`, if `iterate` replaces this input and gives its old value to no other one.
 * A wave then needs two buffers, not three, and in the list on return the output is again the buffer of this input.
 * Before the first call, the inputs hold the state to begin with. All buffers that exchange places must hold equal
 * values at the points that no step computes: those that the boundary rule `skip` leaves out, and those outside of the
 * layout's box.
 *
 * Where a launch takes less than 20 us, launches are gathered in CUDA graphs, except while the stream is being
 * captured. While a stream is being captured, a call is allowed only if an earlier call with the same list of fields
 * and as many steps has succeeded.
 *
 * After HALOTUNE_ARGUMENT the fields and the list are as before the call. After another error the list is sorted for
 * the launches that were enqueued before the error. If these succeed, the inputs hold the state after a whole number of
 * steps, fewer than `steps`. If the driver reports that a launch failed, or if the process or its context ends before
 * the stream is done, only the inputs that no step changes keep their contents: go on from a copy.
 * Returns HALOTUNE_OK
 *         HALOTUNE_ARGUMENT  the stencil has no `iterate`; or steps is out of its range; or a pointer is NULL, not
 *                            aligned to its element type, or overlaps another
 *         HALOTUNE_NO_GPU    the driver reported an error, which can be the error of an earlier launch
 *         any status of halotune_kernel_create, if another variant had to be compiled
 * Threads: any number at once, if they have different fields. Since 0.2. */
#define HALOTUNE_RUN_MOST_STEPS 1000000000
HALOTUNE_API halotune_status halotune_run(halotune_kernel *kernel, struct CUstream_st *stream, void **fields,
                                          long long steps);

/* Facts about a kernel. Its texts live as long as the kernel. */
typedef struct {
  const char *name;   /* name of the function in the source */
  const char *source; /* complete CUDA source */
  const char *template_name;
  const char *parameters; /* parameters of the variant that runs, written as in halotune_config */
  const char *code;       /* where the machine code came from: "database", "cache" or "compiled" */
  /* output_count: the stencil's outputs, and the arrays that a launch of several steps writes in addition. There are
   * such arrays where an input takes another input's old value, as u_prev does in {v: u, u: u_prev}. */
  int input_count, output_count, coefficient_count;
  unsigned grid[3], block[3];    /* blocks of a launch and threads of a block, in x, y, z */
  unsigned dynamic_shared_bytes; /* for each block */
  int alignment_bytes;           /* if a pointer is not a multiple of this, another variant runs */
  int steps;                     /* time steps that one launch makes */
  long long elements;            /* elements that a field along all axes must hold; for other fields see
                                    halotune_kernel_field */
  const double *coefficients;    /* coefficient_count values that the kernel computes with, in the stencil's order */
  const void *reserved[7];
} halotune_kernel_facts;

/* Describe a kernel.
 *   kernel  NULL: all facts are zero
 *   out     receives the facts; it owns nothing
 * Threads: any number at once. Since 0.1. */
HALOTUNE_API void halotune_kernel_info(const halotune_kernel *kernel, halotune_kernel_facts *out);

/* How a field lies in memory. */
typedef struct {
  long long elements;   /* elements that the array holds */
  int element_bytes;    /* 4 or 8; 1 for a mask */
  long long strides[3]; /* elements between neighbours in x, y, z; 0 along axes on which the field does not depend */
  const void *reserved[4];
} halotune_field;

/* Describe a field of a kernel's launches. Outputs and most inputs lie along all axes, as the kernel's layout says. An
 * input that the stencil's file declares `along` some axes has elements along these alone. The point (x, y, z) reads
 * element x*strides[0] + y*strides[1] + z*strides[2]. Its rows along x are as far apart as those of other fields. A
 * mask, of type u8, has one byte for each element.
 *   field  number of an input; or input_count plus the number of an output, as in halotune_run
 *   out    receives the description; untouched on any error
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT if an argument is NULL or there is no such field.
 * Threads: any number at once. Since 0.2. */
HALOTUNE_API halotune_status halotune_kernel_field(const halotune_kernel *kernel, int field, halotune_field *out);

/* A box of points: low <= point < high. Unlike in a layout, 0 is the first point. */
typedef struct {
  long long low[3], high[3];
} halotune_box;

/* Copy a box of a field to a dense array in GPU memory, or back, on a stream, and return without waiting. A solver
 * sends and receives the halo of its part of a grid in such arrays. In the array, points that are neighbours in x are
 * neighbours, then come those in y, then those in z. Along an axis on which the field does not depend (see
 * halotune_kernel_field), the box counts as one point.
 *   stream  a stream of the kernel's CUDA context
 *   field   number of the field, as for halotune_kernel_field
 *   box     inside the grid of the kernel, and at most 2147483647 points; a box without points copies nothing
 *   from    device pointer to the field (pack) or to the dense array (unpack)
 *   to      device pointer to the dense array (pack) or to the field (unpack); the two must not overlap
 * The kernel's CUDA context must be current. The first call for a kernel compiles a small kernel, or takes it from the
 * cache of compiled kernels. While a stream is being captured, only later calls are allowed.
 * Returns HALOTUNE_OK
 *         HALOTUNE_ARGUMENT  a pointer is NULL or not aligned to its element type, there is no such field, or the box
 *                            is too large or not inside the grid
 *         HALOTUNE_NO_GPU    the driver reported an error, which can be the error of an earlier launch
 *         HALOTUNE_NO_NVRTC, HALOTUNE_COMPILE, HALOTUNE_MEMORY  as halotune_kernel_create
 * Threads: any number at once. Only the first call for a kernel takes a lock. Since 0.2. */
HALOTUNE_API halotune_status halotune_pack(halotune_kernel *kernel, struct CUstream_st *stream, int field,
                                           const halotune_box *box, const void *from, void *to);

/* Copy a dense array back to a box of a field. Arguments, errors and threads are those of halotune_pack. Since 0.2. */
HALOTUNE_API halotune_status halotune_unpack(halotune_kernel *kernel, struct CUstream_st *stream, int field,
                                             const halotune_box *box, const void *from, void *to);

/* End a kernel. Its launches must have finished: synchronize the stream first.
 *   kernel  may be NULL
 * Threads: no other thread may be using this kernel. Any CUDA context may be current, but the kernel's own must not
 * have been destroyed or reset: free its kernels first. Since 0.1. */
HALOTUNE_API void halotune_kernel_free(halotune_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
