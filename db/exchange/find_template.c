/* find_template.c: keeps the installed templates that were looked for. */
#include "db/exchange/find_template.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/template/template_read.h"

halotune_status found_templates_get(struct found_templates *found, const char *name, int *place) {
  struct found_template added = {.name = NULL};
  for (*place = 0; *place < found->count; ++*place) {
    if (strcmp(found->list[*place].name, name) == 0) return HALOTUNE_OK;
  }
  if (!array_room(found->list, found->count, found->room) || !(added.name = strdup(name))) return fail_memory();
  halotune_status status = found->find(name, &added.template);
  added.is_broken = status == HALOTUNE_PARSE;
  if (added.template) identity_hex(added.template->hash, added.hash);
  found->list[found->count++] = added;
  return added.is_broken ? HALOTUNE_OK : status;
}

void found_templates_free(struct found_templates *found) {
  for (int i = 0; i < found->count; i++) {
    template_free(found->list[i].template);
    free(found->list[i].name);
  }
  free(found->list);
}
