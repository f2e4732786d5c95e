/* split.c: takes an update apart into forms, which are sums of weighted taps. */
#include "stencil/analysis/split.h"

#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/analysis_parts.h"

/* What is known of a node of the update. */
struct node_facts {
  bool is_sum;  /* it is a sum of weighted taps of staged inputs */
  bool is_deep; /* a tap below it reads another point than the computed one */
  bool is_rest; /* the current output computes it after its forms are complete */
};

struct work {
  const struct stencil *stencil;
  struct analysis *analysis;
  bool *uniform;
  struct node_facts *facts;
  size_t factor_bytes; /* of all factors so far, written out */
  bool too_many;
};

static struct node_facts *facts_of(const struct work *w, int node) {
  return &w->facts[node - w->stencil->update.first];
}
static bool is_uniform(const struct work *w, int node) { return w->uniform[node - w->stencil->update.first]; }

int split_form(const struct split *split, int node) {
  for (int i = 0; i < split->form_count; i++) {
    if (split->forms[i].root == node) return i;
  }
  return -1;
}

static bool is_sum(const struct work *w, int node) { return facts_of(w, node)->is_sum; }

static bool is_scaled_sum(const struct work *w, int a, int b) {
  return (is_sum(w, a) && is_uniform(w, b)) || (is_uniform(w, a) && is_sum(w, b));
}

static bool find_is_sum(const struct work *w, const struct expr *node) {
  const int *args = node->args;
  switch (node->kind) {
  case EXPR_TAP: return is_staged(w->analysis, node->index);
  case EXPR_NEGATE: return is_sum(w, args[0]);
  case EXPR_ADD:
  case EXPR_SUBTRACT: return is_sum(w, args[0]) && is_sum(w, args[1]);
  case EXPR_MULTIPLY: return is_scaled_sum(w, args[0], args[1]);
  case EXPR_DIVIDE: return is_sum(w, args[0]) && is_uniform(w, args[1]);
  case EXPR_CALL: return node->index == FUNCTION_FMA && is_scaled_sum(w, args[0], args[1]) && is_sum(w, args[2]);
  default: return false;
  }
}

static void look_at_nodes(struct work *w) {
  const struct update *update = &w->stencil->update;
  for (int i = update->first; i < update->end; i++) {
    const struct expr *node = &w->stencil->exprs.nodes[i];
    struct node_facts *facts = facts_of(w, i);
    facts->is_sum = find_is_sum(w, node);
    facts->is_deep = node->kind == EXPR_TAP && input_is_whole(w->stencil, node->index) &&
                     (node->offset[0] || node->offset[1] || node->offset[2]);
    for (int k = 0; k < node->arg_count; k++) facts->is_deep = facts->is_deep || facts_of(w, node->args[k])->is_deep;
  }
}

/* Find the form at a node, or make it. */
static int form_at(struct work *w, int node) {
  struct split *split = &w->analysis->split;
  int found = split_form(split, node);
  if (found >= 0) return found;
  if (split->form_count == MAX_FORMS) {
    w->too_many = true;
    return 0;
  }
  split->forms[split->form_count] = (struct form){.root = node};
  return split->form_count++;
}

/* Walk from an output's root down to its forms and to the inputs that it reads at the computed point.
 *   uses  receives which forms the output reads */
static void take_apart_output(struct work *w, const struct assignment *assignment, bool uses[MAX_FORMS]) {
  const struct update *update = &w->stencil->update;
  struct split *split = &w->analysis->split;
  for (int i = update->first; i < update->end; i++) facts_of(w, i)->is_rest = false;
  facts_of(w, assignment->root)->is_rest = true;
  for (int i = assignment->root; i >= update->first && !w->too_many; i--) {
    const struct expr *node = &w->stencil->exprs.nodes[i];
    const struct node_facts *facts = facts_of(w, i);
    if (!facts->is_rest) continue;
    if (facts->is_sum && facts->is_deep) {
      uses[form_at(w, i)] = true;
      continue;
    }
    if (node->kind == EXPR_TAP && input_is_whole(w->stencil, node->index)) {
      split->reads_beside[assignment->output][node->index] = true;
    } else if (node->kind == EXPR_TAP) {
      split->reads_taps[assignment->output * w->analysis->tap_count + find_tap(w->analysis, node)] = true;
    }
    if (node->kind == EXPR_VARIABLE) split->reads_index[assignment->output][node->index - VARIABLE_INDEX_X] = true;
    for (int k = 0; k < node->arg_count; k++) facts_of(w, node->args[k])->is_rest = true;
  }
}

static void add_name(struct text *text, const struct expr *node, const void *context) {
  (void)node;
  (void)context;
  text_printf(text, "_");
}

/* Whether a factor is short when it is written out as a tree, and all factors together are, too. */
static bool is_short(struct work *w, int factor, halotune_status *status) {
  enum { MOST_LEAVES_AND_SIGNS = 100, MOST_OF_ALL = 8 << 20 };
  struct text text = {0};
  struct spelling spelling = {.leaf = add_name};
  bool is_cut = false;
  *status = expr_print_most(&text, &w->analysis->split.exprs, factor, &spelling, MOST_LEAVES_AND_SIGNS, &is_cut);
  w->factor_bytes += text.length;
  const bool is_short = !is_cut && text.length < MOST_LEAVES_AND_SIGNS && w->factor_bytes <= MOST_OF_ALL;
  text_free(&text);
  return is_short;
}

/* Find the weights of one form, and the planes that its taps reach. */
static halotune_status weigh_form(struct work *w, struct form *form, int *factors) {
  struct analysis *analysis = w->analysis;
  struct split *split = &analysis->split;
  halotune_status status = find_factors(w->stencil, analysis, w->uniform, form->root, &split->exprs, factors);
  form->first_weight = split->weight_count;
  for (int t = 0; t < analysis->tap_count && status == HALOTUNE_OK && !w->too_many; t++) {
    int plane = analysis->taps[t].offset[split->axis];
    if (factors[t] < 0) continue;
    if (!is_short(w, factors[t], &status)) w->too_many = true;
    if (form->weight_count == 0 || plane < form->first_plane) form->first_plane = plane;
    if (form->weight_count == 0 || plane > form->last_plane) form->last_plane = plane;
    split->weights[split->weight_count++] = (struct form_weight){.tap = t, .factor = factors[t]};
    form->weight_count++;
  }
  return status;
}

static halotune_status weigh_forms(struct work *w) {
  struct split *split = &w->analysis->split;
  size_t taps = (size_t)w->analysis->tap_count + 1;
  int *factors = malloc(taps * sizeof *factors);
  split->weights = arena_alloc(&w->analysis->arena, taps * (size_t)split->form_count * sizeof *split->weights);
  halotune_status status = factors && split->weights ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < split->form_count && status == HALOTUNE_OK && !w->too_many; i++)
    status = weigh_form(w, &split->forms[i], factors);
  free(factors);
  return status;
}

/* Find the plane that completes each output, and how long its forms must be kept. */
static void find_delays(struct split *split, int outputs, const bool uses[MAX_FIELDS][MAX_FORMS]) {
  for (int o = 0; o < outputs; o++) {
    for (int i = 0; i < split->form_count; i++) {
      if (uses[o][i] && split->forms[i].last_plane > split->delay[o]) split->delay[o] = split->forms[i].last_plane;
    }
    for (int i = 0; i < split->form_count; i++) {
      if (uses[o][i] && split->delay[o] > split->forms[i].kept_until) split->forms[i].kept_until = split->delay[o];
    }
  }
  for (int i = 0; i < split->form_count; i++)
    split->partial_sums += split->forms[i].kept_until - split->forms[i].first_plane;
}

halotune_status find_split(const struct stencil *stencil, struct analysis *analysis) {
  struct split *split = &analysis->split;
  struct work w = {.stencil = stencil, .analysis = analysis};
  bool uses[MAX_FIELDS][MAX_FORMS] = {{false}};
  halotune_status status = HALOTUNE_OK;
  if (stencil->kind == STENCIL_SCAN) return status;
  split->axis = stencil->dims == 2 ? 1 : 2;
  w.uniform = find_uniform(stencil);
  w.facts = calloc((size_t)(stencil->update.end - stencil->update.first) + 1, sizeof *w.facts);
  split->exprs.nodes = malloc((size_t)stencil->exprs.count * sizeof *split->exprs.nodes);
  split->reads_taps = arena_alloc(&analysis->arena, (size_t)(stencil->output_count * analysis->tap_count) + 1);
  if (!w.uniform || !w.facts || !split->exprs.nodes || !split->reads_taps) {
    status = fail_memory();
    goto done;
  }
  memcpy(split->exprs.nodes, stencil->exprs.nodes, (size_t)stencil->exprs.count * sizeof *split->exprs.nodes);
  split->exprs.count = split->exprs.capacity = stencil->exprs.count;
  look_at_nodes(&w);
  for (int i = 0; i < stencil->update.count && !w.too_many; i++) {
    const struct assignment *assignment = &stencil->update.assignments[i];
    if (assignment->output >= 0) take_apart_output(&w, assignment, uses[assignment->output]);
  }
  if (!w.too_many) status = weigh_forms(&w);
  if (status == HALOTUNE_OK && !w.too_many) find_delays(split, stencil->output_count, uses);
  if (status == HALOTUNE_OK && !w.too_many) status = find_groups(stencil, analysis);
  if (w.too_many) split->form_count = 0;
done:
  free(w.uniform);
  free(w.facts);
  return status;
}
