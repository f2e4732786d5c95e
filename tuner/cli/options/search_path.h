/* search_path.h: find stencils and templates by name, in a list of folders. */
#ifndef CLI_OPTIONS_SEARCH_PATH_H
#define CLI_OPTIONS_SEARCH_PATH_H

#include <stdbool.h>

#include "base/fail.h"

/* A kind of file. It is searched in these folders, in this order:
 *   1. the folder given to the command;
 *   2. `folder` in the working directory, unless it belongs to another user (but root) or all users can write to it,
 *      which stderr says once;
 *   3. the folders of the environment variable, separated by colons;
 *   4. `folder` in the installed data folders (base/files/data_folders.h).
 * The first folder that has a file with the name wins. In folders of 2 and 4, a file that others can write to is
 * ignored, and so is a template if others can write to one of its files. stderr says so. */
struct search_kind {
  const char *what;     /* "stencil", for messages */
  const char *folder;   /* "kernels" */
  const char *variable; /* "HALOTUNE_PATH"; NULL for none */
};
extern const struct search_kind search_stencils, search_templates;

/* The stencils of `verify --all`. Other commands take them by path only. */
extern const struct search_kind search_asymmetric;

/* Whether the user gave a path instead of a name: it has a '/' or ends in .yaml. */
bool search_is_path(const char *name);

/* Find FOLDER/NAME.yaml in the first folder that has it.
 *   name   a name; a path is returned as it is
 *   given  a folder to be searched first; NULL for none
 *   path   receives a string from malloc, which the caller frees; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND with the folders that were searched; HALOTUNE_MEMORY. */
halotune_status search_find(const struct search_kind *kind, const char *given, const char *name, char **path);

/* Check that the stencil or template `name` has the name of its file. Returns HALOTUNE_OK, or HALOTUNE_PARSE for
 * another name. */
halotune_status search_check_name(const struct search_kind *kind, const char *path, const char *name);

/* Find all files of a kind, sorted by name. Of two files with the same name, the first one that is found counts.
 *   out  receives their paths; end with search_free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if `given` is not a folder; HALOTUNE_MEMORY. */
halotune_status search_all(const struct search_kind *kind, const char *given, char ***out, int *count);

void search_free(char **paths, int count);

#endif
