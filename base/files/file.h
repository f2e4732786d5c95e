/* file.h: reads whole files. base/files/replace.h writes them. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* Read a regular file or a pipe to its end. A pipe is an error that is waited for longer than pipe_limit_ms
 * (pipe.h), and as long again for each MiB.
 *   max_bytes  longer files are refused before they fill the memory
 *   bytes      receives the content and a NUL, from malloc; the caller frees it; NULL on failure
 *   length     receives the number of bytes before the NUL
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is no such file; HALOTUNE_IO for a folder, an unreadable file or a
 * file that is too long; HALOTUNE_CANCELLED if the program was asked to stop while it waited for a pipe;
 * HALOTUNE_MEMORY. */
halotune_status file_read(const char *path, size_t max_bytes, char **bytes, size_t *length);

/* Like file_read, for a file that was found in a search folder and not named by the user. Anything but a regular file
 * is refused with HALOTUNE_IO: a pipe without a writer is not waited for. */
halotune_status file_read_found(const char *path, size_t max_bytes, char **bytes, size_t *length);

/* Like file_read, for a descriptor, which is closed in any case. `path` names the file in errors. `bytes` and `length`
 * must be NULL and 0. */
halotune_status file_read_open(int fd, const char *path, size_t max_bytes, char **bytes, size_t *length);

/* One of the two above, or a function like them. */
typedef halotune_status file_reader(const char *path, size_t max_bytes, char **bytes, size_t *length);

bool file_is_regular(const char *path);

/* Whether two paths name the same file or folder; false if one of them does not exist. */
bool file_is_same(const char *a, const char *b);

#endif
