/* import.h: the document that export writes, read into a database in memory. Nothing of it is believed. */
#ifndef DB_EXCHANGE_IMPORT_H
#define DB_EXCHANGE_IMPORT_H

#include "db/store/store.h"

/* Read a document.
 *   text, length  of the document
 *   name          what messages call it
 *   out           receives the database, in memory, the caller's to store_close; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with the table, row and member that is wrong; HALOTUNE_MEMORY. What the rows
 * mean is store_check's to look at. */
halotune_status import_parse(const char *text, size_t length, const char *name, struct store **out);

/* The same for a file that is either such a document or a database. A database is opened for reading.
 *   document  receives the identity of the file's bytes
 * Returns as import_parse or store_open, HALOTUNE_NOT_FOUND or HALOTUNE_IO. */
halotune_status import_open(const char *path, struct store **out, struct identity *document);

#endif
