/* backend.h: what runs variants: the GPU's worker process, the host's emulation, or a recording. Search and
 * protocol know no more of them than this table of functions.
 *
 * A backend has one problem at a time, and slots, each of which holds one loaded variant: the anchor and the
 * finalists stay, the variant under test comes and goes. What goes wrong with a variant is a verdict, never an
 * error, and its slot is empty again; after one that kills its process the next call starts another, with the
 * problem and the other slots as they were.
 *
 * Threads: one at a time for one backend. */
#ifndef MEASURE_BACKENDS_BACKEND_H
#define MEASURE_BACKENDS_BACKEND_H

#include "db/store/store.h"
#include "gpu/driver/kernel.h"
#include "gpu/workers/compiler.h"
#include "tuner/verify/compare.h"
#include "tuner/verify/scene.h"

enum { BACKEND_SLOTS = 128, BACKEND_REASON_BYTES = 512 };

/* Slots that every backend has once a problem is set; they are never loaded by the caller. */
enum backend_slot {
  SLOT_EMPTY = BACKEND_SLOTS, /* a kernel that does nothing */
  SLOT_MEMCPY,                /* the driver's copy of the roof's bytes */
  BACKEND_ALL_SLOTS
};

/* What a backend found when it was opened. */
struct backend_facts {
  struct device_facts device;
  const struct arch_facts *arch; /* of the device */
  bool is_emulation;
  bool is_recording;  /* nothing runs, so nothing need be compiled */
  char driver[64];    /* "580.159.04"; "" for none */
  char nvrtc[32];     /* "13.0", of a recording; "" of others, whose compiler knows it */
  int cuda;           /* 13000; 0 for none */
  char warnings[512]; /* a line each, such as other processes on the GPU */
};

/* A problem to run variants of. */
struct backend_problem {
  const struct scene *scene; /* inputs and reference of one step, on a dense domain; has to live until the next */
  enum launch_mode launch;   /* how samples launch */
  enum cache_mode cache;
  bool reproducible;       /* of a recording: which of two problems that are alike but for this */
  long long roof_elements; /* that SLOT_MEMCPY and variants with `is_roof` copy; 0 for none */
};

/* A compiled variant. What it points to must live while the variant is loaded. */
struct candidate {
  const struct variant_spec *spec;
  const struct generated *generated;
  const struct compiled *compiled; /* NULL for backends that compile themselves (host) */
  bool is_roof; /* a variant of stencil `copy` on roof_elements points, of the problem's element type; not verified */
};

/* What the compiler found of a variant when it was recorded. */
struct recorded_kernel {
  bool is_known;                                           /* false from backends that run kernels */
  int registers, shared_bytes, spill_bytes, blocks_per_sm; /* -1 where not recorded */
  double occupancy;                                        /* NaN */
};

/* How a step went. */
struct verdict {
  enum outcome outcome; /* OUTCOME_MEASURED where nothing is wrong */
  char reason[BACKEND_REASON_BYTES];
  struct comparison worst; /* of the outputs, the one with the largest error; points 0 where none was compared */
  double run_ms;           /* of the verified run, once and cold: a first guess for batches; 0 where there was none */
  struct recorded_kernel recorded;
};

/* Samples of several variants in turn: for each round, each slot once. */
struct sample_plan {
  const int *slots;
  const int *batches; /* applications of one sample, a slot each */
  int slot_count, rounds;
  bool warm;   /* one untimed application before each sample */
  bool checks; /* with `warm`: each begins with inputs written anew, and its result is looked at; recheck tells
                         what was seen. Backends may leave it out */
};

struct backend {
  const char *name; /* "cuda", "host", "replay" */

  /* Set the problem; unloads all slots.
   * Returns HALOTUNE_OK; HALOTUNE_MEMORY where the device has too little, with how much it takes; HALOTUNE_NO_GPU or
   * HALOTUNE_IO where no worker could be started. */
  halotune_status (*set_problem)(void *state, const struct backend_problem *problem);

  /* Load a variant into an empty slot, with inputs written anew, run it once between guards, and compare with the
   * reference. A variant of the roof is loaded and not run; where there is no room for its fields, that is its verdict.
   * Returns HALOTUNE_OK whatever the verdict is; else what set_problem returns, as a worker may have to be started. */
  halotune_status (*load)(void *state, int slot, const struct candidate *candidate, struct verdict *verdict);

  /* Empty a slot; an empty one is fine. */
  halotune_status (*unload)(void *state, int slot);

  /* Take samples.
   *   times_ms  receives rounds * slot_count times of one application, round by round; those behind a failure are 0
   *   failed    the slot that went wrong, -1 for none
   *   verdict   of that slot; the samples end with it */
  halotune_status (*sample)(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                            struct verdict *verdict);

  /* After samples: look at guards, inputs and whether the last output is finite; then write the inputs anew, run the
   * slot's variant once more and compare. Nothing is looked at for a variant of the roof. */
  halotune_status (*recheck)(void *state, int slot, struct verdict *verdict);

  /* Whether samples of a slot repeat one value, as where a recording kept no more than a median. NULL: none does. */
  bool (*is_constant)(void *state, int slot);

  /* Clocks and so on, now. */
  void (*read)(void *state, struct gpu_reading *out);

  /* How many other processes compute on the GPU now; 0 where that is not known. NULL: none can. */
  int (*others)(void *state);

  /* Keep the GPU busy for about that long, so that its clocks are up. */
  halotune_status (*keep_warm)(void *state, double time_ms);

  /* Tell each variant of the problem that is known, in no order; NULL where any can be run. Texts are valid during the call.
   *   visit  gets the template's name and the parameters as db/store/launch_text.h writes them; what it returns ends the walk unless it is
   *          HALOTUNE_OK, and is returned */
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

static inline bool backend_is_constant(const struct backend_handle *backend, int slot) {
  return backend->table->is_constant && backend->table->is_constant(backend->state, slot);
}

static inline int backend_others(const struct backend_handle *backend) {
  return backend->table->others ? backend->table->others(backend->state) : 0;
}

/* What a variant's hang is judged by: the larger of this and 20 times what the samples should take by the best time
 * so far, and what copies and checks of all fields take on top of it. */
enum { BACKEND_HANG_MS = 5000 };

struct backend_cuda_options {
  int ordinal;               /* of the GPU, as the driver counts */
  int hang_ms;               /* 0: BACKEND_HANG_MS */
  struct compiler *compiler; /* for the backend's own kernels; idle during the call, not needed after it */
};

/* Open the worker process of a GPU. Call it before the program has threads.
 * Returns HALOTUNE_OK, HALOTUNE_NO_GPU or HALOTUNE_ARGUMENT (no such ordinal), HALOTUNE_IO, HALOTUNE_MEMORY, or
 * what the compiler returns. */
halotune_status backend_cuda_open(const struct backend_cuda_options *options, struct backend_handle *out);

/* The same in this process, which then owns a context of the GPU: for tools that watch one process, such as
 * compute-sanitizer. A variant that hangs or kills its process takes the program with it, and after one that kills
 * its context nothing works. */
halotune_status backend_direct_open(const struct backend_cuda_options *options, struct backend_handle *out);

/* The emulation. Its times are those of one thread of the host, and mean nothing for a GPU.
 *   arch  what it pretends to be */
halotune_status backend_host_open(const char *arch, struct backend_handle *out);

/* {0} is fine. */
static inline void backend_close(struct backend_handle *backend) {
  if (backend->table) backend->table->close(backend->state);
  *backend = (struct backend_handle){.table = NULL};
}

#endif
