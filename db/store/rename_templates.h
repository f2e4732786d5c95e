/* rename_templates.h: identities of templates in files of older versions. */
#ifndef DB_STORE_RENAME_TEMPLATES_H
#define DB_STORE_RENAME_TEMPLATES_H

#include <sqlite3.h>

#include "base/fail.h"

/* Give templates their present identity. Up to version 9 of the database it did not cover what a template takes from
 * common.yml, so that a text that takes something else could have the same name. Halotune 0.1.0 gave some templates
 * without a field `sums` the name of one that says `sums: update`. A row keeps its name if another one has the new name
 * already.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status templates_rename(sqlite3 *connection);

#endif
