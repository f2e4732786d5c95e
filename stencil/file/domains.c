/* domains.c: reads the fields that say where a stencil is computed: boundary rules, element types, grids. */
#include <stdlib.h>

#include "base/array.h"
#include "stencil/file/stencil_fields.h"

halotune_status field_boundary(struct stencil_reader *r, const struct yaml *node) {
  enum { BOUNDARIES = BOUNDARY_ZERO + 1 };
  struct stencil *stencil = r->stencil;
  const struct yaml *item = node;
  if (node->kind == YAML_LIST && node->count != stencil->dims) {
    return reader_fail(r, node->place, "expected a list of %d rule%s, one for each axis, or one word for all",
                       stencil->dims, PLURAL(stencil->dims));
  }
  if (node->kind == YAML_LIST) item = node->first;
  for (int axis = 0; axis < stencil->dims; axis++) {
    int rule;
    halotune_status status = entry_word(r, item, "a boundary rule", boundary_names, BOUNDARIES, &rule);
    if (status != HALOTUNE_OK) return status;
    stencil->boundary[axis] = (enum boundary)rule;
    if (node->kind == YAML_LIST) item = item->next;
  }
  return HALOTUNE_OK;
}

halotune_status field_dtypes(struct stencil_reader *r, const struct yaml *node) {
  halotune_status status =
      entry_check_list(r, node, YAML_LIST, "a list of element types, such as [f32, f64]", DTYPE_COUNT);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return reader_fail(r, node->place, "expected at least one element type");
  for (const struct yaml *item = node->first; item; item = item->next) {
    int dtype;
    if ((status = entry_word(r, item, "an element type", dtype_names, DTYPE_COUNT, &dtype)) != HALOTUNE_OK)
      return status;
    if (r->stencil->dtypes[dtype]) return reader_fail(r, item->place, "'%s' stands here twice", item->text);
    r->stencil->dtypes[dtype] = true;
  }
  return HALOTUNE_OK;
}

static halotune_status read_grid(struct stencil_reader *r, const struct yaml *node, struct grid *grid) {
  static const char *const examples[MAX_DIMS] = {"[1048576]", "[4096, 4096]", "[256, 256, 256]"};
  *grid = (struct grid){{1, 1, 1}};
  if (node->kind != YAML_LIST || node->count != r->stencil->dims) {
    return reader_fail(r, node->place, "expected a list of %d number%s of points, one for each axis, such as %s",
                       r->stencil->dims, PLURAL(r->stencil->dims), examples[r->stencil->dims - 1]);
  }
  const struct yaml *item = node->first;
  for (int axis = 0; axis < r->stencil->dims; axis++, item = item->next) {
    halotune_status status = entry_whole(r, item, "a number of points", 1, GRID_MOST_AXIS_POINTS, &grid->n[axis]);
    if (status != HALOTUNE_OK) return status;
  }
  int wrong;
  if (stencil_check_grid(r->stencil, grid, &wrong) == HALOTUNE_OK) return HALOTUNE_OK;
  const struct yaml *culprit = wrong < 0 ? node : node->first;
  for (int axis = 0; axis < wrong; axis++) culprit = culprit->next;
  return reader_fail(r, culprit->place, "%s", fail_text());
}

halotune_status field_grids(struct stencil_reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  halotune_status status =
      entry_check_list(r, node, YAML_LIST, "a list of grids, such as [[256, 256, 256]]", MAX_GRIDS);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return reader_fail(r, node->place, "expected at least one grid");
  double *values = malloc(((size_t)stencil->coefficient_count + 1) * sizeof *values);
  if (!values) return fail_memory();
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    struct grid *grid = &stencil->grids[stencil->grid_count++];
    status = read_grid(r, item, grid);
    /* The value of a default depends on the grid. A value that is not finite is an error of the file. */
    if (status == HALOTUNE_OK && (status = stencil_coefficients(stencil, grid, values)) == HALOTUNE_ARGUMENT) {
      status = reader_fail(r, item->place, "%s", fail_text());
    }
  }
  free(values);
  return status;
}
