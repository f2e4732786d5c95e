/* journal.c: looks at the kind of the files beside a database, and at the end of the journal, where SQLite looks for
 * the name of another file. */
#include "db/store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory/array.h"

/* The last bytes of a journal that names another file. */
static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

/* Whether the last bytes of a file are the mark; also true if they cannot be read. */
static bool ends_with_mark(int fd) {
  unsigned char end[sizeof mark];
  const off_t length = lseek(fd, 0, SEEK_END);
  if (length >= 0 && length < (off_t)sizeof end) return false;
  if (length < 0 || pread(fd, end, sizeof end, length - (off_t)sizeof end) != (ssize_t)sizeof end) return true;
  return memcmp(end, mark, sizeof end) == 0;
}

halotune_status journal_check_kind(sqlite3 *connection, const char *path) {
  const char *file = sqlite3_db_filename(connection, "main");
  if (!file || !*file) return HALOTUNE_OK;
  const char *const beside[] = {sqlite3_filename_journal(file), sqlite3_filename_wal(file)};
  for (size_t i = 0; i < COUNT(beside); i++) {
    struct stat facts;
    if (!beside[i] || lstat(beside[i], &facts) != 0 || S_ISREG(facts.st_mode)) continue;
    return fail(HALOTUNE_DB, "%s: %s beside it is not a regular file, and Halotune did not make it; remove it", path,
                beside[i]);
  }
  return HALOTUNE_OK;
}

halotune_status journal_check(sqlite3 *connection, const char *path) {
  const char *file = sqlite3_db_filename(connection, "main");
  const char *journal = file && *file ? sqlite3_filename_journal(file) : NULL;
  const int fd = journal ? open(journal, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
  if (fd < 0) {
    if (!journal || errno == ENOENT) return HALOTUNE_OK;
    return fail(HALOTUNE_DB, "%s: its journal %s cannot be read: %s", path, journal, strerror(errno));
  }
  const bool is_bad = ends_with_mark(fd);
  close(fd);
  if (!is_bad) return HALOTUNE_OK;
  return fail(
      HALOTUNE_DB,
      "%s: with the journal beside it SQLite would delete another file, and Halotune did not write this journal; "
      "remove %s, or ask the owner of the database for an output of 'halotune db export'",
      path, journal);
}
