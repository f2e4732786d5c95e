/* journal_check.c: looks at the names of a database, at the kind and the owner of the files beside it, and at the end
 * of the journal, where SQLite looks for the name of another file. */
#include "db/store/journal_check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/files/own.h"
#include "base/files/path.h"
#include "base/memory/array.h"
#include "db/store/held_folder.h"
#include "db/store/store.h"

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

/* Whether a file's group may write to it. With an access list (ACL), the bit of the mode is the most that any entry may
 * give, and tells nothing about the group. */
static bool group_may_write(const char *file, const struct stat *facts) {
  return (facts->st_mode & S_IWGRP) && getxattr(file, "system.posix_acl_access", NULL, 0) < 0;
}

/* Whether the owner of a file beside a database may decide what the database holds: root, this user, the owner of the
 * database, and everybody to whom the mode of the database gives the right to write. The group of a file is that of a
 * folder in which it was made, and tells nothing where all users can move files to.
 *   file    the database
 *   folder  of both files */
static bool may_write(const struct stat *beside, const char *file, const struct stat *database,
                      const struct stat *folder) {
  return beside->st_uid == 0 || beside->st_uid == geteuid() || beside->st_uid == database->st_uid ||
         (database->st_mode & S_IWOTH) ||
         (group_may_write(file, database) && beside->st_gid == database->st_gid && !(folder->st_mode & S_IWOTH));
}

/* Whether a file beside a database lets others write who may not write to the database. Who can write to such a file of
 * this user could have moved it there. */
static bool lets_others_write(const struct stat *beside, const struct stat *database) {
  const mode_t more = beside->st_mode & ~database->st_mode & (S_IWGRP | S_IWOTH);
  const bool is_of_all = database->st_mode & S_IWOTH;
  return more || ((beside->st_mode & S_IWGRP) && beside->st_gid != database->st_gid && !is_of_all);
}

static bool is_in_group(gid_t group) {
  enum { MOST_GROUPS = 1024 };
  gid_t list[MOST_GROUPS];
  const int count = getgroups(MOST_GROUPS, list);
  bool is_in = group == getegid();
  for (int i = 0; i < count && !is_in; i++) is_in = list[i] == group;
  return is_in;
}

/* Whether a user other than root and this one can put files into a folder, such as hard links to files of this user. */
static bool others_may_link(const struct stat *folder) {
  return (folder->st_mode & (S_IWGRP | S_IWOTH)) || (folder->st_uid != 0 && folder->st_uid != geteuid());
}

/* Refuse a database with a second name where another user may have made this name: it could be a hard link to another
 * database of this user. The owner of the file may give his own file several names in his folder. */
static halotune_status check_names(const char *file, const struct stat *database, const char *path) {
  struct stat folder;
  if (database->st_nlink < 2) return HALOTUNE_OK;
  if (!own_folder_of(file, &folder)) return fail(HALOTUNE_DB, "%s: its folder cannot be read", path);
  const bool is_of_owner = folder.st_uid == database->st_uid && !(folder.st_mode & (S_IWGRP | S_IWOTH));
  if (is_of_owner || !others_may_link(&folder)) return HALOTUNE_OK;
  return fail(HALOTUNE_DB,
              "%s: this file has a second name, and others can write to its folder, so it could be another database of "
              "yours; remove this name, or keep the database in a folder of your own",
              path);
}

/*   file    path of the database
 *   beside  path of a file that may lie beside it */
static halotune_status check_one(const char *file, const char *beside, const struct stat *database, const char *path) {
  struct stat facts, folder;
  char name[PATH_MAX]; /* of `beside`, in messages */
  if (lstat(beside, &facts) != 0) return HALOTUNE_OK;
  held_readable(beside, name);
  if (!S_ISREG(facts.st_mode))
    return fail(HALOTUNE_DB, "%s: %s beside it is not a regular file, and Halotune did not make it; remove it", path,
                name);
  if (!own_folder_of(file, &folder)) return fail(HALOTUNE_DB, "%s: its folder cannot be read", path);
  if (facts.st_nlink > 1 && others_may_link(&folder))
    return fail(HALOTUNE_DB,
                "%s: %s beside it has a second name, and SQLite would write to that file, too; remove this name, or "
                "keep the database in a folder of your own",
                path, name);
  if (may_write(&facts, file, database, &folder) && lets_others_write(&facts, database))
    return fail(HALOTUNE_DB,
                "%s: others can write to %s beside it, but not to the database, so it may be of another one; if it is "
                "this one's, run: chmod go-w on it; else remove it",
                path, name);
  if (may_write(&facts, file, database, &folder)) return HALOTUNE_OK;
  return fail(HALOTUNE_DB,
              "%s: %s beside it belongs to user %u, who has no right to write to the database, so neither is read; "
              "remove it, or keep the database in a folder of your own",
              path, name, (unsigned)facts.st_uid);
}

enum journal_trust journal_trust_of(const char *database, const struct stat *beside) {
  struct stat facts, folder;
  if (stat(database, &facts) != 0 || !own_folder_of(database, &folder)) return JOURNAL_DOUBTFUL;
  if (!S_ISREG(beside->st_mode) || !may_write(beside, database, &facts, &folder)) return JOURNAL_FOREIGN;
  const bool has_names = beside->st_nlink > 1 && others_may_link(&folder);
  return has_names || lets_others_write(beside, &facts) ? JOURNAL_DOUBTFUL : JOURNAL_TRUSTED;
}

enum journal_right journal_right_of(const char *database) {
  struct stat facts, folder;
  if (lstat(database, &facts) != 0 || !S_ISREG(facts.st_mode) || !own_folder_of(database, &folder))
    return JOURNAL_RIGHT_NONE;
  const bool is_own = facts.st_uid == geteuid() || facts.st_uid == 0;
  const bool is_shared =
      geteuid() != 0 && group_may_write(database, &facts) && is_in_group(facts.st_gid) && !(folder.st_mode & S_IWOTH);
  if (is_own || is_shared) return JOURNAL_RIGHT_ALL;
  char *path = path_folder(database);
  const bool is_writable = !path || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0; /* root may write everywhere */
  free(path);
  return is_writable ? JOURNAL_RIGHT_NONE : JOURNAL_RIGHT_READ;
}

halotune_status journal_check_live(sqlite3 *connection, const char *path) {
  const char *file = sqlite3_db_filename(connection, "main");
  struct stat database, folder = {0};
  if (!file || !*file || stat(file, &database) != 0 || access(file, R_OK) != 0) return HALOTUNE_OK;
  const bool is_in_own = own_folder_of(file, &folder) && (folder.st_uid == 0 || folder.st_uid == geteuid());
  if (is_in_own && journal_right_of(file) == JOURNAL_RIGHT_ALL) return HALOTUNE_OK;
  return fail(
      HALOTUNE_DB,
      "%s: it or its folder belongs to user %u, and SQLite cannot read it without a journal or a WAL beside it, which that "
      "user could replace: copy it and files with -journal and -wal behind its name into a folder of your own, "
      "or ask for an output of 'halotune db export'",
      path, (unsigned)(is_in_own ? database.st_uid : folder.st_uid));
}

halotune_status journal_check_beside(sqlite3 *connection, const char *path) {
  static const char *const ends[] = {"-journal", "-wal", "-shm"};
  const char *file = sqlite3_db_filename(connection, "main");
  struct stat database;
  if (!file || !*file || stat(file, &database) != 0) return HALOTUNE_OK; /* SQLite fails for a missing file */
  halotune_status status = check_names(file, &database, path);
  for (size_t i = 0; i < COUNT(ends) && status == HALOTUNE_OK; i++) {
    char *beside;
    if (asprintf(&beside, "%s%s", file, ends[i]) < 0) return fail_memory();
    status = check_one(file, beside, &database, path);
    free(beside);
  }
  return status;
}

halotune_status journal_check(sqlite3 *connection, const char *path) {
  const char *file = sqlite3_db_filename(connection, "main");
  const char *journal = file && *file ? sqlite3_filename_journal(file) : NULL;
  char name[PATH_MAX] = "";
  if (journal) held_readable(journal, name);
  const int fd = journal ? open(journal, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
  if (fd < 0) {
    if (!journal || errno == ENOENT) return HALOTUNE_OK;
    return fail(HALOTUNE_DB, "%s: its journal %s cannot be read: %s", path, name, strerror(errno));
  }
  const bool is_bad = ends_with_mark(fd);
  close(fd);
  if (!is_bad) return HALOTUNE_OK;
  return fail(
      HALOTUNE_DB,
      "%s: with the journal beside it SQLite would delete another file, and Halotune did not write this journal; "
      "remove %s, or ask the owner of the database for an output of 'halotune db export'",
      path, name);
}
