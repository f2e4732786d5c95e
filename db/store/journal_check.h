/* journal_check.h: checks the journal that a killed writer leaves beside a database. The next reader uses it to undo
 * what the writer began. */
#ifndef DB_STORE_JOURNAL_CHECK_H
#define DB_STORE_JOURNAL_CHECK_H

#include <sqlite3.h>
#include <stdbool.h>
#include <sys/stat.h>

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

/* Whether SQLite made a file beside a database for a user who may write to the database. */
enum journal_trust {
  JOURNAL_TRUSTED,
  JOURNAL_DOUBTFUL, /* of such a user, but with a second name, or with other rights: others may have moved it there */
  JOURNAL_FOREIGN   /* of another user, or no regular file, or beside a name that is no longer that of the database */
};

/*   database  its path
 *   path      of the file
 *   beside    what lstat tells of the file */
enum journal_trust journal_trust_of(const char *database, const char *path, const struct stat *beside);

/* Give an open file the access list (ACL) of a database, or none if the database has none: a new file gets the default
 * list of its folder, which may let others write. Returns false if that fails. */
bool journal_copy_list(const char *database, int fd);

/* What a program that only reads a database may do beside it. Its owner can replace these files, and a new one is this
 * user's: he could move it to another database of this user. */
enum journal_right {
  JOURNAL_RIGHT_ALL,  /* the database is this user's, root's, or shared by his group */
  JOURNAL_RIGHT_READ, /* this user can make nothing there anyway */
  JOURNAL_RIGHT_NONE
};

enum journal_right journal_right_of(const char *database);

/* Whether this user and root alone may write to a database. The files that SQLite makes beside it have its mode. */
bool journal_is_private(const char *database);

/* Whether this user can give files the group of a database, or need not, because the group has no more rights than all
 * users. SQLite gives an empty file the mode of the database, so that another group would get the rights. */
bool journal_gives_group(const struct stat *database);

/* Refuse to write to a database if this user cannot give files its group.
 *   file  opens it
 *   path  for the error
 * Returns HALOTUNE_OK; HALOTUNE_DB with what to do. */
halotune_status journal_check_group(const char *file, const char *path);

/* Tell why another user's database could not be read: a program has it open, or a killed one left its journal or WAL.
 * Call it when SQLite had to undo something, or could not open a file. Arguments and results as above; HALOTUNE_OK if
 * there is another cause. */
halotune_status journal_check_live(sqlite3 *connection, const char *path);

#endif
