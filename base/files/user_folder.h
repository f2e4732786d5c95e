/* user_folder.h: the folders in which the user's own files lie, and the one for temporary files. */
#ifndef BASE_USER_FOLDER_H
#define BASE_USER_FOLDER_H

#include "base/fail.h"

/* Find a folder of Halotune that is the user's own, by the XDG Base Directory Specification. It need not exist.
 *   variable    environment variable of the folder above it, such as "XDG_CACHE_HOME"
 *   below_home  the folder in the home folder that counts without this variable, such as ".cache"
 *   end         what follows, such as "/host", or ""
 *   path        receives $VARIABLE/halotuneEND, else ~/BELOW_HOME/halotuneEND, from malloc, which the caller frees;
 *               NULL if neither the variable nor $HOME begins with a slash, which is no failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status user_folder_path(const char *variable, const char *below_home, const char *end, char **path);

/* The path of a file of the user's data: $XDG_DATA_HOME/halotune/NAME, else ~/.local/share/halotune/NAME.
 *   path  from malloc, for the caller to free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where neither $XDG_DATA_HOME nor $HOME begins with a slash;
 *         HALOTUNE_MEMORY. */
halotune_status user_file_path(const char *name, char **path);

/* The folder in which temporary files are made: $TMPDIR if it is an absolute path, else /tmp. */
const char *temporary_folder(void);

#endif
