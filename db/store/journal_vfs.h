/* journal_vfs.h: SQLite's access to files, but for the journal and the WAL of another user. */
#ifndef DB_STORE_JOURNAL_VFS_H
#define DB_STORE_JOURNAL_VFS_H

/* What a database is opened for. */
enum vfs_purpose {
  VFS_READ,
  /* to read what this user does not trust: another user's index of a WAL is not mapped into memory, because he can cut
   * it off, which ends the program */
  VFS_DISTRUST,
  /* the same within a time: no WAL of a database to which others may write is read, because they can cut off its index,
   * or hold locks for which SQLite waits */
  VFS_SOON,
  VFS_ALONE, /* to read a file that has nothing beside it: no journal or WAL is there for SQLite */
  VFS_WRITE, /* the user named the database to write to it */
  VFS_COUNT
};

/* Name a VFS for sqlite3_open_v2. It is that of Unix, except for the files beside a database:
 *   - All of them are JOURNAL_FOREIGN where the database was moved since it was opened: another file may have its name.
 *   - A journal or a WAL that is JOURNAL_FOREIGN is not there for SQLite, and cannot be opened. In a folder such as
 *     /tmp another user can put one there at any time, and SQLite looks for one before each transaction.
 *   - A missing one is made as a new file. In a sticky folder nobody else can then replace it.
 *   - A user who may not write to the database makes none: it would keep the owner of the database out. A reader makes
 *     none beside a database of another user (journal_right_of).
 *   - A journal that names another file has no effect. SQLite would remove that file (journal_check.h).
 * Returns NULL if SQLite has no such VFS. Threads: any. */
const char *journal_vfs(enum vfs_purpose purpose);

/* From now on, SQLite opens files without waiting: the owner of a database can hold a lease on it or put a pipe in its
 * place, and the open would wait for him. This holds for all of the process, so that only Halotune's own program calls
 * it, before all else. */
void journal_vfs_open_soon(void);

#endif
