/* update_text.c: prints a stencil's update and formulas as text. */
#include "stencil/file/update_text.h"

static void add_leaf(struct text *text, const struct expr *node, const void *context) {
  const struct stencil *stencil = context;
  switch (node->kind) {
  case EXPR_NUMBER: text_number(text, node->number); break;
  case EXPR_COEFFICIENT: text_printf(text, "%s", stencil->coefficients[node->index].name); break;
  case EXPR_VARIABLE: text_printf(text, "%s", variable_names[node->index]); break;
  default:
    text_printf(text, "%s", stencil->inputs[node->index]);
    for (int axis = 0, count = 0; axis < stencil->dims; axis++) {
      if (!input_lies_along(stencil, node->index, axis)) continue;
      text_printf(text, "%s%d", count++ > 0 ? "," : "[", node->offset[axis]);
    }
    text_printf(text, "]");
    break;
  }
}

/* The assignment that is being printed. Its text may name the temporaries that were assigned before it. */
struct context {
  const struct stencil *stencil;
  int assignment;
};

static void add_context_leaf(struct text *text, const struct expr *node, const void *context) {
  add_leaf(text, node, ((const struct context *)context)->stencil);
}

const char *assigned_temporary(const struct stencil *stencil, int assignment, int node) {
  for (int i = 0; i < assignment; i++) {
    const struct assignment *before = &stencil->update.assignments[i];
    if (before->output < 0 && before->root == node) return before->name;
  }
  return NULL;
}

static const char *temporary(int node, const void *context) {
  const struct context *c = context;
  return assigned_temporary(c->stencil, c->assignment, node);
}

halotune_status describe_update(struct text *text, const struct stencil *stencil, const char *indent) {
  for (int i = 0; i < stencil->update.count; i++) {
    const struct assignment *assignment = &stencil->update.assignments[i];
    struct context context = {stencil, i};
    struct spelling spelling = {.leaf = add_context_leaf, .temporary = temporary, .context = &context};
    text_printf(text, "%s%s = ", indent, assignment->name);
    halotune_status status = expr_print(text, &stencil->exprs, assignment->root, &spelling);
    if (status != HALOTUNE_OK) return status;
    text_printf(text, "\n");
  }
  return text_ok(text) ? HALOTUNE_OK : fail_memory();
}

halotune_status describe_formula(struct text *text, const struct stencil *stencil, struct formula formula) {
  struct spelling spelling = {.leaf = add_leaf, .context = stencil};
  return expr_print(text, &stencil->exprs, formula.root, &spelling);
}
