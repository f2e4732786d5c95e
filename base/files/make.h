/* make.h: makes folders and files that the user has named, where nothing is yet. Each is made in an open folder. So it
 * is made behind no link that exchange_open_place refuses, also if another user puts the link there in between. */
#ifndef BASE_MAKE_H
#define BASE_MAKE_H

#include "base/fail.h"

/* Make a folder and all missing folders above it, each with mode 0700. Existing folders do not change.
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status folder_make(const char *path);

/* Make a folder with the access rights of the umask, unless it is there. The folder above it must exist. */
halotune_status folder_make_for_all(const char *path);

/* Make an empty file with mode 0600, unless something is there. The folder above it must exist. */
halotune_status file_make(const char *path);

#endif
