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

#include "base/files/held_path.h"
#include "base/files/locked_files.h"
#include "base/files/path.h"
#include "base/files/same_file.h"
#include "base/memory/array.h"
#include "db/store/journal_check.h"

static sqlite3_vfs *standard, guarded[VFS_COUNT];

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

/* Give a file the owner, the group, the access list and the mode of its database. Only root can give it to another
 * user. The group may be another one where it has no rights of its own (journal_gives_group). */
static bool give_to_owner(int fd, const char *file, const struct stat *database) {
  const mode_t rights = S_IRWXU | S_IRWXG | S_IRWXO;
  const uid_t owner = geteuid() == 0 ? database->st_uid : (uid_t)-1;
  const bool is_given = fchown(fd, owner, database->st_gid) == 0 || geteuid() != 0;
  return is_given && journal_copy_list(file, fd) && fchmod(fd, database->st_mode & rights) == 0;
}

/* Remove a file that was just made if nobody would trust it, as one of a user who may write to the database by its
 * access list alone: it would keep the others from the database. Returns false if it is removed. */
static bool keep_trusted(const char *database, const char *path, int fd) {
  struct stat made, there;
  if (fstat(fd, &made) != 0 || lstat(path, &there) != 0 || made.st_ino != there.st_ino || made.st_dev != there.st_dev)
    return true; /* it is another process's */
  if (journal_trust_of(database, path, &there) == JOURNAL_TRUSTED) return true;
  unlink(path);
  return false;
}

/* Make a new file that has no name yet; where the file system cannot do that, or a file gets no name later because the
 * proc file system is not mounted, one with its name.
 * Returns a descriptor; -1 with errno. */
static int open_new(const char *path, bool *is_named) {
  char *folder = path_folder(path);
  const bool has_proc = access("/proc/self/fd", F_OK) == 0;
  int fd = folder && has_proc ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
  free(folder);
  *is_named = fd < 0;
  if (fd < 0) fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return fd;
}

/* Name an open file. */
static bool name_file(int fd, const char *path) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* Make an empty file, unless there is a file. It gets its name when it has its owner and mode: other users open it as
 * soon as it is there. Returns false if it cannot be made. */
static bool make_beside(const char *database, const char *path) {
  struct stat facts;
  bool is_named;
  if (lstat(database, &facts) != 0 || faccessat(AT_FDCWD, database, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0 ||
      !journal_gives_group(&facts))
    return false;
  const int fd = open_new(path, &is_named);
  if (fd < 0) return errno == EEXIST;
  bool is_there = give_to_owner(fd, database, &facts);
  if (!is_there && is_named) unlink(path);
  if (is_there && !is_named) {
    is_named = name_file(fd, path);
    is_there = is_named || errno == EEXIST;
  }
  if (is_there && is_named) is_there = keep_trusted(database, path, fd);
  close(fd);
  return is_there;
}

/* Whether a file is there that SQLite may open; it is made first if it may be. Another process may remove it at the
 * same time, or have made it a moment ago, and not yet given it the owner of the database. */
static bool is_ready(const char *database, const char *path, bool may_make) {
  enum { TRIES = 20, WAIT_US = 1000 };
  struct stat facts;
  for (int i = 0; i < (may_make ? TRIES : 1); i++) {
    if (i > 0) usleep(WAIT_US);
    const bool is_made = may_make && make_beside(database, path);
    if (lstat(path, &facts) == 0 && journal_trust_of(database, path, &facts) == JOURNAL_TRUSTED) return true;
    if (!is_made) return false;
  }
  return false;
}

/* SQLite opens the WAL's index itself, after the WAL, and makes it if it is missing. */
static bool prepare_beside(const char *name, int flags, enum vfs_purpose purpose) {
  if (purpose == VFS_ALONE) return false;
  char *database = database_of(name), *index = NULL;
  enum journal_right right = !database              ? JOURNAL_RIGHT_NONE
                             : purpose == VFS_WRITE ? JOURNAL_RIGHT_ALL
                                                    : journal_right_of(database);
  if ((purpose == VFS_DISTRUST || purpose == VFS_SOON) && right == JOURNAL_RIGHT_READ) right = JOURNAL_RIGHT_NONE;
  if (purpose == VFS_SOON && (flags & SQLITE_OPEN_WAL) && !(database && journal_is_private(database)))
    right = JOURNAL_RIGHT_NONE;
  const bool may_make = (flags & SQLITE_OPEN_CREATE) && right == JOURNAL_RIGHT_ALL;
  bool is_fine = database && is_ready(database, name, may_make);
  if (is_fine && (flags & SQLITE_OPEN_WAL))
    is_fine =
        right != JOURNAL_RIGHT_NONE && asprintf(&index, "%s-shm", database) >= 0 && is_ready(database, index, may_make);
  free(index);
  free(database);
  return is_fine;
}

/* Open a database, and note which file it is. The name leads to the same file before and after, so that this file was
 * opened: another user can put a file of his at the name, but not this one again. */
static int open_database(const char *name, sqlite3_file *file, int flags, int *out) {
  struct stat before, after;
  const bool is_there = lstat(name, &before) == 0;
  const int code = standard->xOpen(standard, name, file, flags, out);
  if (code != SQLITE_OK) return code;
  const bool is_right = lstat(name, &after) == 0 && S_ISREG(after.st_mode) &&
                        (!is_there || same_file(&before, &after)) && locked_files_note(name, &after);
  if (is_right) return SQLITE_OK;
  file->pMethods->xClose(file);
  file->pMethods = NULL; /* there is nothing to close */
  return SQLITE_CANTOPEN;
}

static int open_guarded(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  if (flags & SQLITE_OPEN_MAIN_DB) return open_database(name, file, flags, out);
  const bool is_beside = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL);
  if (!(flags & SQLITE_OPEN_SUPER_JOURNAL) &&
      (!is_beside || prepare_beside(name, flags, (enum vfs_purpose)(vfs - guarded))))
    return standard->xOpen(standard, name, file, flags, out);
  file->pMethods = NULL; /* there is nothing to close */
  return SQLITE_CANTOPEN;
}

static int access_guarded(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  struct stat facts;
  const int code = standard->xAccess(standard, name, flags, out);
  char *database = code == SQLITE_OK && *out && flags == SQLITE_ACCESS_EXISTS ? database_of(name) : NULL;
  if (!database) return code;
  const bool is_there = lstat(name, &facts) == 0;
  const enum journal_trust trust = is_there ? journal_trust_of(database, name, &facts) : JOURNAL_FOREIGN;
  free(database);
  *out = trust == JOURNAL_TRUSTED && vfs != &guarded[VFS_ALONE];
  return trust == JOURNAL_DOUBTFUL ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

/* A path through a held folder is used as it is: its links would be replaced by names. */
static int full_path_guarded(sqlite3_vfs *vfs, const char *name, int bytes, char *out) {
  (void)vfs;
  if (!held_path_is(name)) return standard->xFullPathname(standard, name, bytes, out);
  return snprintf(out, (size_t)bytes, "%s", name) < bytes ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* A program that has a default VFS of its own can remove it. The next one in SQLite's list then becomes the default,
 * which must not be one of these. */
static void make_guarded(void) {
  static const char *const names[VFS_COUNT] = {"halotune-read", "halotune-distrust", "halotune-soon", "halotune-alone",
                                               "halotune-write"};
  standard = sqlite3_vfs_find("unix");
  for (int i = 0; i < VFS_COUNT && standard; i++) {
    guarded[i] = *standard;
    guarded[i].pNext = NULL;
    guarded[i].xOpen = open_guarded;
    guarded[i].xAccess = access_guarded;
    guarded[i].xFullPathname = full_path_guarded;
    guarded[i].zName = names[i];
    if (sqlite3_vfs_register(&guarded[i], false) != SQLITE_OK) guarded[i].zName = NULL;
  }
  if (standard && sqlite3_vfs_find(NULL) != standard) sqlite3_vfs_register(standard, false);
}

const char *journal_vfs(enum vfs_purpose purpose) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_guarded);
  return guarded[purpose].zName;
}

static int open_soon(const char *path, int flags, int mode) { return open(path, flags | O_NONBLOCK | O_NOCTTY, mode); }

void journal_vfs_open_soon(void) {
  sqlite3_vfs *unix_vfs = sqlite3_vfs_find("unix");
  if (unix_vfs && unix_vfs->xSetSystemCall) unix_vfs->xSetSystemCall(unix_vfs, "open", (sqlite3_syscall_ptr)open_soon);
}

/* A program may unload the library, and go on with its own databases. */
__attribute__((destructor)) static void forget_guarded(void) {
  for (int i = 0; i < VFS_COUNT; i++) {
    if (guarded[i].zName) sqlite3_vfs_unregister(&guarded[i]);
  }
}
