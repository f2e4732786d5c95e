/* loaded_stencil.h: a stencil, found by name or path, with its analysis. */
#ifndef CLI_OPTIONS_LOADED_STENCIL_H
#define CLI_OPTIONS_LOADED_STENCIL_H

#include "stencil/analysis/analysis.h"

/* Owns its members; end with loaded_free. */
struct loaded {
  char *path, *text; /* path and text of the file; a pipe can be read only once */
  struct stencil *stencil;
  struct analysis *analysis;
};

/* Load a stencil by name or path, see search_path.h.
 *   out  filled on success; after a failure loaded_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND with the folders that were searched; HALOTUNE_PARSE if a file that was found
 * by name contains a stencil with another name; or the errors of stencil_read. */
halotune_status loaded_open(const char *name, struct loaded *out);

/* The same for a name or path in a file, such as a plan. A pipe in place of the stencil is refused without waiting. */
halotune_status loaded_open_regular(const char *name, struct loaded *out);

/* Check that the stencil has the name of its file. Returns HALOTUNE_OK, or HALOTUNE_PARSE for another name. */
halotune_status loaded_check_name(const struct loaded *loaded);

void loaded_free(struct loaded *loaded);

#endif
