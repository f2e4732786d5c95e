/* prelude_update.c: writes a stencil's update as a CUDA function over accessors. */
#include "stencil/generate/prelude.h"

/* Names of the stencil's file end in an underscore here, so that none can be a macro, a parameter or a word of CUDA. */
struct context {
  const struct prelude *prelude;
  const struct stencil *stencil;
  int assignment; /* the assignment that is being printed; its text may use the temporaries before it */
};

void prelude_write_leaf(struct text *text, const struct prelude *prelude, const struct expr *node) {
  const struct stencil *stencil = prelude->spec->stencil;
  switch (node->kind) {
  case EXPR_NUMBER: prelude_write_number(text, prelude, node->number); break;
  case EXPR_COEFFICIENT: text_printf(text, "%s_", stencil->coefficients[node->index].name); break;
  default:
    text_printf(text, "%s_", stencil->inputs[node->index]);
    for (int axis = 0; axis < stencil->dims; axis++)
      text_printf(text, "%s%d", axis == 0 ? "(" : ", ", node->offset[axis]);
    text_printf(text, ")");
    break;
  }
}

static void add_leaf(struct text *text, const struct expr *node, const void *context) {
  const struct context *c = context;
  prelude_write_leaf(text, c->prelude, node);
}

static const char *find_temporary(int node, const void *context) {
  const struct context *c = context;
  for (int i = 0; i < c->assignment; i++) {
    const struct assignment *assignment = &c->stencil->update.assignments[i];
    if (assignment->output < 0 && assignment->root == node) return assignment->name;
  }
  return NULL;
}

/* Append accessors. u(-1, 0) looks as in the stencil's file; the accessor that it calls always takes three offsets. */
static void add_inputs(struct text *text, const struct stencil *stencil) {
  static const char *const parameters[] = {"int x", "int x, int y", "int x, int y, int z"};
  static const char *const arguments[] = {"x, 0, 0", "x, y, 0", "x, y, z"};
  for (int i = 0; i < stencil->input_count; i++) {
    text_printf(text, "  const auto %s_ = [&taps](%s) { return taps(%d, %s); };\n", stencil->inputs[i],
                parameters[stencil->dims - 1], i, arguments[stencil->dims - 1]);
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

static halotune_status add_assignment(struct text *text, const struct prelude *prelude, int index) {
  const struct stencil *stencil = prelude->spec->stencil;
  const struct assignment *assignment = &stencil->update.assignments[index];
  struct context context = {prelude, stencil, index};
  struct spelling spelling = {.leaf = add_leaf, .temporary = find_temporary, .suffix = "_", .context = &context};
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

halotune_status prelude_write_update(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  bool reproducible = prelude->spec->reproducible;
  halotune_status status = HALOTUNE_OK;
  if (reproducible) prelude_write_rounding(text, prelude);
  text_printf(
      text, "// The update of one point. taps(input, x, y, z) gives an input at an offset from the point; offsets are\n"
            "// constants, so that an accessor may take a value from a register, shared or global memory.\n"
            "template <class Taps>\n"
            "__device__ __forceinline__ void update(const Taps &taps, const Coefficients &coefficients, real "
            "(&results)[OUTPUTS]) {\n");
  add_coefficients(text, stencil);
  add_inputs(text, stencil);
  if (reproducible) status = prelude_write_rounded(text, prelude);
  for (int i = 0; i < stencil->update.count && status == HALOTUNE_OK && !reproducible; i++) {
    status = add_assignment(text, prelude, i);
  }
  text_printf(text, "}\n\n");
  return status;
}
