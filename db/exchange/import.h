/* import.h: reads the document that export writes into a database in memory. The content of a document is not
 * trusted. */
#ifndef DB_EXCHANGE_IMPORT_H
#define DB_EXCHANGE_IMPORT_H

#include "base/identity/identity.h"
#include "base/identity/signature.h"
#include "db/store/store.h"

/* Read a document.
 *   text, length  of the document
 *   name          the document's name for messages
 *   out           receives the database in memory; the caller ends it with store_close; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with the table, row and member that is wrong; HALOTUNE_MEMORY. store_check checks
 * what the rows mean. import_open checks the signature. */
halotune_status import_parse(const char *text, size_t length, const char *name, struct store **out);

/* What was read from a file. */
struct imported {
  struct store *store;      /* the caller ends it with store_close; NULL on failure */
  struct identity document; /* of a document: identity of its bytes; of a database: of all that a merge reads */
  struct identity pages;    /* identity of a database's pages, as they lay in the file */
  bool is_document;         /* it is a document, and no database */
  bool is_once;             /* it came from a pipe, which cannot be read again */
  bool is_signed;           /* whoever has the private key of `signer` signed exactly these bytes */
  struct public_key signer;
};

/* Read a file that is either such a document or a database. A database of at most 1 GiB is copied into memory
 * (store_hold), and its indexes are made anew there. It is never signed. A document may come from a pipe, a database
 * may not.
 * Returns what import_parse and store_open return; HALOTUNE_PARSE for a wrong signature; HALOTUNE_NOT_FOUND or
 * HALOTUNE_IO. */
halotune_status import_open(const char *path, struct imported *out);

/* Open the store of a file again after it was opened and closed. The file must not be `is_once`, and its content must
 * be the same.
 *   is_checked  receives whether nothing of it can differ from what it was; else its rows are the same, but not what
 *               the identity does not cover, such as origins, so that store_check is due again
 * Returns what import_open returns; HALOTUNE_DB for a file that was changed. */
halotune_status import_open_again(const char *path, struct imported *file, bool *is_checked);

#endif
