/* filesystem.h: tells whether other machines can have a file's file system mounted. */
#ifndef DB_STORE_FILESYSTEM_H
#define DB_STORE_FILESYSTEM_H

#include <stdbool.h>

#include "base/fail.h"

/* Whether several machines can have a filesystem mounted (NFS, Lustre, GPFS, CIFS ...), or whether it may hide such a
 * one (FUSE). `type` is what statfs gives. Shared memory beside a file, which SQLite's WAL needs, does not work
 * there. */
bool filesystem_is_shared(unsigned long type);

/* The same for the filesystem of an existing file. Returns true if the system does not tell the type. */
bool file_is_shared(const char *path);

/* Fail because a file system has no working locks.
 *   flaw  what is wrong with them
 * Returns HALOTUNE_DB with what to do. */
halotune_status file_locks_fail(const char *path, const char *flaw);

/* Try on a temporary file beside `path` whether a lock of one open file keeps out another one. Without locks two
 * writers at a time would damage a database. The test cannot see what another machine does.
 * Returns HALOTUNE_OK; HALOTUNE_DB with what to do. */
halotune_status file_locks_check(const char *path);

#endif
