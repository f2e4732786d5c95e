/* stages.c: makes lists of stages, and adds up their reaches. */
#include "stencil/launch/stages.h"

#include <string.h>

#include "base/fail.h"

struct launch_stage launch_stage_of(const struct stencil *stencil, const struct analysis *analysis) {
  struct launch_stage stage = {.stencil = stencil, .analysis = analysis};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    stage.reach[axis][SIDE_LOW] = analysis->radius_low[axis];
    stage.reach[axis][SIDE_HIGH] = analysis->radius_high[axis];
  }
  return stage;
}

struct stages stages_of_update(const struct stencil *stencil, const struct analysis *analysis, int steps) {
  return (struct stages){.step = {launch_stage_of(stencil, analysis)}, .step_count = 1, .steps = steps};
}

int stages_reach_first(const struct stages *stages, int count, int axis, enum edge_side side) {
  int sum = 0;
  for (int stage = 0; stage < count; stage++) sum += stages_get(stages, stage)->reach[axis][side];
  return sum;
}

int stages_reach_last(const struct stages *stages, int count, int axis, enum edge_side side) {
  const int all = stages_count(stages);
  return stages_reach_first(stages, all, axis, side) - stages_reach_first(stages, all - count, axis, side);
}

static bool names_differ(const char *const *a, const char *const *b, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(a[i], b[i]) != 0) return true;
  }
  return false;
}

static bool coefficients_differ(const struct stencil *a, const struct stencil *b) {
  if (a->coefficient_count != b->coefficient_count) return true;
  for (int i = 0; i < a->coefficient_count; i++) {
    if (strcmp(a->coefficients[i].name, b->coefficients[i].name) != 0) return true;
  }
  return false;
}

static bool iterates_differ(const struct stencil *a, const struct stencil *b) {
  if (a->iterate_count != b->iterate_count) return true;
  for (int i = 0; i < a->iterate_count; i++) {
    const struct iterate *one = &a->iterate[i], *other = &b->iterate[i];
    if (one->from_output != other->from_output || one->from != other->from || one->to != other->to) return true;
  }
  return false;
}

static bool boundaries_differ(const struct stencil *a, const struct stencil *b) {
  for (int axis = 0; axis < a->dims; axis++) {
    for (int side = 0; side < SIDES; side++) {
      if (!edge_equal(&a->boundary[axis][side], &b->boundary[axis][side])) return true;
      for (int i = 0; i < a->input_count; i++) {
        if (!edge_equal(&a->input_boundary[i][axis][side], &b->input_boundary[i][axis][side])) return true;
      }
    }
  }
  return false;
}

static bool has_plain_fields(const struct stencil *stencil) {
  for (int i = 0; i < stencil->input_count; i++) {
    if (!input_is_whole(stencil, i)) return false;
  }
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (stencil->uses_index[axis]) return false;
  }
  return stencil->kind == STENCIL_STENCIL && stencil->in_place_count == 0 && stencil->iterate_count > 0;
}

/* Why a stage cannot follow the first one; NULL if it can. */
static const char *chain_error(const struct stencil *first, const struct stencil *stencil) {
  if (!has_plain_fields(stencil)) return "it has a field or an output that no chain can have";
  if (stencil->dims != first->dims) return "it has other dimensions";
  if (stencil->input_count != first->input_count || names_differ(first->inputs, stencil->inputs, first->input_count) ||
      stencil->output_count != first->output_count ||
      names_differ(first->outputs, stencil->outputs, first->output_count))
    return "it has other fields";
  if (coefficients_differ(first, stencil)) return "it has other coefficients";
  if (iterates_differ(first, stencil)) return "it has another `iterate`";
  return boundaries_differ(first, stencil) ? "it has other boundaries" : NULL;
}

halotune_status stages_check(const struct stages *stages) {
  for (int i = 0; i < stages->step_count && !stages_are_alike(stages); i++) {
    const char *error = chain_error(stages->step[0].stencil, stages->step[i].stencil);
    if (error) return fail(HALOTUNE_ARGUMENT, "stage %d, %s: %s", i, stages->step[i].stencil->name, error);
  }
  return HALOTUNE_OK;
}
