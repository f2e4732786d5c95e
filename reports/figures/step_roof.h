/* step_roof.h: what a step can take at least where a launch makes several steps. */
#ifndef REPORTS_FIGURES_STEP_ROOF_H
#define REPORTS_FIGURES_STEP_ROOF_H

#include "stencil/analysis/analysis.h"

/* A launch of several steps reads each input once for all of them, so a copy is no roof of a step. */
struct step_roof {
  double memory_ms;     /* moving the bytes of a launch, the halos of its blocks included, over its steps */
  double arithmetic_ms; /* the instructions of a step, each point computed once */
};

/* A launch that makes several steps. */
struct fused_launch {
  int steps;
  enum dtype dtype;
  double points;      /* of the grid */
  double copy_ms;     /* a copy of as many bytes as the launch reads and writes at least; NAN: unknown */
  double over_read;   /* different elements that blocks read, over the inputs of their points; NAN: unknown */
  double peak_gflops; /* of the GPU, a fused multiply-add counts as two operations; NAN: unknown */
};

/* Compute the roofs of a step. A roof is NAN if something that it depends on is unknown. */
struct step_roof step_roof(const struct analysis *analysis, const struct fused_launch *launch);

/* Which roof is higher, and so binds: "memory" or "arithmetic". NULL if one of them is unknown. */
const char *step_roof_binding(const struct step_roof *roof);

#endif
