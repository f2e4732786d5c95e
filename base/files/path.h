/* path.h: the two parts of a path: FOLDER/NAME. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

/* The name behind the last slash of a path: a part of `path`. */
const char *path_name(const char *path);

/* The folder in which a path lies: "." for a name alone, "/" for a name below the root.
 * Returns a text from malloc, which the caller frees; NULL when memory is out. */
char *path_folder(const char *path);

#endif
