/* template_launch.c: the fields of a template's file for what few launches have: a workspace; on sm_90 and later tensor
 * maps, clusters, programmatic dependent launch. */
#include "base/array.h"
#include "stencil/template/template_reader.h"

static halotune_status read_optional(struct reader *r, const struct yaml *map, const char *key, double otherwise,
                                     struct optional_formula *out) {
  const struct yaml *node = yaml_find(map, key);
  *out = (struct optional_formula){.is_given = node != NULL, .otherwise = otherwise};
  return node ? template_read_formula(r, node, &out->formula) : HALOTUNE_OK;
}

static halotune_status read_maps(struct reader *r, const char *key, struct map_formulas *out) {
  enum { USUAL_PROMOTION_BYTES = 128 };
  static const char *const keys[] = {"when", "box", "promotion_bytes"};
  const struct yaml *map = yaml_find(r->root, key), *box;
  if (!map) return HALOTUNE_OK;
  if (map->kind != YAML_MAP) return read_fail(r, map->place, "expected fields, such as box: [block_x, block_y, 1]");
  halotune_status status = template_check_keys(r, map, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = template_need(r, map, "box", YAML_LIST, &box);
  if (status == HALOTUNE_OK) status = template_read_axes(r, box, out->box);
  if (status == HALOTUNE_OK) status = read_optional(r, map, "when", 1, &out->when);
  if (status == HALOTUNE_OK)
    status = read_optional(r, map, "promotion_bytes", USUAL_PROMOTION_BYTES, &out->promotion_bytes);
  out->is_given = status == HALOTUNE_OK;
  return status;
}

static halotune_status read_cluster(struct reader *r) {
  const struct yaml *list = yaml_find(r->root, "cluster");
  struct formula axes[MAX_DIMS] = {{0, 0}};
  if (list && list->kind != YAML_LIST) return read_fail(r, list->place, "expected three expressions, for x, y and z");
  halotune_status status = list ? template_read_axes(r, list, axes) : HALOTUNE_OK;
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++) {
    r->template->cluster[axis] =
        (struct optional_formula){.is_given = list != NULL, .formula = axes[axis], .otherwise = 1};
  }
  return status;
}

halotune_status template_read_launch(struct reader *r) {
  halotune_status status = read_maps(r, "tensor_inputs", &r->template->input_maps);
  if (status == HALOTUNE_OK) status = read_maps(r, "tensor_outputs", &r->template->output_maps);
  if (status == HALOTUNE_OK) status = read_cluster(r);
  if (status == HALOTUNE_OK) status = read_optional(r, r->root, "overlap", 0, &r->template->overlap);
  if (status == HALOTUNE_OK) status = read_optional(r, r->root, "workspace_bytes", 0, &r->template->workspace_bytes);
  return status;
}

bool template_needs_sm_90(const struct template *template) {
  return template->input_maps.is_given || template->output_maps.is_given || template->cluster[0].is_given ||
         template->overlap.is_given;
}
