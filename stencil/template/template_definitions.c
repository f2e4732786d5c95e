/* template_definitions.c: reads `define`. A definition is copied to each place that names it, so that each formula
 * contains all nodes that it needs. */
#include "stencil/template/template_definitions.h"

#include <string.h>

halotune_status template_definitions_read(struct reader *r) {
  const struct yaml *map = yaml_find(r->root, "define");
  halotune_status status = HALOTUNE_OK;
  if (!map) return HALOTUNE_OK;
  if (map->kind != YAML_MAP)
    return reader_fail(r, map->place, "expected definitions, such as tile_y: block_y*points_y");
  for (const struct yaml *item = map->first; item && status == HALOTUNE_OK; item = item->next) {
    const char *error = name_error(item->key, strlen(item->key));
    if (error) return reader_fail(r, item->key_place, "'%s' cannot be defined: %s", item->key, error);
    status = reader_declare(r, (struct name){.text = item->key, .kind = NAME_LATER, .place = item->key_place});
  }
  for (const struct yaml *item = map->first; item && status == HALOTUNE_OK; item = item->next) {
    struct formula formula;
    status = reader_formula(r, item, &formula);
    if (status != HALOTUNE_OK) break;
    struct name *name = scope_find(&r->scope, item->key, strlen(item->key));
    name->kind = NAME_DEFINITION;
    name->definition = formula;
  }
  return status;
}

halotune_status template_definitions_check_use(const struct reader *r) {
  for (int i = 0; i < r->scope.count; i++) {
    const struct name *name = &r->scope.names[i];
    if (name->kind != NAME_DEFINITION || name->is_used) continue;
    return reader_fail(r, name->place, "'%s' is defined, but no formula uses it", name->text);
  }
  return HALOTUNE_OK;
}
