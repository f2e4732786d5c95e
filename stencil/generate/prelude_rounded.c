/* prelude_rounded.c: writes a stencil's update as statements that round once each, in the order of its file.
 *
 * A compiler may contract a*b + c to a fused multiply-add, or not, depending on registers and neighbouring code.
 * Variants would then differ in the last bits. Here each operation is explicit, so the compiler has no choice. A sum or
 * difference with a product that nothing else reads is one fma; of two such products it takes the right one. All other
 * operations stay as they are. docs/templates.md explains it to users. */
#include <stdlib.h>

#include "stencil/generate/prelude_parts.h"

struct rounded {
  struct text *text;
  const struct prelude *prelude;
  const struct stencil *stencil;
  bool *is_fused; /* for each node of the update, whether it is a product that is part of an fma */
};

static const struct expr *node_at(const struct rounded *r, int node) { return &r->stencil->exprs.nodes[node]; }

/* The temporary that a node defines, or the first of several; NULL for none. */
static const char *temporary_of(const struct rounded *r, int node) {
  for (int i = 0; i < r->stencil->update.count; i++) {
    const struct assignment *assignment = &r->stencil->update.assignments[i];
    if (assignment->output < 0 && assignment->root == node) return assignment->name;
  }
  return NULL;
}

static bool is_sum(const struct expr *node) { return node->kind == EXPR_ADD || node->kind == EXPR_SUBTRACT; }

/* The operand of a sum that becomes part of an fma; -1 for none. A temporary is rounded, like every value with a
 * name. */
static int fused_operand(const struct rounded *r, const struct expr *sum) {
  for (int k = 1; k >= 0; k--) {
    if (node_at(r, sum->args[k])->kind == EXPR_MULTIPLY && !temporary_of(r, sum->args[k])) return k;
  }
  return -1;
}

static void find_fused(struct rounded *r) {
  const struct update *update = &r->stencil->update;
  for (int i = update->first; i < update->end; i++) {
    int k = is_sum(node_at(r, i)) ? fused_operand(r, node_at(r, i)) : -1;
    if (k >= 0) r->is_fused[node_at(r, i)->args[k] - update->first] = true;
  }
}

/* Append the name of a value, or a leaf. */
static void add_value(const struct rounded *r, int node) {
  const char *temporary = temporary_of(r, node);
  if (temporary) text_printf(r->text, "%s_", temporary);
  else if (node_at(r, node)->arg_count == 0) prelude_write_leaf(r->text, r->prelude, node_at(r, node));
  else text_printf(r->text, "t%d", node - r->stencil->update.first);
}

static void add_call(const struct rounded *r, const char *function, const struct expr *node) {
  text_printf(r->text, "%s(", function);
  for (int k = 0; k < node->arg_count; k++) {
    text_printf(r->text, "%s", k > 0 ? ", " : "");
    add_value(r, node->args[k]);
  }
  text_printf(r->text, ")");
}

/* Append a*b + c, a*b - c, c + a*b or c - a*b as an fma. Signs are exact. */
static void add_fma(const struct rounded *r, const struct expr *sum, int fused) {
  const struct expr *product = node_at(r, sum->args[fused]);
  bool subtracts = sum->kind == EXPR_SUBTRACT;
  text_printf(r->text, "fma(%s", subtracts && fused == 1 ? "-" : "");
  add_value(r, product->args[0]);
  text_printf(r->text, ", ");
  add_value(r, product->args[1]);
  text_printf(r->text, ", %s", subtracts && fused == 0 ? "-" : "");
  add_value(r, sum->args[1 - fused]);
  text_printf(r->text, ")");
}

/* Append an operator whose result no compiler changes. Before each operand stands a text. The result of a condition
 * becomes a `real` with the assignment. */
static void add_as_written(const struct rounded *r, const struct expr *node) {
  static const char *const texts[][MAX_EXPR_ARGS] = {
      [EXPR_NEGATE] = {"-"},        [EXPR_DIVIDE] = {"", "/"},
      [EXPR_LESS] = {"", " < "},    [EXPR_LESS_EQUAL] = {"", " <= "},
      [EXPR_GREATER] = {"", " > "}, [EXPR_GREATER_EQUAL] = {"", " >= "},
      [EXPR_EQUAL] = {"", " == "},  [EXPR_NOT_EQUAL] = {"", " != "},
      [EXPR_AND] = {"", " && "},    [EXPR_OR] = {"", " || "},
      [EXPR_NOT] = {"!"},           [EXPR_CHOOSE] = {"", " ? ", " : "},
  };
  for (int k = 0; k < node->arg_count; k++) {
    text_printf(r->text, "%s", texts[node->kind][k]);
    add_value(r, node->args[k]);
  }
}

static void add_function(const struct rounded *r, const struct expr *node) {
  int exponent;
  if (expr_is_whole_power(&r->stencil->exprs, node, &exponent)) {
    text_printf(r->text, "power%s%d(", exponent < 0 ? "_minus_" : "_", abs(exponent));
    add_value(r, node->args[0]);
    text_printf(r->text, ")");
  } else {
    add_call(r, node->index == FUNCTION_SIGN ? "sign_of" : functions[node->index].name, node);
  }
}

static void add_operation(const struct rounded *r, const struct expr *node) {
  int fused = is_sum(node) ? fused_operand(r, node) : -1;
  switch (node->kind) {
  case EXPR_ADD:
  case EXPR_SUBTRACT:
    if (fused >= 0) add_fma(r, node, fused);
    else add_call(r, node->kind == EXPR_ADD ? "rounded_sum" : "rounded_difference", node);
    break;
  case EXPR_MULTIPLY: add_call(r, "rounded_product", node); break;
  case EXPR_CALL: add_function(r, node); break;
  case EXPR_NUMBER:
  case EXPR_COEFFICIENT:
  case EXPR_VARIABLE:
  case EXPR_TAP: prelude_write_leaf(r->text, r->prelude, node); break;
  default: add_as_written(r, node); break;
  }
}

/* Append the statements. Operands come before their users. */
static void add_statements(const struct rounded *r) {
  const struct update *update = &r->stencil->update;
  for (int i = update->first; i < update->end; i++) {
    const char *temporary = temporary_of(r, i);
    if (r->is_fused[i - update->first] || (node_at(r, i)->arg_count == 0 && !temporary)) continue;
    if (temporary) text_printf(r->text, "  const real %s_ = ", temporary);
    else text_printf(r->text, "  const real t%d = ", i - update->first);
    add_operation(r, node_at(r, i));
    text_printf(r->text, ";\n");
  }
  for (int i = 0; i < update->count; i++) {
    const struct assignment *assignment = &update->assignments[i];
    if (assignment->output < 0) continue;
    text_printf(r->text, "  results[%d] = ", assignment->output);
    add_value(r, assignment->root);
    text_printf(r->text, ";  // %s\n", assignment->name);
  }
}

void prelude_write_rounding(struct text *text, const struct prelude *prelude) {
  static const char *const names[][2] = {{"sum", "add"}, {"difference", "sub"}, {"product", "mul"}};
  text_printf(text, "// Each function rounds once. No compiler contracts it with another one.\n");
  for (int i = 0; i < 3; i++) {
    text_printf(text, "__device__ __forceinline__ real rounded_%s(real a, real b) { return __%c%s_rn(a, b); }\n",
                names[i][0], prelude->spec->dtype == DTYPE_F32 ? 'f' : 'd', names[i][1]);
  }
  text_printf(text, "\n");
}

halotune_status prelude_write_rounded(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  size_t nodes = (size_t)(stencil->update.end - stencil->update.first);
  struct rounded r = {text, prelude, stencil, calloc(nodes + 1, sizeof *r.is_fused)};
  if (!r.is_fused) return fail_memory();
  find_fused(&r);
  add_statements(&r);
  free(r.is_fused);
  return HALOTUNE_OK;
}
