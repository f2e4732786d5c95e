/* rough_costs.h: costs of many variants at once, nearly as predict.h computes them one by one. They tell which few of
 * many variants are worth a prediction. */
#ifndef LIBRARY_PREDICT_ROUGH_COSTS_H
#define LIBRARY_PREDICT_ROUGH_COSTS_H

#include "library/predict/predict.h"

enum { ROUGH_AT_ONCE = 64 }; /* whole vectors: see base/numbers/wide_vectors.h */

/* Members of struct predict_cost, in fill its feature, and in log_start one of struct predict_bounds, for one launch
 * mode. */
struct rough_costs {
  float factor[ROUGH_AT_ONCE], fill[ROUGH_AT_ONCE], log_ms[ROUGH_AT_ONCE], launch_share[ROUGH_AT_ONCE],
      log_start[ROUGH_AT_ONCE];
};

/* No number of rough_costs is farther than this from the exact one, if predict_is_sensible(). */
extern const float rough_error;

/* Compute the costs of variants in a few nanoseconds each.
 *   terms  of these variants
 *   count  of whole vectors, at most ROUGH_AT_ONCE */
void rough_costs_of(const struct predict_model *model, const struct block_terms *terms, int count,
                    const struct predict_place *place, enum launch_mode mode, struct rough_costs *out);

#endif
