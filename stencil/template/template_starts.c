/* template_starts.c: reads a list of maps. A map names the parameters that differ from their defaults. */
#include "stencil/template/template_starts.h"

#include <string.h>

#include "base/text/nearest.h"

/* Read one value of a start. */
static halotune_status read_choice(struct reader *r, const struct yaml *item, struct configuration *start) {
  const struct template *template = r->template;
  const int found = template_parameter(template, item->key, strlen(item->key));
  if (found < 0) {
    struct nearest nearest = nearest_to(item->key, strlen(item->key));
    template_try_parameters(template, &nearest);
    return reader_fail(r, item->key_place, "there is no parameter '%s'%s", item->key, nearest.question);
  }
  const struct parameter *parameter = &template->parameters[found];
  const int choice = item->kind == YAML_TEXT ? parameter_value_at(parameter, item->text) : -1;
  if (choice < 0) return reader_fail(r, item->place, "this is not a value of '%s'", parameter->name);
  start->choice[found] = (unsigned char)choice;
  return HALOTUNE_OK;
}

static halotune_status read_start(struct reader *r, const struct yaml *map) {
  struct template *template = r->template;
  struct configuration start = configuration_default(template);
  halotune_status status = HALOTUNE_OK;
  if (map->kind != YAML_MAP || map->count == 0)
    return reader_fail(r, map->place, "expected parameters that differ from their defaults, such as {vector: 2}");
  for (const struct yaml *item = map->first; item && status == HALOTUNE_OK; item = item->next)
    status = read_choice(r, item, &start);
  template->starts[template->start_count++] = start;
  return status;
}

halotune_status template_starts_read(struct reader *r) {
  const struct yaml *list = yaml_find(r->root, "starts");
  halotune_status status = HALOTUNE_OK;
  if (!list) return HALOTUNE_OK;
  if (list->kind != YAML_LIST || list->count == 0 || list->count > MAX_STARTS)
    return reader_fail(r, list->place, "expected a list of 1 to %d maps, such as [{vector: 2}]", MAX_STARTS);
  for (const struct yaml *item = list->first; item && status == HALOTUNE_OK; item = item->next)
    status = read_start(r, item);
  return status;
}
