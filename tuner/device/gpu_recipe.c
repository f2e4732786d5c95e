/* gpu_recipe.c: translates a scene's request. */
#include "tuner/device/gpu_recipe.h"

#include <float.h>
#include <string.h>

#include "stencil/analysis/iterate.h"
#include "tuner/verify/compare.h"
#include "tuner/verify/row_program.h"

_Static_assert(BOUNDARY_PERIODIC == 1 && BOUNDARY_PERIODIC_ENDPOINT == 2 && BOUNDARY_CLAMP == 3 && BOUNDARY_ZERO == 4,
               "as in fields.cu");
_Static_assert(ROW_COPY == 0 && ROW_NEGATE == 1 && ROW_SQRT == 7 && ROW_FMIN == 11 && ROW_FMA == 13, "as in fields.cu");
_Static_assert(MAX_DIMS == 3 && MAX_EXPR_ARGS == 3, "as in fields.cu");

/* Whether all ends of an axis have one rule, for all inputs, that the GPU knows. */
static bool axis_fits(const struct stencil *stencil, int axis) {
  const enum boundary rule = stencil->boundary[axis][SIDE_LOW].rule;
  if (rule > BOUNDARY_ZERO) return false;
  for (int i = 0; i < stencil->input_count; i++) {
    for (int side = 0; side < SIDES; side++) {
      if (stencil->input_boundary[i][axis][side].rule != rule) return false;
    }
  }
  return true;
}

bool gpu_recipe_applies(const struct scene *scene) {
  const struct scene_request *r = &scene->request;
  bool fits = r->stencil->kind == STENCIL_STENCIL && r->input == INPUT_RANDOM && r->steps == r->launch_steps &&
              r->stencil->input_count <= GPU_RECIPE_INPUTS;
  for (int i = 0; i < r->stencil->iterate_count && r->steps > 1; i++) fits = fits && r->stencil->iterate[i].from_output;
  for (int axis = 0; axis < r->stencil->dims; axis++) fits = fits && axis_fits(r->stencil, axis);
  for (int i = 0; i < r->stencil->input_count; i++) fits = fits && input_is_whole(r->stencil, i);
  for (int o = 0; o < scene->written_count; o++)
    fits = fits && memcmp(&scene->written[o], &scene->box, sizeof scene->box) == 0;
  return fits;
}

static void add_fillings(const struct scene_request *r, struct gpu_recipe *out) {
  const struct stencil *stencil = r->stencil;
  const struct inputs inputs = scene_inputs(r);
  int leader[2 * MAX_FIELDS];
  iterate_leaders(stencil, leader);
  for (int i = 0; i < stencil->input_count + stencil->output_count; i++) {
    const bool is_input = i < stencil->input_count;
    const struct input_rule rule =
        input_rule(&inputs, is_input ? i : MAX_FIELDS + i - stencil->input_count, stencil, &r->domain.grid);
    out->fillings[i] = (struct gpu_filling){rule.key, rule.range.low, rule.range.high, leader[i]};
    for (int axis = 0; axis < MAX_DIMS; axis++) out->period[axis] = rule.period[axis];
  }
}

static void add_steps(const struct scene_request *r, struct gpu_recipe *out) {
  out->steps = r->steps;
  for (int i = 0; i < GPU_RECIPE_INPUTS; i++) out->sources[i] = -1;
  for (int i = 0; i < r->stencil->iterate_count; i++) {
    const struct iterate *entry = &r->stencil->iterate[i];
    if (entry->from_output && entry->to < GPU_RECIPE_INPUTS) out->sources[entry->to] = entry->from;
  }
}

static bool program_fits(const struct row_program *program) {
  for (int i = 0; i < program->instruction_count; i++) {
    const enum row_operation operation = program->instructions[i].operation;
    if (operation > ROW_FMA || (operation > ROW_SQRT && operation < ROW_FMIN)) return false;
  }
  for (int i = 0; i < program->tap_count; i++) {
    if (program->taps[i].input >= INDEX_INPUT) return false;
  }
  return program->constant_count <= GPU_RECIPE_CONSTANTS && program->tap_count <= GPU_RECIPE_TAPS &&
         program->instruction_count <= GPU_RECIPE_INSTRUCTIONS &&
         row_program_result_count(program) <= GPU_RECIPE_RESULTS;
}

static void add_program(const struct row_program *program, struct gpu_recipe *out) {
  out->constant_count = program->constant_count;
  out->tap_count = program->tap_count;
  out->instruction_count = program->instruction_count;
  for (int i = 0; i < program->constant_count; i++) {
    const struct row *row = &program->constants[i];
    out->constants[i] = (struct gpu_constant){row->values[0], row->magnitudes[0]};
  }
  for (int i = 0; i < program->tap_count; i++) {
    out->taps[i].input = program->taps[i].input;
    for (int axis = 0; axis < MAX_DIMS; axis++) out->taps[i].offset[axis] = program->taps[i].offset[axis];
  }
  for (int i = 0; i < program->instruction_count; i++) {
    const struct row_instruction *from = &program->instructions[i];
    out->instructions[i] = (struct gpu_instruction){
        .operation = (int)from->operation, .result = from->result, .carried = from->carried, .doubt = from->doubt};
    memcpy(out->instructions[i].args, from->args, sizeof from->args);
  }
}

halotune_status gpu_recipe_make(const struct scene *scene, struct gpu_recipe *out, bool *fits) {
  const struct scene_request *request = &scene->request;
  const struct stencil *stencil = request->stencil;
  struct arena arena = {0};
  struct row_program program;
  memset(out, 0, sizeof *out); /* it is sent as bytes */
  out->most = request->dtype == DTYPE_F32 ? (double)FLT_MAX : DBL_MAX;
  out->input_count = stencil->input_count;
  out->output_count = stencil->output_count;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out->n[axis] = request->domain.grid.n[axis];
    out->low[axis] = scene->box.low[axis];
    out->high[axis] = scene->box.high[axis];
    out->boundary[axis] = axis < stencil->dims ? (long long)stencil->boundary[axis][SIDE_LOW].rule : BOUNDARY_SKIP;
  }
  add_fillings(request, out);
  add_steps(request, out);
  const struct kernel_run run = {request->dtype, request->domain.grid, request->steps,
                                 compare_rounding(request->dtype) * scene->allowed_units};
  halotune_status status = row_program_make(stencil, request->coefficients, &run, &arena, &program);
  *fits = status == HALOTUNE_OK && program_fits(&program);
  if (*fits) add_program(&program, out);
  arena_free(&arena);
  return status;
}
