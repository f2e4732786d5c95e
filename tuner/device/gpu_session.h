/* gpu_session.h: one GPU in the process that uses it: a problem's fields, and variants that are loaded, verified and
 * timed on them.
 *
 * All variants share the fields. Before each verification, inputs are restored from copies that no variant can access,
 * and outputs are poisoned.
 *
 * Copies and the reference take several times the memory of the fields. Where they do not fit, the session keeps the
 * fields alone, `in_parts`: a recipe makes the inputs anew, and the reference exists for one part at a time. Variants
 * are then compared in drawn boxes; gpu_session_verify_all compares all points. Everything else is checked everywhere
 * in both cases: guards, inputs, and that each point was written and is finite.
 *
 * A variant that wrote outside of the fields may have damaged more than its guards, and a variant that died destroyed
 * the context. After either the session can only be closed (gpu_session_is_lost).
 *
 * Errors of the driver that a variant caused are HALOTUNE_NO_GPU, with the reason in `gpu.failed`; see gpu_outcome.
 * Threads: one. */
#ifndef DEVICE_GPU_SESSION_H
#define DEVICE_GPU_SESSION_H

#include "gpu/driver/kernel.h"
#include "tuner/device/gpu_check.h"
#include "tuner/device/gpu_memory.h"
#include "tuner/device/gpu_partial.h"
#include "tuner/device/gpu_problem.h"
#include "tuner/device/gpu_recipe.h"
#include "tuner/verify/drawn_boxes.h"

/* Slots of variants, followed by those of the empty kernel and of the driver's copy. tuner/measure/backends/backend.h
 * has the same numbers. */
enum { GPU_SLOTS = 128, GPU_SLOT_EMPTY = GPU_SLOTS, GPU_SLOT_MEMCPY, GPU_ALL_SLOTS };

/* Fields that the program fills, by number of the buffer, or of the output. */
enum gpu_upload { GPU_UPLOAD_START, GPU_UPLOAD_WANT, GPU_UPLOAD_MAGNITUDE, GPU_UPLOAD_KINDS };

/* The results of checks after a variant ran. */
struct gpu_look_back {
  struct gpu_found buffers[2 * MAX_FIELDS];     /* inputs, then outputs */
  double want[MAX_FIELDS], got[MAX_FIELDS];     /* values at the first bad point of each output */
  long long compared_points;                    /* points of each output; 0: not compared */
  double time_ms;                               /* time of the run */
  long long checked_samples, differing_samples; /* see gpu_session_sample_checked */
};

/* What a slot remembers of samples whose results are checked. */
struct gpu_results {
  long samples, differing;
  long steps;      /* steps of the last sample, from fresh fields; 0: there is none */
  uint64_t digest; /* digest of the result of these steps */
  bool has_wrong;
  struct gpu_look_back wrong; /* the first wrong result */
};

struct gpu_slot {
  bool is_loaded, is_roof;
  struct kernel kernel;
  int binding_count;
  struct kernel_fields *bindings; /* one for each phase, or for each set in rotation */
  CUgraphExec *graphs;            /* the graph of a batch that begins with that binding; NULL: not made yet */
  int graph_batch;
  struct gpu_results results;
};

/* Start with {0}; end with gpu_session_close. */
struct gpu_session {
  struct gpu gpu;
  struct cu cu;
  struct device device;
  CUstream stream;
  CUevent start, end;
  struct gpu_checker checker;
  struct gpu_problem problem;
  bool has_problem, is_damaged;
  struct gpu_buffer fields[2 * MAX_FIELDS]; /* inputs, then outputs */
  CUdeviceptr starts[2 * MAX_FIELDS];       /* their first content; for outputs only if they are iterated */
  CUdeviceptr want[MAX_FIELDS], magnitudes[MAX_FIELDS];
  bool in_parts;      /* starts, want and magnitudes do not exist, but the members up to `rotation` */
  CUdeviceptr recipe; /* what makes the first content of fields; 0: not known yet */
  struct gpu_partial partial;
  struct box drawn[DRAWN_BOXES_MOST];
  int drawn_count;
  bool compares_all; /* not only in the drawn boxes */
  /* sets that are used in turn; none if one set is enough. A set of the roof is an input and an output */
  struct gpu_rotation rotation, roof;
  struct gpu_slot slots[GPU_ALL_SLOTS];
  int phase;         /* phase of the next application if an iterated stencil is timed */
  long applications; /* applications since the fields were fresh; negative: they must be reset first */
  int last;          /* the slot that wrote the fields last; -1 if none did, and after a run in place */
  double ran_ms;     /* when the last verified run ended, by clock_ms() */
};

/* Open the driver and the GPU, and make a context.
 * Returns HALOTUNE_OK, HALOTUNE_NO_GPU, HALOTUNE_ARGUMENT. */
halotune_status gpu_session_open(int ordinal, struct gpu_session *out);
void gpu_session_close(struct gpu_session *s);

/* Load the compiled source of gpu_check_source. */
halotune_status gpu_session_prepare(struct gpu_session *s, const void *cubin);

/* Unload all variants and allocate the fields of a problem. gpu_session_upload or gpu_session_make_fields fills them.
 * Where the GPU makes the fields, and has no memory for copies and reference, the session keeps the fields alone.
 * Returns HALOTUNE_OK; HALOTUNE_MEMORY with how much is needed and how much is free; HALOTUNE_NO_GPU. If there is no
 * room for the roof, it is left out or uses the problem's fields, without an error. */
halotune_status gpu_session_problem(struct gpu_session *s, const struct gpu_problem *problem);

/* Fill a part of a field. The start of a field has the element's type; reference values are doubles.
 * Returns HALOTUNE_ARGUMENT for a part that the field does not have. */
halotune_status gpu_session_upload(struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                   const void *bytes, size_t byte_count);

/* Make the fields of the roof. gpu_session_problem calls it, or in parts gpu_session_make_fields. If there is no room
 * for them, the run continues without a roof; in parts, the roof copies the first input to the first output if they are
 * large enough. */
void gpu_session_make_roof(struct gpu_session *s);

/* Free copies, reference and roof, where there is no room for all. The session then has its fields in parts. */
void gpu_session_drop_copies(struct gpu_session *s);

/* What gpu_session_make_fields did. */
struct gpu_made {
  /* points of the reference, in any of its steps, that the element type cannot hold, and the first of them. In parts
   * there is an error instead */
  long long bad_points, first_bad;
  long long drawn_points; /* points of an output that are compared; those in two boxes count twice. 0: all points */
};

/* Make all parts of all fields on the GPU.
 * Returns HALOTUNE_ARGUMENT for a recipe of another problem; HALOTUNE_NOT_FOUND if there is no memory for all, and
 * HALOTUNE_MEMORY if there is none for a part either. */
halotune_status gpu_session_make_fields(struct gpu_session *s, const struct gpu_recipe *recipe, struct gpu_made *out);

/* The points that the stencil computes. */
static inline struct box gpu_session_box(const struct gpu_session *s) {
  struct box box;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    box.low[axis] = s->problem.domain.low[axis];
    box.high[axis] = s->problem.domain.high[axis];
  }
  return box;
}

/* Write a buffer's first content to other memory, and do not wait. */
halotune_status gpu_session_restart(struct gpu_session *s, int buffer, CUdeviceptr to);

/* Read a part of what gpu_session_upload or gpu_session_make_fields wrote. In parts, a field's first content can be
 * read before a variant has run, and the reference within the box that is computed. */
halotune_status gpu_session_download(struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                     void *bytes, size_t byte_count);

/* Load a variant into the slot with this number, which must be empty. `is_roof`: bind it to the roof's fields.
 * Returns HALOTUNE_NO_GPU also if there is no memory for its workspaces, with how much they need. */
halotune_status gpu_session_load(struct gpu_session *s, int number, const struct kernel_plan *plan, const void *cubin,
                                 bool is_roof);
void gpu_session_unload(struct gpu_session *s, int number);

/* Reset the fields, run the variant once, and check all fields. */
halotune_status gpu_session_verify(struct gpu_session *s, int number, struct gpu_look_back *out);

/* The same, but outputs are compared at all points in any case. */
halotune_status gpu_session_verify_all(struct gpu_session *s, int number, struct gpu_look_back *out);

/* Compare outputs at any address with the reference. Nothing else is checked. */
halotune_status gpu_session_compare(struct gpu_session *s, const CUdeviceptr outputs[], struct gpu_look_back *out);

/* Check what the samples of a slot left: guards, inputs, and the last results. The results are compared with the
 * reference if applications do not advance in time; otherwise they only have to be finite. If another slot has run
 * since, the fields are not this slot's, and only the findings of gpu_session_sample_checked are reported. */
halotune_status gpu_session_inspect(struct gpu_session *s, int number, struct gpu_look_back *out);

/* Measure the time of one application in milliseconds, from a batch.
 *   warm  run an untimed application before it */
halotune_status gpu_session_sample(struct gpu_session *s, int number, int batch, bool warm, double *time_ms);

/* Like gpu_session_sample, from fresh fields, after an untimed application, with a check of the result. If applications
 * advance in time, the result must equal that of other samples of the slot with as many steps, bit for bit; otherwise
 * it is compared with the reference. gpu_session_inspect reports what was found. Nothing is checked for the roof. */
halotune_status gpu_session_sample_checked(struct gpu_session *s, int number, int batch, double *time_ms);

/* Launch applications, and do not wait for them. The fields are made fresh before the first one, and again where they
 * may have grown.
 *   batch     a multiple of gpu_session_period()
 *   is_first  whether this is the first batch of a series with batches of this size */
halotune_status gpu_session_apply(struct gpu_session *s, int number, int batch, bool is_first);

/* The number of applications of a slot after which all sets of fields that it uses in turn were used once. 1 for time
 * steps, which go on from any phase. */
int gpu_session_period(const struct gpu_session *s, int number);

/* Make the fields fresh before the next sample. Call it before a series of samples. */
void gpu_session_refresh(struct gpu_session *s);

/* Keep the GPU busy for about this long. */
halotune_status gpu_session_keep_warm(struct gpu_session *s, double time_ms);

/* Whether no result of the session can be trusted any more. */
bool gpu_session_is_lost(const struct gpu_session *s);

#endif
