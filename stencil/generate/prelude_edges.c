/* prelude_edges.c: writes boundary rules that differ between ends or inputs, or that change values, as CUDA: where a
 * tap beyond the grid finds its image, and what it reads there. */
#include "stencil/generate/prelude_parts.h"

/* The image of a point beyond an end. For rules without images it is the nearest point of the grid. */
static const char *image_of(enum boundary rule, enum edge_side side) {
  switch (rule) {
  case BOUNDARY_PERIODIC: return side == SIDE_LOW ? "@ + g.n@" : "@ - g.n@";
  case BOUNDARY_PERIODIC_ENDPOINT: return side == SIDE_LOW ? "@ + (g.n@ - 1)" : "@ - (g.n@ - 1)";
  case BOUNDARY_MIRROR:
  case BOUNDARY_ODD_MIRROR: return side == SIDE_LOW ? "-1 - @" : "2*g.n@ - 1 - @";
  case BOUNDARY_MIRROR_NODE:
  case BOUNDARY_ODD_MIRROR_NODE: return side == SIDE_LOW ? "-@" : "2*(g.n@ - 1) - @";
  default: return side == SIDE_LOW ? "0" : "g.n@ - 1";
  }
}

static bool has_image(enum boundary rule) {
  return rule != BOUNDARY_ZERO && rule != BOUNDARY_VALUE && rule != BOUNDARY_SKIP && rule != BOUNDARY_KEEP;
}

static bool is_odd(enum boundary rule) { return rule == BOUNDARY_ODD_MIRROR || rule == BOUNDARY_ODD_MIRROR_NODE; }

/* Append the image beyond one end: one expression, or one for each input. The first input that has an image stands for
 * inputs that have none. */
static void add_image(struct text *text, const struct prelude *prelude, int axis, enum edge_side side) {
  const struct stencil *stencil = prelude->spec->stencil;
  const bool is_shared = analysis_shares_images(stencil);
  enum boundary first = BOUNDARY_ZERO;
  for (int i = stencil->input_count - 1; i >= 0; i--) {
    enum boundary rule = stencil->input_boundary[i][axis][side].rule;
    if (has_image(rule)) first = rule;
  }
  for (int i = 0; i < stencil->input_count && !is_shared; i++) {
    enum boundary rule = stencil->input_boundary[i][axis][side].rule;
    if (!has_image(rule) || image_of(rule, side) == image_of(first, side)) continue;
    text_printf(text, "field == %d ? ", i);
    prelude_write_for_axis(text, image_of(rule, side), axis);
    text_printf(text, " : ");
  }
  prelude_write_for_axis(text, image_of(first, side), axis);
}

static void add_images(struct text *text, const struct prelude *prelude, int axis) {
  const struct stencil *stencil = prelude->spec->stencil;
  const bool is_shared = analysis_shares_images(stencil);
  const enum boundary rule = stencil->boundary[axis][SIDE_LOW].rule;
  text_printf(text, "// Beyond the grid in %c: ", axis_names[axis]);
  edges_write(text, stencil, stencil->boundary[axis], " and ");
  for (int i = 0; i < stencil->input_count; i++) {
    const struct edge *edges = stencil->input_boundary[i][axis], *usual = stencil->boundary[axis];
    if (edge_equal(&edges[SIDE_LOW], &usual[SIDE_LOW]) && edge_equal(&edges[SIDE_HIGH], &usual[SIDE_HIGH])) continue;
    text_printf(text, "; %s: ", stencil->inputs[i]);
    edges_write(text, stencil, edges, " and ");
  }
  for (int near = 0; near < 2; near++) {
    text_printf(text, "%s__device__ __forceinline__ index_t %simage_%c(const Geometry &g, %sindex_t %c) {\n",
                near ? "// The same without a loop, for points at most one length of the grid away.\n" : "\n",
                near ? "near_" : "", axis_names[axis], is_shared ? "" : "int field, ", axis_names[axis]);
    if (edge_is_periodic(&stencil->boundary[axis][SIDE_LOW]) && !near) {
      const char *period = rule == BOUNDARY_PERIODIC ? "g.n@" : "g.n@ - 1";
      for (int side = 0; side < SIDES; side++) {
        prelude_write_for_axis(text, side == SIDE_LOW ? "  while (@ < 0) @ += " : "  while (@ >= g.n@) @ -= ", axis);
        prelude_write_for_axis(text, period, axis);
        text_printf(text, ";\n");
      }
      text_printf(text, "  return %c;\n}\n", axis_names[axis]);
      continue;
    }
    prelude_write_for_axis(text, "  return @ < 0 ? ", axis);
    add_image(text, prelude, axis, SIDE_LOW);
    prelude_write_for_axis(text, " : @ >= g.n@ ? ", axis);
    add_image(text, prelude, axis, SIDE_HIGH);
    prelude_write_for_axis(text, " : @;\n}\n", axis);
  }
}

static const struct edge *edge_of(const struct stencil *stencil, int input, int axis, int side) {
  return &stencil->input_boundary[input][axis][side];
}

/* The place of a coefficient among those that taps beyond the grid read. They are numbered in the order of the file. */
static int outside_number(const struct stencil *stencil, int coefficient, int *count) {
  bool is_read[MAX_COEFFICIENTS] = {false};
  int number = 0;
  *count = 0;
  for (int i = 0; i < stencil->input_count; i++) {
    for (int axis = 0; axis < stencil->dims; axis++) {
      for (int side = 0; side < SIDES; side++) {
        const struct edge *edge = edge_of(stencil, i, axis, side);
        if (edge->rule == BOUNDARY_VALUE && edge->coefficient >= 0) is_read[edge->coefficient] = true;
      }
    }
  }
  for (int i = 0; i < stencil->coefficient_count; i++) *count += is_read[i];
  for (int i = 0; i < coefficient; i++) number += is_read[i];
  return number;
}

void prelude_write_outside_member(struct text *text, const struct prelude *prelude) {
  int count;
  outside_number(prelude->spec->stencil, 0, &count);
  if (count > 0) text_printf(text, "  real outside[%d];  // coefficients that taps beyond the grid read\n", count);
}

void prelude_write_outside_values(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  int count, written = 0;
  outside_number(stencil, 0, &count);
  if (count == 0) return;
  text_printf(text, ", {");
  for (int i = 0; i < stencil->coefficient_count; i++) {
    int unused, next = i + 1;
    if (outside_number(stencil, i, &unused) == outside_number(stencil, next, &unused)) continue;
    text_printf(text, "%s%s.%s_", written++ > 0 ? ", " : "", prelude_coefficients(prelude),
                stencil->coefficients[i].name);
  }
  text_printf(text, "}");
}

/* Append the condition that an input's tap lies beyond an end: "field == 1 && x < 0". */
static void add_condition(struct text *text, const struct stencil *stencil, int input, int axis, enum edge_side side) {
  text_printf(text, "  if (");
  if (stencil->input_count > 1) text_printf(text, "field == %d && ", input);
  prelude_write_for_axis(text, side == SIDE_LOW ? "@ < 0) " : "@ >= g.n@) ", axis);
}

/* Append how rules change an image's value. A value stands for itself, whatever other axes say. */
static void add_values(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  for (int numbers = 1; numbers >= 0; numbers--) {
    for (int i = 0; i < stencil->input_count * stencil->dims * SIDES; i++) {
      const int side = i % SIDES, axis = i / SIDES % stencil->dims, input = i / SIDES / stencil->dims;
      const struct edge *edge = edge_of(stencil, input, axis, side);
      const bool is_number = edge->rule == BOUNDARY_ZERO || edge->rule == BOUNDARY_VALUE;
      if (numbers ? !is_number : !is_odd(edge->rule)) continue;
      add_condition(text, stencil, input, axis, (enum edge_side)side);
      if (!numbers) {
        text_printf(text, "value = -value;\n");
      } else if (edge->rule == BOUNDARY_VALUE && edge->coefficient >= 0) {
        int count;
        text_printf(text, "return f.outside[%d];\n", outside_number(stencil, edge->coefficient, &count));
      } else {
        text_printf(text, "return ");
        prelude_write_number(text, prelude, edge->number);
        text_printf(text, ";\n");
      }
    }
  }
}

void prelude_write_edge_images(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  for (int axis = 0; axis < stencil->dims; axis++) add_images(text, prelude, axis);
  text_printf(
      text,
      "// The value that a tap of input `field` reads at a point that may lie beyond the grid, if its image has this "
      "value.\n__device__ __forceinline__ real ghost_value(const Fields &f, int field, const Geometry &g, "
      "index_t x, index_t y, index_t z, real value) {\n  (void)f, (void)field, (void)g, (void)x, (void)y, "
      "(void)z;\n");
  add_values(text, prelude);
  text_printf(text, "  return value;\n}\n");
}

void prelude_write_edge_reader(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  const char *field = analysis_shares_images(stencil) ? "" : "field, ";
  text_printf(text,
              "// Input `field` at a point that may lie beyond the grid, by at most the radius.\n"
              "__device__ __forceinline__ real read_image(const Fields &f, int field, const Geometry &g, index_t x, "
              "index_t y, index_t z) {\n  return ghost_value(f, field, g, x, y, z, read_point(f, field, g");
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (axis < stencil->dims) text_printf(text, ", image_%c(g, %s%c)", axis_names[axis], field, axis_names[axis]);
    else text_printf(text, ", %c", axis_names[axis]);
  }
  text_printf(text, "));\n}\n\n");
}

/* Append the condition that an output is left out at an end with one of two rules. */
static void add_left_out(struct text *text, const struct prelude *prelude, int output, enum boundary rule) {
  const struct stencil *stencil = prelude->spec->stencil;
  bool any = false;
  for (int axis = 0; axis < stencil->dims; axis++) {
    for (int side = 0; side < SIDES; side++) {
      int margin = margin_of(stencil, prelude->spec->analysis, output, axis, (enum edge_side)side);
      if (stencil->boundary[axis][side].rule != rule || margin == 0) continue;
      text_printf(text, "%s%c %s", any ? " || " : "", axis_names[axis], side == SIDE_LOW ? "< " : ">= g.n");
      if (side == SIDE_LOW) text_printf(text, "%d", margin);
      else text_printf(text, "%c - %d", axis_names[axis], margin);
      any = true;
    }
  }
  if (!any) text_printf(text, "false");
}

void prelude_write_masks(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  static const struct {
    enum boundary rule;
    const char *about, *name;
  } masks[] = {{BOUNDARY_SKIP, "is left as it is", "is_left"},
               {BOUNDARY_KEEP, "gets the value of the input that it becomes", "is_kept_at"}};
  for (int i = 0; i < 2; i++) {
    text_printf(text,
                "// Whether an output %s at a point of the box.\n__device__ __forceinline__ bool %s(int output, const "
                "Geometry &g, index_t x, index_t y, index_t z) {\n  (void)g, (void)x, (void)y, (void)z;\n",
                masks[i].about, masks[i].name);
    for (int output = 0; output < stencil->output_count; output++) {
      text_printf(text, "  if (output == %d) return ", output);
      add_left_out(text, prelude, output, masks[i].rule);
      text_printf(text, ";\n");
    }
    text_printf(text, "  return false;\n}\n");
  }
  text_printf(text, "// The input that an output becomes; -1: none.\n"
                    "__device__ constexpr int kept_input(int output) { return ");
  for (int output = 0; output < stencil->output_count; output++) {
    text_printf(text, "output == %d ? %d : ", output, analysis_kept_input(stencil, output));
  }
  text_printf(text, "-1; }\n");
}
