/* spot.c: evaluates an update where its taps are drawn instead of read. */
#include "tuner/verify/spot.h"

#include <math.h>

#include "base/random.h"
#include "stencil/analysis/iterate.h"
#include "tuner/verify/compare.h"
#include "tuner/verify/field.h"
#include "tuner/verify/row_program.h"

static long drawn(uint64_t seed, int number, int axis, long low, long high) {
  if (number == 0 || high <= low) return low;
  if (number == 1) return high;
  return low + (long)(random_bits(seed, (uint64_t)number * MAX_DIMS + (uint64_t)axis) % (uint64_t)(high - low + 1));
}

struct spot spot_draw(const struct scene *scene, const struct box *box, int number) {
  const uint64_t seed = scene->request.seed;
  const long width = box->high[0] - box->low[0];
  struct spot spot = {.count = width < ROW_POINTS ? (int)width : ROW_POINTS};
  spot.x = drawn(seed, number, 0, box->low[0], box->high[0] - spot.count);
  spot.y = drawn(seed, number, 1, box->low[1], box->high[1] - 1);
  spot.z = drawn(seed, number, 2, box->low[2], box->high[2] - 1);
  return spot;
}

static struct input_rule rule_of(const struct scene *scene, int buffer) {
  const struct scene_request *r = &scene->request;
  const struct inputs inputs = scene_inputs(r);
  const int inputs_before = r->stencil->input_count;
  return input_rule(&inputs, buffer < inputs_before ? buffer : MAX_FIELDS + buffer - inputs_before, r->stencil,
                    &r->domain.grid);
}

static bool is_inside(const struct box *box, long x, long y, long z) {
  return x >= box->low[0] && x < box->high[0] && y >= box->low[1] && y < box->high[1] && z >= box->low[2] &&
         z < box->high[2];
}

void spot_starts(const struct scene *scene, const struct spot *spot, int buffer, double *values) {
  const struct scene_request *r = &scene->request;
  int leader[2 * MAX_FIELDS];
  iterate_leaders(r->stencil, leader);
  const struct input_rule own = rule_of(scene, buffer), other = rule_of(scene, leader[buffer]);
  for (int i = 0; i < spot->count; i++) {
    const bool is_own = is_inside(&scene->box, spot->x + i, spot->y, spot->z);
    values[i] = input_value(is_own ? &own : &other, &r->domain.grid, r->dtype, spot->x + i, spot->y, spot->z);
  }
}

/* The value that a tap reads at a point. */
static double tap_value(const struct layout *layout, const struct scene *scene, const struct input_rule *rule,
                        const struct tap *tap, const long point[MAX_DIMS]) {
  long at[MAX_DIMS];
  double sign = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const struct image image = layout_image(layout, tap->input, axis, point[axis] + tap->offset[axis]);
    if (image.is_number) return image.number;
    at[axis] = image.index;
    sign *= image.sign;
  }
  return sign * input_value(rule, &layout->grid, scene->request.dtype, at[0], at[1], at[2]);
}

/* Fill the rows of the taps, and point to the rows of the results. */
static halotune_status fill_rows(const struct scene *scene, const struct spot *spot, const struct row_program *program,
                                 struct arena *arena, struct row *rows, struct result_row *results) {
  const struct scene_request *r = &scene->request;
  struct layout layout;
  halotune_status status = layout_make(r->stencil, r->analysis, &r->domain.grid, r->coefficients, &layout);
  for (int t = 0; t < program->tap_count && status == HALOTUNE_OK; t++) {
    double *values = arena_alloc(arena, ROW_POINTS * sizeof *values),
           *sizes = arena_alloc(arena, ROW_POINTS * sizeof *sizes);
    if (!values || !sizes) return fail_memory();
    const struct input_rule rule = rule_of(scene, program->taps[t].input);
    for (int i = 0; i < spot->count; i++) {
      const long point[MAX_DIMS] = {spot->x + i, spot->y, spot->z};
      values[i] = tap_value(&layout, scene, &rule, &program->taps[t], point);
      sizes[i] = fabs(values[i]);
    }
    rows[program->constant_count + t] = (struct row){values, sizes};
  }
  for (int i = 0; i < row_program_result_count(program); i++) {
    if (i >= program->output_count) {
      results[i].values = arena_alloc(arena, ROW_POINTS * sizeof(double));
      results[i].magnitudes = arena_alloc(arena, ROW_POINTS * sizeof(double));
    }
    if (!results[i].values || !results[i].magnitudes) return fail_memory();
    rows[row_program_first_result(program) + i] = (struct row){results[i].values, results[i].magnitudes};
  }
  return status;
}

halotune_status spot_reference(const struct scene *scene, const struct spot *spot, const struct result_row results[]) {
  const struct scene_request *r = &scene->request;
  struct arena arena = {0};
  struct row_program program;
  struct row *rows = NULL;
  struct result_row *all = NULL;
  const struct kernel_run run = {r->dtype, r->domain.grid, 1, compare_rounding(r->dtype) * scene->allowed_units};
  halotune_status status = row_program_make(r->stencil, r->coefficients, &run, &arena, &program);
  if (status == HALOTUNE_OK) {
    const size_t result_count = (size_t)row_program_result_count(&program);
    rows = arena_alloc(&arena, ((size_t)row_program_first_result(&program) + result_count) * sizeof *rows);
    all = arena_alloc(&arena, result_count * sizeof *all);
    if (!rows || !all) status = fail_memory();
  }
  for (int i = 0; status == HALOTUNE_OK && i < program.constant_count; i++) rows[i] = program.constants[i];
  for (int i = 0; status == HALOTUNE_OK && i < program.output_count; i++) all[i] = results[i];
  if (status == HALOTUNE_OK) status = fill_rows(scene, spot, &program, &arena, rows, all);
  if (status == HALOTUNE_OK) row_program_run(&program, spot->count, rows, all, true);
  arena_free(&arena);
  return status;
}
