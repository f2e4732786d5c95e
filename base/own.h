/* own.h: files and folders whose content is believed because this user alone can write them: caches, and lists and keys
 * of signers. */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/fail.h"

/* What speaks against believing a file or a folder. */
enum own_flaw { OWN_NO_FLAW, OWN_FOREIGN /* another user owns it */, OWN_SHARED /* others have one of the rights */ };

/* Look at owner and mode; `rights` are the bits of the mode that group and others may not have. */
enum own_flaw own_flaw_of(const struct stat *facts, mode_t rights);

/* Refuse a folder that belongs to another user or that others can write. A link to a folder counts as the folder.
 * Returns HALOTUNE_OK, also if nothing is there; or HALOTUNE_IO, whose detail has the command that mends it. */
halotune_status own_folder_check(const char *path);

/* Open a file of this user for reading, without following a link and without waiting for a pipe.
 * Returns the descriptor, close-on-exec; -1 with fail_text() if nothing is there, if it is not a regular file, if it
 * belongs to another user, or if others can write it. */
int own_file_open(const char *path);

/* Like file_read, for a file that own_file_open accepts. Returns HALOTUNE_IO for every other file. */
halotune_status own_file_read(const char *path, size_t max_bytes, char **bytes, size_t *length);

#endif
