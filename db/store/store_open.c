/* store_open.c: finds or makes the file of a store, checks that it is a tuning database, opens and closes it. It also
 * decides whether the database has a WAL. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/held_path.h"
#include "base/files/locked_files.h"
#include "base/files/make.h"
#include "base/files/own.h"
#include "base/files/path.h"
#include "base/files/replace.h"
#include "base/text/utf8.h"
#include "db/store/filesystem.h"
#include "db/store/journal_check.h"
#include "db/store/journal_vfs.h"
#include "db/store/migrate.h"
#include "db/store/schema.h"
#include "db/store/store_parts.h"

/* What a file contains. */
enum content { CONTENT_NONE, CONTENT_OURS, CONTENT_OLDER };

/* The marks in a file. They are read in one transaction, because another process may be making the file. */
struct marks {
  int64_t application, version, objects;
};

static halotune_status read_marks(sqlite3 *connection, struct marks *out) {
  halotune_status status = query_script(connection, "savepoint marks");
  if (status != HALOTUNE_OK) return status;
  status = query_number(connection, "pragma application_id", &out->application);
  if (status == HALOTUNE_OK) status = query_number(connection, "pragma user_version", &out->version);
  if (status == HALOTUNE_OK) status = query_number(connection, "select count(*) from sqlite_master", &out->objects);
  /* After a failure the connection is closed, or its transaction rolled back; needs_undoing looks at the last error. */
  return status == HALOTUNE_OK ? query_script(connection, "release marks") : status;
}

static enum content content_of(const struct marks *marks) {
  if (marks->application == 0 && marks->version == 0 && marks->objects == 0) return CONTENT_NONE;
  return marks->version < SCHEMA_VERSION ? CONTENT_OLDER : CONTENT_OURS;
}

/* Read the marks of a file. Fails for a file that this program cannot use. */
static halotune_status inspect_file(sqlite3 *connection, const char *path, bool untrusted, struct marks *out) {
  *out = (struct marks){0, 0, 0};
  halotune_status status = read_marks(connection, out);
  if (status != HALOTUNE_OK) return status;
  if (content_of(out) == CONTENT_NONE) return guard_tables(connection, path); /* tables would be in its encoding */
  if (out->application == SCHEMA_UNTRUSTED_ID && !untrusted) {
    return fail(
        HALOTUNE_DB,
        "%s: this file keeps rows that were imported without trust, and is not a tuning database; 'halotune db import "
        "--trust' shows and takes them",
        path);
  }
  if (out->application != SCHEMA_APPLICATION_ID && out->application != SCHEMA_UNTRUSTED_ID) {
    return fail(HALOTUNE_DB, "%s: this is an SQLite database, but not a tuning database; name another file", path);
  }
  if (out->version > SCHEMA_VERSION) {
    return fail(
        HALOTUNE_DB,
        "%s: a newer Halotune wrote this database (version %lld, this program knows %d); use the newer Halotune, or name another file",
        path, (long long)out->version, SCHEMA_VERSION);
  }
  return guard_tables(connection, path);
}

static const char in_memory[] = ":memory:";

/* Give a connection the settings that all connections have. */
static halotune_status set_up(sqlite3 *connection) {
  const halotune_status status = query_add_functions(connection);
  if (status != HALOTUNE_OK) return status;
  query_set_wait(connection, &query_usual_wait);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);      /* SQL in a file of others must not */
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL); /* do more than store rows */
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, NULL); /* the name of a missing column is an error, */
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, NULL); /* not a text */
  return query_script(connection, "pragma foreign_keys = on; pragma cell_size_check = on; pragma temp_store = memory");
}

/* Make a connection. SQLite follows no link.
 *   path  for messages */
static halotune_status connect_by_name(const char *name, const char *path, int flags, enum vfs_purpose purpose,
                                       sqlite3 **out) {
  const char *vfs = journal_vfs(flags & SQLITE_OPEN_READWRITE ? VFS_WRITE : purpose);
  *out = NULL;
  if (!vfs) return fail(HALOTUNE_DB, "%s: SQLite has no access to files on this system (the VFS 'unix')", path);
  flags |= SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_open_v2(name, out, flags, vfs) == SQLITE_OK) return HALOTUNE_OK;
  return *out ? query_fail(*out) : fail_memory();
}

/* Connect to a file, through its folder. */
static halotune_status connect_to(const struct held_file *file, int flags, enum vfs_purpose purpose, sqlite3 **out) {
  char *name = query_file_name(file->name); /* SQLite must not take a user's path for ":memory:" */
  halotune_status status = name ? connect_by_name(name, file->path, flags, purpose, out) : fail_memory();
  free(name);
  if (status == HALOTUNE_OK) status = journal_check_beside(*out, file->path);
  return status == HALOTUNE_OK ? set_up(*out) : status;
}

static halotune_status connect_to_memory(sqlite3 **out) {
  const halotune_status status =
      connect_by_name(in_memory, in_memory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, VFS_WRITE, out);
  return status == HALOTUNE_OK ? set_up(*out) : status;
}

/* A program that was killed within a transaction may have left a journal that only a writer can undo. */
static bool needs_undoing(const sqlite3 *connection) {
  int code = sqlite3_extended_errcode((sqlite3 *)(uintptr_t)connection);
  return code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY;
}

static bool decides_trust(enum store_mode mode) { return mode == STORE_IMPORT || mode == STORE_GLANCE; }

static bool reads_untrusted(enum store_mode mode) { return mode == STORE_READ_UNTRUSTED || decides_trust(mode); }

/* The bytes of a database's pages. A file can be longer than its header says, with a hole behind the last page. */
static halotune_status count_bytes(sqlite3 *connection, int64_t *out) {
  int64_t pages = 0, page_bytes = 0;
  halotune_status status = query_number(connection, "pragma page_count", &pages);
  if (status == HALOTUNE_OK) status = query_number(connection, "pragma page_size", &page_bytes);
  *out = pages * page_bytes;
  return status;
}

/* Connect to a file, and inspect it. Definitions of others end soon: SQLite reads all of them before the first query,
 * and their number and length are not limited otherwise. */
static halotune_status connect_guarded(const struct held_file *file, int flags, enum store_mode mode,
                                       struct guard *guard, sqlite3 **out, struct marks *marks) {
  enum { INSPECTION_STEPS = 50000, MOST_COLUMNS = 128 };
  static const struct query_wait soon = {2000, INFINITY};
  const bool untrusted = reads_untrusted(mode);
  int64_t bytes = 0;
  const enum vfs_purpose purpose = mode == STORE_READ_SOON ? VFS_SOON
                                   : mode == STORE_GLANCE  ? VFS_ALONE
                                   : untrusted             ? VFS_DISTRUST
                                                           : VFS_READ;
  halotune_status status = connect_to(file, flags, purpose, out);
  if (status != HALOTUNE_OK) return status;
  if (mode == STORE_GLANCE) sqlite3_busy_timeout(*out, 0);
  if (mode == STORE_READ_SOON) {
    query_set_wait(*out, &soon);
    sqlite3_limit(*out, SQLITE_LIMIT_COLUMN,
                  MOST_COLUMNS); /* a definition compares the names of its columns in pairs */
    /* Whoever locks the file delays one statement, and not each of them. */
    if ((status = query_script(*out, "begin")) != HALOTUNE_OK) return status;
  }
  guard_steps(*out, bytes, guard);
  if (untrusted || mode == STORE_READ_SOON) guard_glance(guard, INSPECTION_STEPS);
  status = inspect_file(*out, file->path, untrusted, marks);
  if (status == HALOTUNE_OK) status = count_bytes(*out, &bytes);
  if (status == HALOTUNE_OK) guard_steps(*out, bytes, guard);
  return status;
}

static halotune_status connect_to_read(const struct held_file *file, enum store_mode mode, struct guard *guard,
                                       sqlite3 **out, struct marks *marks) {
  halotune_status status = connect_guarded(file, SQLITE_OPEN_READONLY, mode, guard, out, marks);
  if (status == HALOTUNE_OK || !*out) return status;
  const bool must_undo = needs_undoing(*out);
  if (!must_undo && (sqlite3_errcode(*out) & 0xff) != SQLITE_CANTOPEN) return status;
  const halotune_status live = journal_check_live(*out, file->path);
  if (live != HALOTUNE_OK) return live;
  if (!must_undo && mode == STORE_READ_SOON && !journal_is_private(file->name))
    return fail(
        HALOTUNE_DB,
        "%s: a program has it open or was killed, and others than you may write to it: try again later, or read "
        "a copy of it",
        file->path);
  if (!must_undo || (status = journal_check(*out, file->path)) != HALOTUNE_OK) return status;
  sqlite3_close(*out);
  return connect_guarded(file, SQLITE_OPEN_READWRITE, mode, guard, out, marks);
}

/* Look at each page once. Pages that several rows share would be read for each of them. */
static halotune_status pages_check(sqlite3 *connection, const char *path) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(connection, "pragma quick_check(1)", &query);
  if (status == HALOTUNE_OK && sqlite3_step(query) != SQLITE_ROW) status = query_fail(connection);
  if (status == HALOTUNE_OK && strcmp(column_text(query, 0), "ok") != 0) {
    const char *flaw = column_text(query, 0), *line = strrchr(flaw, '\n'); /* the first line may name the file alone */
    status = fail(
        HALOTUNE_DB,
        "%s: the file is damaged (%s): move it away, and restore a backup or import what 'halotune db export' can still read",
        path, line ? line + 1 : flaw);
  }
  sqlite3_finalize(query);
  return status;
}

/* Make all indexes of a copy in memory anew. Many indexes of long texts may not take more than as much memory again. */
static halotune_status indexes_make(sqlite3 *copy) {
  enum { MORE_PAGES = 4096, USUAL_MOST_PAGES = 1073741823 };
  char sql[64];
  int64_t pages = 0;
  halotune_status status = query_number(copy, "pragma page_count", &pages);
  if (status != HALOTUNE_OK) return status;
  snprintf(sql, sizeof sql, "pragma max_page_count = %lld", 2 * (long long)pages + MORE_PAGES);
  status = query_script(copy, sql);
  if (status == HALOTUNE_OK) status = query_script(copy, "reindex");
  snprintf(sql, sizeof sql, "pragma max_page_count = %d", USUAL_MOST_PAGES);
  return status == HALOTUNE_OK ? query_script(copy, sql) : status;
}

/* Begin a transaction, unless there is one. */
static halotune_status begin_reading(sqlite3 *connection) {
  return sqlite3_get_autocommit(connection) ? query_script(connection, "begin") : HALOTUNE_OK;
}

/* Copy a whole database to another connection. Within the transaction no writer changes it. The copy ends early when
 * the guard's reader says so. */
static halotune_status copy_database(sqlite3 *from, sqlite3 *to, const struct guard *guard) {
  enum { PAGES_A_STEP = 1024 };
  int64_t objects = 0;
  halotune_status status = begin_reading(from);
  if (status == HALOTUNE_OK) status = query_number(from, "select count(*) from sqlite_master", &objects);
  if (status != HALOTUNE_OK) return status;
  sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
  if (!backup) return query_fail(to);
  int code = SQLITE_OK;
  while (code == SQLITE_OK && !guard_is_ended(guard)) code = sqlite3_backup_step(backup, PAGES_A_STEP);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) return query_fail(to);
  return code == SQLITE_DONE ? HALOTUNE_OK : fail(HALOTUNE_DB, "it was not copied to its end");
}

/* The steps of a glance at a file of an older version. */
enum { MIGRATION_STEPS = 2000000 };

/* Larger databases are not copied into memory. A migration takes up to five times as much memory as the file has
 * bytes. */
static const long long copied_bytes_most = 1LL << 30;
static const long long older_bytes_most = 1LL << 29, older_glance_bytes_most = 1LL << 20;

/* Reading a file of an older version does not change it: a copy in memory is brought up to date. */
static halotune_status read_older(struct store *store) {
  int64_t bytes = 0;
  char detail[FAIL_TEXT_BYTES / 2];
  struct marks marks;
  sqlite3 *copy = NULL;
  halotune_status status = count_bytes(store->connection, &bytes);
  if (status != HALOTUNE_OK) return status;
  if (store->mode == STORE_READ_SOON)
    return fail(HALOTUNE_DB,
                "%s: an older Halotune wrote this file, and it is not read here: 'halotune db merge' takes it into a "
                "database of your own",
                store->path);
  if (bytes > (store->mode == STORE_GLANCE ? older_glance_bytes_most : older_bytes_most)) {
    return fail(
        HALOTUNE_DB,
        "%s: an older Halotune wrote this database, and it is too large to be migrated in memory; the next 'halotune tune' or 'halotune db merge' into this file migrates the file",
        store->path);
  }
  status = connect_to_memory(&copy);
  if (status == HALOTUNE_OK) guard_steps(copy, bytes, &store->guard);
  if (status == HALOTUNE_OK && store->mode == STORE_GLANCE) guard_glance(&store->guard, MIGRATION_STEPS);
  if (status == HALOTUNE_OK) status = copy_database(store->connection, copy, &store->guard);
  /* Another process may have written after the file was inspected, so the copy is inspected again. */
  if (status == HALOTUNE_OK) status = inspect_file(copy, store->path, reads_untrusted(store->mode), &marks);
  if (status == HALOTUNE_OK && content_of(&marks) == CONTENT_NONE)
    status = fail(HALOTUNE_DB, "another program has emptied it");
  if (status == HALOTUNE_OK) store->version = (int)marks.version;
  if (status == HALOTUNE_OK) status = pages_check(copy, store->path);
  if (status == HALOTUNE_OK) status = indexes_make(copy);
  /* The importing user decides about the whole file, and a file that is kept apart has no trusted row. In other files,
   * rows that were not trusted are left out. Since version 5 rows have no mark of trust. */
  const bool takes_all = decides_trust(store->mode) || marks.application == SCHEMA_UNTRUSTED_ID;
  if (status == HALOTUNE_OK && takes_all && store->version < 5)
    status = query_script(copy, store->version < 3 ? "update best set is_trusted = 1"
                                                   : "update best set is_trusted = 1; update run set is_trusted = 1");
  /* A glance asks for no template. */
  const int version = store->mode == STORE_GLANCE ? SCHEMA_TABLES_VERSION : SCHEMA_VERSION;
  if (status == HALOTUNE_OK) status = migrate(copy, schema_migrations, version);
  /* A migration gives such rows an origin of today. A file that is kept apart is named by its bytes, which must not
   * change from day to day (db/exchange/untrusted_files.h). */
  if (status == HALOTUNE_OK && takes_all && store->version < 5)
    status = query_script(copy, "update origin set date = '1970-01-01T00:00:00.000Z'");
  sqlite3_close(store->connection);
  store->connection = copy;
  if (status != HALOTUNE_DB) return status;
  snprintf(detail, sizeof detail, "%s", fail_text());
  return fail(HALOTUNE_DB, "%s: an older Halotune wrote this database, and it cannot be read: %s", store->path, detail);
}

/* The end of the name of a WAL's index. */
static const char index_end[] = "-shm";

static void name_index(const struct held_file *file, char out[PATH_MAX + sizeof index_end]) {
  snprintf(out, PATH_MAX + sizeof index_end, "%s%s", file->name, index_end);
}

/* Whether a file is what SQLite shares between the programs that have a database open. Their locks are on this file. If
 * this program closed it, it would lose those that it has by another connection. */
static bool is_index(const char *name) {
  const size_t length = strlen(name), end_length = sizeof index_end - 1;
  return length > end_length && strcmp(name + length - end_length, index_end) == 0;
}

/* End hold_file. */
static void leave_file(struct store *store) {
  char index[PATH_MAX + sizeof index_end];
  if (store->has_noted_locks) {
    name_index(&store->file, index);
    locked_files_remove(store->file.name);
    locked_files_remove(index);
  }
  store->has_noted_locks = false;
  held_close(&store->file);
}

/* Open the folder of the file, and note that SQLite will have locks on the file and on its WAL's index. */
static halotune_status hold_file(struct store *store) {
  char index[PATH_MAX + sizeof index_end];
  halotune_status status = held_open(store->path, &store->file);
  if (status == HALOTUNE_OK) status = locked_files_add(store->file.name);
  if (status != HALOTUNE_OK) return status;
  name_index(&store->file, index);
  status = locked_files_add(index);
  store->has_noted_locks = status == HALOTUNE_OK;
  if (status != HALOTUNE_OK) locked_files_remove(store->file.name);
  return status;
}

/* Find a database's file, and refuse what is no database.
 *   is_there  receives false if there is none */
static halotune_status find_file(struct store *store, bool *is_there) {
  struct stat facts;
  leave_file(store);
  const halotune_status status = hold_file(store);
  if (status != HALOTUNE_OK) return status;
  *is_there = lstat(store->file.name, &facts) == 0; /* the links of the path were followed */
  if (!*is_there && errno != ENOENT && errno != ENOTDIR)
    return fail(HALOTUNE_DB, "%s: %s", store->path, strerror(errno));
  if (*is_there && !S_ISREG(facts.st_mode))
    return fail(HALOTUNE_DB, "%s: this is not a regular file; name another one", store->path);
  if (*is_there && is_index(store->file.name))
    return fail(HALOTUNE_DB, "%s: this is the index of a database's WAL, and no database; name another file",
                store->path);
  return HALOTUNE_OK;
}

/* Lists repeat names in each line, and many rows can share one name. An import refuses such names, too. */
static halotune_status check_name_lengths(const struct store *store) {
  static const char sql[] =
      "select coalesce(max(length(cast(name as blob))), 0) from (select name from device union all select name from"
      " stencil union all select name from template)";
  const int64_t most_bytes = 256;
  int64_t bytes = 0;
  const halotune_status status = query_number(store->connection, sql, &bytes);
  if (status != HALOTUNE_OK || bytes <= most_bytes) return status;
  return fail(HALOTUNE_DB, "%s: a name of a GPU, a stencil or a template has %lld bytes; at most %lld are read",
              store->path, (long long)bytes, (long long)most_bytes);
}

static halotune_status open_to_read(struct store *store) {
  struct marks marks;
  const halotune_status status = connect_to_read(&store->file, store->mode, &store->guard, &store->connection, &marks);
  if (status != HALOTUNE_OK) return status;
  const enum content content = content_of(&marks);
  if (content == CONTENT_NONE) return fail(HALOTUNE_NOT_FOUND, "%s: no result is stored there yet", store->path);
  store->version = (int)marks.version;
  if (content == CONTENT_OLDER) return read_older(store);
  return store->mode == STORE_READ ? check_name_lengths(store) : HALOTUNE_OK;
}

bool store_has_file(const struct store *store) {
  const char *file = sqlite3_db_filename(store->connection, "main");
  return file && *file;
}

halotune_status store_hold(struct store *store) {
  int64_t bytes = 0;
  struct stat facts;
  sqlite3 *copy = NULL;
  if (!store_has_file(store)) return HALOTUNE_OK;
  if (lstat(store->file.name, &facts) != 0) return fail(HALOTUNE_DB, "%s: %s", store->path, strerror(errno));
  halotune_status status = count_bytes(store->connection, &bytes);
  if (status != HALOTUNE_OK) return status;
  if (bytes > copied_bytes_most) return begin_reading(store->connection);
  status = connect_to_memory(&copy);
  if (status == HALOTUNE_OK) status = copy_database(store->connection, copy, &store->guard);
  if (status == HALOTUNE_OK) guard_steps(copy, bytes, &store->guard);
  if (status != HALOTUNE_OK) {
    sqlite3_close(copy);
    return status;
  }
  sqlite3_close(store->connection);
  store->connection = copy;
  return guard_tables(copy, store->path);
}

halotune_status store_pages_check(struct store *store) { return pages_check(store->connection, store->path); }

halotune_status store_indexes_make(struct store *store) { return indexes_make(store->connection); }

/* Make the folder of a file that does not exist, and find whether it is on a shared file system. */
static halotune_status make_folder(const char *path, bool *is_shared) {
  char *folder = path_folder(path);
  halotune_status status = folder ? folder_make(folder) : fail_memory();
  *is_shared = status == HALOTUNE_OK && file_is_shared(folder);
  free(folder);
  return status;
}

/* Make an empty file if there is none, unless its file system has no locks. */
static halotune_status make_file(const char *path, bool *is_shared) {
  halotune_status status = HALOTUNE_OK;
  if (access(path, F_OK) == 0) *is_shared = file_is_shared(path);
  else status = make_folder(path, is_shared);
  if (status == HALOTUNE_OK && *is_shared) status = file_locks_check(path);
  if (status == HALOTUNE_OK) status = file_make(path); /* SQLite gives its other files the same mode */
  return status == HALOTUNE_IO ? fail(HALOTUNE_DB, "%s; name another file", fail_text()) : status;
}

/* Make the tables of a new file. Its pages are twice as long as is usual: halotune_open then reads a large database in
 * nine tenths of the time. Still longer ones save no more, and leave more bytes unused behind long texts. */
static halotune_status make_tables(sqlite3 *connection, const char *sql, int version) {
  static const char page_size[] = "pragma page_size = 8192"; /* changes nothing in a file that has tables */
  char own_marks[128];
  struct marks marks;
  snprintf(own_marks, sizeof own_marks, "pragma application_id = %d; pragma user_version = %d", SCHEMA_APPLICATION_ID,
           version);
  halotune_status status = query_script(connection, page_size);
  if (status == HALOTUNE_OK) status = query_script(connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = inspect_file(connection, "database", false, &marks); /* another process may have been faster */
  if (status == HALOTUNE_OK && content_of(&marks) == CONTENT_NONE) {
    status = query_script(connection, sql);
    if (status == HALOTUNE_OK) status = query_script(connection, own_marks);
  }
  return query_finish(connection, status);
}

/* Writing to a damaged file can make it worse. The check reads the whole file, so a large one is not checked: its
 * damage shows when it is read, and `halotune db check` looks for it. */
static halotune_status look_for_damage(sqlite3 *connection, const struct held_file *file) {
  static const long long most_bytes = 64LL << 20;
  struct stat facts;
  if (lstat(file->name, &facts) != 0 || facts.st_size > most_bytes) return HALOTUNE_OK;
  return pages_check(connection, file->path);
}

/* Inspect a file with a connection that cannot write, before it is opened for writing. */
static halotune_status inspect_to_write(const struct held_file *file, struct marks *marks) {
  sqlite3 *connection = NULL;
  struct guard guard = {0};
  halotune_status status = connect_to_read(file, STORE_READ, &guard, &connection, marks);
  if (status == HALOTUNE_OK) status = look_for_damage(connection, file);
  sqlite3_close(connection);
  return status;
}

/* Open a file of this user for reading. Another user may have put a link or a pipe there. */
static FILE *open_own(const char *path) {
  const int fd = own_file_open(path);
  FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
  if (fd >= 0 && !file) close(fd);
  return file;
}

/* Whether two files of this user have the same bytes. */
static bool is_same_content(const char *a, const char *b) {
  char left[1 << 14], right[sizeof left];
  FILE *one = open_own(a), *other = open_own(b);
  bool is_same = one && other;
  for (size_t length = sizeof left; is_same && length == sizeof left;) {
    length = fread(left, 1, sizeof left, one);
    is_same = fread(right, 1, sizeof right, other) == length && memcmp(left, right, length) == 0;
  }
  is_same = is_same && !ferror(one) && !ferror(other);
  if (other) fclose(other);
  if (one) fclose(one);
  return is_same;
}

/* Remove what earlier attempts to make a copy have left beside it. */
static void remove_leftovers(const char *copy) {
  char *folder = path_folder(copy), *mark = NULL;
  if (asprintf(&mark, "%s.new-", path_name(copy)) < 0) mark = NULL;
  if (folder && mark) leftovers_remove(folder, mark, 0);
  free(mark);
  free(folder);
}

/* Copy a database into a new file. If the process dies in between, no such file exists. A complete copy of an earlier
 * attempt is used. Another file of that name is not replaced. */
static halotune_status copy_beside(sqlite3 *connection, const char *copy) {
  char *part = NULL, shown[PATH_MAX];
  held_path_readable(copy, shown);
  if (asprintf(&part, "%s.new-XXXXXX", copy) < 0) return fail_memory();
  remove_leftovers(copy);
  /* SQLite writes into an empty file, and it would follow a link that another user has put there. */
  const int file = mkostemp(part, O_CLOEXEC);
  halotune_status status = file >= 0 ? HALOTUNE_OK : fail(HALOTUNE_DB, "%s: %s", shown, strerror(errno));
  if (status == HALOTUNE_OK) status = query_copy_into(connection, part);
  if (status == HALOTUNE_OK && link(part, copy) != 0) { /* unlike rename, it replaces nothing */
    if (errno != EEXIST) status = fail(HALOTUNE_DB, "%s: %s", shown, strerror(errno));
    else if (!is_same_content(part, copy))
      status = fail(
          HALOTUNE_DB,
          "%s: a copy of the database, which keeps rows that are not trusted, would replace this file; move it away",
          shown);
  }
  if (file >= 0) {
    unlink(part);
    close(file);
  }
  free(part);
  return status;
}

/* Up to version 4 a database held rows that were not trusted. Newer versions hold none: a copy beside the old file
 * keeps these rows. */
static halotune_status keep_untrusted(struct store *store, const struct marks *marks) {
  int64_t untrusted = 0;
  char *copy = NULL;
  if (marks->version >= 5) return HALOTUNE_OK;
  halotune_status status =
      query_number(store->connection, "select exists (select 1 from best where not is_trusted)", &untrusted);
  if (status == HALOTUNE_OK && !untrusted && marks->version > 2) /* runs have the mark since version 3 */
    status = query_number(store->connection, "select exists (select 1 from run where not is_trusted)", &untrusted);
  if (status != HALOTUNE_OK || !untrusted) return status;
  if (asprintf(&copy, "%s.version-%d", store->file.name, (int)marks->version) < 0) return fail_memory();
  status = copy_beside(store->connection, copy);
  free(copy);
  return status;
}

static halotune_status open_to_write(struct store *store, bool is_there) {
  struct marks marks;
  bool is_shared;
  halotune_status status = make_file(store->path, &is_shared);
  if (status == HALOTUNE_OK && !is_there) status = find_file(store, &is_there); /* in the folder that was made */
  if (status == HALOTUNE_OK && !is_there)
    status = fail(HALOTUNE_DB, "%s: another program removes this file; try again", store->path);
  if (status == HALOTUNE_OK) status = journal_check_group(store->file.name, store->path);
  if (status == HALOTUNE_OK) status = inspect_to_write(&store->file, &marks);
  if (status == HALOTUNE_OK) status = connect_to(&store->file, SQLITE_OPEN_READWRITE, VFS_WRITE, &store->connection);
  if (status != HALOTUNE_OK) return status;
  if (sqlite3_db_readonly(store->connection, "main") == 1) {
    return fail(HALOTUNE_DB, "%s: the file cannot be written; change its permissions, or name another file",
                store->path);
  }
  const enum content content = content_of(&marks);
  if (content == CONTENT_NONE) status = make_tables(store->connection, schema_sql, SCHEMA_VERSION);
  if (content == CONTENT_OLDER) status = keep_untrusted(store, &marks);
  if (content == CONTENT_OLDER && status == HALOTUNE_OK)
    status = migrate(store->connection, schema_migrations, SCHEMA_VERSION);
  if (status == HALOTUNE_OK) store->version = SCHEMA_VERSION;
  /* With WAL readers do not wait for writers. If a process cannot switch the mode now, it works in the present mode. A
   * file with WAL may have been moved to a shared filesystem. */
  if (status == HALOTUNE_OK) {
    sqlite3_exec(store->connection,
                 is_shared ? "pragma journal_mode = delete"
                           : "pragma journal_mode = wal; pragma synchronous = normal; pragma schema_version",
                 NULL, NULL, NULL);
  }
  return status;
}

/* The last process leaves a single file, which can be copied, and which can be read in a folder without write
 * permission. */
static void leave_wal(const struct store *store) {
  struct fail_kept kept;
  fail_keep(&kept);
  sqlite3_busy_timeout(store->connection, 0);
  sqlite3_exec(store->connection, "pragma journal_mode = delete", NULL, NULL, NULL);
  fail_put_back(&kept);
}

/* A store without a connection. NULL when memory is out. */
static struct store *make_store(void) {
  struct store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  store->file.folder = -1;
  return store;
}

/* Open a database; store_open and store_open_soon say how.
 *   is_over  whether to read no further; NULL: nobody is asked */
static halotune_status open_file(const char *path, enum store_mode mode, bool (*is_over)(const void *context),
                                 const void *context, struct store **out) {
  halotune_status status = HALOTUNE_OK;
  bool is_there = false;
  *out = NULL;
  struct store *store = make_store();
  if (!store) return fail_memory();
  store->mode = mode;
  guard_ask(&store->guard, is_over, context);
  if (!path) status = store_default_path(&store->path);
  else if (!(store->path = strdup(path))) status = fail_memory();
  if (status == HALOTUNE_OK) status = find_file(store, &is_there);
  if (status == HALOTUNE_OK && !is_there && mode != STORE_WRITE)
    status = fail(HALOTUNE_NOT_FOUND, "%s: there is no such database; 'halotune tune' creates one", store->path);
  if (status == HALOTUNE_OK) status = mode == STORE_WRITE ? open_to_write(store, is_there) : open_to_read(store);
  if (status == HALOTUNE_OK) *out = store;
  else store_close(store);
  return status;
}

halotune_status store_open(const char *path, enum store_mode mode, struct store **out) {
  return open_file(path, mode, NULL, NULL, out);
}

halotune_status store_open_soon(const char *path, bool (*is_over)(const void *context), const void *context,
                                struct store **out) {
  return open_file(path, STORE_READ_SOON, is_over, context, out);
}

static halotune_status open_memory(const char *sql, int version, struct store **out) {
  struct store *store = make_store();
  halotune_status status = store && (store->path = strdup(in_memory)) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = connect_to_memory(&store->connection);
  if (status == HALOTUNE_OK) status = make_tables(store->connection, sql, version);
  if (status == HALOTUNE_OK) store->version = version;
  *out = status == HALOTUNE_OK ? store : NULL;
  if (status != HALOTUNE_OK) store_close(store);
  return status;
}

halotune_status store_open_memory(struct store **out) { return open_memory(schema_sql, SCHEMA_VERSION, out); }

halotune_status store_open_memory_4(struct store **out) { return open_memory(schema_4_sql, 4, out); }

halotune_status store_bring_up_to_date(struct store *store) {
  halotune_status status = migrate(store->connection, schema_migrations, SCHEMA_VERSION);
  if (status == HALOTUNE_OK) store->version = SCHEMA_VERSION;
  return status;
}

void store_close(struct store *store) {
  if (!store) return;
  for (int i = 0; i < STORE_QUERY_COUNT; i++) sqlite3_finalize(store->queries[i]);
  if (store->connection && store->mode == STORE_WRITE) leave_wal(store);
  sqlite3_close(store->connection);
  leave_file(store);
  for (int i = 0; i < store->begun_count; i++) free(store->begun[i].key);
  free(store->begun);
  free(store->samples);
  free(store->reason);
  free(store->path);
  free(store);
}

char *store_opened_path(const struct store *store) {
  char path[PATH_MAX];
  if (!held_path_is(store->file.name)) return strdup(store->path);
  held_path_readable(store->file.name, path);
  return strdup(path);
}

struct store_file store_file_of(const struct store *store) {
  struct stat facts, folder;
  if (!locked_files_noted(store->file.name, &facts)) return (struct store_file){.owner = 0};
  const bool has_folder = store->file.folder >= 0 && fstat(store->file.folder, &folder) == 0;
  return (struct store_file){facts.st_dev, facts.st_ino, facts.st_uid, has_folder ? folder.st_uid : facts.st_uid};
}

bool store_file_is_same(const struct store_file *a, const struct store_file *b) {
  return a->device == b->device && a->inode == b->inode && a->owner == b->owner;
}

bool store_is_in_memory(const struct store *store) { return strcmp(store->path, in_memory) == 0; }

const char *store_path(const struct store *store) { return store->path; }

int store_version(const struct store *store) { return store->version; }

sqlite3 *store_connection(const struct store *store) { return store->connection; }

void store_ask(struct store *store, bool (*is_over)(const void *context), const void *context) {
  guard_ask(&store->guard, is_over, context);
}

void store_wait_until(struct store *store, double until_ms) {
  store->wait = (struct query_wait){query_usual_wait.most_ms, until_ms};
  query_set_wait(store->connection, &store->wait);
}

void store_renew(struct store *store) { guard_renew(&store->guard); }

void store_limit(struct store *store, long steps) { guard_glance(&store->guard, steps); }
