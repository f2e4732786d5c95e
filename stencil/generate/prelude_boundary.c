/* prelude_boundary.c: writes boundary rules as CUDA: functions from a tap's point to the point that is read. A stencil
 * whose rules differ between ends or inputs, or with a rule that changes values, gets those of prelude_edges.c. */
#include "stencil/generate/prelude_parts.h"

static const char *body_of(enum boundary boundary) {
  switch (boundary) {
  case BOUNDARY_PERIODIC: return "  while (@ < 0) @ += g.n@;\n  while (@ >= g.n@) @ -= g.n@;\n  return @;\n}\n";
  case BOUNDARY_PERIODIC_ENDPOINT:
    return "  while (@ < 0) @ += g.n@ - 1;\n  while (@ >= g.n@) @ -= g.n@ - 1;\n  return @;\n}\n";
  default: return "  return @ < 0 ? 0 : @ >= g.n@ ? g.n@ - 1 : @;\n}\n";
  }
}

static const char *meaning_of(enum boundary boundary) {
  switch (boundary) {
  case BOUNDARY_PERIODIC: return "point n is point 0";
  case BOUNDARY_PERIODIC_ENDPOINT: return "point n-1 is point 0";
  case BOUNDARY_ZERO: return "the value is replaced by 0";
  case BOUNDARY_SKIP: return "no tap of a computed point lies there";
  default: return "the nearest point of the grid";
  }
}

/* For images one period away no loop and no branch is needed, because the amount to add is computed first. */
static const char *near_body_of(enum boundary boundary) {
  switch (boundary) {
  case BOUNDARY_PERIODIC:
    return "  const index_t period = g.n@;\n  return @ + (@ < 0 ? period : 0) - (@ >= g.n@ ? period : 0);\n}\n";
  case BOUNDARY_PERIODIC_ENDPOINT:
    return "  const index_t period = g.n@ - 1;\n  return @ + (@ < 0 ? period : 0) - (@ > period ? period : 0);\n}\n";
  default: return "  const index_t last = g.n@ - 1;\n  return @ < 0 ? 0 : @ > last ? last : @;\n}\n";
  }
}

/* Append the reading of a tap whose image has a value; see prelude_edges.c. */
static void add_ghost_value(struct text *text, const struct stencil *stencil) {
  text_printf(
      text,
      "// The value that a tap of input `field` reads at a point that may lie beyond the grid, if its image has this "
      "value.\n__device__ __forceinline__ real ghost_value(const Fields &f, int field, const Geometry &g, "
      "index_t x, index_t y, index_t z, real value) {\n  return ");
  bool any = false;
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (stencil->boundary[axis][SIDE_LOW].rule != BOUNDARY_ZERO || stencil->kind == STENCIL_SCAN) continue;
    text_printf(text, any ? " || " : "");
    prelude_write_for_axis(text, "is_zero_@(g, @)", axis);
    any = true;
  }
  text_printf(text, any ? " ? real(0) : value;\n}\n" : "value;\n}\n");
}

static void add_reader(struct text *text, const struct stencil *stencil, bool is_fused) {
  text_printf(text,
              "// Input `field` at a point that may lie beyond the grid, by at most the radius%s.\n"
              "__device__ __forceinline__ real read_image(const Fields &f, int field, const Geometry &g, index_t x, "
              "index_t y, index_t z) {\n",
              is_fused ? " times the number of steps" : "");
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (stencil->boundary[axis][SIDE_LOW].rule != BOUNDARY_ZERO || stencil->kind == STENCIL_SCAN) continue;
    prelude_write_for_axis(text, "  if (@ < 0 || @ >= g.n@) return real(0);\n", axis);
  }
  static const char *const calls[] = {"image_x(g, x), y, z", "image_x(g, x), image_y(g, y), z",
                                      "image_x(g, x), image_y(g, y), image_z(g, z)"};
  text_printf(text, "  return read_point(f, field, g, %s);\n}\n\n", calls[stencil->dims - 1]);
}

void prelude_write_images(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  if (!analysis_is_plain(prelude->spec->analysis, stencil)) {
    prelude_write_edge_images(text, prelude);
    return;
  }
  for (int axis = 0; axis < stencil->dims; axis++) {
    enum boundary boundary = stencil->kind == STENCIL_SCAN ? BOUNDARY_CLAMP : stencil->boundary[axis][SIDE_LOW].rule;
    text_printf(text, "// Beyond the grid in %c (%s): %s.\n", axis_names[axis], boundary_names[boundary],
                meaning_of(boundary));
    prelude_write_for_axis(text, "__device__ __forceinline__ index_t image_@(const Geometry &g, index_t @) {\n", axis);
    prelude_write_for_axis(text, body_of(boundary), axis);
    prelude_write_for_axis(text,
                           "// The image in @ of a point at most n@ - 1 beyond the grid, without a loop.\n"
                           "__device__ __forceinline__ index_t near_image_@(const Geometry &g, index_t @) {\n",
                           axis);
    prelude_write_for_axis(text, near_body_of(boundary), axis);
    prelude_write_for_axis(
        text,
        "// Whether taps read 0 at a point because it lies beyond the grid in @.\n__device__ __forceinline__ bool is_zero_@(const Geometry &g, index_t @) {\n",
        axis);
    prelude_write_for_axis(text,
                           boundary == BOUNDARY_ZERO ? "  return @ < 0 || @ >= g.n@;\n}\n\n"
                                                     : "  (void)g, (void)@;\n  return false;\n}\n\n",
                           axis);
  }
  add_ghost_value(text, stencil);
}

void prelude_write_boundary(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  if (!prelude_has_beside(prelude)) prelude_write_images(text, prelude);
  if (!analysis_is_plain(prelude->spec->analysis, stencil)) prelude_write_edge_reader(text, prelude);
  else add_reader(text, stencil, stages_count(&prelude->stages) > 1);
}
