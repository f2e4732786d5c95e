/* journal_vfs.c: looks at each file beside a database before SQLite does. A file of a trusted user stays where it is in
 * a sticky folder, so that SQLite opens the file that was looked at. */
#include "db/store/journal_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory/array.h"
#include "db/store/journal_check.h"

static sqlite3_vfs *standard, guarded;

/* The path of the database that a file lies beside; NULL if the name is of another kind, or when memory is out. Free it
 * with free. */
static char *database_of(const char *name) {
  static const char *const ends[] = {"-journal", "-wal"};
  const size_t length = name ? strlen(name) : 0;
  for (size_t i = 0; i < COUNT(ends); i++) {
    const size_t end = strlen(ends[i]);
    if (length > end && strcmp(name + length - end, ends[i]) == 0) return strndup(name, length - end);
  }
  return NULL;
}

/* Make a file, unless there is one. Returns whether one is there that is trusted. */
static bool make_beside(const char *database, const char *path, bool may_make) {
  struct stat facts;
  const bool is_writer = may_make && faccessat(AT_FDCWD, database, W_OK, AT_EACCESS) == 0;
  const int fd = is_writer ? open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
  if (fd >= 0) close(fd); /* SQLite gives it the owner and the mode of the database */
  return fd >= 0 || (lstat(path, &facts) == 0 && journal_is_trusted(database, &facts));
}

/* SQLite opens the WAL's index itself, after the WAL. */
static bool prepare_beside(const char *name, int flags) {
  char *database = database_of(name), *index = NULL;
  const bool may_make = flags & SQLITE_OPEN_CREATE;
  bool is_fine = database && make_beside(database, name, may_make);
  if (is_fine && (flags & SQLITE_OPEN_WAL))
    is_fine = asprintf(&index, "%s-shm", database) >= 0 && make_beside(database, index, may_make);
  free(index);
  free(database);
  return is_fine;
}

static int open_guarded(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  (void)vfs;
  const bool is_beside = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL);
  if (!(flags & SQLITE_OPEN_SUPER_JOURNAL) && (!is_beside || prepare_beside(name, flags)))
    return standard->xOpen(standard, name, file, flags, out);
  file->pMethods = NULL; /* there is nothing to close */
  return SQLITE_CANTOPEN;
}

static int access_guarded(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  (void)vfs;
  struct stat facts;
  const int code = standard->xAccess(standard, name, flags, out);
  char *database = code == SQLITE_OK && *out && flags == SQLITE_ACCESS_EXISTS ? database_of(name) : NULL;
  if (database) *out = lstat(name, &facts) == 0 && journal_is_trusted(database, &facts);
  free(database);
  return code;
}

static void make_guarded(void) {
  standard = sqlite3_vfs_find(NULL);
  if (!standard) return;
  guarded = *standard;
  guarded.zName = "halotune";
  guarded.pNext = NULL;
  guarded.xOpen = open_guarded;
  guarded.xAccess = access_guarded;
  if (sqlite3_vfs_register(&guarded, false) != SQLITE_OK) guarded.zName = NULL;
}

const char *journal_vfs(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_guarded);
  return guarded.zName;
}

/* A program may unload the library, and go on with its own databases. */
__attribute__((destructor)) static void forget_guarded(void) {
  if (guarded.zName) sqlite3_vfs_unregister(&guarded);
}
