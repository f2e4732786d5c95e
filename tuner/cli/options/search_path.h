/* search_path.h: the folders in which stencils and templates are looked for by name. */
#ifndef CLI_OPTIONS_SEARCH_PATH_H
#define CLI_OPTIONS_SEARCH_PATH_H

#include <stdbool.h>

#include "base/fail.h"

/* One kind of file. Folders are searched in this order: the one given to a command, the working directory's, those of the
 * environment variable (separated by colons), the installed ones (base/data_folders.h). What the user set wins over what was installed. */
struct search_kind {
  const char *what;     /* as messages say it: "stencil" */
  const char *folder;   /* in the working directory and in the installed data folders: "kernels" */
  const char *variable; /* "HALOTUNE_PATH"; NULL for none */
};
extern const struct search_kind search_stencils, search_templates;

/* The stencils of `verify --all`, which other commands find by their paths alone. */
extern const struct search_kind search_asymmetric;

/* Whether what a user calls a file is its path: it has a '/' or ends in .yaml. */
bool search_is_path(const char *name);

/* The path of FOLDER/NAME.yaml for the first folder that has it.
 *   name   a path comes back as it is
 *   given  a folder to be searched first; NULL for none
 *   path   receives a string from malloc, the caller's; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND with the folders that were searched; HALOTUNE_MEMORY. */
halotune_status search_find(const struct search_kind *kind, const char *given, const char *name, char **path);

/* Whether what lies in a file that is found by its name has that name. Returns HALOTUNE_OK or HALOTUNE_PARSE. */
halotune_status search_check_name(const struct search_kind *kind, const char *path, const char *name);

/* The paths of all such files, sorted by name; of two files of one name the first found.
 *   out  receives a list, ended with search_free; NULL on failure */
halotune_status search_all(const struct search_kind *kind, const char *given, char ***out, int *count);

void search_free(char **paths, int count);

#endif
