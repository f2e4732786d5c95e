/* path.h: the two parts of a path: FOLDER/NAME; and the path of a program. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

/* The name behind the last slash of a path: a part of `path`. */
const char *path_name(const char *path);

/* The folder in which a path lies: "." for a name alone, "/" for a name below the root.
 * Returns a text from malloc, which the caller frees; NULL when memory is out. */
char *path_folder(const char *path);

/* The path of a program. A name without a slash is looked for on $PATH. Parts of PATH that do not begin with a slash
 * are left out: they mean folders of the working directory, and so does an empty part. Its files may be of others.
 * Returns a path from malloc that begins with a slash, which the caller frees; NULL if there is no such program, or
 * when memory is out. */
char *path_of_program(const char *name);

#endif
