/* output_place.h: pipes of other users, to which no result is written. */
#ifndef CLI_OUTPUT_OUTPUT_PLACE_H
#define CLI_OUTPUT_OUTPUT_PLACE_H

#include <sys/stat.h>

#include "base/fail.h"
#include "base/files/place.h"

/* Refuse a pipe of another user in a folder that all may write to, such as /tmp: that user decides when it is read, and
 * reads what is written.
 *   file  what the name in the folder is */
halotune_status output_place_check_pipe(const struct place *place, const struct stat *file);

#endif
