/* replace.h: writes files so that no reader ever sees an incomplete one. */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* Writes the content of a file to a descriptor, in pieces. Returns HALOTUNE_OK, or an error with a detail that names
 * the file. */
typedef halotune_status file_writer(void *context, int fd);

/* Write a whole file beside `name` in an open folder, wait until it is on the disk, and rename it to `name`. If the
 * process dies in between, it leaves a file named `name` + REPLACE_SUFFIX, whose last six characters are random.
 *   path     of the file, for messages
 *   for_all  the file gets the access rights of the umask, so that others can read it; otherwise its mode is 0600
 *   write    writes the content, which need not fit into memory
 * Returns HALOTUNE_OK; the status of `write`, or HALOTUNE_IO if the file cannot be written, and the old file is still
 * there; HALOTUNE_MEMORY. */
halotune_status file_replace_at(int folder, const char *name, const char *path, bool for_all, file_writer *write,
                                void *context);

/* The same for a content in memory, with mode 0600, and without waiting for the disk. It is for caches, whose readers
 * check each file and can make it again. */
halotune_status file_replace_cached(const char *path, const void *bytes, size_t length);

/* Fail with HALOTUNE_IO, after rename() could not put a new file in the place of `path`. If a folder is there, the
 * detail says what to do. */
halotune_status replace_fail(const char *path);

#define REPLACE_SUFFIX ".XXXXXX"

/* Remove what processes that died have left in a folder: regular files that nobody has written to for an hour, and
 * whose names have letters and digits alone, or these and -journal, behind the last place of `mark`. All other files
 * stay, such as a complete copy whose name holds the mark. A file that cannot be removed stays.
 *   hash_digits  number of hexadecimal digits that must stand before the mark */
void leftovers_remove(const char *folder, const char *mark, size_t hash_digits);

#endif
