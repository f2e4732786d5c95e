/* user_folder.h: the folder in which the user's own data lies, and the one for temporary files. */
#ifndef BASE_USER_FOLDER_H
#define BASE_USER_FOLDER_H

#include "base/fail.h"

/* The path of a file there: $XDG_DATA_HOME/halotune/NAME, else ~/.local/share/halotune/NAME.
 *   path  from malloc, for the caller to free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where neither $XDG_DATA_HOME nor $HOME begins with a slash;
 *         HALOTUNE_MEMORY. */
halotune_status user_file_path(const char *name, char **path);

/* The folder in which temporary files are made: $TMPDIR if it is an absolute path, else /tmp. */
const char *temporary_folder(void);

#endif
