/* filesystem.h: whether a file lies on this machine alone. */
#ifndef DB_STORE_FILESYSTEM_H
#define DB_STORE_FILESYSTEM_H

#include <stdbool.h>

#include "base/fail.h"

/* Whether a filesystem, by the type that statfs tells, is one that several machines can have mounted (NFS, Lustre,
 * GPFS, CIFS ...), or may hide one that is (FUSE). Shared memory beside a file, which SQLite's WAL needs, does not
 * work there. */
bool filesystem_is_shared(unsigned long type);

/* The same for the filesystem of an existing file. Where the system does not tell: true. */
bool file_is_shared(const char *path);

/* The failure of a file system without locks.
 *   flaw  what is wrong with them
 * Returns HALOTUNE_DB with what to do. */
halotune_status file_locks_fail(const char *path, const char *flaw);

/* Try on a new file beside `path`, which is removed, whether a lock of one open file keeps out another one. Without
 * locks two writers at a time would damage a database. What another machine does cannot be seen from here.
 * Returns HALOTUNE_OK; HALOTUNE_DB with what to do. */
halotune_status file_locks_check(const char *path);

#endif
