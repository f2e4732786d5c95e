/* step_roof.h: the least time of a step if a launch makes several steps. */
#ifndef REPORTS_FIGURES_STEP_ROOF_H
#define REPORTS_FIGURES_STEP_ROOF_H

#include "stencil/analysis/analysis.h"

/* A launch of several steps reads each input once for all of them, so a copy is not a roof of a step. */
struct step_roof {
  double memory_ms;     /* time to move the bytes of a launch, with the halos of its blocks, divided by its steps */
  double arithmetic_ms; /* time of the instructions of a step if each point is computed once */
};

/* A launch that makes several steps. */
struct fused_launch {
  int steps;
  enum dtype dtype;
  double points;      /* points of the grid */
  double copy_ms;     /* time of a copy of the least bytes that the launch reads and writes; NAN: unknown */
  double over_read;   /* distinct elements that blocks read, over the inputs of their points; NAN: unknown */
  double peak_gflops; /* rate of the GPU; a fused multiply-add counts as two operations; NAN: unknown */
};

/* Compute the roofs of a step. A roof is NAN if something that it depends on is unknown. */
struct step_roof step_roof(const struct analysis *analysis, const struct fused_launch *launch);

/* Which roof is higher, and so binds: "memory" or "arithmetic". NULL if one of them is unknown. */
const char *step_roof_binding(const struct step_roof *roof);

#endif
