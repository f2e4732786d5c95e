/* step_roof.h: the least time of a step if a launch makes several steps. */
#ifndef REPORTS_FIGURES_STEP_ROOF_H
#define REPORTS_FIGURES_STEP_ROOF_H

#include "stencil/analysis/analysis.h"

/* A launch of several steps reads each input once for all of them, so a copy is not a roof of a step. */
struct step_roof {
  double memory_ms;     /* time to move the bytes of a launch, with the halos of its blocks, divided by its steps */
  double arithmetic_ms; /* time of the instructions of a step if each point is computed once */
  double shared_ms;     /* time of the accesses to shared memory of a launch, divided by its steps */
};

/* A launch that makes several steps. */
struct fused_launch {
  int steps;
  enum dtype dtype;
  double points;            /* points of the grid */
  double copy_ms;           /* time of a copy of the least bytes that the launch reads and writes; NAN: unknown */
  double over_read;         /* distinct elements that blocks read, over the inputs of their points; NAN: unknown */
  double peak_gflops;       /* rate of the GPU; a fused multiply-add counts as two operations; NAN: unknown */
  double shared_wavefronts; /* passes of accesses to shared memory per point; NAN: not counted */
  double passes_per_ms;     /* that all multiprocessors make, one a clock each; NAN: unknown */
  bool groups_weights;      /* the variant groups weights that repeat */
};

/* Compute the roofs of a step. A roof is NAN if something that it depends on is unknown. */
struct step_roof step_roof(const struct analysis *analysis, const struct fused_launch *launch);

/* The roof that binds, which is the highest: "memory", "arithmetic" or "shared memory". NULL if memory or arithmetic is
 * unknown. Shared memory does not bind if it is unknown. */
const char *step_roof_binding(const struct step_roof *roof);

/* The time of the roof that binds. NAN if none is known to bind. */
double step_roof_ms(const struct step_roof *roof);

#endif
