/* domains.c: reads the fields that say where a stencil is computed: element types and grids. */
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/file/stencil_fields.h"

/* Names that other languages give to the element types. */
static const struct {
  const char *name, *type;
} other_names[] = {{"fp32", "f32"}, {"float", "f32"},  {"float32", "f32"}, {"single", "f32"},
                   {"fp64", "f64"}, {"double", "f64"}, {"float64", "f64"}};

static halotune_status check_other_name(const struct stencil_reader *r, const struct yaml *item) {
  for (size_t i = 0; i < COUNT(other_names) && item->kind == YAML_TEXT; i++) {
    if (strcmp(item->text, other_names[i].name) != 0) continue;
    return reader_fail(r, item->place, "'%s' is written as %s here", item->text, other_names[i].type);
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
    if ((status = check_other_name(r, item)) != HALOTUNE_OK) return status;
    if ((status = entry_word(r, item, "an element type", dtype_names, DTYPE_COUNT, &dtype)) != HALOTUNE_OK)
      return status;
    if (r->stencil->dtypes[dtype]) return reader_fail(r, item->place, "'%s' stands here twice", item->text);
    r->stencil->dtypes[dtype] = true;
  }
  return HALOTUNE_OK;
}

/* Whether a text is a grid in the form of the command line: 256x256. */
static bool is_grid_with_x(const struct yaml *node) {
  if (node->kind != YAML_TEXT || node->length == 0) return false;
  return strspn(node->text, "0123456789x,") == node->length && strpbrk(node->text, "x,") && node->text[0] != 'x';
}

/* Fail with the list that stands for 256x256.
 *   open, close  the brackets around it */
static halotune_status fail_grid_with_x(const struct stencil_reader *r, const struct yaml *node, const char *open,
                                        const char *close) {
  struct text list = {0};
  for (const char *at = node->text; *at; at++) text_printf(&list, *at == 'x' || *at == ',' ? ", " : "%c", *at);
  halotune_status status =
      reader_fail(r, node->place, "write the grid %s as %s%s%s", node->text, open, text_string(&list), close);
  text_free(&list);
  return status;
}

/* Whether a list of grids holds the numbers of one grid: [256, 256] in place of [[256, 256]]. */
static bool is_bare_grid(const struct stencil_reader *r, const struct yaml *node) {
  double number;
  bool is_bare = node->count == r->stencil->dims;
  for (const struct yaml *item = node->first; item && is_bare; item = item->next)
    is_bare = entry_is_number(r, item, &number);
  return is_bare;
}

static halotune_status fail_bare_grid(const struct stencil_reader *r, const struct yaml *node) {
  struct text list = {0};
  for (const struct yaml *item = node->first; item; item = item->next)
    text_printf(&list, "%s%s", item == node->first ? "" : ", ", item->text);
  halotune_status status =
      reader_fail(r, node->place, "this is a list of grids, and each grid is a list: write [[%s]]", text_string(&list));
  text_free(&list);
  return status;
}

static halotune_status read_grid(struct stencil_reader *r, const struct yaml *node, struct grid *grid) {
  static const char *const examples[MAX_DIMS] = {"[1048576]", "[4096, 4096]", "[256, 256, 256]"};
  *grid = (struct grid){{1, 1, 1}};
  if (is_grid_with_x(node)) return fail_grid_with_x(r, node, "[", "]");
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
  static const char *const expected[MAX_DIMS] = {"a list of grids, such as [[1048576]]",
                                                 "a list of grids, such as [[4096, 4096]]",
                                                 "a list of grids, such as [[256, 256, 256]]"};
  struct stencil *stencil = r->stencil;
  if (is_grid_with_x(node)) return fail_grid_with_x(r, node, "[[", "]]");
  halotune_status status = entry_check_list(r, node, YAML_LIST, expected[stencil->dims - 1], MAX_GRIDS);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return reader_fail(r, node->place, "expected at least one grid");
  if (is_bare_grid(r, node)) return fail_bare_grid(r, node);
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
