/* journal_check.h: checks the journal that a killed writer leaves beside a database. The next reader uses it to undo
 * what the writer began. */
#ifndef DB_STORE_JOURNAL_CHECK_H
#define DB_STORE_JOURNAL_CHECK_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/fail.h"

/* Refuse a journal that names another file. SQLite writes such journals for transactions over several databases, and
 * removes the named file after it has read the journal. No Halotune makes one. The sender of a database can make one
 * that names any file of the reader, which SQLite would then remove.
 *   connection  to the database that the journal lies beside
 *   path        for the error
 * Returns HALOTUNE_OK, also if there is no journal; or HALOTUNE_DB with what to do. */
halotune_status journal_check(sqlite3 *connection, const char *path);

/* Refuse a pipe, a link or the like in place of the journal, the WAL or its index: SQLite would wait until somebody
 * writes into a pipe. Refuse one of a user who may not write to the database: in a folder of all users, such as /tmp,
 * anybody can put a journal beside a database, and SQLite would write its content into the database. Refuse a second
 * name of any of these files, and of the database itself, if another user may have made it. Call it before the
 * connection's first statement. Arguments and results as above. */
halotune_status journal_check_beside(sqlite3 *connection, const char *path);

/* Whether a user who may not write to a database can make files beside it; false if the files cannot be looked at. */
bool journal_others_can_make(const char *path);

/* Where journal_others_can_make, make an empty journal of this user, unless there is a journal. In a folder such as
 * /tmp nobody else can remove or replace it, so that SQLite finds no journal of another user. SQLite removes it when it
 * begins or ends a WAL, and after each transaction with `journal_mode = delete`, but not with `truncate`. Call it
 * before journal_check_beside, which looks at the owner of the journal that is there.
 * Returns HALOTUNE_OK; or HALOTUNE_DB if no file can be made. */
halotune_status journal_reserve(const char *path);

#endif
