/* prelude_update.c: writes a stencil's update as a CUDA function over accessors. */
#include <stdio.h>

#include "stencil/file/update_text.h"
#include "stencil/generate/prelude_parts.h"

/* Names of the stencil's file end in an underscore here, so that none can be a macro, a parameter or a word of CUDA. */
struct context {
  const struct prelude *prelude;
  const struct stencil *stencil;
  int assignment; /* the assignment that is being printed; its text may use the temporaries before it */
};

static void add_leaf(struct text *text, const struct expr *node, const void *context) {
  const struct context *c = context;
  prelude_write_leaf(text, c->prelude, node);
}

static const char *find_temporary(int node, const void *context) {
  const struct context *c = context;
  return assigned_temporary(c->stencil, c->assignment, node);
}

/* Append accessors. u(-1, 0) looks as in the stencil's file; the accessor that it calls always takes three offsets. */
static void add_inputs(struct text *text, const struct stencil *stencil) {
  static const char *const parameters[] = {"int x", "int x, int y", "int x, int y, int z"};
  static const char *const arguments[] = {"x, 0, 0", "x, y, 0", "x, y, z"};
  for (int i = 0; i < stencil->input_count; i++) {
    if (!input_is_whole(stencil, i)) continue;
    text_printf(text, "  const auto %s_ = [&taps](%s) { return taps(%d, %s); };\n", stencil->inputs[i],
                parameters[stencil->dims - 1], i, arguments[stencil->dims - 1]);
  }
}

/* Append the numbers of the point along the axes. */
static void add_indices(struct text *text, const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (!stencil->uses_index[axis]) continue;
    text_printf(text, "  const real %c_ = taps(%d, 0, 0, 0);\n", axis_names[axis], prelude_index_field(stencil, axis));
  }
}

/* Append the coefficients, without those that only other coefficients use. */
static void add_coefficients(struct text *text, const struct stencil *stencil) {
  const struct update *update = &stencil->update;
  int count = 0;
  for (int i = 0; i < stencil->coefficient_count; i++) {
    bool used = false;
    for (int k = update->first; k < update->end; k++) {
      const struct expr *node = &stencil->exprs.nodes[k];
      used = used || (node->kind == EXPR_COEFFICIENT && node->index == i);
    }
    if (!used) continue;
    const char *name = stencil->coefficients[i].name;
    text_printf(text, "%s%s_ = coefficients.%s_",
                count == 0       ? "  const real "
                : count % 4 == 0 ? ",\n             "
                                 : ", ",
                name, name);
    count++;
  }
  text_printf(text, count > 0 ? ";\n" : "  (void)coefficients;\n");
}

/* Append the function for one whole power: repeated squaring from the highest bit of the exponent. */
static void add_power(struct text *text, const struct prelude *prelude, int exponent) {
  const bool reproducible = prelude->spec->reproducible;
  const int size = exponent < 0 ? -exponent : exponent;
  int bit = 1;
  while (2 * bit <= size) bit *= 2;
  text_printf(text, "__device__ __forceinline__ real power%s%d(real a) {\n  real b = a;\n",
              exponent < 0 ? "_minus_" : "_", size);
  for (bit /= 2; bit > 0; bit /= 2) {
    text_printf(text, reproducible ? "  b = rounded_product(b, b);\n" : "  b = b*b;\n");
    if (size & bit) text_printf(text, reproducible ? "  b = rounded_product(b, a);\n" : "  b = b*a;\n");
  }
  text_printf(text, "  return %sb;\n}\n\n", exponent < 0 ? "real(1)/" : "");
}

/* Append the functions that the updates of all stages call and CUDA does not have. */
static void add_functions(struct text *text, const struct prelude *prelude) {
  bool has_power[2 * MOST_WHOLE_EXPONENT + 1] = {false}, has_sign = false;
  int exponent;
  for (int stage = 0; stage < prelude->stages.step_count; stage++) {
    const struct stencil *stencil = prelude->stages.step[stage].stencil;
    for (int i = stencil->update.first; i < stencil->update.end; i++) {
      const struct expr *node = &stencil->exprs.nodes[i];
      if (expr_is_whole_power(&stencil->exprs, node, &exponent)) has_power[exponent + MOST_WHOLE_EXPONENT] = true;
      has_sign = has_sign || (node->kind == EXPR_CALL && node->index == FUNCTION_SIGN);
    }
  }
  if (has_sign) {
    text_printf(text, "// -1, 0 or 1; 0 for NaN.\n__device__ __forceinline__ real sign_of(real a) {\n"
                      "  return real(a > real(0)) - real(a < real(0));\n}\n\n");
  }
  for (exponent = -MOST_WHOLE_EXPONENT; exponent <= MOST_WHOLE_EXPONENT; exponent++) {
    if (has_power[exponent + MOST_WHOLE_EXPONENT]) add_power(text, prelude, exponent);
  }
}

static halotune_status add_assignment(struct text *text, const struct prelude *prelude, int index) {
  const struct stencil *stencil = prelude->spec->stencil;
  const struct assignment *assignment = &stencil->update.assignments[index];
  struct context context = {prelude, stencil, index};
  struct spelling spelling = {
      .leaf = add_leaf, .temporary = find_temporary, .suffix = "_", .is_cuda = true, .context = &context};
  if (assignment->output >= 0) {
    text_printf(text, "  results[%d] = ", assignment->output);
  } else {
    text_printf(text, "  const real %s_ = ", assignment->name);
  }
  halotune_status status = expr_print(text, &stencil->exprs, assignment->root, &spelling);
  if (assignment->output >= 0) text_printf(text, ";  // %s\n", assignment->name);
  else text_printf(text, ";\n");
  return status;
}

#define UPDATE_PARAMETERS "const Taps &taps, const Coefficients &coefficients, real (&results)[OUTPUTS]) {\n"

/* Append the function with the update of the prelude's stencil. */
static halotune_status add_update(struct text *text, const struct prelude *prelude, const char *name) {
  const struct stencil *stencil = prelude->spec->stencil;
  const bool reproducible = prelude->spec->reproducible;
  halotune_status status = HALOTUNE_OK;
  text_printf(
      text,
      "// The update of one point. taps(input, x, y, z) gives an input at an offset from the point; offsets are\n"
      "// constants, so that an accessor may take a value from a register, shared or global memory.\n"
      "template <class Taps>\n__device__ __forceinline__ void %s(" UPDATE_PARAMETERS,
      name);
  add_coefficients(text, stencil);
  add_inputs(text, stencil);
  add_indices(text, stencil);
  prelude_write_beside_values(text, prelude);
  if (reproducible) status = prelude_write_rounded(text, prelude);
  for (int i = 0; i < stencil->update.count && status == HALOTUNE_OK && !reproducible; i++) {
    status = add_assignment(text, prelude, i);
  }
  text_printf(text, "}\n\n");
  return status;
}

/* Append the update of one stage of a chain, as update_N. */
static halotune_status add_stage_update(struct text *text, const struct prelude *prelude, int stage) {
  struct variant_spec spec = *prelude->spec;
  struct prelude of_stage = *prelude;
  char name[32];
  spec.stencil = prelude->stages.step[stage].stencil;
  spec.analysis = prelude->stages.step[stage].analysis;
  of_stage.spec = &spec;
  snprintf(name, sizeof name, "update_%d", stage);
  return add_update(text, &of_stage, name);
}

/* Append the function that chooses the update of a stage. After unrolling the stage is a constant. */
static void add_choice(struct text *text, const struct stages *stages) {
  text_printf(text, "// The update of a stage.\ntemplate <class Taps>\n"
                    "__device__ __forceinline__ void update_stage(int stage, " UPDATE_PARAMETERS);
  for (int stage = 0; stage < stages->step_count - 1; stage++) {
    text_printf(text, "  if (stage%%%d == %d) return update_%d(taps, coefficients, results);\n", stages->step_count,
                stage, stage);
  }
  if (stages_are_alike(stages)) text_printf(text, "  update(taps, coefficients, results);\n}\n\n");
  else text_printf(text, "  update_%d(taps, coefficients, results);\n}\n\n", stages->step_count - 1);
}

halotune_status prelude_write_update(struct text *text, const struct prelude *prelude) {
  const struct stages *stages = &prelude->stages;
  halotune_status status = HALOTUNE_OK;
  if (prelude->spec->reproducible) prelude_write_rounding(text, prelude);
  add_functions(text, prelude);
  if (stages_are_alike(stages)) status = add_update(text, prelude, "update");
  for (int stage = 0; stage < stages->step_count && !stages_are_alike(stages) && status == HALOTUNE_OK; stage++) {
    status = add_stage_update(text, prelude, stage);
  }
  add_choice(text, stages);
  return status;
}
