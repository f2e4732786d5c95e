/* observations.h: the measured times of a database's variants, as predictions see them. */
#ifndef LIBRARY_PREDICT_OBSERVATIONS_H
#define LIBRARY_PREDICT_OBSERVATIONS_H

#include "db/store/store.h"
#include "library/predict/predict.h"

/* A measured time of a variant on a grid. */
struct observation {
  int64_t device; /* id of the first device of its model */
  long variant;   /* number of stencil, element type, template and configuration; neighbours in the list */
  enum launch_mode launch;
  double time_ms, best_ms; /* time of this variant, and of the fastest one of the same run */
  struct predict_cost cost;
};

struct observations {
  struct observation *list; /* by device, then by variant */
  int count, capacity;
};

/* Read the measurements of real GPUs in which a variant was timed. Variants of templates or stencils that this program
 * cannot read are left out.
 *   model  its coefficients are used to compute the costs
 *   out    end it with observations_free, also after a failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status observations_read(struct store *store, const struct predict_model *model, struct observations *out);

void observations_free(struct observations *observations);

#endif
