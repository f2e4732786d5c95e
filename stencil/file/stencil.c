/* stencil.c: names of types, and values of a stencil's formulas on a grid. stencil_file.c reads the
 * file. */
#include "stencil/file/stencil.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const variable_names[VARIABLE_COUNT] = {"nx", "ny", "nz", "pi", "x", "y", "z", "x", "y", "z", "steps"};
const char *const dtype_names[DTYPE_COUNT] = {"f32", "f64"};
const char *const kind_names[] = {[STENCIL_STENCIL] = "stencil", [STENCIL_SCAN] = "scan"};
const char *const input_type_names[INPUT_TYPE_COUNT] = {[INPUT_U8] = "u8"};
const char axis_names[MAX_DIMS + 1] = "xyz";

size_t dtype_bytes(enum dtype dtype) { return dtype == DTYPE_F32 ? sizeof(float) : sizeof(double); }

int stencil_in_place(const struct stencil *stencil, int output) {
  for (int i = 0; i < stencil->in_place_count; i++) {
    if (stencil->in_place[i].output == output) return stencil->in_place[i].input;
  }
  return -1;
}

bool input_lies_along(const struct stencil *stencil, int input, int axis) {
  const unsigned axes = stencil->input_axes[input];
  return axis < stencil->dims && (axes == 0 || (axes >> axis & 1));
}

bool input_is_thin(const struct stencil *stencil, int input) { return stencil->input_axes[input] != 0; }

bool input_is_whole(const struct stencil *stencil, int input) {
  return !input_is_thin(stencil, input) && stencil->input_types[input] == INPUT_OF_DTYPE;
}

void input_axes_write(struct text *text, const struct stencil *stencil, int input) {
  int count = 0, written = 0;
  for (int axis = 0; axis < stencil->dims; axis++) count += input_lies_along(stencil, input, axis);
  if (count > 1) text_printf(text, "[");
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (!input_lies_along(stencil, input, axis)) continue;
    text_printf(text, "%s%c", written++ > 0 ? ", " : "", axis_names[axis]);
  }
  if (count > 1) text_printf(text, "]");
}

void stencil_free(struct stencil *stencil) {
  if (!stencil) return;
  exprs_free(&stencil->exprs);
  arena_free(&stencil->arena);
  free(stencil);
}

static void grid_variables(const struct grid *grid, double variables[VARIABLE_COUNT]) {
  for (int axis = 0; axis < MAX_DIMS; axis++) variables[VARIABLE_NX + axis] = (double)grid->n[axis];
  variables[VARIABLE_PI] = M_PI;
}

halotune_status stencil_coefficients(const struct stencil *stencil, const struct grid *grid, double *values) {
  return stencil_coefficients_with(stencil, grid, NULL, values);
}

halotune_status stencil_coefficients_with(const struct stencil *stencil, const struct grid *grid, const double *given,
                                          double *values) {
  double variables[VARIABLE_COUNT] = {0};
  grid_variables(grid, variables);
  for (int i = 0; i < stencil->coefficient_count; i++) {
    const struct coefficient *coefficient = &stencil->coefficients[i];
    if (given && !isnan(given[i])) {
      values[i] = given[i];
      continue;
    }
    halotune_status status = formula_value(&stencil->exprs, coefficient->value, values, variables, &values[i]);
    if (status != HALOTUNE_OK) return status;
    if (!isfinite(values[i])) {
      char size[3 * 24] = "";
      for (int axis = 0, at = 0; axis < stencil->dims; axis++) {
        at += snprintf(size + at, sizeof size - (size_t)at, "%s%ld", axis > 0 ? ", " : "", grid->n[axis]);
      }
      return fail(HALOTUNE_ARGUMENT, "the coefficient '%s' of %s is not a finite number on the grid [%s]",
                  coefficient->name, stencil->name, size);
    }
  }
  return HALOTUNE_OK;
}

halotune_status stencil_check_grid(const struct stencil *stencil, const struct grid *grid, int *axis) {
  double points = 1; /* a double, since the product of three axes may not fit into a long */
  int wrong = -1, mirrored = -1;
  for (int i = stencil->dims - 1; i >= 0; i--) {
    if (stencil->boundary[i][SIDE_LOW].rule == BOUNDARY_PERIODIC_ENDPOINT && grid->n[i] < 2) wrong = i;
    if (grid->n[i] < stencil_least_points(stencil, i)) mirrored = i;
    points *= (double)grid->n[i];
  }
  if (axis) *axis = wrong >= 0 ? wrong : mirrored;
  if (wrong < 0 && mirrored >= 0) {
    long least = stencil_least_points(stencil, mirrored);
    return fail(HALOTUNE_ARGUMENT,
                "the mirror images along %c reach beyond the grid, which must have at least %ld points",
                axis_names[mirrored], least);
  }
  if (wrong >= 0) return fail(HALOTUNE_ARGUMENT, "an axis with a repeated end point must have at least 2 points");
  if (points > (double)GRID_MOST_POINTS) return fail(HALOTUNE_ARGUMENT, "a grid can have at most 2^40 points");
  return HALOTUNE_OK;
}

bool stencil_exact_is_for(const struct stencil *stencil, const struct exact *exact, long steps) {
  bool uses_steps = false;
  for (int i = exact->value.first; i <= exact->value.root; i++) {
    const struct expr *node = &stencil->exprs.nodes[i];
    uses_steps = uses_steps || (node->kind == EXPR_VARIABLE && node->index == VARIABLE_STEPS);
  }
  return steps == 1 || uses_steps;
}

halotune_status stencil_exact(const struct stencil *stencil, const struct exact *exact, const struct grid *grid,
                              const double *coefficients, long steps, const long point[MAX_DIMS], double *value) {
  double variables[VARIABLE_COUNT] = {[VARIABLE_STEPS] = (double)steps};
  grid_variables(grid, variables);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    /* The last point has coordinate 1. On a periodic axis the point after the last one has it, which is point 0
     * again. */
    long intervals = stencil->boundary[axis][SIDE_LOW].rule == BOUNDARY_PERIODIC ? grid->n[axis] : grid->n[axis] - 1;
    variables[VARIABLE_X + axis] = intervals > 0 ? (double)point[axis] / (double)intervals : 0;
  }
  return formula_value(&stencil->exprs, exact->value, coefficients, variables, value);
}
