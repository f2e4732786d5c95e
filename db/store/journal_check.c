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

#include "base/files/held_path.h"
#include "base/files/locked_files.h"
#include "base/files/own.h"
#include "base/files/path.h"
#include "base/files/same_file.h"
#include "base/memory/array.h"
#include "db/store/store.h"

#define ACCESS_LIST "system.posix_acl_access"

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

/* An access list (ACL) of a file, as the system stores it. */
struct access_list {
  ssize_t bytes; /* negative: the file has none, or one that is too long */
  char list[4096];
};

static struct access_list list_of(const char *file) {
  struct access_list out;
  out.bytes = lgetxattr(file, ACCESS_LIST, out.list, sizeof out.list);
  if (out.bytes < 0 && errno == ERANGE) out.bytes = 0; /* is like no other list */
  return out;
}

static bool has_list(const char *file) { return list_of(file).bytes >= 0; }

/* Whether two files have the same list, or both have none. */
static bool have_same_list(const char *a, const char *b) {
  const struct access_list one = list_of(a), other = list_of(b);
  if (one.bytes < 0 || other.bytes < 0) return one.bytes < 0 && other.bytes < 0;
  return one.bytes > 0 && one.bytes == other.bytes && memcmp(one.list, other.list, (size_t)one.bytes) == 0;
}

bool journal_copy_list(const char *database, int fd) {
  const struct access_list list = list_of(database);
  if (list.bytes >= 0) return list.bytes > 0 && fsetxattr(fd, ACCESS_LIST, list.list, (size_t)list.bytes, 0) == 0;
  return fremovexattr(fd, ACCESS_LIST) == 0 || errno == ENODATA || errno == ENOTSUP;
}

/* Whether a file's group may write to it. With an access list, the bit of the mode is the most that any entry may give,
 * and tells nothing about the group. */
static bool group_may_write(const char *file, const struct stat *facts) {
  return (facts->st_mode & S_IWGRP) && !has_list(file);
}

/* Whether the owner of a database's folder and the members of the database's group are the only ones that can put files
 * into the folder. Elsewhere the group of a file tells nothing: it is that of a folder in which the file was made. */
static bool is_for_group(const char *file, const struct stat *database, const struct stat *folder) {
  if (folder->st_mode & S_IWOTH) return false;
  if (!(folder->st_mode & S_IWGRP)) return true;
  char *path = path_folder(file), *itself = NULL; /* the folder of a held file is a link: see held_folder.h */
  if (path && asprintf(&itself, "%s/.", path) < 0) itself = NULL;
  const bool has_no_list = itself && !has_list(itself);
  free(itself);
  free(path);
  return has_no_list && folder->st_gid == database->st_gid;
}

/* Whether the owner of a file beside a database may decide what the database holds: root, this user, the owner of the
 * database, and everybody to whom the mode of the database gives the right to write.
 *   file    the database
 *   folder  of both files */
static bool may_write(const struct stat *beside, const char *file, const struct stat *database,
                      const struct stat *folder) {
  return beside->st_uid == 0 || beside->st_uid == geteuid() || beside->st_uid == database->st_uid ||
         (database->st_mode & S_IWOTH) ||
         (group_may_write(file, database) && beside->st_gid == database->st_gid &&
          is_for_group(file, database, folder));
}

/* Whether a file beside a database lets others write who may not write to the database. Who can write to such a file of
 * this user could have moved it there.
 *   path, beside    of that file
 *   file, database  of the database */
static bool lets_others_write(const char *path, const struct stat *beside, const char *file,
                              const struct stat *database) {
  const mode_t more = beside->st_mode & ~database->st_mode & (S_IWGRP | S_IWOTH);
  if (more || (database->st_mode & S_IWOTH)) return more;
  return (beside->st_mode & S_IWGRP) && (beside->st_gid != database->st_gid || !have_same_list(path, file));
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

/* Whether the group of a file with this mode has rights that not all users have. */
static bool group_counts(mode_t mode) { return (mode & S_IRWXG) >> 3 & ~(mode & S_IRWXO); }

/* Whether the owner of a file says nothing about who put it there: another user can move a file of this user to a
 * folder in which he may put files. Then only a file that has the mode of the database counts, and its group if that
 * counts, as those have that Halotune makes. A database to which all may write is not protected. */
static bool may_be_moved(const struct stat *beside, const struct stat *database, const struct stat *folder) {
  const mode_t rights = S_IRWXU | S_IRWXG | S_IRWXO;
  const bool has_group = beside->st_gid == database->st_gid || !group_counts(database->st_mode);
  const bool is_alike = (beside->st_mode & rights) == (database->st_mode & rights) && has_group;
  return !is_alike && others_may_link(folder) && !(database->st_mode & S_IWOTH);
}

bool journal_gives_group(const struct stat *database) {
  return geteuid() == 0 || !group_counts(database->st_mode) || is_in_group(database->st_gid);
}

halotune_status journal_check_group(const char *file, const char *path) {
  struct stat facts;
  if (lstat(file, &facts) != 0 || journal_gives_group(&facts)) return HALOTUNE_OK;
  return fail(
      HALOTUNE_DB,
      "%s: its group %u has rights, and you are not in this group, so that SQLite's files beside it cannot have "
      "the same rights; run: chmod g-rwx on it, or chgrp to a group of yours",
      path, (unsigned)facts.st_gid);
}

/*   file    path of the database
 *   beside  path of a file that may lie beside it */
static halotune_status check_one(const char *file, const char *beside, const struct stat *database, const char *path) {
  struct stat facts, folder;
  char name[PATH_MAX]; /* of `beside`, in messages */
  if (lstat(beside, &facts) != 0) return HALOTUNE_OK;
  held_path_readable(beside, name);
  if (!S_ISREG(facts.st_mode))
    return fail(HALOTUNE_DB, "%s: %s beside it is not a regular file, and Halotune did not make it; remove it", path,
                name);
  if (!own_folder_of(file, &folder)) return fail(HALOTUNE_DB, "%s: its folder cannot be read", path);
  if (facts.st_nlink > 1 && others_may_link(&folder))
    return fail(HALOTUNE_DB,
                "%s: %s beside it has a second name, and SQLite would write to that file, too; remove this name, or "
                "keep the database in a folder of your own",
                path, name);
  if (may_write(&facts, file, database, &folder) && lets_others_write(beside, &facts, file, database))
    return fail(HALOTUNE_DB,
                "%s: others can write to %s beside it, but not to the database, so it may be of another one; if it is "
                "this one's, run: chmod go-w on it; else remove it",
                path, name);
  if (may_write(&facts, file, database, &folder) && may_be_moved(&facts, database, &folder))
    return fail(
        HALOTUNE_DB,
        "%s: others can put files into its folder, and %s beside it has another mode or group than the database, "
        "so it may be of another one; if it is this one's, move both into a folder of your own; else remove it",
        path, name);
  if (may_write(&facts, file, database, &folder)) return HALOTUNE_OK;
  return fail(HALOTUNE_DB,
              "%s: %s beside it belongs to user %u, who has no right to write to the database, so neither is read; "
              "remove it, or keep the database in a folder of your own",
              path, name, (unsigned)facts.st_uid);
}

/* Whether another file has the name of a database by now, or none. */
static bool was_moved(const char *database) {
  struct stat opened, now;
  return locked_files_noted(database, &opened) &&
         (lstat(database, &now) != 0 || !same_file(&opened, &now) || opened.st_uid != now.st_uid);
}

enum journal_trust journal_trust_of(const char *database, const char *path, const struct stat *beside) {
  struct stat facts, folder;
  if (was_moved(database)) return JOURNAL_FOREIGN;
  if (lstat(database, &facts) != 0 || !own_folder_of(database, &folder)) return JOURNAL_DOUBTFUL;
  if (!S_ISREG(beside->st_mode) || !may_write(beside, database, &facts, &folder)) return JOURNAL_FOREIGN;
  const bool has_names = beside->st_nlink > 1 && others_may_link(&folder);
  const bool is_doubtful =
      has_names || lets_others_write(path, beside, database, &facts) || may_be_moved(beside, &facts, &folder);
  return is_doubtful ? JOURNAL_DOUBTFUL : JOURNAL_TRUSTED;
}

enum journal_right journal_right_of(const char *database) {
  struct stat facts, folder;
  if (was_moved(database) || lstat(database, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      !own_folder_of(database, &folder))
    return JOURNAL_RIGHT_NONE;
  const bool is_own = facts.st_uid == geteuid() || facts.st_uid == 0;
  const bool is_shared = geteuid() != 0 && group_may_write(database, &facts) && is_in_group(facts.st_gid) &&
                         is_for_group(database, &facts, &folder);
  if (is_own || is_shared) return JOURNAL_RIGHT_ALL;
  char *path = path_folder(database);
  const bool is_writable = !path || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0; /* root may write everywhere */
  free(path);
  return is_writable ? JOURNAL_RIGHT_NONE : JOURNAL_RIGHT_READ;
}

bool journal_is_private(const char *database) {
  struct stat facts;
  return lstat(database, &facts) == 0 && (facts.st_uid == 0 || facts.st_uid == geteuid()) &&
         !(facts.st_mode & (S_IWGRP | S_IWOTH)); /* with an access list, the group's bits say what it allows at most */
}

halotune_status journal_check_live(sqlite3 *connection, const char *path) {
  const char *file = sqlite3_db_filename(connection, "main");
  struct stat database, folder = {0};
  if (!file || !*file || lstat(file, &database) != 0 || access(file, R_OK) != 0) return HALOTUNE_OK;
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
  if (!file || !*file || lstat(file, &database) != 0) return HALOTUNE_OK; /* SQLite fails for a missing file */
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
  if (journal) held_path_readable(journal, name);
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
