/* found_files.h: files of stencils and templates in folders that the user has not named. Commands pass on their paths
 * as texts, beside paths that the user has named. Here is known which ones were found. */
#ifndef CLI_OPTIONS_FOUND_FILES_H
#define CLI_OPTIONS_FOUND_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
/* Whether a file that was found may be used (base/files/data_file.h). If not, stderr says once why, and what to do. A
 * file that is missing may be used: whoever reads it reports it.
 *   variable  of the environment, which names trusted folders; NULL for none */
bool found_file_is_usable(const char *path, const char *variable);

/* Remember that a path was found, so that its file is checked again when it is read. Returns false when memory is
 * out. */
bool found_file_keep(const char *path);

/* Whether found_file_keep got this path. Then the file is read with data_file_read. */
bool found_file_is_kept(const char *path);

/* Whether this is the first call for this path, so that a message about it is due. */
bool found_file_is_new(const char *path);

#endif
