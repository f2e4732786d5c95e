/* gpu_session.h: one GPU in the process that uses it: a problem's fields, variants loaded on them, verified and timed.
 *
 * All fields are shared by all variants. Inputs are copied anew before each verification from copies that no
 * variant knows; outputs are poison then. A variant that wrote outside of the fields may have hit more than its
 * guards, and one that died took the context with it: the session is then good for nothing but its end
 * (gpu_session_is_lost).
 *
 * What the driver says against a variant comes as HALOTUNE_NO_GPU, with `gpu.failed`; see gpu_outcome.
 * Threads: one. */
#ifndef DEVICE_GPU_SESSION_H
#define DEVICE_GPU_SESSION_H

#include "gpu/driver/kernel.h"
#include "tuner/device/gpu_check.h"
#include "tuner/device/gpu_memory.h"
#include "tuner/device/gpu_problem.h"

/* Slots of variants; behind them the empty kernel and the driver's copy. The same numbers as in
 * tuner/measure/backends/backend.h. */
enum { GPU_SLOTS = 128, GPU_SLOT_EMPTY = GPU_SLOTS, GPU_SLOT_MEMCPY, GPU_ALL_SLOTS };

/* Fields that are filled from outside: by number of buffer, or of output. */
enum gpu_upload { GPU_UPLOAD_START, GPU_UPLOAD_WANT, GPU_UPLOAD_MAGNITUDE, GPU_UPLOAD_KINDS };

/* What was seen after a variant ran. */
struct gpu_look_back {
  struct gpu_found buffers[2 * MAX_FIELDS];     /* inputs, then outputs */
  double want[MAX_FIELDS], got[MAX_FIELDS];     /* at the first bad point of each output */
  long long compared_points;                    /* of each output; 0: not compared */
  double time_ms;                               /* of the run */
  long long checked_samples, differing_samples; /* gpu_session_sample_checked */
};

/* What is kept of a slot's samples whose results are looked at. */
struct gpu_results {
  long samples, differing;
  long steps;      /* of the last one, from fresh fields; 0 for none */
  uint64_t digest; /* of what they led to */
  bool has_wrong;
  struct gpu_look_back wrong; /* the first result that was found wrong */
};

struct gpu_slot {
  bool is_loaded, is_roof;
  struct kernel kernel;
  int binding_count;
  struct kernel_fields *bindings; /* of each phase, or of each set in rotation */
  CUgraphExec *graphs;            /* of a batch that begins with that binding; NULL: not made yet */
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
  CUdeviceptr starts[2 * MAX_FIELDS];       /* what they hold at first; of outputs only where they are iterated */
  CUdeviceptr want[MAX_FIELDS], magnitudes[MAX_FIELDS];
  struct gpu_rotation rotation, roof; /* sets to take turns; none where one set is enough. roof: input and output */
  struct gpu_slot slots[GPU_ALL_SLOTS];
  int phase;         /* the next application's, of iterated stencils that are timed */
  long applications; /* since the fields were fresh; negative: they have to be made so */
  int last;          /* the slot that wrote the fields last */
};

/* Open the driver and the GPU, with a context.
 * Returns HALOTUNE_OK, HALOTUNE_NO_GPU, HALOTUNE_ARGUMENT. */
halotune_status gpu_session_open(int ordinal, struct gpu_session *out);
void gpu_session_close(struct gpu_session *s);

/* Load the compiled source of gpu_check_source. */
halotune_status gpu_session_prepare(struct gpu_session *s, const void *cubin);

/* Unload all variants and make room for the fields of a problem, to be filled by gpu_session_upload.
 * Returns HALOTUNE_OK; HALOTUNE_MEMORY with how much it takes and how much is free; HALOTUNE_NO_GPU. That there is
 * no room for the roof is no failure. */
halotune_status gpu_session_problem(struct gpu_session *s, const struct gpu_problem *problem);

/* Fill a part of a field: in the element's type at first, in doubles for the reference.
 * Returns HALOTUNE_ARGUMENT for a part that the field does not have. */
halotune_status gpu_session_upload(struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                   const void *bytes, size_t byte_count);

/* Load a variant into the slot of this number, which has to be empty. `is_roof`: on the roof's fields.
 * Returns HALOTUNE_NO_GPU also where the memory has no room for its workspaces, with how much they take. */
halotune_status gpu_session_load(struct gpu_session *s, int number, const struct kernel_plan *plan, const void *cubin,
                                 bool is_roof);
void gpu_session_unload(struct gpu_session *s, int number);

/* Make the fields anew, run the variant once, and look at all of them. */
halotune_status gpu_session_verify(struct gpu_session *s, int number, struct gpu_look_back *out);

/* Compare outputs that lie anywhere with the reference; nothing beside them is looked at. */
halotune_status gpu_session_compare(struct gpu_session *s, const CUdeviceptr outputs[], struct gpu_look_back *out);

/* Look at what the samples of a slot left: guards, inputs, and the last results, which are compared with the reference
 * where applications do not carry on in time, else only have to be finite. Where another slot has run since, they are
 * not its own, and only what gpu_session_sample_checked found is told. */
halotune_status gpu_session_inspect(struct gpu_session *s, int number, struct gpu_look_back *out);

/* Time of one application in milliseconds, of a batch.
 *   warm  an untimed application before */
halotune_status gpu_session_sample(struct gpu_session *s, int number, int batch, bool warm, double *time_ms);

/* The same from fresh fields, after an untimed application, and then a look at the result. Where applications carry on
 * in time, it has to be what other samples of the slot with as many steps came to, bit for bit; else it is compared with
 * the reference. What is found is told by gpu_session_inspect. Of the roof nothing is looked at. */
halotune_status gpu_session_sample_checked(struct gpu_session *s, int number, int batch, double *time_ms);

/* Make the fields fresh again: call it before a series of samples. */
void gpu_session_refresh(struct gpu_session *s);

/* Keep the GPU busy for about that long. */
halotune_status gpu_session_keep_warm(struct gpu_session *s, double time_ms);

/* Whether nothing that it says from now on can be trusted. */
bool gpu_session_is_lost(const struct gpu_session *s);

#endif
