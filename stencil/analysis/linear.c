/* linear.c: whether an update is linear in its inputs, and the weight of each tap.
 *
 * For each output, a factor is carried from the root down to the taps. A sum passes it to both sides. A product with
 * something that is the same at every point multiplies it. This is reverse-mode differentiation in which factors are
 * expressions; it visits each node once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/analysis_parts.h"

struct work {
  const struct stencil *stencil;
  const bool *uniform; /* for the nodes of the update */
  struct exprs exprs;  /* the stencil's nodes, followed by the factors built here */
  int *factor;         /* for each node of the update, the factor that reached it; -1 for none */
  bool is_linear, out_of_memory;
};

static bool is_number(const struct work *w, int node, double number) {
  return w->exprs.nodes[node].is_constant && w->exprs.nodes[node].number == number;
}

static int add_node(struct work *w, struct expr node) {
  int position = exprs_add(&w->exprs, node);
  if (position < 0) w->out_of_memory = true;
  return position < 0 ? 0 : position;
}

static int add_number(struct work *w, double number) {
  return add_node(w, (struct expr){.kind = EXPR_NUMBER, .is_constant = true, .number = number});
}

static int make_negated(struct work *w, int a) {
  const struct expr *node = &w->exprs.nodes[a];
  if (node->is_constant) return add_number(w, -node->number);
  if (node->kind == EXPR_NEGATE) return node->args[0];
  return add_node(w, (struct expr){.kind = EXPR_NEGATE, .args = {a}, .arg_count = 1});
}

/* Build a op b for +, * and /. Numbers are folded, and factors of one are dropped. */
static int make_combined(struct work *w, enum expr_kind kind, int a, int b) {
  struct expr node = {.kind = kind, .args = {a, b}, .arg_count = 2};
  const struct expr *left = &w->exprs.nodes[a], *right = &w->exprs.nodes[b];
  if (left->is_constant && right->is_constant) {
    return add_number(w, expr_apply(&node, (double[MAX_EXPR_ARGS]){left->number, right->number}));
  }
  if (kind == EXPR_ADD && right->kind == EXPR_NEGATE) { /* a + -(b) reads better as a - b */
    node.kind = EXPR_SUBTRACT;
    node.args[1] = right->args[0];
  }
  if (kind != EXPR_ADD && left->kind == EXPR_NEGATE) return make_negated(w, make_combined(w, kind, left->args[0], b));
  if (kind != EXPR_ADD && is_number(w, b, 1)) return a;
  if (kind == EXPR_MULTIPLY) {
    if (is_number(w, a, 1)) return b;
    if (is_number(w, a, -1)) return make_negated(w, b);
    if (is_number(w, b, -1)) return make_negated(w, a);
  }
  return add_node(w, node);
}

static void add_factor(struct work *w, int node, int factor) {
  int *slot = &w->factor[node - w->stencil->update.first];
  *slot = *slot < 0 ? factor : make_combined(w, EXPR_ADD, *slot, factor);
}

static bool is_uniform(const struct work *w, int node) { return w->uniform[node - w->stencil->update.first]; }

/* Pass the factor to the two sides of a product. */
static void pass_product(struct work *w, int a, int b, int factor) {
  if (is_uniform(w, b)) add_factor(w, a, make_combined(w, EXPR_MULTIPLY, factor, b));
  else if (is_uniform(w, a)) add_factor(w, b, make_combined(w, EXPR_MULTIPLY, factor, a));
  else w->is_linear = false;
}

/* Pass a node's factor on to its operands. */
static void pass_on(struct work *w, int position) {
  struct expr node = w->exprs.nodes[position]; /* a copy, since adding nodes can move the list */
  int factor = w->factor[position - w->stencil->update.first];
  if (is_uniform(w, position)) {
    if (!is_number(w, position, 0)) w->is_linear = false; /* a constant term */
    return;
  }
  switch (node.kind) {
  case EXPR_NEGATE: add_factor(w, node.args[0], make_negated(w, factor)); break;
  case EXPR_ADD:
    add_factor(w, node.args[0], factor);
    add_factor(w, node.args[1], factor);
    break;
  case EXPR_SUBTRACT:
    add_factor(w, node.args[0], factor);
    add_factor(w, node.args[1], make_negated(w, factor));
    break;
  case EXPR_MULTIPLY: pass_product(w, node.args[0], node.args[1], factor); break;
  case EXPR_DIVIDE:
    if (!is_uniform(w, node.args[1])) w->is_linear = false;
    else add_factor(w, node.args[0], make_combined(w, EXPR_DIVIDE, factor, node.args[1]));
    break;
  case EXPR_CALL:
    if (node.index != FUNCTION_FMA) {
      w->is_linear = false;
      break;
    }
    pass_product(w, node.args[0], node.args[1], factor);
    add_factor(w, node.args[2], factor);
    break;
  case EXPR_TAP: break; /* a tap keeps its factor */
  default: w->is_linear = false; break;
  }
}

void add_weight_leaf(struct text *text, const struct expr *node, const void *context) {
  const struct stencil *stencil = context;
  if (node->kind == EXPR_COEFFICIENT) text_printf(text, "%s", stencil->coefficients[node->index].name);
  else text_number(text, node->number);
}

/* Compute the value of every node, factors included, for these coefficients. Nodes with taps are NAN. */
static void evaluate_all(const struct work *w, const double *coefficients, double *values) {
  for (int i = w->stencil->update.first; i < w->exprs.count; i++) {
    const struct expr *node = &w->exprs.nodes[i];
    double args[MAX_EXPR_ARGS] = {0};
    for (int k = 0; k < node->arg_count; k++) args[k] = values[node->args[k]];
    if (node->kind == EXPR_NUMBER) values[i] = node->number;
    else if (node->kind == EXPR_COEFFICIENT) values[i] = coefficients[node->index];
    else values[i] = node->arg_count == 0 ? NAN : expr_apply(node, args);
  }
}

/* Sum the factors of equal taps, which may have reached different nodes.
 *   sums  receives, for each tap of the analysis, the node of its factor; -1 for none */
static void sum_factors(struct work *w, const struct analysis *analysis, int *sums) {
  const struct update *update = &w->stencil->update;
  for (int t = 0; t < analysis->tap_count; t++) sums[t] = -1;
  for (int i = update->first; i < update->end; i++) {
    int factor = w->factor[i - update->first];
    const struct expr *node = &w->exprs.nodes[i];
    if (node->kind != EXPR_TAP || factor < 0) continue;
    int t = find_tap(analysis, node);
    sums[t] = sums[t] < 0 ? factor : make_combined(w, EXPR_ADD, sums[t], factor);
  }
}

/* Print a factor into the analysis. */
static halotune_status print_factor(const struct work *w, struct analysis *analysis, int node, size_t most_bytes,
                                    const char **out) {
  struct text text = {0};
  const struct spelling spelling = {.leaf = add_weight_leaf, .context = w->stencil};
  const halotune_status status = expr_print_most(&text, &w->exprs, node, &spelling, most_bytes, NULL);
  *out = arena_text(&analysis->arena, text_string(&text), text.length);
  text_free(&text);
  return status == HALOTUNE_OK && !*out ? fail_memory() : status;
}

/* Add the weights of the taps of one output. */
static halotune_status add_weights(struct work *w, struct analysis *analysis, int output, const double *coefficients) {
  /* factors share nodes: written out, the factor of a 30-line update can fill the memory */
  enum { MAX_WEIGHT_BYTES = 200 };
  int first_weight = analysis->weight_count;
  int *sums = malloc(((size_t)analysis->tap_count + 1) * sizeof *sums);
  if (!sums) return fail_memory();
  sum_factors(w, analysis, sums);
  double *values = malloc((size_t)w->exprs.count * sizeof *values);
  halotune_status status = values && !w->out_of_memory ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) evaluate_all(w, coefficients, values);
  const char *printed = NULL; /* the text of the tap before; mostly the next one has the same factor */
  for (int t = 0, node = -1; t < analysis->tap_count && status == HALOTUNE_OK; t++) {
    if (sums[t] < 0) continue;
    if (sums[t] != node) status = print_factor(w, analysis, sums[t], MAX_WEIGHT_BYTES, &printed);
    node = sums[t];
    struct weight *weight = &analysis->weights[analysis->weight_count++];
    *weight = (struct weight){.output = output, .tap = analysis->taps[t], .value = values[node], .text = printed};
  }
  if (status != HALOTUNE_OK) analysis->weight_count = first_weight;
  free(values);
  free(sums);
  return status;
}

/* Carry the factor 1 from a root down to the taps. */
static halotune_status carry_factors(struct work *w, int root) {
  const struct update *update = &w->stencil->update;
  for (int i = update->first; i < update->end; i++) w->factor[i - update->first] = -1;
  add_factor(w, root, add_number(w, 1));
  for (int i = root; i >= update->first && w->is_linear && !w->out_of_memory; i--) {
    if (w->factor[i - update->first] >= 0) pass_on(w, i);
  }
  return w->out_of_memory ? fail_memory() : HALOTUNE_OK;
}

static halotune_status weigh_output(struct work *w, struct analysis *analysis, const struct assignment *assignment,
                                    const double *coefficients) {
  halotune_status status = carry_factors(w, assignment->root);
  if (status != HALOTUNE_OK || !w->is_linear) return status;
  return add_weights(w, analysis, assignment->output, coefficients);
}

halotune_status find_factors(const struct stencil *stencil, const struct analysis *analysis, const bool *uniform,
                             int root, struct exprs *exprs, int *factors) {
  size_t count = (size_t)(stencil->update.end - stencil->update.first);
  struct work w = {.stencil = stencil, .uniform = uniform, .exprs = *exprs, .is_linear = true};
  w.factor = malloc((count + 1) * sizeof *w.factor);
  halotune_status status = w.factor ? carry_factors(&w, root) : fail_memory();
  if (status == HALOTUNE_OK) sum_factors(&w, analysis, factors);
  if (status == HALOTUNE_OK && w.out_of_memory) status = fail_memory();
  *exprs = w.exprs;
  free(w.factor);
  return status;
}

static halotune_status weigh_outputs(struct work *w, struct analysis *analysis) {
  const struct stencil *stencil = w->stencil;
  double *coefficients = malloc(((size_t)stencil->coefficient_count + 1) * sizeof *coefficients);
  if (!coefficients) return fail_memory();
  halotune_status status = stencil_coefficients(stencil, &stencil->grids[0], coefficients);
  for (int i = 0; i < stencil->update.count && status == HALOTUNE_OK && w->is_linear; i++) {
    const struct assignment *assignment = &stencil->update.assignments[i];
    if (assignment->output >= 0) status = weigh_output(w, analysis, assignment, coefficients);
  }
  free(coefficients);
  return status;
}

halotune_status find_weights(const struct stencil *stencil, struct analysis *analysis) {
  struct work w = {.stencil = stencil, .is_linear = true};
  analysis->is_linear = true;
  if (stencil->kind == STENCIL_SCAN) return HALOTUNE_OK; /* a scan is linear: every earlier point has the weight one */
  size_t count = (size_t)(stencil->update.end - stencil->update.first);
  size_t most = (size_t)analysis->tap_count * (size_t)stencil->output_count;
  bool *uniform = find_uniform(stencil);
  w.uniform = uniform;
  w.factor = malloc((count + 1) * sizeof *w.factor);
  w.exprs.nodes = malloc((size_t)stencil->exprs.count * sizeof *w.exprs.nodes);
  analysis->weights = arena_alloc(&analysis->arena, most * sizeof *analysis->weights);
  halotune_status status = HALOTUNE_OK;
  if (!uniform || !w.factor || !w.exprs.nodes || !analysis->weights) {
    status = fail_memory();
    goto done;
  }
  memcpy(w.exprs.nodes, stencil->exprs.nodes, (size_t)stencil->exprs.count * sizeof *w.exprs.nodes);
  w.exprs.count = w.exprs.capacity = stencil->exprs.count;
  status = weigh_outputs(&w, analysis);
  analysis->is_linear = w.is_linear;
  if (!w.is_linear) analysis->weight_count = 0;
done:
  exprs_free(&w.exprs);
  free(w.factor);
  free(uniform);
  return status;
}
