/* static_cost.h: what a variant should cost beside others, from numbers that are known before it is compiled.
 *
 * The logarithm of the cost is a sum of weights times features. The features come from the formulas of the template:
 * launch, shared memory and accesses. The built-in weights are those that fit the times of the starter database and of
 * the recordings in bench/results best; `make bench-static-cost` learns them, and says how good they are for stencils
 * from which they were not learnt. `halotune db fit` learns other weights from a user's database (static_fit.h). Costs
 * tell slow variants from others, but not the fastest. */
#ifndef LIBRARY_PREDICT_STATIC_COST_H
#define LIBRARY_PREDICT_STATIC_COST_H

#include "stencil/template/template.h"

/* Each row: name, weight, meaning. Logarithms are to base e. A plane is in x and y. */
#define STATIC_COST_LIST(X)                                                                                            \
  X(memory, 0.086, "log of the elements that a block reads over the inputs of its points")                             \
  X(loads, 0.045, "log of load instructions a point")                                                                  \
  X(conflicts, 0.187, "log of the passes of the worst access to shared memory over the fewest")                        \
  X(window, 0.089, "log of the points that a thread reads in a plane over those that it computes there")               \
  X(spilled, 0.191, "log of the registers that a thread should need over those that it may have, if they are more")    \
  X(occupancy, 0.095, "log of half of the threads that a multiprocessor holds over those that fit, if they are fewer") \
  X(fill, 0.078, "of predict.h, as the next four")                                                                     \
  X(idle, 0.064, "")                                                                                                   \
  X(tail, 0.109, "")                                                                                                   \
  X(edge, 0.114, "")                                                                                                   \
  X(reread, 0.059, "")                                                                                                 \
  X(starts, 0.359, "log of 1 plus the time in which the GPU starts the blocks over that of the bytes")                 \
  X(row, 0.076, "log of 128 bytes over the bytes of a row that a warp touches, if they are fewer")                     \
  X(vector, 0.080, "log of 16 bytes over the bytes in x of a thread")                                                  \
  X(points, -0.084, "log of the points of a thread in a plane")                                                        \
  X(many_points, 0.082, "log of these points over 8, if they are more")
#define STATIC_COST_AS_ENUMERATOR(name, weight, about) STATIC_COST_##name,
enum static_cost_feature { STATIC_COST_LIST(STATIC_COST_AS_ENUMERATOR) STATIC_COST_FEATURES };
#undef STATIC_COST_AS_ENUMERATOR

extern const char *const static_cost_names[STATIC_COST_FEATURES];

struct static_weights {
  double of[STATIC_COST_FEATURES]; /* by enum static_cost_feature */
};

/* The weights of the list above. */
extern const struct static_weights static_weights_built_in;

/* Whether all weights are finite and from -3 to 3. A caller uses the built-in weights otherwise, and says so. */
bool static_weights_are_sensible(const struct static_weights *weights);

/* Compute the features of the bound configuration, in microseconds. */
void static_cost_features(const struct bindings *bindings, double out[STATIC_COST_FEATURES]);

/* The sum of weights times features. */
double static_cost_sum(const struct static_weights *weights, const double features[STATIC_COST_FEATURES]);

/* Compute the logarithm of the cost of the bound configuration, to compare with others of the template on the same
 * problem.
 *   weights  NULL: the built-in ones
 * NAN where a formula of the template gives no number. */
double static_cost_log(const struct bindings *bindings, const struct static_weights *weights);

#endif
