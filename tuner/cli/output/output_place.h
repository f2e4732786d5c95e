/* output_place.h: the file that a path for a result names, as an open folder and a name in it. Nobody can exchange the
 * folder between the check of its links and the writing. */
#ifndef CLI_OUTPUT_OUTPUT_PLACE_H
#define CLI_OUTPUT_OUTPUT_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/fail.h"

struct output_place {
  int folder; /* a descriptor with O_PATH; -1: none */
  char *path; /* without links; for messages and comparisons */
  char *name; /* of the file in the folder; "." if the path ends with a slash */
  /* The name is a link of the proc file system, such as that behind /dev/stdout. Its text need not be a path, so that
   * only the kernel can follow it. */
  bool is_descriptor;
};

/* Open the folder of a file, which need not exist yet. Each part of the path is opened without following links. Then it
 * is checked, and its link is followed. A link of another user in a folder that all may write to is refused.
 *   out  for the caller to end with output_place_close, also after a failure
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status output_place_open(const char *path, struct output_place *out);

/* Refuse a pipe of another user in a folder that all may write to, such as /tmp: that user decides when it is read, and
 * reads what is written.
 *   file  what the name in the folder is */
halotune_status output_place_check_pipe(const struct output_place *place, const struct stat *file);

void output_place_close(struct output_place *place);

#endif
