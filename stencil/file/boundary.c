/* boundary.c: names and properties of boundary rules, and what an update needs of them. */
#include "stencil/file/boundary.h"

#include <stdlib.h>

const char *const boundary_names[BOUNDARY_COUNT] = {
    [BOUNDARY_SKIP] = "skip",
    [BOUNDARY_PERIODIC] = "periodic",
    [BOUNDARY_PERIODIC_ENDPOINT] = "periodic_endpoint",
    [BOUNDARY_CLAMP] = "clamp",
    [BOUNDARY_ZERO] = "zero",
    [BOUNDARY_KEEP] = "keep",
    [BOUNDARY_MIRROR] = "mirror",
    [BOUNDARY_MIRROR_NODE] = "mirror_node",
    [BOUNDARY_ODD_MIRROR] = "odd_mirror",
    [BOUNDARY_ODD_MIRROR_NODE] = "odd_mirror_node",
};

void edge_write(struct text *text, const struct stencil *stencil, const struct edge *edge) {
  if (edge->rule != BOUNDARY_VALUE) text_printf(text, "%s", boundary_names[edge->rule]);
  else if (edge->coefficient >= 0) text_printf(text, "%s", stencil->coefficients[edge->coefficient].name);
  else text_number(text, edge->number);
}

void edges_write(struct text *text, const struct stencil *stencil, const struct edge edges[SIDES],
                 const char *between) {
  edge_write(text, stencil, &edges[SIDE_LOW]);
  if (edge_equal(&edges[SIDE_LOW], &edges[SIDE_HIGH])) return;
  text_printf(text, "%s", between);
  edge_write(text, stencil, &edges[SIDE_HIGH]);
}

static void write_axis(struct text *text, const struct stencil *stencil, const struct edge edges[SIDES], int axis,
                       const char *before) {
  text_printf(text, "%s%c ", before, axis_names[axis]);
  edges_write(text, stencil, edges, " and ");
}

static void write_margins(struct text *text, const struct stencil *stencil, int output) {
  bool any = false;
  for (int axis = 0; axis < stencil->dims; axis++) {
    const int *margins = stencil->margins[output][axis];
    if (margins[SIDE_LOW] == DEFAULT_MARGIN) continue;
    if (!any) text_printf(text, "; %s leaves out: ", stencil->outputs[output]);
    text_printf(text, "%s%c %d", any ? ", " : "", axis_names[axis], margins[SIDE_LOW]);
    if (margins[SIDE_HIGH] != margins[SIDE_LOW]) text_printf(text, " and %d", margins[SIDE_HIGH]);
    any = true;
  }
}

void boundary_write(struct text *text, const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    write_axis(text, stencil, stencil->boundary[axis], axis, axis > 0 ? ", " : "");
  }
  for (int i = 0; i < stencil->input_count; i++) {
    bool any = false;
    for (int axis = 0; axis < stencil->dims; axis++) {
      const struct edge *edges = stencil->input_boundary[i][axis], *usual = stencil->boundary[axis];
      if (edge_equal(&edges[SIDE_LOW], &usual[SIDE_LOW]) && edge_equal(&edges[SIDE_HIGH], &usual[SIDE_HIGH])) continue;
      if (!any) text_printf(text, "; %s: ", stencil->inputs[i]);
      write_axis(text, stencil, edges, axis, any ? ", " : "");
      any = true;
    }
  }
  for (int output = 0; output < stencil->output_count; output++) write_margins(text, stencil, output);
}

bool edge_equal(const struct edge *a, const struct edge *b) {
  if (a->rule != b->rule) return false;
  if (a->rule != BOUNDARY_VALUE) return true;
  return a->coefficient == b->coefficient && (a->coefficient >= 0 || a->number == b->number);
}

bool edge_leaves_out(const struct edge *edge) { return edge->rule == BOUNDARY_SKIP || edge->rule == BOUNDARY_KEEP; }

static bool mirrors_at_node(const struct edge *edge) {
  return edge->rule == BOUNDARY_MIRROR_NODE || edge->rule == BOUNDARY_ODD_MIRROR_NODE;
}

bool edge_is_periodic(const struct edge *edge) {
  return edge->rule == BOUNDARY_PERIODIC || edge->rule == BOUNDARY_PERIODIC_ENDPOINT;
}

bool edge_mirrors(const struct edge *edge) {
  return edge->rule == BOUNDARY_MIRROR || edge->rule == BOUNDARY_ODD_MIRROR || mirrors_at_node(edge);
}

/* How far an offset reaches towards an end of its axis. */
static int reach_of(int offset, enum edge_side side) { return side == SIDE_LOW ? -offset : offset; }

/* The largest reach of any input's taps towards an end of an axis. */
static int longest_reach(const struct stencil *stencil, int axis, enum edge_side side) {
  int longest = 0;
  for (int i = stencil->update.first; i < stencil->update.end; i++) {
    const struct expr *node = &stencil->exprs.nodes[i];
    if (node->kind != EXPR_TAP) continue;
    const int reach = reach_of(node->offset[axis], side);
    if (reach > longest) longest = reach;
  }
  return longest;
}

/* The reference and templates find the images of every input as far as the longest taps of any input reach. */
long stencil_least_points(const struct stencil *stencil, int axis) {
  long least = 1;
  for (int side = 0; side < SIDES; side++) {
    long reach = -1; /* found when an edge needs it, because lookups ask for each grid */
    for (int i = 0; i < stencil->input_count && reach != 0; i++) {
      const struct edge *edge = &stencil->input_boundary[i][axis][side];
      if (!edge_mirrors(edge)) continue;
      if (reach < 0) reach = longest_reach(stencil, axis, (enum edge_side)side);
      if (reach > 0 && reach + mirrors_at_node(edge) > least) least = reach + mirrors_at_node(edge);
    }
  }
  return least;
}

static bool keeps_points(const struct stencil *stencil, int output) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    for (int side = 0; side < SIDES; side++) {
      if (stencil->boundary[axis][side].rule != BOUNDARY_KEEP) continue;
      const int margin = stencil->margins[output][axis][side];
      if (margin == DEFAULT_MARGIN ? longest_reach(stencil, axis, (enum edge_side)side) > 0 : margin > 0) return true;
    }
  }
  return false;
}

bool stencil_is_kept_by_another(const struct stencil *stencil, int input, int output, int *by) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    if (!entry->from_output || entry->to != input || entry->from == output) continue;
    *by = entry->from;
    if (keeps_points(stencil, *by)) return true;
  }
  return false;
}

halotune_status boundary_output_reach(const struct stencil *stencil, int output, int axis, enum edge_side side,
                                      int *out) {
  const struct update *update = &stencil->update;
  const int count = update->end - update->first;
  bool *is_used = calloc((size_t)count + 1, sizeof *is_used);
  *out = 0;
  if (!is_used) return fail_memory();
  for (int i = 0; i < update->count; i++) {
    if (update->assignments[i].output == output) is_used[update->assignments[i].root - update->first] = true;
  }
  for (int i = update->end - 1; i >= update->first; i--) { /* users stand after their operands */
    const struct expr *node = &stencil->exprs.nodes[i];
    if (!is_used[i - update->first]) continue;
    for (int k = 0; k < node->arg_count; k++) is_used[node->args[k] - update->first] = true;
    if (node->kind == EXPR_TAP && reach_of(node->offset[axis], side) > *out) *out = reach_of(node->offset[axis], side);
  }
  free(is_used);
  return HALOTUNE_OK;
}
