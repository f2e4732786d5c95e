/* computed_points.c: derives from boundary rules and margins which points a sweep computes, and which properties the
 * rules have. */
#include "stencil/analysis/analysis.h"

static int reach_of(const struct analysis *analysis, int axis, int side) {
  return side == SIDE_LOW ? analysis->radius_low[axis] : analysis->radius_high[axis];
}

int margin_of(const struct stencil *stencil, const struct analysis *analysis, int output, int axis,
              enum edge_side side) {
  if (stencil->margins[output][axis][side] != DEFAULT_MARGIN) return stencil->margins[output][axis][side];
  if (axis >= stencil->dims || !edge_leaves_out(&stencil->boundary[axis][side])) return 0;
  return reach_of(analysis, axis, (int)side);
}

void analysis_written(const struct analysis *analysis, const struct stencil *stencil, const struct grid *grid,
                      int output, long low[MAX_DIMS], long high[MAX_DIMS]) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const struct edge *edges = stencil->boundary[axis];
    const bool keeps_low = edges[SIDE_LOW].rule == BOUNDARY_KEEP, keeps_high = edges[SIDE_HIGH].rule == BOUNDARY_KEEP;
    low[axis] = keeps_low ? 0 : margin_of(stencil, analysis, output, axis, SIDE_LOW);
    high[axis] = grid->n[axis] - (keeps_high ? 0 : margin_of(stencil, analysis, output, axis, SIDE_HIGH));
  }
}

void analysis_computed(const struct analysis *analysis, const struct stencil *stencil, const struct grid *grid,
                       long low[MAX_DIMS], long high[MAX_DIMS]) {
  analysis_written(analysis, stencil, grid, 0, low, high);
  for (int output = 1; output < stencil->output_count; output++) {
    long first[MAX_DIMS], last[MAX_DIMS];
    analysis_written(analysis, stencil, grid, output, first, last);
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      if (first[axis] < low[axis]) low[axis] = first[axis];
      if (last[axis] > high[axis]) high[axis] = last[axis];
    }
  }
}

enum point_state analysis_point_state(const struct analysis *analysis, const struct stencil *stencil,
                                      const struct grid *grid, int output, const long point[MAX_DIMS]) {
  enum point_state state = POINT_COMPUTED;
  for (int axis = 0; axis < stencil->dims; axis++) {
    const long last = grid->n[axis] - 1;
    for (int side = 0; side < SIDES; side++) {
      long distance = side == SIDE_LOW ? point[axis] : last - point[axis];
      if (distance >= margin_of(stencil, analysis, output, axis, (enum edge_side)side)) continue;
      if (stencil->boundary[axis][side].rule == BOUNDARY_SKIP) return POINT_LEFT;
      state = POINT_KEPT;
    }
  }
  return state;
}

bool analysis_has_masks(const struct analysis *analysis, const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    for (int side = 0; side < SIDES; side++) {
      const int first = margin_of(stencil, analysis, 0, axis, (enum edge_side)side);
      for (int output = 0; output < stencil->output_count; output++) {
        int margin = margin_of(stencil, analysis, output, axis, (enum edge_side)side);
        bool is_kept = stencil->boundary[axis][side].rule == BOUNDARY_KEEP;
        if (margin != first || (is_kept && margin > 0)) return true;
      }
    }
  }
  return false;
}

int analysis_kept_input(const struct stencil *stencil, int output) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    if (stencil->iterate[i].from_output && stencil->iterate[i].from == output) return stencil->iterate[i].to;
  }
  return -1;
}

/* Whether rules of two inputs find different images of a point beyond this end. Rules that read a number have none. */
static bool images_differ(const struct edge *a, const struct edge *b) {
  static const int images[BOUNDARY_COUNT] = {[BOUNDARY_CLAMP] = 1,
                                             [BOUNDARY_MIRROR] = 2,
                                             [BOUNDARY_ODD_MIRROR] = 2,
                                             [BOUNDARY_MIRROR_NODE] = 3,
                                             [BOUNDARY_ODD_MIRROR_NODE] = 3,
                                             [BOUNDARY_PERIODIC] = 4,
                                             [BOUNDARY_PERIODIC_ENDPOINT] = 5};
  return images[a->rule] != images[b->rule] && images[a->rule] > 0 && images[b->rule] > 0;
}

bool analysis_shares_images(const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    for (int side = 0; side < SIDES; side++) {
      for (int i = 0; i < stencil->input_count; i++) {
        for (int k = 0; k < i; k++) {
          if (images_differ(&stencil->input_boundary[i][axis][side], &stencil->input_boundary[k][axis][side]))
            return false;
        }
      }
    }
  }
  return true;
}

bool analysis_fills_ends(const struct analysis *analysis, const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    for (int side = 0; side < SIDES; side++) {
      for (int i = 0; i < stencil->input_count && reach_of(analysis, axis, side) > 0; i++) {
        const struct edge *edge = &stencil->input_boundary[i][axis][side];
        if (!edge_leaves_out(edge) && edge->rule != BOUNDARY_ZERO) return true;
      }
    }
  }
  return false;
}

/* Whether each step finds an image again. Images of periodic axes are computed like points of the grid. */
static bool is_ghost(const struct edge *edge) {
  return !edge_leaves_out(edge) && edge->rule != BOUNDARY_ZERO && !edge_is_periodic(edge);
}

/* Whether taps of some input reach beyond an end of the axis for which `is_such` is true. */
static bool reaches_such(const struct analysis *analysis, const struct stencil *stencil, int axis,
                         bool (*is_such)(const struct edge *edge)) {
  for (int side = 0; side < SIDES; side++) {
    for (int i = 0; i < stencil->input_count && reach_of(analysis, axis, side) > 0; i++) {
      if (is_such(&stencil->input_boundary[i][axis][side])) return true;
    }
  }
  return false;
}

bool analysis_has_far_ends(const struct analysis *analysis, const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (reaches_such(analysis, stencil, axis, edge_is_periodic)) return true;
  }
  return false;
}

bool analysis_has_ghosts(const struct analysis *analysis, const struct stencil *stencil) {
  if (!analysis_is_plain(analysis, stencil)) return true;
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (reaches_such(analysis, stencil, axis, is_ghost)) return true;
  }
  return false;
}

bool analysis_mirrors(const struct analysis *analysis, const struct stencil *stencil, int axis) {
  return axis < stencil->dims && reaches_such(analysis, stencil, axis, edge_mirrors);
}

static bool breaks_groups(const struct edge *edge) {
  return edge->rule == BOUNDARY_CLAMP || edge->rule == BOUNDARY_PERIODIC_ENDPOINT || edge_mirrors(edge);
}

bool analysis_has_whole_images(const struct analysis *analysis, const struct stencil *stencil) {
  return !reaches_such(analysis, stencil, 0, breaks_groups);
}

bool analysis_has_own_margins(const struct analysis *analysis, const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    for (int side = 0; side < SIDES; side++) {
      for (int output = 0; output < stencil->output_count && edge_leaves_out(&stencil->boundary[axis][side]);
           output++) {
        const int margin = margin_of(stencil, analysis, output, axis, (enum edge_side)side);
        if (margin != reach_of(analysis, axis, side)) return true;
      }
    }
  }
  return false;
}

bool analysis_uses_axes(const struct analysis *analysis, const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (stencil->uses_index[axis]) return true;
  }
  for (int i = 0; i < analysis->tap_count; i++) {
    const struct tap *tap = &analysis->taps[i];
    const bool is_beside = tap->offset[0] || tap->offset[1] || tap->offset[2];
    if (input_is_thin(stencil, tap->input) || (is_beside && !input_is_whole(stencil, tap->input))) return true;
  }
  return false;
}

bool analysis_is_plain(const struct analysis *analysis, const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    const struct edge *edges = stencil->boundary[axis];
    if (!edge_equal(&edges[SIDE_LOW], &edges[SIDE_HIGH]) || edges[SIDE_LOW].rule > BOUNDARY_ZERO) return false;
    for (int i = 0; i < stencil->input_count; i++) {
      for (int side = 0; side < SIDES; side++) {
        if (!edge_equal(&edges[side], &stencil->input_boundary[i][axis][side])) return false;
      }
    }
    for (int output = 0; output < stencil->output_count; output++) {
      for (int side = 0; side < SIDES; side++) {
        bool is_usual =
            edges[side].rule != BOUNDARY_SKIP ||
            margin_of(stencil, analysis, output, axis, (enum edge_side)side) == reach_of(analysis, axis, side);
        if (!is_usual) return false;
      }
    }
  }
  return true;
}
