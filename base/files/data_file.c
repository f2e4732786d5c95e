/* data_file.c: walks along a path, and looks at the owners behind each link. */
#include "base/files/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/file.h"
#include "base/files/locked_files.h"
#include "base/files/place.h"
#include "base/files/program_file.h"

/* A file at the end of the way is no part that somebody exchanges: flaw_of looks at its owner. */
static halotune_status part_check(const struct place_part *part) {
  struct place_part way = *part;
  const mode_t mode = part->entry ? part->entry->st_mode : 0;
  if (!part->is_behind_link && !S_ISLNK(mode)) return HALOTUNE_OK;
  if (!S_ISLNK(mode) && !S_ISDIR(mode)) way.entry = NULL;
  return exchange_check_part(&way, program_file_owner());
}

static halotune_status missing_fail(const char *path, int code) {
  return fail(code == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s: %s", path, strerror(code));
}

/* Walk to what a path names. place_close ends `out` after any outcome. If a check refuses the way, `out` does not say
 * that the file is missing. */
static halotune_status walk_to(const char *path, struct place *out) {
  char detail[FAIL_TEXT_BYTES / 2];
  const int code = access(path, F_OK) == 0 ? EACCES : errno; /* also mounts what is mounted on demand */
  const halotune_status status = place_open(path, part_check, out);
  if (status == HALOTUNE_OK || status == HALOTUNE_MEMORY) return status;
  if (out->is_missing) return missing_fail(path, code);
  snprintf(detail, sizeof detail, "%s", fail_text());
  return fail(HALOTUNE_IO, "%s is not used, because another user can exchange it (%s)", path, detail);
}

bool data_owner_is_trusted(uid_t owner) { return exchange_is_trusted(owner, program_file_owner()); }

static enum data_flaw flaw_of(const char *path, const struct stat *facts) {
  if (!data_owner_is_trusted(facts->st_uid)) {
    fail(HALOTUNE_IO, "%s is not used, because it belongs to another user", path);
    return DATA_FOREIGN;
  }
  if (!(facts->st_mode & S_IWOTH)) return DATA_NO_FLAW;
  fail(HALOTUNE_IO, "%s is not used, because all users can write to it", path);
  return DATA_WRITABLE;
}

enum data_flaw data_file_look(const char *path, struct stat *facts) {
  struct place place;
  const halotune_status status = walk_to(path, &place);
  enum data_flaw flaw = DATA_NO_FLAW;
  if (status != HALOTUNE_OK) flaw = place.is_missing || status == HALOTUNE_MEMORY ? DATA_MISSING : DATA_EXCHANGEABLE;
  else if (fstatat(place.folder, place.name, facts, AT_SYMLINK_NOFOLLOW) == 0) flaw = flaw_of(path, facts);
  else {
    missing_fail(path, errno);
    flaw = DATA_MISSING;
  }
  place_close(&place);
  return flaw;
}

/* Look at an open file. */
static halotune_status check_open(int fd, const char *path) {
  struct stat facts;
  if (fstat(fd, &facts) != 0) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (!S_ISREG(facts.st_mode)) return fail(HALOTUNE_IO, "%s: this is not a regular file", path);
  return flaw_of(path, &facts) == DATA_NO_FLAW ? HALOTUNE_OK : HALOTUNE_IO;
}

halotune_status data_file_read(const char *path, size_t max_bytes, char **bytes, size_t *length) {
  struct place place;
  int fd = -1;
  *bytes = NULL;
  *length = 0;
  halotune_status status = walk_to(path, &place);
  if (status == HALOTUNE_OK) {
    fd = openat(place.folder, place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) status = missing_fail(path, errno);
  }
  place_close(&place);
  if (status == HALOTUNE_OK) status = check_open(fd, path);
  if (status == HALOTUNE_OK) return file_read_open(fd, path, max_bytes, bytes, length);
  if (fd >= 0) locked_files_close(fd);
  return status;
}
