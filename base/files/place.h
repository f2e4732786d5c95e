/* place.h: what a path names, as an open folder and a name in it. The walk along the path opens each folder before the
 * caller checks it, so that nobody can exchange the folder between the check and the use. */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/fail.h"

struct place {
  int folder; /* a descriptor with O_PATH; -1: none */
  char *path; /* without links; for messages and comparisons */
  char *name; /* in the folder; "." if the path ends with a slash */
  /* The name is a link of the proc file system, such as that behind /dev/stdout. Its text need not be a path, so that
   * only the kernel can follow it. */
  bool is_descriptor;
  bool is_missing; /* after a failure: the system finds nothing by this path; no check has refused it */
};

/* One part of a path, on the way: a name in an open folder. */
struct place_part {
  const struct stat *folder, *entry; /* entry: of what the name is, a link included; NULL: nothing is there */
  const char *path;                  /* the links that were followed are replaced by their targets */
  int length, folder_length;         /* of the part's own path in `path`, and of its folder's: 0 for "." */
  bool is_behind_link;               /* a link led here */
};

/* Refuse a part of a path with a detail, or return HALOTUNE_OK. */
typedef halotune_status place_check(const struct place_part *part);

/* Open the folder of what a path names, which need not exist yet. Each part of the path is opened without following
 * links. Then it is checked, and its link is followed.
 *   out  for the caller to end with place_close, also after a failure
 * Returns HALOTUNE_OK, the status of a check, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status place_open(const char *path, place_check *check, struct place *out);

void place_close(struct place *place);

#endif
