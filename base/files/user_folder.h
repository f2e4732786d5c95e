/* user_folder.h: the folder in which the user's own data lies. */
#ifndef BASE_USER_FOLDER_H
#define BASE_USER_FOLDER_H

#include "base/fail.h"

/* The path of a file there: $XDG_DATA_HOME/halotune/NAME, else ~/.local/share/halotune/NAME.
 *   path  from malloc, for the caller to free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where neither $XDG_DATA_HOME nor $HOME is set; HALOTUNE_MEMORY. */
halotune_status user_file_path(const char *name, char **path);

#endif
