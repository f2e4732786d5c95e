/* settle.c: walks a formula's nodes forwards to find what is decided, backwards to find what is needed, and copies the
 * rest. */
#include "stencil/expression/settle.h"

#include <stdlib.h>

/* What is known of a node. */
struct finding {
  int same_as; /* the node whose value it always has, mostly itself */
  bool is_known, is_needed;
  double value; /* of a known node */
  int copy;
};

static struct finding known_value(int node, double value) {
  return (struct finding){.same_as = node, .is_known = true, .value = value};
}

/* && is decided by one operand that is 0, || by one that is not. If the known operand decides nothing, the result is
 * the other one's truth. */
static void find_logical(const struct expr *node, const struct expr *nodes, const struct finding *const args[],
                         struct finding *out) {
  for (int k = 0; k < 2; k++) {
    const struct finding *other = args[1 - k];
    if (!args[k]->is_known) continue;
    if ((args[k]->value != 0) == (node->kind == EXPR_OR)) out->is_known = true, out->value = node->kind == EXPR_OR;
    else if (expr_is_truth(&nodes[other->same_as])) *out = *other;
  }
}

static void find_operator(const struct expr *nodes, int at, struct finding *findings) {
  const struct expr *node = &nodes[at];
  const struct finding *own = &findings[at], *args[MAX_EXPR_ARGS] = {own, own, own};
  double values[MAX_EXPR_ARGS] = {0};
  bool is_known = true;
  for (int k = 0; k < node->arg_count; k++) {
    args[k] = &findings[node->args[k]];
    values[k] = args[k]->value;
    is_known = is_known && args[k]->is_known;
  }
  if (is_known) findings[at] = known_value(at, expr_apply(node, values));
  else if (node->kind == EXPR_AND || node->kind == EXPR_OR) find_logical(node, nodes, args, &findings[at]);
  else if (node->kind == EXPR_CHOOSE && args[0]->is_known) findings[at] = *args[values[0] != 0 ? 1 : 2];
}

static halotune_status copy_needed(const struct expr *nodes, int count, struct finding *findings, struct exprs *out) {
  findings[findings[count - 1].same_as].is_needed = true;
  for (int i = count - 1; i >= 0; i--) {
    for (int k = 0; k < nodes[i].arg_count && findings[i].is_needed && !findings[i].is_known; k++)
      findings[findings[nodes[i].args[k]].same_as].is_needed = true;
  }
  for (int i = 0; i < count; i++) {
    if (!findings[i].is_needed) continue;
    struct expr copy = nodes[i];
    if (findings[i].is_known)
      copy = (struct expr){.kind = EXPR_NUMBER, .is_constant = true, .number = findings[i].value};
    for (int k = 0; k < copy.arg_count; k++) copy.args[k] = findings[findings[nodes[i].args[k]].same_as].copy;
    if ((findings[i].copy = exprs_add(out, copy)) < 0) return fail_memory();
  }
  return HALOTUNE_OK;
}

halotune_status formula_settle(const struct exprs *exprs, struct formula formula, const double *variables,
                               const bool *varies, int varying_count, struct exprs *out, struct formula *settled) {
  const int count = formula.root - formula.first + 1;
  const struct expr *from = &exprs->nodes[formula.first];
  struct expr *nodes = calloc((size_t)count, sizeof *nodes);
  struct finding *findings = calloc((size_t)count, sizeof *findings);
  halotune_status status = nodes && findings ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    nodes[i] = from[i];
    for (int k = 0; k < nodes[i].arg_count; k++) nodes[i].args[k] -= formula.first;
    findings[i] = (struct finding){.same_as = i};
    const bool is_variable = nodes[i].kind == EXPR_VARIABLE;
    if (nodes[i].kind == EXPR_NUMBER) findings[i] = known_value(i, nodes[i].number);
    else if (is_variable && (nodes[i].index >= varying_count || !varies[nodes[i].index]))
      findings[i] = known_value(i, variables[nodes[i].index]);
    else if (nodes[i].arg_count > 0) find_operator(nodes, i, findings);
  }
  settled->first = out->count;
  if (status == HALOTUNE_OK) status = copy_needed(nodes, count, findings, out);
  settled->root = out->count - 1;
  free(nodes);
  free(findings);
  return status;
}
