/* exchange.c: looks at owners and modes of the folders on the way to a file. */
#include "base/files/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/place.h"
#include "base/files/same_file.h"
#include "base/text/text.h"

bool exchange_is_trusted(uid_t owner, uid_t also) { return owner == 0 || owner == geteuid() || owner == also; }

/* Whether this is how the machine's root looks here. In a user namespace that does not have it, files of root seem to
 * belong to the user of overflowuid, 65534, and so do those of other users outside: they cannot be told apart. */
static bool is_root_outside(uid_t owner) {
  struct stat facts;
  return stat("/proc/sys", &facts) == 0 && facts.st_uid == owner;
}

static halotune_status link_fail(int length, const char *path, uid_t owner) {
  return fail(HALOTUNE_IO, "%.*s: this link belongs to user %u, and is not followed; remove it, or use another folder",
              length, path, (unsigned)owner);
}

/* Another user can move a link of this user or of root from another folder to one of all users. */
static halotune_status moved_link_fail(const struct place_part *part) {
  return fail(HALOTUNE_IO, "%.*s: this link is in a folder of all users, and is not followed; use another folder",
              part->length, part->path);
}

static halotune_status owner_fail(int length, const char *path, uid_t owner) {
  return fail(HALOTUNE_IO,
              "%.*s: this folder belongs to user %u, who can exchange what lies in it; use a folder of your own",
              length, path, (unsigned)owner);
}

static halotune_status mode_fail(int length, const char *path) {
  struct text folder = {0}, word = {0};
  text_printf(&folder, "%.*s", length, path);
  text_shell_path(&word, text_string(&folder));
  const halotune_status status =
      fail(HALOTUNE_IO,
           "%s: all users can exchange what lies in this folder; use a folder of your own, or run: "
           "chmod +t %s",
           text_string(&folder), text_string(&word));
  text_free(&word);
  text_free(&folder);
  return status;
}

halotune_status exchange_check_part(const struct place_part *part, uid_t also) {
  const struct stat *folder = part->folder, *entry = part->entry;
  const bool is_open = folder->st_mode & S_IWOTH;
  const char *around = part->folder_length > 0 ? part->path : ".";
  const int length = part->folder_length > 1 ? part->folder_length - 1 : 1; /* without the slash at its end */
  if (!exchange_is_trusted(folder->st_uid, also) && !is_root_outside(folder->st_uid))
    return owner_fail(length, around, folder->st_uid);
  if (is_open && !(folder->st_mode & S_ISVTX)) return mode_fail(length, around);
  const bool is_link = entry && S_ISLNK(entry->st_mode);
  if (is_link && is_open && exchange_is_trusted(entry->st_uid, also)) return moved_link_fail(part);
  if (!entry || exchange_is_trusted(entry->st_uid, also) || (!is_open && is_root_outside(entry->st_uid)))
    return HALOTUNE_OK;
  if (is_link) return link_fail(part->length, part->path, entry->st_uid);
  return is_open ? owner_fail(part->length, part->path, entry->st_uid) : HALOTUNE_OK;
}

/* Check one folder on the way, and the name in it that the way takes. */
static halotune_status part_check(const struct place_part *part) { return exchange_check_part(part, geteuid()); }

/* Open a place. If nothing is there, that is no failure: see is_missing.
 *   out  for the caller to end with place_close, also after a failure */
static halotune_status open_if_there(const char *path, place_check *check, struct place *out) {
  struct fail_kept before;
  fail_keep(&before);
  const halotune_status status = place_open(path, check, out);
  if (!out->is_missing) return status;
  fail_put_back(&before);
  return HALOTUNE_OK;
}

halotune_status exchange_check(const char *path) {
  struct place place;
  const halotune_status status = open_if_there(path, part_check, &place);
  place_close(&place);
  return status;
}

/* Open a folder itself, not the folder around it, unless nothing is there. place_close ends it after any outcome. */
static halotune_status open_folder_if_there(const char *path, place_check *check, struct place *out) {
  struct text inside = {0};
  *out = (struct place){.folder = -1};
  (void)access(path, F_OK);          /* mounts what is mounted on demand, which a descriptor with O_PATH does not */
  text_printf(&inside, "%s/", path); /* with a slash, the last link is followed, too */
  const halotune_status status = text_ok(&inside) ? open_if_there(text_string(&inside), check, out) : fail_memory();
  text_free(&inside);
  return status;
}

halotune_status exchange_find_folder(const char *path, bool *is_there) {
  struct place place;
  const halotune_status status = open_folder_if_there(path, part_check, &place);
  *is_there = status == HALOTUNE_OK && !place.is_missing;
  place_close(&place);
  return status;
}

/* Refuse a link of another user, and one that another user may have moved there. */
static halotune_status part_link_check(const struct place_part *part) {
  const struct stat *entry = part->entry;
  if (!entry || !S_ISLNK(entry->st_mode)) return HALOTUNE_OK;
  if (!exchange_is_trusted(entry->st_uid, geteuid())) return link_fail(part->length, part->path, entry->st_uid);
  return (part->folder->st_mode & S_IWOTH) ? moved_link_fail(part) : HALOTUNE_OK;
}

/* Like part_check, but for the folder itself, whose name in itself is empty. */
static halotune_status part_way_check(const struct place_part *part) {
  return part->length == part->folder_length ? HALOTUNE_OK : part_check(part);
}

bool exchange_is_foreign(const struct stat *folder, const struct stat *entry) {
  return (folder->st_mode & S_IWOTH) && !exchange_is_trusted(entry->st_uid, geteuid());
}

/* Such a link could lead the program to files of this user. The kernel (fs.protected_symlinks) refuses fewer links: it
 * follows links in folders without the sticky bit, and links of the folder's owner. */
static halotune_status part_foreign_check(const struct place_part *part) {
  if (!part->entry || !S_ISLNK(part->entry->st_mode) || !exchange_is_foreign(part->folder, part->entry))
    return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%.*s: this link in a folder of all users belongs to user %u; it is not followed",
              part->length, part->path, (unsigned)part->entry->st_uid);
}

halotune_status exchange_open_place(const char *path, struct place *out) {
  return place_open(path, part_foreign_check, out);
}

/* The path to which a link of the proc file system leads. The kernel writes it without links; a part of it that is a
 * link now was put there later, so that realpath() would follow it. NULL if it leads to no path.
 *   facts  receives those of the file behind the link; the kernel follows it without its text */
static char *link_target(int folder, const char *name, struct stat *facts) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(folder, name, target, sizeof target);
  if (length <= 0 || length >= (ssize_t)sizeof target || *target != '/') return NULL;
  return fstatat(folder, name, facts, 0) == 0 ? strndup(target, (size_t)length) : NULL;
}

/* Whether a name in an open folder is a file. */
static bool names_file(const struct place *place, const struct stat *file) {
  struct stat there;
  return !place->is_missing && fstatat(place->folder, place->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         same_file(&there, file);
}

/* The text of a link to a removed file ends with " (deleted)", and another user may have made a file of this name. */
halotune_status exchange_find_place(const char *path, struct place *out) {
  struct stat facts;
  (void)access(path, F_OK); /* as in open_folder_if_there */
  halotune_status status = open_if_there(path, part_foreign_check, out);
  if (status != HALOTUNE_OK || !out->is_descriptor) return status;
  char *target = link_target(out->folder, out->name, &facts);
  if (!target) return HALOTUNE_OK;
  place_close(out);
  status = open_if_there(target, part_foreign_check, out);
  free(target);
  if (status != HALOTUNE_OK || names_file(out, &facts)) return status;
  return fail(HALOTUNE_IO, "%s: the open file was removed or moved", path);
}

/* The absolute path of a name in an open folder. A folder that was removed has none. */
static char *absolute_path(const struct place *place) {
  char link[64], *path;
  struct stat facts, there;
  snprintf(link, sizeof link, "/proc/self/fd/%d", place->folder);
  char *folder = link_target(AT_FDCWD, link, &facts);
  if (!folder || stat(folder, &there) != 0 || !same_file(&facts, &there)) {
    free(folder);
    return strdup(place->path);
  }
  if (asprintf(&path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, place->name) < 0) path = NULL;
  free(folder);
  return path;
}

halotune_status exchange_real_path(const char *path, char **out) {
  struct place place;
  *out = NULL;
  halotune_status status = exchange_find_place(path, &place);
  if (status == HALOTUNE_OK && !place.is_missing) *out = absolute_path(&place);
  if (status == HALOTUNE_OK && !*out && !(*out = strdup(path))) status = fail_memory();
  place_close(&place);
  return status;
}

static place_check *const checks[] = {
    [EXCHANGE_LINKS] = part_link_check, [EXCHANGE_WAY] = part_way_check, [EXCHANGE_NAMED] = part_foreign_check};

/* Open a folder that was found, so that it can be read.
 *   out  -1 if nothing is there */
static halotune_status open_to_read(const char *path, const struct place *place, int *out) {
  if (place->is_missing) return HALOTUNE_OK;
  *out = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return *out >= 0 ? HALOTUNE_OK : fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
}

halotune_status exchange_open_folder(const char *path, enum exchange_rule rule, int *out) {
  struct place place;
  *out = -1;
  halotune_status status = open_folder_if_there(path, checks[rule], &place);
  if (status == HALOTUNE_OK) status = open_to_read(path, &place, out);
  place_close(&place);
  return status;
}

/* Another process may make the same folder at the same time. */
halotune_status exchange_make_folder(const char *path, enum exchange_rule rule, int *out) {
  enum { MOST_TRIES = 16 };
  halotune_status status = HALOTUNE_OK;
  *out = -1;
  for (int tries = 0; status == HALOTUNE_OK && *out < 0;) {
    struct place place;
    status = open_folder_if_there(path, checks[rule], &place);
    if (status == HALOTUNE_OK) status = open_to_read(path, &place, out);
    if (status == HALOTUNE_OK && place.is_missing && mkdirat(place.folder, place.name, 0700) != 0 &&
        (errno != EEXIST || ++tries == MOST_TRIES))
      status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
    place_close(&place);
  }
  return status;
}
