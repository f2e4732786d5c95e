/* rename_templates.h: identities of templates in files of Halotune 0.1.0. */
#ifndef DB_STORE_RENAME_TEMPLATES_H
#define DB_STORE_RENAME_TEMPLATES_H

#include <sqlite3.h>

#include "base/fail.h"

/* Give templates without a field `sums` their present identity. Halotune 0.1.0 gave some of them that of a template
 * that says `sums: update`, which means something else. A row keeps its name if another one has the new name already.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status templates_rename(sqlite3 *connection);

#endif
