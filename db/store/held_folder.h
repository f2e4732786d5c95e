/* held_folder.h: a file in an open folder. Between two uses of a path, another user can exchange one of its folders
 * with a link to another folder. A name through an open folder leads into the same folder each time. */
#ifndef DB_STORE_HELD_FOLDER_H
#define DB_STORE_HELD_FOLDER_H

#include <limits.h>
#include <stdbool.h>

#include "base/fail.h"

struct held_file {
  const char *path;    /* as the user named it, for messages */
  int folder;          /* a descriptor; -1: none */
  char name[PATH_MAX]; /* opens the file, through the folder; the path itself if the folder does not exist */
};

/* Walk to a file that the user has named (exchange_find_place in base/files/exchange.h), and keep its folder open. The
 * file need not exist.
 *   path  lives as long as `out`
 *   out   for the caller to end with held_close, also after a failure
 * Returns HALOTUNE_OK; HALOTUNE_DB, whose detail names a link that is not followed; HALOTUNE_MEMORY. */
halotune_status held_open(const char *path, struct held_file *out);

void held_close(struct held_file *held);

/* Whether a name leads through a held folder. */
bool held_is_path(const char *name);

/* Write such a name as a person would: with the path of the folder as it is now. Other paths are copied. */
void held_readable(const char *name, char out[PATH_MAX]);

#endif
