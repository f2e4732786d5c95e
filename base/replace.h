/* replace.h: writing files so that no reader ever sees half of one. */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stddef.h>

#include "base/fail.h"

/* Write a whole file beside `path`, wait until it is on the disk, and rename it into place, with mode 0600. A process that dies in
 * between leaves a file `path` + REPLACE_SUFFIX, whose six last characters are random.
 * Returns HALOTUNE_OK; HALOTUNE_IO when it cannot be written, and the old file is still there; HALOTUNE_MEMORY. */
halotune_status file_replace(const char *path, const void *bytes, size_t length);

/* The same without waiting for the disk: for a cache, whose readers check each file and can make it again. */
halotune_status file_replace_cached(const char *path, const void *bytes, size_t length);

/* file_replace, and then with the rights that the umask leaves, for others to read. */
halotune_status file_replace_for_all(const char *path, const void *bytes, size_t length);

#define REPLACE_SUFFIX ".XXXXXX"

/* Make a folder and the folders above it, each with mode 0700; those that exist stay as they are.
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status folder_make(const char *path);

#endif
