/* work.h: what a prediction knows of a problem. */
#ifndef LIBRARY_PREDICT_WORK_H
#define LIBRARY_PREDICT_WORK_H

#include "stencil/analysis/analysis.h"
#include "stencil/launch/domain.h"

struct predict_work {
  double points[MAX_DIMS]; /* computed points in x, y, z */
  double row_bytes;        /* distance of neighbours in y */
  double bytes;            /* compulsory traffic of one application */
  double depth;            /* planes that a plane reads, or rows in 2D: 1 plus the reach to both sides */
  double operations;       /* additions, multiplications, fma and functions, each counted once, of all points */
  double least_operations; /* the same where weights that repeat are grouped */
  enum dtype dtype;        /* in which they are computed */
};

struct predict_work predict_work_of(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                    const struct domain *domain);

#endif
