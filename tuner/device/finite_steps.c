/* finite_steps.c: finds the weights of a linear stencil, by running its update on unit impulses. */
#include "tuner/device/finite_steps.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "tuner/verify/row_program.h"

/* The rows of a program. Constants have their values already. */
struct impulse_rows {
  struct row *rows;           /* all rows, by their numbers */
  struct result_row *results; /* outputs and buffers again, for writing */
  double (*taps)[ROW_POINTS];
};

static bool make_rows(const struct row_program *program, struct arena *arena, struct impulse_rows *out) {
  const int first_result = row_program_first_result(program), result_count = row_program_result_count(program);
  out->rows = arena_alloc(arena, ((size_t)first_result + (size_t)result_count) * sizeof *out->rows);
  out->results = arena_alloc(arena, (size_t)result_count * sizeof *out->results);
  out->taps = arena_alloc(arena, ((size_t)program->tap_count + (size_t)result_count) * sizeof *out->taps);
  if (!out->rows || !out->results || !out->taps) return false;
  for (int c = 0; c < program->constant_count; c++) out->rows[c] = program->constants[c];
  for (int i = 0; i < program->tap_count + result_count; i++)
    out->rows[program->constant_count + i].values = out->taps[i];
  for (int i = 0; i < result_count; i++) out->results[i].values = out->taps[program->tap_count + i];
  return true;
}

/* Add the weights of ROW_POINTS taps, without their signs, to the sums of the outputs. At each point of the rows, one
 * of these taps has the value 1 and all others have 0, so that an output is the weight of this tap. */
static void add_weights(const struct row_program *program, const struct impulse_rows *rows, const struct tap *taps,
                        int count, double sums[MAX_FIELDS]) {
  const int first_result = row_program_first_result(program);
  for (int t = 0; t < program->tap_count; t++) {
    for (int p = 0; p < count; p++) rows->taps[t][p] = memcmp(&program->taps[t], &taps[p], sizeof *taps) == 0;
  }
  row_program_run(program, count, rows->rows, rows->results, false);
  for (int o = 0; o < program->output_count; o++) {
    for (int p = 0; p < count; p++) sums[o] += fabs(rows->rows[first_result + o].values[p]);
  }
}

/* Find the largest sum over an output's weights without their signs. */
static halotune_status find_growth(const struct scene_request *request, double *out) {
  const struct analysis *analysis = request->analysis;
  const struct kernel_run run = {.dtype = request->dtype, .grid = request->domain.grid, .steps = 1};
  double sums[MAX_FIELDS] = {0};
  struct arena arena = {0};
  struct row_program program;
  struct impulse_rows rows;
  *out = 0;
  halotune_status status = row_program_make(request->stencil, request->coefficients, &run, &arena, &program);
  if (status == HALOTUNE_OK && !make_rows(&program, &arena, &rows)) status = fail_memory();
  for (int first = 0; first < analysis->tap_count && status == HALOTUNE_OK; first += ROW_POINTS) {
    const int left = analysis->tap_count - first;
    add_weights(&program, &rows, analysis->taps + first, left < ROW_POINTS ? left : ROW_POINTS, sums);
  }
  arena_free(&arena);
  for (int o = 0; o < MAX_FIELDS; o++) *out = fmax(*out, isnan(sums[o]) ? INFINITY : sums[o]);
  return status;
}

/* The size that no value exceeds before the first step: in the fields, and beyond their ends. Without a range, values
 * are at most 1. */
static double largest_value(const struct scene_request *request) {
  static const double usual = 1, wide = 0x1p30;
  const struct stencil *stencil = request->stencil;
  double largest = request->input == INPUT_WIDE ? wide : usual;
  for (int i = 0; i < stencil->input_count; i++) {
    largest = fmax(largest, fmax(fabs(stencil->values[i].low), fabs(stencil->values[i].high)));
    for (int axis = 0; axis < stencil->dims; axis++) {
      for (int side = 0; side < SIDES; side++) {
        const struct edge *edge = &stencil->input_boundary[i][axis][side];
        if (edge->rule != BOUNDARY_VALUE) continue;
        largest = fmax(largest, fabs(edge->coefficient >= 0 ? request->coefficients[edge->coefficient] : edge->number));
      }
    }
  }
  return largest;
}

halotune_status finite_steps(const struct scene_request *request, long *out) {
  static const double range_bits[DTYPE_COUNT] = {[DTYPE_F32] = 126, [DTYPE_F64] = 1022};
  static const double rounding = 1e-6; /* a sum of 1 may come out a little above 1 */
  double growth;
  *out = 0;
  if (!request->analysis->is_linear || request->stencil->kind != STENCIL_STENCIL) return HALOTUNE_OK;
  const halotune_status status = find_growth(request, &growth);
  if (status != HALOTUNE_OK || !isfinite(growth)) return status;
  const double free_bits = fmax(range_bits[request->dtype] - log2(largest_value(request)), 0);
  *out = growth <= 1 + rounding ? LONG_MAX : (long)(free_bits / log2(growth));
  return HALOTUNE_OK;
}
