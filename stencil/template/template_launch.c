/* template_launch.c: reads how the kernel is launched, and the formulas of its memory accesses. */
#include "stencil/template/template_launch.h"

#include <math.h>

#include "base/memory/array.h"

static halotune_status read_optional(struct reader *r, const struct yaml *map, const char *key, double otherwise,
                                     struct optional_formula *out) {
  const struct yaml *node = yaml_find(map, key);
  *out = (struct optional_formula){.is_given = node != NULL, .otherwise = otherwise};
  return node ? reader_formula(r, node, &out->formula) : HALOTUNE_OK;
}

static halotune_status read_maps(struct reader *r, const char *key, struct map_formulas *out) {
  enum { USUAL_PROMOTION_BYTES = 128 };
  static const char *const keys[] = {"when", "box", "promotion_bytes"};
  const struct yaml *map = yaml_find(r->root, key), *box;
  if (!map) return HALOTUNE_OK;
  if (map->kind != YAML_MAP) return reader_fail(r, map->place, "expected fields, such as box: [block_x, block_y, 1]");
  halotune_status status = reader_check_keys(r, map, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = reader_need(r, map, "box", YAML_LIST, &box);
  if (status == HALOTUNE_OK) status = reader_axes(r, box, out->box);
  if (status == HALOTUNE_OK) status = read_optional(r, map, "when", 1, &out->when);
  if (status == HALOTUNE_OK)
    status = read_optional(r, map, "promotion_bytes", USUAL_PROMOTION_BYTES, &out->promotion_bytes);
  out->is_given = status == HALOTUNE_OK;
  return status;
}

static halotune_status read_cluster(struct reader *r) {
  const struct yaml *list = yaml_find(r->root, "cluster");
  struct formula axes[MAX_DIMS] = {{0, 0}};
  if (list && list->kind != YAML_LIST) return reader_fail(r, list->place, "expected three expressions, for x, y and z");
  halotune_status status = list ? reader_axes(r, list, axes) : HALOTUNE_OK;
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++) {
    r->template->cluster[axis] =
        (struct optional_formula){.is_given = list != NULL, .formula = axes[axis], .otherwise = 1};
  }
  return status;
}

/* The number of steps of a variant's launch must not depend on the problem. */
static halotune_status check_steps(struct reader *r) {
  const struct template *template = r->template;
  struct formula formula = template->steps.formula;
  for (int i = formula.first; template->steps.is_given && i <= formula.root; i++) {
    const struct expr *node = &template->exprs.nodes[i];
    if (node->kind != EXPR_VARIABLE || node->index >= FACT_COUNT) continue;
    return reader_fail(r, yaml_find(r->root, "steps")->place,
                       "the steps of a launch follow from parameters alone, not from '%s'",
                       fact_rows[node->index].name);
  }
  return HALOTUNE_OK;
}

halotune_status template_launch_read(struct reader *r) {
  struct template *template = r->template;
  const struct yaml *block, *grid, *shared;
  halotune_status status = reader_need(r, r->root, "block", YAML_LIST, &block);
  if (status == HALOTUNE_OK) status = reader_need(r, r->root, "grid", YAML_LIST, &grid);
  if (status == HALOTUNE_OK) status = reader_need(r, r->root, "shared_bytes", YAML_TEXT, &shared);
  if (status == HALOTUNE_OK) status = reader_axes(r, block, template->block);
  if (status == HALOTUNE_OK) status = reader_axes(r, grid, template->grid);
  if (status == HALOTUNE_OK) status = reader_formula(r, shared, &template->shared_bytes);
  if (status == HALOTUNE_OK) status = read_maps(r, "tensor_inputs", &template->input_maps);
  if (status == HALOTUNE_OK) status = read_maps(r, "tensor_outputs", &template->output_maps);
  if (status == HALOTUNE_OK) status = read_cluster(r);
  if (status == HALOTUNE_OK) status = read_optional(r, r->root, "overlap", 0, &template->overlap);
  if (status == HALOTUNE_OK) status = read_optional(r, r->root, "unsteady", 0, &template->unsteady);
  if (status == HALOTUNE_OK) status = read_optional(r, r->root, "cooperative", 0, &template->cooperative);
  if (status == HALOTUNE_OK) status = read_optional(r, r->root, "workspace_bytes", 0, &template->workspace_bytes);
  if (status == HALOTUNE_OK) status = read_optional(r, r->root, "alignment_bytes", 0, &template->alignment_bytes);
  if (status == HALOTUNE_OK) status = read_optional(r, r->root, "steps", 1, &template->steps);
  if (status == HALOTUNE_OK) status = check_steps(r);
  return status;
}

/* Read [x, y, z, elements]. */
static halotune_status read_shared_access(struct reader *r, const struct yaml *list, struct shared_access *out) {
  halotune_status status = HALOTUNE_OK;
  if (list->kind != YAML_LIST || list->count != MAX_DIMS + 1) {
    return reader_fail(r, list->place, "expected four expressions: strides in x, y and z, and elements at once");
  }
  const struct yaml *item = list->first;
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++, item = item->next) {
    status = reader_formula(r, item, &out->stride[axis]);
  }
  return status == HALOTUNE_OK ? reader_formula(r, item, &out->elements) : status;
}

halotune_status template_access_read(struct reader *r) {
  static const char *const keys[] = {"loads_per_point", "over_read", "computing_share", "work", "shared"};
  struct access_formulas *access = &r->template->access;
  const struct yaml *map = yaml_find(r->root, "access"), *loads, *over_read;
  if (!map) return HALOTUNE_OK;
  if (map->kind != YAML_MAP) return reader_fail(r, map->place, "expected fields, such as loads_per_point: taps");
  halotune_status status = reader_check_keys(r, map, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = reader_need(r, map, "loads_per_point", YAML_TEXT, &loads);
  if (status == HALOTUNE_OK) status = reader_need(r, map, "over_read", YAML_TEXT, &over_read);
  if (status == HALOTUNE_OK) status = reader_formula(r, loads, &access->loads_per_point);
  if (status == HALOTUNE_OK) status = reader_formula(r, over_read, &access->over_read);
  if (status == HALOTUNE_OK) status = read_optional(r, map, "computing_share", 1, &access->computing_share);
  if (status == HALOTUNE_OK) status = read_optional(r, map, "work", NAN, &access->work);
  if (status != HALOTUNE_OK) return status;
  r->template->has_access = true;
  const struct yaml *shared = yaml_find(map, "shared");
  if (!shared) return HALOTUNE_OK;
  if (shared->kind != YAML_LIST || shared->count > MAX_SHARED_ACCESSES) {
    return reader_fail(r, shared->place, "expected a list of at most %d kinds of access", MAX_SHARED_ACCESSES);
  }
  for (const struct yaml *item = shared->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_shared_access(r, item, &access->shared[access->shared_count++]);
  }
  return status;
}
