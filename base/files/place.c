/* place.c: walks along a path, one open folder after the other. */
#include "base/files/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path that is walked along, and the open folder in front of the next part. */
struct walk {
  struct place *place;
  place_check *check;
  size_t at, end; /* the next part of place->path */
  int links;      /* that were followed */
  bool is_done;
};

/* A process that has no memory or no descriptor left has not seen what is there. */
static halotune_status walk_fail(const struct walk *w, int code) {
  w->place->is_missing = code != ENOMEM && code != EMFILE && code != ENFILE;
  return fail(HALOTUNE_IO, "%s: %s", w->place->path, strerror(code));
}

static const int folder_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

/* Put another folder in place of the open one. Takes over the descriptor. */
static halotune_status enter_folder(struct walk *w, int folder) {
  const int code = errno;
  if (folder < 0) return walk_fail(w, code);
  if (w->place->folder >= 0) close(w->place->folder);
  w->place->folder = folder;
  return HALOTUNE_OK;
}

/* Whether a link is one of the proc file system, such as /proc/self and /proc/self/fd/1. */
static bool is_of_proc(const struct stat *link) {
  struct stat proc;
  return stat("/proc/self", &proc) == 0 && proc.st_dev == link->st_dev;
}

/* Ask the caller about the next part of the path.
 *   entry  NULL: nothing is there */
static halotune_status check_part(const struct walk *w, const struct stat *entry) {
  struct stat folder;
  if (fstat(w->place->folder, &folder) != 0) return walk_fail(w, errno);
  return w->check(&(struct place_part){.folder = &folder,
                                       .entry = entry,
                                       .path = w->place->path,
                                       .length = (int)w->end,
                                       .folder_length = (int)w->at,
                                       .is_behind_link = w->links > 0});
}

/* Put the target of an open link in place of the next part of the path. */
static halotune_status follow_link(struct walk *w, int fd) {
  enum { MOST_LINKS = 40 }; /* the same number as in the kernel */
  char target[PATH_MAX], *path = NULL;
  if (w->links++ == MOST_LINKS) return walk_fail(w, ELOOP);
  const ssize_t length = readlinkat(fd, "", target, sizeof target);
  if (length <= 0 || length >= (ssize_t)sizeof target)
    return fail(HALOTUNE_IO, "%.*s: the link cannot be read", (int)w->end, w->place->path);
  const bool is_absolute = *target == '/';
  const int kept = is_absolute ? 0 : (int)w->at; /* a relative target starts at the link's folder */
  if (asprintf(&path, "%.*s%.*s%s", kept, w->place->path, (int)length, target, w->place->path + w->end) < 0)
    return fail_memory();
  free(w->place->path);
  w->place->path = path;
  w->at = w->end = (size_t)kept;
  return is_absolute ? enter_folder(w, open("/", folder_flags)) : HALOTUNE_OK;
}

/* Look at what the next part of the path names. The name is opened once, so that what is entered is what was looked
 * at. */
static halotune_status look_at_part(struct walk *w, const char *name, bool is_last) {
  struct stat facts;
  int fd = openat(w->place->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  w->is_done = is_last;
  w->place->is_descriptor = false;
  const int code = errno;
  halotune_status status = fd < 0 || fstat(fd, &facts) == 0 ? HALOTUNE_OK : walk_fail(w, errno);
  if (status == HALOTUNE_OK) status = check_part(w, fd < 0 ? NULL : &facts);
  if (fd < 0) return status != HALOTUNE_OK || (is_last && code == ENOENT) ? status : walk_fail(w, code);
  if (status == HALOTUNE_OK && S_ISLNK(facts.st_mode) && !is_of_proc(&facts)) {
    status = follow_link(w, fd);
    w->is_done = false;
  } else if (status == HALOTUNE_OK && is_last) {
    w->place->is_descriptor = S_ISLNK(facts.st_mode);
  } else if (status == HALOTUNE_OK && S_ISLNK(facts.st_mode)) {
    status = enter_folder(w, openat(w->place->folder, name, folder_flags));
  } else if (status == HALOTUNE_OK && S_ISDIR(facts.st_mode)) {
    return enter_folder(w, fd);
  } else if (status == HALOTUNE_OK) {
    status = walk_fail(w, ENOTDIR);
  }
  close(fd);
  return status;
}

/* Take the next part of the path. */
static halotune_status take_part(struct walk *w) {
  const char *path = w->place->path;
  w->at = w->end + strspn(path + w->end, "/");
  w->end = w->at + strcspn(path + w->at, "/");
  free(w->place->name);
  w->place->name = w->end > w->at ? strndup(path + w->at, w->end - w->at) : strdup(".");
  if (!w->place->name) return fail_memory();
  return look_at_part(w, w->place->name, path[w->end] == '\0');
}

halotune_status place_open(const char *path, place_check *check, struct place *out) {
  struct walk w = {.place = out, .check = check};
  *out = (struct place){.folder = -1, .path = strdup(path)};
  if (!out->path) return fail_memory();
  if (!*path) return walk_fail(&w, ENOENT);
  halotune_status status = enter_folder(&w, open(*path == '/' ? "/" : ".", folder_flags));
  while (status == HALOTUNE_OK && !w.is_done) status = take_part(&w);
  return status;
}

void place_close(struct place *place) {
  if (place->folder >= 0) close(place->folder);
  free(place->name);
  free(place->path);
  *place = (struct place){.folder = -1};
}
