/* find_template.h: how the exchange gets to know installed templates, which only its callers can find. */
#ifndef DB_EXCHANGE_FIND_TEMPLATE_H
#define DB_EXCHANGE_FIND_TEMPLATE_H

#include "stencil/template/template.h"

/* Find the installed template of a name: NULL in `out` if there is none; else the caller ends it with template_free.
 * Returns HALOTUNE_OK, HALOTUNE_PARSE if it has an error, or HALOTUNE_MEMORY. */
typedef halotune_status find_template(const char *name, struct template **out);

#endif
