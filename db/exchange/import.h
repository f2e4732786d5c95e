/* import.h: the document that export writes, read into a database in memory. Nothing of it is believed. */
#ifndef DB_EXCHANGE_IMPORT_H
#define DB_EXCHANGE_IMPORT_H

#include "base/identity/identity.h"
#include "base/identity/signature.h"
#include "db/store/store.h"

/* Read a document.
 *   text, length  of the document
 *   name          what messages call it
 *   out           receives the database, in memory, the caller's to store_close; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with the table, row and member that is wrong; HALOTUNE_MEMORY. What the rows
 * mean is store_check's to look at, and whether a signature is right import_open's. */
halotune_status import_parse(const char *text, size_t length, const char *name, struct store **out);

/* What was read from a file. */
struct imported {
  struct store *store;      /* the caller's to store_close; NULL on failure */
  struct identity document; /* of the document's bytes; of a database: of its rows */
  struct identity pages;    /* of a database, where has_pages is set: of its pages, as they lie in memory */
  bool has_pages;
  bool is_once;   /* it came from a pipe, which cannot be read again */
  bool is_signed; /* whoever has the private key of `signer` signed exactly these bytes */
  struct public_key signer;
};

/* The same for a file that is either such a document or a database. A database is copied into memory (store_hold), and
 * is never signed. A document may come from a pipe, a database may not.
 * Returns as import_parse or store_open; HALOTUNE_PARSE for a signature that is not right; HALOTUNE_NOT_FOUND or
 * HALOTUNE_IO. */
halotune_status import_open(const char *path, struct imported *out);

/* Open the store of a file once more that was opened and closed, and that is not `is_once`. Its content must be the
 * same.
 * Returns as import_open, and HALOTUNE_DB for a file that was changed. */
halotune_status import_open_again(const char *path, struct imported *file);

#endif
