/* plain_definitions.h: whether a table or an index is defined as Halotune defines them. */
#ifndef DB_STORE_PLAIN_DEFINITIONS_H
#define DB_STORE_PLAIN_DEFINITIONS_H

#include <stdbool.h>

/* Whether the text of a definition, as it stands in sqlite_master, holds names, types, keys, literal defaults and the
 * plain conditions that Halotune's own tables have. Anything else can be an expression, which SQLite computes for each
 * row that it checks or changes, or a name that would change a statement. A table of Halotune must be strict: in other
 * tables a text can stand in place of a number, and compares in another way. None of its columns may be named rowid or
 * the like. Tables with other names may be the user's or a tool's, and are not read.
 * Older and newer versions of Halotune define other tables and columns in the same words. */
bool definition_is_plain(const char *sql);

#endif
