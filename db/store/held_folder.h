/* held_folder.h: paths through an open folder. Between two uses of a path, another user can exchange one of its folders
 * with a link to another folder. A path of this kind leads into the same folder each time. */
#ifndef DB_STORE_HELD_FOLDER_H
#define DB_STORE_HELD_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/* Open the folder of a file, and write the file's path through it. Where /proc is not mounted, `out` is the path
 * itself.
 *   fd  receives the folder, for the caller to close when the path is no longer used; -1 for the path itself
 * Returns false if the folder cannot be opened, or when the path is too long. */
bool held_open(const char *path, int *fd, char out[PATH_MAX]);

/* Whether held_open wrote a path. */
bool held_is_path(const char *path);

/* Write a path as a person would: that of the folder as it is now. Other paths are copied. */
void held_readable(const char *path, char out[PATH_MAX]);

#endif
