/* file.h: reads whole files; base/replace.h writes them. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* Read a regular file (or a pipe) to its end.
 *   max_bytes  a longer file is refused before it fills the memory
 *   bytes      receives the content with a NUL behind it, from malloc, the caller's; NULL on failure
 *   length     receives the number of bytes before that NUL
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where there is no such file; HALOTUNE_IO for a folder, an unreadable or a too
 * long file; HALOTUNE_MEMORY. */
halotune_status file_read(const char *path, size_t max_bytes, char **bytes, size_t *length);

bool file_is_regular(const char *path);

/* Whether two paths name the same file or folder; false where one of them does not exist. */
bool file_is_same(const char *a, const char *b);

#endif
