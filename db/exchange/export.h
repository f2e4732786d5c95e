/* export.h: a database as a JSON document. docs/database.md describes both forms. */
#ifndef DB_EXCHANGE_EXPORT_H
#define DB_EXCHANGE_EXPORT_H

#include "db/exchange/choose.h"

/* The words that a document of all tables begins with, and its version. Version 1 had the tables of version 4. */
#define EXPORT_FORMAT "halotune database"
enum { EXPORT_VERSION = 2 };

/* Append the chosen rows of all tables.
 *   with_cubins  compiled code too, in base64
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Rows that are equal give the same text, byte for byte,
 * whatever their ids. Nothing in it says what is trusted: whoever reads it decides. */
halotune_status store_export(struct store *store, const struct choice *choice, bool with_cubins, struct text *out);

/* Append the measurements of one problem in the T4 format for results of autotuners.
 * Returns as store_export; HALOTUNE_ARGUMENT where the choice leaves several problems, with their names;
 * HALOTUNE_NOT_FOUND where it leaves none. */
halotune_status store_export_t4(struct store *store, const struct choice *choice, struct text *out);

#endif
