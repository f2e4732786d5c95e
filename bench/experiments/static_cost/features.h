/* features.h: numbers of a variant that are known before it is compiled. */
#ifndef STATIC_COST_FEATURES_H
#define STATIC_COST_FEATURES_H

#include "library/predict/predict.h"

/* Each row: name, meaning. Logarithms are to base e. A plane is in x and y. */
#define FEATURE_LIST(X)                                                                                         \
  X(memory, "log of the elements that a block reads over the inputs of its points")                             \
  X(loads, "log of load instructions a point")                                                                  \
  X(conflicts, "log of the passes of the worst access to shared memory over the fewest")                        \
  X(window, "log of the points that a thread reads in a plane over those that it computes there")               \
  X(spilled, "log of the registers that a thread should need over those that it may have, if they are more")    \
  X(occupancy, "log of half of the threads that a multiprocessor holds over those that fit, if they are fewer") \
  X(fill, "of predict.h, as the next four")                                                                     \
  X(idle, "")                                                                                                   \
  X(tail, "")                                                                                                   \
  X(edge, "")                                                                                                   \
  X(reread, "")                                                                                                 \
  X(starts, "log of 1 plus the time in which the GPU starts the blocks over that of the bytes")                 \
  X(row, "log of 128 bytes over the bytes of a row that a warp touches, if they are fewer")                     \
  X(vector, "log of 16 bytes over the bytes in x of a thread")                                                  \
  X(points, "log of the points of a thread in a plane")                                                         \
  X(many_points, "log of these points over 8, if they are more")
#define FEATURE_AS_ENUMERATOR(name, about) FEATURE_##name,
enum feature { FEATURE_LIST(FEATURE_AS_ENUMERATOR) FEATURES };
#undef FEATURE_AS_ENUMERATOR

extern const char *const feature_names[FEATURES];

/* What is computed of a variant. */
struct static_figures {
  double features[FEATURES];
  double work;             /* its template's estimate; NAN without one */
  double predicted;        /* logarithm of its time by the model of library/predict, with the default coefficients */
  double predicted_fitted; /* the same with others */
};

/* Compute the figures of the bound configuration.
 *   fitted  the other coefficients */
struct static_figures figures_of(const struct bindings *bindings, const struct predict_model *fitted);

#endif
