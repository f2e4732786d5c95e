/* roof.h: the fastest copy of as many bytes as a task moves: no kernel of the task can be much faster. Candidates are
 * the driver's copy and kernels of the stencil `copy`. */
#ifndef SEARCH_ROOF_ROOF_H
#define SEARCH_ROOF_ROOF_H

#include "tuner/measure/backends/backend.h"
#include "tuner/search/hints/hints.h"
#include "tuner/search/run/schedule.h"
#include "tuner/search/variants/pipeline.h"

struct roof_inputs {
  /* Read. */
  const struct task *copy; /* stencil `copy` on as many points as move the task's bytes; NULL: there is no roof */
  struct template *const *templates; /* those that may copy */
  int template_count;
  const struct hint_sources *sources; /* databases that may know a tuned copy */
  const struct hint_target *target;   /* the copy, as the problem that these databases are asked for */
  const struct schedule *schedule;
  /* Changed. */
  struct backend_handle *backend; /* slots from `first_slot` of roof_open */
  struct pipeline *pipeline;      /* empty before and after */
};

enum { MOST_ROOFS = 4 };

/* What is loaded to measure the roof. Start with {0}, end with roof_close. */
struct roof {
  struct trial *trials[MOST_ROOFS];
  int slots[MOST_ROOFS + 1]; /* the slots of the kernels, and SLOT_MEMCPY */
  int count;                 /* number of slots */
};

/* Load the driver's copy and the fastest kernels. The kernels are winners of this model of GPU that the databases
 * know. Where they know none, the best of a small sample of variants are loaded beside the driver's copy.
 *   first_slot  the first of MOST_ROOFS + 1 slots of the backend that may be loaded
 * Returns HALOTUNE_OK, also where it was stopped; else what backend, compiler or store return. roof_close(out) is right
 * then. */
halotune_status roof_open(const struct roof_inputs *in, int first_slot, struct roof *out);

/* Unload all of them, even after a failure. Returns the backend's first failure. */
halotune_status roof_close(struct backend_handle *backend, struct roof *roof);

#endif
