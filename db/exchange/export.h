/* export.h: a database as a JSON document. docs/database.md describes both forms. */
#ifndef DB_EXCHANGE_EXPORT_H
#define DB_EXCHANGE_EXPORT_H

#include "db/exchange/chosen_rows.h"

/* The format's name at the beginning of a document of all tables, and its version. Version 1 had the tables of schema
 * version 4. */
#define EXPORT_FORMAT "halotune database"
enum { EXPORT_VERSION = 2 };

/* Append the chosen rows of all tables.
 *   with_cubins  compiled code too, in base64
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Equal rows give the same text, byte for byte, whatever their
 * ids. The text does not say what is trusted: the importing user decides that. */
halotune_status store_export(struct store *store, const struct choice *choice, bool with_cubins, struct text *out);

/* Append the measurements of one problem in the T4 format for results of autotuners. If problems that are reproducible
 * and others are chosen, the latter count.
 * Returns what store_export returns; HALOTUNE_ARGUMENT if several problems are chosen, with their names;
 * HALOTUNE_NOT_FOUND if none is chosen. */
halotune_status store_export_t4(struct store *store, const struct choice *choice, struct text *out);

#endif
