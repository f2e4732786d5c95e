/* held_path.h: paths through an open folder. Between two uses of a path, another user can exchange one of its folders
 * with another one. A path through a descriptor leads into the same folder each time, until the descriptor is
 * closed. */
#ifndef BASE_HELD_PATH_H
#define BASE_HELD_PATH_H

#include <limits.h>
#include <stdbool.h>

enum { HELD_PATH_BYTES = 64 };

/* Write a path that leads to an open folder from this thread, also in a thread with descriptors of its own.
 * Returns false where the proc file system is not mounted, or is that of other processes. */
bool held_path_of_thread(int folder, char out[HELD_PATH_BYTES]);

/* Write a path that leads to an open folder from each process that has the descriptor under this number. Returns as
 * above. */
bool held_path_of_process(int folder, char out[HELD_PATH_BYTES]);

/* Whether a name leads through an open folder. */
bool held_path_is(const char *name);

/* Write such a name as a person would: with the path of the folder as it is now. Other paths are copied. */
void held_path_readable(const char *name, char out[PATH_MAX]);

#endif
