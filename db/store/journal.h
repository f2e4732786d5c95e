/* journal.h: the journal that a killed writer leaves beside a database. With it the next reader undoes what the writer
 * began. */
#ifndef DB_STORE_JOURNAL_H
#define DB_STORE_JOURNAL_H

#include <sqlite3.h>

#include "base/fail.h"

/* Refuse a journal that names another file. SQLite writes such journals for transactions over several databases, and
 * removes the named file after it has read the journal. No Halotune makes one. Whoever sends a database can make one,
 * with which SQLite would remove any file of the reader.
 *   connection  to the database that the journal lies beside
 *   path        for the error
 * Returns HALOTUNE_OK, also if there is no journal; or HALOTUNE_DB with what to do. */
halotune_status journal_check(sqlite3 *connection, const char *path);

/* Refuse a pipe, a link or the like in place of the journal or of the WAL: SQLite would wait for who writes into a
 * pipe. Call it before the connection's first statement. Arguments and results as above. */
halotune_status journal_check_kind(sqlite3 *connection, const char *path);

#endif
