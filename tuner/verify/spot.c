/* spot.c: draws the inputs of a part of a grid, and computes the reference there. */
#include "tuner/verify/spot.h"

#include <string.h>

#include "base/memory/arena.h"
#include "base/numbers/random.h"
#include "stencil/analysis/iterate.h"
#include "tuner/verify/compare.h"
#include "tuner/verify/reference.h"

static long drawn_index(uint64_t seed, int number, int axis, long low, long high) {
  if (number == 0 || high <= low) return low;
  if (number == 1) return high;
  return low + (long)(random_bits(seed, (uint64_t)number * MAX_DIMS + (uint64_t)axis) % (uint64_t)(high - low + 1));
}

struct spot spot_draw(const struct scene *scene, const struct box *box, int number) {
  const uint64_t seed = scene->request.seed;
  const long width = box->high[0] - box->low[0];
  struct spot spot = {.count = width < ROW_POINTS ? (int)width : ROW_POINTS};
  spot.x = drawn_index(seed, number, 0, box->low[0], box->high[0] - spot.count);
  spot.y = drawn_index(seed, number, 1, box->low[1], box->high[1] - 1);
  spot.z = drawn_index(seed, number, 2, box->low[2], box->high[2] - 1);
  return spot;
}

static struct input_rule rule_of(const struct scene *scene, int buffer) {
  const struct scene_request *r = &scene->request;
  const struct inputs inputs = scene_inputs(r);
  const int inputs_before = r->stencil->input_count;
  return input_rule(&inputs, buffer < inputs_before ? buffer : MAX_FIELDS + buffer - inputs_before, r->stencil,
                    &r->domain.grid);
}

void spot_starts(const struct scene *scene, const struct spot *spot, int buffer, double *values) {
  const struct scene_request *r = &scene->request;
  int leader[2 * MAX_FIELDS];
  iterate_leaders(r->stencil, leader);
  const struct input_rule own = rule_of(scene, buffer), other = rule_of(scene, leader[buffer]);
  for (int i = 0; i < spot->count; i++) {
    const bool is_own = box_contains(&scene->box, spot->x + i, spot->y, spot->z);
    values[i] = input_value(is_own ? &own : &other, &r->domain.grid, r->dtype, spot->x + i, spot->y, spot->z);
  }
}

/* The part of a grid that points depend on, as a grid of its own. Where the part ends within the grid, points near its
 * end become wrong with each step. The spot does not depend on these points. */
struct part {
  long low[MAX_DIMS]; /* indices of its first point; may be negative on a periodic axis */
  struct grid grid;
};

/* The part for a box of points. */
static struct part part_of(const struct scene *scene, const struct box *box) {
  const struct scene_request *r = &scene->request;
  struct part part;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long n = r->domain.grid.n[axis];
    long low = box->low[axis] - r->steps * (long)r->analysis->radius_low[axis];
    long high = box->high[axis] + r->steps * (long)r->analysis->radius_high[axis];
    if (axis < r->stencil->dims && edge_is_periodic(&r->stencil->boundary[axis][SIDE_LOW])) {
      if (high - low < 2) high = low + 2; /* a periodic axis has at least two points */
    } else {
      if (low < 0) low = 0;
      if (high > n) high = n;
    }
    part.low[axis] = low;
    part.grid.n[axis] = high - low;
  }
  return part;
}

long spot_reference_points(const struct scene *scene) {
  const long *n = scene->request.domain.grid.n;
  const long width = n[0] < ROW_POINTS ? n[0] : ROW_POINTS, x = (n[0] - width) / 2;
  const struct box box = {{x, n[1] / 2, n[2] / 2}, {x + width, n[1] / 2 + 1, n[2] / 2 + 1}};
  const struct part part = part_of(scene, &box);
  return grid_points(&part.grid);
}

/* Fill a buffer with its content before a launch. */
static void fill_part(const struct scene *scene, const struct part *part, int buffer, double *values) {
  const struct scene_request *r = &scene->request;
  int leader[2 * MAX_FIELDS];
  iterate_leaders(r->stencil, leader);
  const struct input_rule own = rule_of(scene, buffer), other = rule_of(scene, leader[buffer]);
  const long *n = part->grid.n;
  for (long i = 0; i < grid_points(&part->grid); i++) {
    long at[MAX_DIMS] = {part->low[0] + i % n[0], part->low[1] + i / n[0] % n[1], part->low[2] + i / n[0] / n[1]};
    for (int axis = 0; axis < r->stencil->dims && axis < MAX_DIMS; axis++) {
      const bool has_end = r->stencil->boundary[axis][SIDE_LOW].rule == BOUNDARY_PERIODIC_ENDPOINT;
      const long period = r->domain.grid.n[axis] - has_end;
      if (at[axis] < 0 || at[axis] >= r->domain.grid.n[axis]) at[axis] = (at[axis] % period + period) % period;
    }
    const bool is_own = box_contains(&scene->box, at[0], at[1], at[2]);
    values[i] = input_value(is_own ? &own : &other, &r->domain.grid, r->dtype, at[0], at[1], at[2]);
  }
}

/* The points of a part that steps compute: those of the scene's box, where taps stay in the part. */
static struct box part_box(const struct scene *scene, const struct part *part) {
  const struct scene_request *r = &scene->request;
  struct box box = box_computed(r->stencil, r->analysis, &part->grid);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (axis < r->stencil->dims && edge_is_periodic(&r->stencil->boundary[axis][SIDE_LOW])) continue;
    const long low = scene->box.low[axis] - part->low[axis], high = scene->box.high[axis] - part->low[axis];
    if (box.low[axis] < low) box.low[axis] = low;
    if (box.high[axis] > high) box.high[axis] = high;
  }
  return box;
}

halotune_status spot_reference(const struct scene *scene, const struct spot *spot, const struct result_row results[]) {
  const struct scene_request *r = &scene->request;
  const struct stencil *stencil = r->stencil;
  const struct box points = {{spot->x, spot->y, spot->z}, {spot->x + spot->count, spot->y + 1, spot->z + 1}};
  const struct part part = part_of(scene, &points);
  const struct box box = part_box(scene, &part);
  const struct reference reference = {.stencil = stencil,
                                      .analysis = r->analysis,
                                      .grid = part.grid,
                                      .coefficients = r->coefficients,
                                      .steps = r->steps,
                                      .threads = 1,
                                      .box = &box,
                                      .doubt = compare_rounding(r->dtype) * scene->allowed_units,
                                      .dtype = r->dtype,
                                      .ending = r->ending};
  const double *inputs[MAX_FIELDS] = {0};
  double *want[MAX_FIELDS] = {0}, *magnitudes[MAX_FIELDS] = {0};
  const size_t count = (size_t)grid_points(&part.grid);
  struct arena arena = {0};
  bool ok = true;
  for (int i = 0; i < stencil->input_count && ok; i++) {
    double *values = arena_alloc(&arena, count * sizeof *values);
    inputs[i] = values;
    ok = values;
    if (ok) fill_part(scene, &part, i, values);
  }
  for (int o = 0; o < stencil->output_count && ok; o++) {
    want[o] = arena_alloc(&arena, count * sizeof *want[o]);
    magnitudes[o] = arena_alloc(&arena, count * sizeof *magnitudes[o]);
    ok = want[o] && magnitudes[o];
    if (ok) fill_part(scene, &part, stencil->input_count + o, want[o]);
  }
  halotune_status status = ok ? reference_run(&reference, inputs, want, magnitudes) : fail_memory();
  const long first = grid_index(&part.grid, spot->x - part.low[0], spot->y - part.low[1], spot->z - part.low[2]);
  for (int o = 0; o < stencil->output_count && status == HALOTUNE_OK; o++) {
    memcpy(results[o].values, want[o] + first, (size_t)spot->count * sizeof *want[o]);
    memcpy(results[o].magnitudes, magnitudes[o] + first, (size_t)spot->count * sizeof *magnitudes[o]);
  }
  arena_free(&arena);
  return status;
}
