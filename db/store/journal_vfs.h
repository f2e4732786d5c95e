/* journal_vfs.h: SQLite's access to files, but for the journal and the WAL of another user. */
#ifndef DB_STORE_JOURNAL_VFS_H
#define DB_STORE_JOURNAL_VFS_H

/* Name a VFS for sqlite3_open_v2. It is the default one, except for the files beside a database:
 *   - A journal, a WAL or its index that journal_is_trusted refuses is not there for SQLite, and cannot be opened. In a
 *     folder such as /tmp another user can put one there at any time, and SQLite looks for one before each transaction.
 *   - A missing one is made as a new file. In a sticky folder nobody else can then replace it.
 *   - A user who may not write to the database makes none. His file would keep the owner of the database out.
 *   - A journal that names another file has no effect. SQLite would remove that file (journal_check.h).
 * Returns NULL, the default VFS, if it cannot be made. Threads: any. */
const char *journal_vfs(void);

#endif
