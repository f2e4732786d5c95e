/* stages.h: the stages of a launch: the updates that it makes one after the other, and how far each of them reaches.
 * What depends on the reach of several stages is computed from this list.
 *
 * A time step is one stage, or a chain of stages with different updates. A launch of T time steps repeats them T
 * times. */
#ifndef STENCIL_LAUNCH_STAGES_H
#define STENCIL_LAUNCH_STAGES_H

#include "stencil/analysis/analysis.h"

enum { MOST_STAGES_A_STEP = 8 };

/* An update, and how far its taps reach towards smaller and larger indices of each axis. */
struct launch_stage {
  const struct stencil *stencil;
  const struct analysis *analysis; /* analysis of this stencil */
  int reach[MAX_DIMS][SIDES];
};

/* The list of stages: those of a time step, as often as the launch makes one. */
struct stages {
  struct launch_stage step[MOST_STAGES_A_STEP];
  int step_count; /* stages of a time step */
  int steps;      /* time steps */
};

/* The stage that makes a stencil's update. */
struct launch_stage launch_stage_of(const struct stencil *stencil, const struct analysis *analysis);

/* The stages of `steps` repeats of one update. */
struct stages stages_of_update(const struct stencil *stencil, const struct analysis *analysis, int steps);

/* The number of all stages. */
static inline int stages_count(const struct stages *stages) { return stages->step_count * stages->steps; }

/* A stage, counted from 0. */
static inline const struct launch_stage *stages_get(const struct stages *stages, int stage) {
  return &stages->step[stage % stages->step_count];
}

/* Whether all stages make the same update. */
static inline bool stages_are_alike(const struct stages *stages) { return stages->step_count == 1; }

/* How far the first, or the last, `count` stages reach together. The points that the last stages need around a tile are
 * its halo. In a march, the first stages are so many planes behind the plane that comes in. */
int stages_reach_first(const struct stages *stages, int count, int axis, enum edge_side side);
int stages_reach_last(const struct stages *stages, int count, int axis, enum edge_side side);

/* Check that stages of different updates can be a chain: their stencils have the same dimensions, inputs, outputs,
 * `iterate`, boundaries and coefficients. No update uses the number of a point, no input is a mask or lies along some
 * axes only, and no output is `in_place`.
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT with the reason. */
halotune_status stages_check(const struct stages *stages);

#endif
