/* held_folder.h: a database's file, named through its open folder (base/files/held_path.h). */
#ifndef DB_STORE_HELD_FOLDER_H
#define DB_STORE_HELD_FOLDER_H

#include <limits.h>

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

#endif
