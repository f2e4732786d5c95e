/* find.h: from the name of a stencil to its file. */
#ifndef TUNER_CLI_FIND_H
#define TUNER_CLI_FIND_H

#include "stencil/analysis.h"

/* A stencil with all that commands ask of it. Owns its members; end with loaded_free. */
struct loaded {
  char *path;
  struct stencil *stencil;
  struct analysis *analysis;
};

/* Load a stencil by name or path. A name is looked for in ./kernels, then in the folders of $HALOTUNE_PATH, then in the
 * installed data folder; a text with a '/' or ending in .yaml is a path.
 *   out  filled on success; after a failure loaded_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND with the folders that were searched; or what stencil_read returns. */
halotune_status loaded_open(const char *name, struct loaded *out);

void loaded_free(struct loaded *loaded);

/* The paths of all stencil files in the folders named above, sorted by name; of two files of one name the first found.
 *   out  receives a list from malloc of strings from malloc, the caller's; NULL on failure */
halotune_status find_all(char ***out, int *count);

#endif
