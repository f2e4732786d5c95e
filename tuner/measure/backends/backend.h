/* backend.h: what runs variants: the GPU's worker process, the emulation on the host, or a recording. Search and
 * finals use a backend only through this table of functions.
 *
 * A backend has one problem at a time. It has slots, each of which holds one loaded variant: the anchor and the
 * finalists stay, the variant under test comes and goes. If something goes wrong with a variant, the call returns a
 * verdict, never an error, and the slot becomes empty. After a variant that kills its process, the next call starts a
 * new process, with the problem and the other slots as they were.
 *
 * Threads: one at a time for one backend. */
#ifndef MEASURE_BACKENDS_BACKEND_H
#define MEASURE_BACKENDS_BACKEND_H

#include <stdio.h>

#include "base/system/clock.h"
#include "db/store/store.h"
#include "gpu/driver/kernel.h"
#include "gpu/workers/compiler.h"
#include "tuner/verify/compare.h"
#include "tuner/verify/scene.h"

enum { BACKEND_SLOTS = 128, BACKEND_REASON_BYTES = 512 };

/* Slots that every backend has when a problem is set. The caller never loads them. */
enum backend_slot {
  SLOT_EMPTY = BACKEND_SLOTS, /* a kernel that does nothing */
  SLOT_MEMCPY,                /* the driver's copy of the roof's bytes */
  BACKEND_ALL_SLOTS
};

/* What a backend found when it was opened. */
struct backend_facts {
  struct device_facts device;
  const struct arch_facts *arch; /* facts of the device */
  bool is_emulation;
  bool is_recording;    /* nothing runs, so nothing has to be compiled */
  char driver[64];      /* "580.159.04"; "" for none */
  char nvrtc[32];       /* a recording's version: "13.0"; "" for other backends, whose compiler knows it */
  int cuda;             /* 13000; 0 for none */
  double power_limit_w; /* power at which the GPU lowers its clocks; 0: not known */
  char warnings[512];   /* one a line, such as other processes on the GPU */
};

/* A problem to run variants of. */
struct backend_problem {
  const struct scene
      *scene;              /* inputs and reference of one launch, on a dense domain; must live until the next problem */
  enum launch_mode launch; /* how samples are launched */
  enum cache_mode cache;
  bool reproducible;       /* distinguishes two problems of a recording that are equal otherwise */
  long long roof_elements; /* elements that SLOT_MEMCPY and variants with `is_roof` copy; 0: there is no roof */
};

/* A compiled variant. Its pointers must stay valid while the variant is loaded. */
struct candidate {
  const struct variant_spec *spec;
  const struct generated *generated;
  const struct compiled *compiled; /* NULL for backends that compile themselves (host) */
  bool is_roof; /* a variant of stencil `copy` on roof_elements points, of the problem's element type; not verified */
};

/* What the compiler reported of a variant when it was recorded. */
struct recorded_kernel {
  bool is_known;                                           /* false for backends that run kernels */
  int registers, shared_bytes, spill_bytes, blocks_per_sm; /* -1 if not recorded */
  double occupancy;                                        /* NaN if not recorded */
};

/* What went wrong with a variant, if anything did. */
struct verdict {
  enum outcome outcome; /* OUTCOME_MEASURED if nothing is wrong */
  char reason[BACKEND_REASON_BYTES];
  /* errors of the output with the largest error; its `points` are 0 if no output was compared */
  struct comparison worst;
  double run_ms; /* time of the single, cold run that was verified; 0 if there was none */
  struct recorded_kernel recorded;
};

/* Set the outcome, and the beginning of a reason. */
static inline void verdict_say(struct verdict *verdict, enum outcome outcome, const char *reason) {
  verdict->outcome = outcome;
  snprintf(verdict->reason, sizeof verdict->reason, "%.500s", reason);
}

/* How one sample of energy is taken. */
enum { ENERGY_IDLE = -1 };
struct energy_plan {
  int slot;          /* ENERGY_IDLE: nothing runs */
  double time_ms;    /* time of one application, roughly */
  double least_ms;   /* least time between the first and the last change of the counter that count */
  int least_changes; /* least number of changes; the step from one to the next counts as one */
};

/* What the GPU's counter of energy showed while one variant ran without a pause, or nothing. */
struct energy_sample {
  double energy_mj, span_ms; /* energy and time between two changes of the counter */
  long applications;         /* applications of the variant in between; 0 where nothing ran */
  long changes;              /* changes of the counter */
};

/* Samples of several variants. In each round, each slot is sampled once. */
struct sample_plan {
  const int *slots;
  const int *batches; /* applications of one sample, for each slot */
  int slot_count, rounds;
  bool warm; /* one untimed application before each sample */
  /* With `warm`: inputs are written again before each sample, and the result of each sample is checked. `recheck`
   * returns the verdict. Backends may ignore this member. */
  bool checks;
};

struct backend {
  const char *name; /* "cuda", "host", "replay" */

  /* Whether calls may come from several threads, one at a time, beside other work of the program. */
  bool may_change_thread;

  /* Whether set_problem may be able to make the fields of a scene that has none; see scene_plan. NULL: never. */
  bool (*makes_fields)(const struct scene *scene);

  /* See whether the device has memory for a problem whose fields the program is about to make, which may take long and
   * much memory. The scene may have none yet. Afterwards no problem is set, and all slots are empty; the device may
   * keep the memory for the next problem. NULL: that is not known.
   * Returns HALOTUNE_OK; or HALOTUNE_MEMORY, with the amount that is needed. set_problem tells all other errors. */
  halotune_status (*check_room)(void *state, const struct backend_problem *problem);

  /* Set the problem. All slots are unloaded.
   * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if the scene has no fields and they cannot be made here;
   * HALOTUNE_MEMORY if the device has too little, with the amount that is needed; HALOTUNE_NO_GPU or HALOTUNE_IO if no
   * worker could be started; HALOTUNE_CANCELLED if the ending of the scene's request came. */
  halotune_status (*set_problem)(void *state, const struct backend_problem *problem);

  /* Wait for the recorded compile of a variant, but not beyond a time of the backend's clock.
   *   is_compiled  receives whether the compile has ended by then
   * NULL: the backend loads what the program's compilers made. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
  halotune_status (*await_compile)(void *state, const struct candidate *candidate, double until_ms, bool *is_compiled);

  /* Load a variant into an empty slot, write the inputs again, run it once between guards, and compare its outputs with
   * the reference. A variant of the roof is loaded and not run; if there is no room for its fields, that is its
   * verdict.
   * Returns HALOTUNE_OK whatever the verdict is; else what set_problem returns, because a worker may have to be
   * started. */
  halotune_status (*load)(void *state, int slot, const struct candidate *candidate, struct verdict *verdict);

  /* Empty a slot, which may be empty already. */
  halotune_status (*unload)(void *state, int slot);

  /* Take samples. The slots are loaded. Where the end of another variant may have emptied one, its verdict says so.
   *   times_ms  receives rounds * slot_count times of one application, round by round; those after a failure are 0
   *   failed    receives the slot that went wrong; -1 for none
   *   verdict   receives that slot's verdict; no samples are taken after it */
  halotune_status (*sample)(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                            struct verdict *verdict);

  /* After samples: check guards, inputs, and whether the last output is finite. Then write the inputs again, run the
   * slot's variant once more, and compare. A variant of the roof is not checked. */
  halotune_status (*recheck)(void *state, int slot, struct verdict *verdict);

  /* The number of points at which load and recheck compare an output of the present problem, because the device has no
   * memory for the whole reference; those in two boxes count twice. 0: all points. NULL: always all. */
  long long (*drawn_points)(void *state);

  /* Like the second half of recheck, but outputs are compared at all points. Only where drawn_points is not 0. */
  halotune_status (*verify_all)(void *state, int slot, struct verdict *verdict);

  /* Run a slot without a pause, and read the GPU's counter of energy meanwhile. No result is checked; recheck does
   * that.
   *   verdict  what went wrong with the variant
   * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if the counter does not change; else as sample.
   * NULL: there is no counter. */
  halotune_status (*energy)(void *state, const struct energy_plan *plan, struct energy_sample *out,
                            struct verdict *verdict);

  /* Whether `energy` has a counter to read. NULL: it has none. */
  bool (*counts_energy)(void *state);

  /* Whether samples of a slot repeat one value, as with a recording that kept only a median. NULL: no slot does. */
  bool (*is_constant)(void *state, int slot);

  /* Read clocks, temperature, power and throttling now. */
  void (*read)(void *state, struct gpu_reading *out);

  /* How many other processes compute on the GPU now; 0 if that is not known. NULL: no other process can. */
  int (*others)(void *state);

  /* Keep the GPU busy for about this long, so that its clocks rise. */
  halotune_status (*keep_warm)(void *state, double time_ms);

  /* The time on the backend's own clock, if it runs nothing. NULL: the machine's clock counts. */
  double (*now_ms)(void *state);

  /* Visit each variant of the problem that is known, in no order. NULL: any variant can be run. The texts are valid
   * during the call.
   *   visit  gets the template's name, and the parameters as db/store/launch_text.h writes them. The walk ends if it
   *          returns another status than HALOTUNE_OK, and returns that status */
  halotune_status (*list)(void *state,
                          halotune_status (*visit)(void *context, const char *template, const char *parameters),
                          void *context);

  void (*close)(void *state);
};

/* An open backend. End with backend_close. */
struct backend_handle {
  const struct backend *table;
  void *state;
  struct backend_facts facts;
};

/* The clock that budgets of searches on the backend are counted with. */
static inline struct time_source backend_time(const struct backend_handle *backend) {
  return (struct time_source){backend->table->now_ms, backend->state};
}

static inline bool backend_is_constant(const struct backend_handle *backend, int slot) {
  return backend->table->is_constant && backend->table->is_constant(backend->state, slot);
}

/* The `read` of a backend that cannot read clocks: each reading is -1. */
static inline void backend_read_nothing(void *state, struct gpu_reading *out) {
  (void)state;
  *out = (struct gpu_reading){-1, -1, -1, -1, -1};
}

static inline long long backend_drawn_points(const struct backend_handle *backend) {
  return backend->table->drawn_points ? backend->table->drawn_points(backend->state) : 0;
}

static inline bool backend_counts_energy(const struct backend_handle *backend) {
  return backend->table->counts_energy && backend->table->counts_energy(backend->state);
}

static inline int backend_others(const struct backend_handle *backend) {
  return backend->table->others ? backend->table->others(backend->state) : 0;
}

/* A variant hangs if it takes longer than this, plus the time for copies and checks of all fields. If the samples
 * should take more than a twentieth of this by the best time so far, the limit is 20 times that time instead. */
enum { BACKEND_HANG_MS = 5000, BACKEND_DIRECT_HANG_MS = 600000 };

struct backend_cuda_options {
  int ordinal;               /* number of the GPU in the driver's order */
  int hang_ms;               /* 0: BACKEND_HANG_MS, or BACKEND_DIRECT_HANG_MS */
  struct compiler *compiler; /* compiles the backend's own kernels; idle before the call, and not needed after it */
};

/* Open the worker process of a GPU. Call it before the program has threads.
 * Returns HALOTUNE_OK, HALOTUNE_NO_GPU or HALOTUNE_ARGUMENT (no such ordinal), HALOTUNE_IO, HALOTUNE_MEMORY, or
 * what the compiler returns. */
halotune_status backend_cuda_open(const struct backend_cuda_options *options, struct backend_handle *out);

/* Open the GPU in this process, which then owns a context: for tools that watch one process, such as compute-sanitizer.
 * A variant that kills its process takes the program with it, and so does one that hangs, after `hang_ms`
 * (driver_limit.h). After a variant that kills its context nothing works. */
halotune_status backend_direct_open(const struct backend_cuda_options *options, struct backend_handle *out);

/* Open the emulation. Its times are those of one thread of the host, and mean nothing for a GPU.
 *   arch  the architecture that it emulates */
halotune_status backend_host_open(const char *arch, struct backend_handle *out);

/* Close a backend, which may be {0}. */
static inline void backend_close(struct backend_handle *backend) {
  if (backend->table) backend->table->close(backend->state);
  *backend = (struct backend_handle){.table = NULL};
}

#endif
