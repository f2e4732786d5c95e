/* definitions.h: whether a table or an index is defined as Halotune defines them. */
#ifndef DB_STORE_DEFINITIONS_H
#define DB_STORE_DEFINITIONS_H

#include <stdbool.h>

/* Whether the text of a definition, as it stands in sqlite_master, holds names, types, keys, literal defaults and the
 * plain conditions that Halotune's own tables have. Anything else is an expression, which SQLite computes for each row
 * that it checks or changes, or a name that is more than a name where it stands in a statement. A table of
 * Halotune has to be strict: in others a text can stand for a number, and compares in another way. Others may be the
 * user's or a tool's, and are not read.
 * Versions of Halotune that are older or newer define other tables and columns, in the same words. */
bool definition_is_plain(const char *sql);

#endif
