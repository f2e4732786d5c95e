/* output_place.h: the file that a path for a result names. Links and pipes of other users are refused. */
#ifndef CLI_OUTPUT_OUTPUT_PLACE_H
#define CLI_OUTPUT_OUTPUT_PLACE_H

#include <sys/stat.h>

#include "base/fail.h"
#include "base/files/place.h"

/* Open the folder of a file like place_open. A link of another user in a folder that all may write to is refused. */
halotune_status output_place_open(const char *path, struct place *out);

/* Refuse a pipe of another user in a folder that all may write to, such as /tmp: that user decides when it is read, and
 * reads what is written.
 *   file  what the name in the folder is */
halotune_status output_place_check_pipe(const struct place *place, const struct stat *file);

#endif
