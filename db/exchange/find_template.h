/* find_template.h: how the exchange gets to know installed templates, which only its callers can find. */
#ifndef DB_EXCHANGE_FIND_TEMPLATE_H
#define DB_EXCHANGE_FIND_TEMPLATE_H

#include "stencil/template/template.h"

/* Find the installed template of a name: NULL in `out` if there is none; else the caller ends it with template_free.
 * Returns HALOTUNE_OK, HALOTUNE_PARSE if it has an error, or HALOTUNE_MEMORY. */
typedef halotune_status find_template(const char *name, struct template **out);

/* The installed template of one name. */
struct found_template {
  char *name, hash[IDENTITY_HEX_BYTES]; /* hash: "" without a template */
  struct template *template;            /* NULL: there is none, or it is broken */
  bool is_broken;
};

/* Those that were looked for. Start with {.find = ...}, end with found_templates_free. */
struct found_templates {
  find_template *find;
  struct found_template *list;
  int count, room;
};

/* Look for a template, once for each name.
 *   place  receives its place in the list
 * Returns HALOTUNE_OK, also if there is none or if it is broken; or HALOTUNE_MEMORY. */
halotune_status found_templates_get(struct found_templates *found, const char *name, int *place);

void found_templates_free(struct found_templates *found);

#endif
