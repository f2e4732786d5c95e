/* output_place.c: which links and pipes a result may go through. */
#include "tuner/cli/output/output_place.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Whether all users may write to an open folder, and its file belongs to a user other than root and this one. */
static bool is_foreign(const struct stat *folder, const struct stat *file) {
  return (folder->st_mode & S_IWOTH) && file->st_uid != geteuid() && file->st_uid != 0;
}

/* Refuse a link in a folder that all may write to, such as /tmp, if it belongs to a user other than root and this one.
 * Such a link could lead the program to files of this user. The kernel (fs.protected_symlinks) refuses fewer links: it
 * follows links in folders without the sticky bit, and links of the folder's owner. */
static halotune_status check_link(const struct place_part *part) {
  if (!part->entry || !S_ISLNK(part->entry->st_mode) || !is_foreign(part->folder, part->entry)) return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%.*s: this link in a folder of all users belongs to user %u; it is not followed",
              part->length, part->path, (unsigned)part->entry->st_uid);
}

halotune_status output_place_open(const char *path, struct place *out) { return place_open(path, check_link, out); }

halotune_status output_place_check_pipe(const struct place *place, const struct stat *file) {
  struct stat folder;
  if (!S_ISFIFO(file->st_mode)) return HALOTUNE_OK;
  if (fstat(place->folder, &folder) != 0) return fail(HALOTUNE_IO, "%s: %s", place->path, strerror(errno));
  if (!is_foreign(&folder, file)) return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%s: this pipe in a folder of all users belongs to user %u; nothing is written to it",
              place->path, (unsigned)file->st_uid);
}
