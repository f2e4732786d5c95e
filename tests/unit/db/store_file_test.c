/* store_file_test.c: the file of the store: it is created, refused, migrated, shared, and survives faults. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/files/make.h"
#include "base/files/path.h"
#include "base/files/replace.h"
#include "base/numbers/random.h"
#include "base/system/clock.h"
#include "db/store/check.h"
#include "db/store/filesystem.h"
#include "db/store/guard.h"
#include "db/store/journal_check.h"
#include "db/store/journal_vfs.h"
#include "db/store/migrate.h"
#include "db/store/query.h"
#include "db/store/schema.h"
#include "tests/unit/stores.h"

static long mode_of(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 ? (long)(facts.st_mode & 0777) : -1;
}

TEST(folder_and_file_are_the_users_alone) {
  struct work work = work_begin();
  char folder[96];
  struct store *store;
  snprintf(folder, sizeof folder, "%s/made", work.folder);
  CHECK_EQ(HALOTUNE_NOT_FOUND, store_open(work.path, STORE_READ, &store), "nothing to read");
  CHECK_EQ(-1, mode_of(folder), "and nothing made for it");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_EQ(0700, mode_of(folder), "folder");
  CHECK_EQ(0600, mode_of(work.path), "file");
  CHECK_EQ(SCHEMA_APPLICATION_ID, number_of(store, "pragma application_id"), "application_id");
  CHECK_EQ(SCHEMA_VERSION, number_of(store, "pragma user_version"), "user_version");
  CHECK_EQ(1, number_of(store, "pragma foreign_keys"), "foreign_keys");
  store_close(store);
  CHECK_OK(store_open(work.path, STORE_READ, &store));
  CHECK(sqlite3_exec(store_connection(store), "delete from device", NULL, NULL, NULL) == SQLITE_READONLY,
        "a reader cannot write");
  store_close(store);
  work_end(&work);
}

/* The writer leaves one file without a write-ahead log beside it. */
TEST(the_last_writer_leaves_one_file) {
  struct work work = work_begin();
  char beside[128];
  struct store *writer, *reader;
  CHECK_OK(store_open(work.path, STORE_WRITE, &writer));
  snprintf(beside, sizeof beside, "%s-wal", work.path);
  bool shared = file_is_shared(work.path);
  CHECK(store_device(writer, &case_device, false) > 0, "%s", fail_text());
  CHECK(shared || mode_of(beside) == 0600, "a log beside the file on a local filesystem");
  CHECK_OK(store_open(work.path, STORE_READ, &reader));
  store_close(reader);
  store_close(writer);
  CHECK_EQ(-1, mode_of(beside), "and none afterwards");
  work_end(&work);
}

TEST(only_local_filesystems_have_wal) {
  static const struct {
    unsigned long type;
    bool is_shared;
  } rows[] = {
      {0xEF53, false},     {0x58465342, false}, {0x9123683E, false},        {0x01021994, false},
      {0x794C7630, false}, {0x6969, true},      {0xFF534D42, true},         {0x0BD00BD0, true},
      {0x47504653, true},  {0x65735546, true},  {0xFFFFFFFFFF534D42, true}, /* a signed number */
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_EQ(rows[i].is_shared, filesystem_is_shared(rows[i].type), "%#lx", rows[i].type);
}

/* Programs in two containers have one process number, and share a folder. */
TEST(a_trial_of_locks_leaves_files_of_others_alone) {
  const struct work work = work_begin();
  char trial[sizeof work.path + 32];
  snprintf(trial, sizeof trial, "%s.locks-%ld", work.path, (long)getpid());
  make_database(work.path, 1);
  CHECK_OK(file_replace_cached(trial, "x", 1));
  CHECK_OK(file_locks_check(work.path));
  CHECK_EQ(HALOTUNE_DB, file_locks_check("/no-such-folder/halotune.db"), "a file that cannot be made");
  CHECK(strstr(fail_text(), "No such file") && !strstr(fail_text(), "locked"), "%s", fail_text());
  CHECK(mode_of(trial) > 0, "the other one's file is still there");
  work_end(&work);
}

TEST(the_path_comes_from_the_environment) {
  static const struct {
    const char *named, *data_home, *home, *want;
  } rows[] = {
      {"/a/b.db", "/data", "/home/u", "/a/b.db"},
      {"", "/data", "/home/u", "/data/halotune/halotune.db"},
      {NULL, "relative", "/home/u", "/home/u/.local/share/halotune/halotune.db"},
      {NULL, NULL, "/home/u", "/home/u/.local/share/halotune/halotune.db"},
      {NULL, NULL, NULL, NULL},
  };
  static const char *const names[] = {"HALOTUNE_DB", "XDG_DATA_HOME", "HOME"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const char *values[] = {rows[i].named, rows[i].data_home, rows[i].home};
    char *path;
    for (int v = 0; v < 3; v++) values[v] ? setenv(names[v], values[v], 1) : unsetenv(names[v]);
    CHECK_EQ(rows[i].want ? HALOTUNE_OK : HALOTUNE_IO, store_default_path(&path), "row %zu", i);
    CHECK_TEXT(rows[i].want ? rows[i].want : "", path ? path : "", "row %zu", i);
    free(path);
  }
}

static void write_bytes(const char *path, const void *bytes, size_t length) {
  CHECK_OK(file_replace_cached(path, bytes, length));
}

static long file_bytes(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 ? (long)facts.st_size : -1;
}

static void no_database(const char *path) { write_bytes(path, "name: star7\nthis is no database at all\n", 39); }
static void other_database(const char *path) { run_sql(path, "create table mine (a)"); }
static void newer(const char *path) {
  make_database(path, 3);
  run_sql(path, "pragma user_version = 1000");
}
static void newer_in_wal(const char *path) {
  make_database(path, 3);
  run_sql(path, "pragma journal_mode = wal; pragma user_version = 1000");
}

static void with_view(const char *path) {
  make_database(path, 3);
  run_sql(path,
          "pragma foreign_keys = off; alter table finalist rename to other; create view finalist as with recursive"
          " n(i) as (select 1 union all select i + 1 from n) select i as run_id from n");
}
static void with_trigger(const char *path) {
  make_database(path, 3);
  run_sql(path, "create trigger t after insert on run begin delete from best; end");
}
static void with_virtual_table(const char *path) {
  make_database(path, 3);
  run_sql(path, "create virtual table words using fts5(word)");
}
static void with_computed_column(const char *path) {
  make_database(path, 3);
  run_sql(path, "alter table device add column twice text as (hex(zeroblob(1000000)))");
}
/* A costly check, index and condition of an index. SQLite computes them for each row that it looks at. */
static void with_costly_check(const char *path) {
  make_database(path, 3);
  run_sql(path, "pragma writable_schema = on; update sqlite_master set sql = replace(sql, 'registers       integer,',"
                " 'registers       integer check (length(hex(zeroblob(1000))) > 0),') where name = 'measurement'");
}
static void with_costly_index(const char *path) {
  make_database(path, 3);
  run_sql(path, "create index costly on measurement (length(hex(zeroblob(1000))))");
}
static void with_costly_part(const char *path) {
  make_database(path, 3);
  run_sql(path, "create index costly on measurement (id) where reason || reason > reason");
}
/* Add a column whose name ends a statement that is made of column names. */
static void with_code_as_name(const char *path) {
  make_database(path, 3);
  run_sql(path, "alter table device add column \"0--\" text");
}

/* Add a column that SQLite reads in place of the number of a row. */
static void with_row_numbers(const char *path) {
  make_database(path, 3);
  run_sql(path, "alter table variant add column RowId integer");
}

/* Add a view whose row in sqlite_master says that it is a table. */
static void with_hidden_view(const char *path) {
  with_view(path);
  run_sql(path,
          "pragma writable_schema = on; update sqlite_master set type = 'table', rootpage = 2 where type = 'view'");
}

/* SQLite reads this type as it reads 'table'. A statement that looks for tables does not find it. */
static void with_hidden_table(const char *path) {
  make_database(path, 3);
  run_sql(path, "pragma writable_schema = on; update sqlite_master set type = 'TABLE' where name = 'measurement'");
}

/* Overwrite two pages in the middle of the file. Only a reader that reads so far notices it. */
static void damaged(const char *path) {
  enum { PAGE_BYTES = 4096 };
  char *bytes;
  size_t length;
  make_database(path, 300);
  CHECK_OK(file_read(path, 1 << 28, &bytes, &length));
  memset(bytes + length / 2 / PAGE_BYTES * PAGE_BYTES, 0x5A, (size_t)2 * PAGE_BYTES);
  write_bytes(path, bytes, length);
  free(bytes);
}

static void cut_short(const char *path) {
  char *bytes;
  size_t length;
  make_database(path, 300);
  CHECK_OK(file_read(path, 1 << 28, &bytes, &length));
  write_bytes(path, bytes, length / 2);
  free(bytes);
}

static void folder(const char *path) { CHECK_OK(folder_make(path)); }

TEST(what_is_not_ours_is_refused_and_left_alone) {
  static const struct {
    const char *what;
    void (*make)(const char *path);
    const char *message;
    bool reads; /* the damage is noticed only by reading so far */
  } rows[] = {
      {"no database", no_database, "name another file", false},
      {"another program's", other_database, "not a tuning database", false},
      {"of a newer Halotune", newer, "a newer Halotune", false},
      {"the same, with a log", newer_in_wal, "a newer Halotune", false},
      {"with a view for a table", with_view, "'finalist' is a view", false},
      {"with a trigger", with_trigger, "'t' is a view, a trigger", false},
      {"with a virtual table", with_virtual_table, "'words' is a view", false},
      {"with a computed column", with_computed_column, "'device' is a view, a trigger or computes", false},
      {"with a check that computes", with_costly_check, "'measurement' is a view, a trigger or computes", false},
      {"with an index that computes", with_costly_index, "'costly' is a view, a trigger or computes", false},
      {"with a part of an index that computes", with_costly_part, "'costly' is a view, a trigger or computes", false},
      {"with a name that is code", with_code_as_name, "'device' is a view, a trigger or computes", false},
      {"with numbers of rows of its own", with_row_numbers, "'variant' is a view, a trigger or computes", false},
      {"with a view that says it is a table", with_hidden_view, "it.db: ", false},
      {"with a table whose type looks for tables miss", with_hidden_table, "'measurement' is a view, a trigger", false},
      {"damaged", damaged, "damaged", true},
      {"cut short", cut_short, "damaged", true},
      {"a folder", folder, "not a regular file", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct store *store;
    char path[128];
    snprintf(path, sizeof path, "%s/it.db", work.folder);
    rows[i].make(path);
    struct hash before = rows[i].make == folder ? (struct hash){0, 0} : hash_of_file(path);
    CHECK_EQ(HALOTUNE_DB, store_open(path, STORE_WRITE, &store), "%s", rows[i].what);
    CHECK(strstr(fail_text(), rows[i].message), "%s: %s", rows[i].what, fail_text());
    CHECK(strstr(fail_text(), "it.db"), "%s: the message names the file: %s", rows[i].what, fail_text());
    halotune_status status = store_open(path, STORE_READ, &store);
    CHECK(status == HALOTUNE_DB || (rows[i].reads && status == HALOTUNE_OK), "%s: %s", rows[i].what, fail_text());
    store_close(store);
    struct hash after = rows[i].make == folder ? before : hash_of_file(path);
    CHECK_EQ(0, hash_compare(before, after), "%s: the file is as it was", rows[i].what);
    work_end(&work);
  }
}

static bool always_over(const void *context) {
  (void)context;
  return true;
}

/* The steps are counted, so that the end is the same on every machine. */
TEST(a_query_without_end_is_ended) {
  static const char endless[] = "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n";
  sqlite3 *connection = NULL;
  struct guard guard = {0};
  int64_t number;
  CHECK_EQ(SQLITE_OK, sqlite3_open(":memory:", &connection), "memory");
  guard_steps(connection, 1000, &guard);
  CHECK(guard.steps_left > 1000, "%lld steps", (long long)guard.steps_left);
  guard.steps_left = 1000000; /* fewer, for a quick test */
  CHECK_EQ(HALOTUNE_DB, query_number(connection, endless, &number), "ended");
  CHECK(strstr(fail_text(), "interrupted") && strstr(fail_text(), "never ends"), "%s", fail_text());
  CHECK_EQ(HALOTUNE_DB, query_number(connection, endless, &number), "and stays ended");
  guard_renew(&guard);
  CHECK_OK(query_number(connection,
                        "with recursive n(i) as (select 1 union all select i + 1 from n limit 1000000)"
                        " select sum(i) from n",
                        &number));
  guard_renew(&guard);
  guard_ask(&guard, always_over, NULL);
  CHECK_EQ(HALOTUNE_DB, query_number(connection, endless, &number), "the caller's time is over");
  sqlite3_close(connection);
}

/* Make a database that is kept apart, run a statement on it, and look into it as `query` does. */
static halotune_status glance_after(const char *statement, const char *query) {
  struct work work = work_begin();
  struct store *store;
  int64_t number;
  make_database(work.path, SCHEMA_VERSION);
  run_sql(work.path, statement);
  halotune_status status = store_open(work.path, STORE_GLANCE, &store);
  if (status == HALOTUNE_OK) {
    store_limit(store, 1000000);
    status = query_number(store_connection(store), query, &number);
    store_close(store);
  }
  work_end(&work);
  return status;
}

/* A file of 100 MB held up each `halotune query` for minutes: SQLite reads all of a long name in one step, and all
 * definitions before the first one. */
TEST(a_glance_reads_little) {
  static const char names[] =
      "with recursive n(i) as (select 1 union all select i + 1 from n limit 10000) select count(1) from n cross join"
      " device where length(name) = i";
  static const struct {
    const char *what, *statement;
    halotune_status wanted;
  } rows[] = {
      {"an ordinary file", "update device set name = 'a'", HALOTUNE_OK},
      {"a long name", "update device set name = hex(zeroblob(600000))", HALOTUNE_DB},
      {"a name that is read again and again", "update device set name = hex(zeroblob(400000))", HALOTUNE_DB},
      {"many definitions",
       "pragma writable_schema = on; with recursive n(i) as (select 1 union all select i + 1 from n limit 20000) insert"
       " into sqlite_master select 'table', 't' || i, 't' || i, 2, 'create table t' || i || ' (x)' from n",
       HALOTUNE_DB},
      {"a long definition",
       "pragma writable_schema = on; insert into sqlite_master select 'table', 't', 't', 2, 'create table t (x)' ||"
       " printf('%20000s', ' ')",
       HALOTUNE_DB},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_EQ(rows[i].wanted, glance_after(rows[i].statement, names), "%s", rows[i].what);
}

/* The superuser may write any file, so the test becomes another user. */
TEST(a_file_that_cannot_be_written_is_read) {
  struct work work = work_begin();
  char directory[96];
  make_database(work.path, 3);
  snprintf(directory, sizeof directory, "%s/made", work.folder);
  struct hash before = hash_of_file(work.path);
  CHECK(chmod(work.path, 0444) == 0 && chmod(directory, 0555) == 0 && chmod(work.folder, 0755) == 0, "chmod");
  pid_t pid = fork();
  if (pid == 0) {
    enum { NOBODY = 65534 };
    struct store *store;
    if (geteuid() == 0 && setuid(NOBODY) != 0) _exit(9);
    if (store_open(work.path, STORE_WRITE, &store) != HALOTUNE_DB || !strstr(fail_text(), "permissions")) _exit(1);
    if (store_open(work.path, STORE_READ, &store) != HALOTUNE_OK || number_of(store, "select count(*) from best") != 1)
      _exit(2);
    store_close(store);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(WIFEXITED(status), "it ended by itself");
  CHECK_EQ(0, WEXITSTATUS(status), "1: it could be written; 2: it could not be read");
  CHECK_EQ(0, hash_compare(before, hash_of_file(work.path)), "the file is as it was");
  chmod(directory, 0755);
  work_end(&work);
}

TEST(migrations_are_taken_step_by_step_or_not_at_all) {
  static const struct migration good[] = {{1, 2, "alter table t add column c default 7", NULL},
                                          {0, 1, "create table t (a); insert into t values (1)", NULL},
                                          {0}};
  static const struct migration leap[] = {{0, 2, "create table t (a)", NULL}, {0}};
  static const struct migration bad[] = {
      {0, 1, "create table t (a)", NULL}, {1, 2, "alter table missing add column c", NULL}, {0}};
  static const struct migration gap[] = {{1, 2, "create table t (a)", NULL}, {0}};
  static const struct {
    const struct migration *steps;
    halotune_status want;
    int64_t version, tables;
  } rows[] = {{good, HALOTUNE_OK, 2, 1}, {leap, HALOTUNE_OK, 2, 1}, {bad, HALOTUNE_DB, 0, 0}, {gap, HALOTUNE_DB, 0, 0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    sqlite3 *connection = NULL;
    int64_t version = -1, tables = -1;
    CHECK_EQ(SQLITE_OK, sqlite3_open(":memory:", &connection), "row %zu", i);
    CHECK_EQ(rows[i].want, migrate(connection, rows[i].steps, 2), "row %zu: %s", i, fail_text());
    CHECK_OK(query_number(connection, "pragma user_version", &version));
    CHECK_OK(query_number(connection, "select count(*) from sqlite_master", &tables));
    CHECK_EQ(rows[i].version, version, "row %zu", i);
    CHECK_EQ(rows[i].tables, tables, "row %zu", i);
    CHECK_EQ(rows[i].want, migrate(connection, rows[i].steps, 2), "row %zu: once more", i);
    sqlite3_close(connection);
  }
}

/* Describe a table as SQLite does: columns, indexes, references. */
static void describe_table(struct store *store, const char *table, struct text *out) {
  static const char *const kinds[] = {"table_info", "index_list", "foreign_key_list"};
  for (int i = 0; i < 3; i++) {
    char sql[128];
    sqlite3_stmt *query = NULL;
    snprintf(sql, sizeof sql, "select * from pragma_%s('%s')", kinds[i], table);
    CHECK_OK(query_prepare(store_connection(store), sql, &query));
    while (sqlite3_step(query) == SQLITE_ROW) {
      for (int c = 0; c < sqlite3_column_count(query); c++) text_printf(out, "%s ", column_text(query, c));
      text_printf(out, "\n");
    }
    sqlite3_finalize(query);
  }
}

static void count_problem(void *context, const char *text) {
  (void)context;
  print_error("# %s\n", text);
}

static void check_whole(struct store *store) {
  long found = -1;
  CHECK_OK(store_check(store, count_problem, NULL, &found));
  CHECK_EQ(0, found, "all is well");
}

/* What SQLite says of all tables. */
static void describe_tables(struct store *store, struct text *out) {
  static const char *const tables[] = {"origin",  "device", "stencil",     "stencil_text", "template", "problem",
                                       "variant", "run",    "measurement", "finalist",     "best",     "prediction"};
  for (size_t i = 0; i < COUNT(tables); i++) describe_table(store, tables[i], out);
}

/* What another process does before a database is copied into memory. */
static const char *sql_before_copy, *path_of_copy;

/* The linker finds this function before SQLite's own. */
int sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs) {
  int (*own)(const char *, sqlite3 **, int, const char *);
  const char *sql = strcmp(name, ":memory:") == 0 ? sql_before_copy : NULL;
  void *symbol = dlsym(RTLD_NEXT, "sqlite3_open_v2");
  memcpy(&own, &symbol, sizeof own);
  if (sql) sql_before_copy = NULL;
  if (sql) run_sql(path_of_copy, sql);
  return own(name, db, flags, vfs);
}

/* The checked content is the one that is read, even if another process writes in between. */
TEST(a_copy_of_an_older_database_is_checked_itself) {
  static const struct {
    const char *sql, *want;
  } rows[] = {
      {"create view more as select 1", "'more' is a view"},
      {"pragma user_version = 1000", "a newer Halotune wrote this database"},
      {"pragma application_id = 7", "not a tuning database"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct work work = work_begin();
    struct store *store;
    make_database(work.path, 1);
    make_older(work.path, 5);
    path_of_copy = work.path;
    sql_before_copy = rows[i].sql;
    CHECK_EQ(HALOTUNE_DB, store_open(work.path, STORE_READ, &store), "row %zu", i);
    CHECK(!sql_before_copy && strstr(fail_text(), rows[i].want), "row %zu: %s", i, fail_text());
    work_end(&work);
  }
}

static void migrate_from(int version, bool untrusted) {
  struct work work = work_begin();
  struct store *store;
  struct bench_case c;
  struct text fresh = {0}, migrated = {0};
  char kept[128];
  const int64_t bests = untrusted ? 0 : 1,
                named = version < 5 ? bests : 3; /* version 4 kept the sources of winners only */
  make_database(work.path, 3);
  CHECK_OK(store_open(work.path, STORE_READ, &store));
  describe_tables(store, &fresh);
  store_close(store);
  make_older(work.path, version);
  if (untrusted) run_sql(work.path, "update best set is_trusted = 0");
  for (int wal = 0; wal < 2; wal++) {
    struct hash before = hash_of_file(work.path);
    CHECK_OK(store_open(work.path, STORE_READ, &store));
    CHECK_EQ(version, store_version(store), "the file's");
    CHECK_EQ(
        bests,
        number_of(store, "select count(*) from best b join problem p on p.id = b.problem_id where not is_reproducible"),
        "it is read");
    check_whole(store);
    store_close(store);
    CHECK_OK(store_open(work.path, STORE_IMPORT, &store));
    CHECK_EQ(1, number_of(store, "select count(*) from best"), "who imports it gets all");
    store_close(store);
    struct hash after = hash_of_file(work.path);
    CHECK_EQ(0, hash_compare(before, after), "a reader changes nothing");
    run_sql(work.path, "pragma journal_mode = wal");
  }
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  describe_tables(store, &migrated);
  CHECK_TEXT(text_string(&fresh), text_string(&migrated), "as in a new one");
  CHECK_EQ(SCHEMA_VERSION, number_of(store, "pragma user_version"), "version");
  CHECK_EQ(1, number_of(store, "pragma foreign_keys"), "keys are watched again");
  CHECK_EQ(0, number_of(store, "select count(*) from pragma_foreign_key_check"), "each row finds its own");
  CHECK_EQ(bests, number_of(store, "select count(*) from best"), "best");
  CHECK_EQ(0, number_of(store, "select count(*) from stencil where length(hash) <> 64"), "stencils have identities");
  CHECK_EQ(0, number_of(store, "select count(*) from stencil_text where length(hash) <> 64"), "and texts");
  CHECK_EQ(0, number_of(store, "select count(*) from template where length(hash) <> 64"), "and templates");
  CHECK_EQ(named, number_of(store, "select count(*) from variant where length(source_hash) = 64"), "and variants");
  snprintf(kept, sizeof kept, "%s.version-%d", work.path, version);
  CHECK_EQ(untrusted, access(kept, F_OK) == 0, "what was not trusted is kept beside it");
  case_load(&c);
  case_put(&c, store, 512);
  CHECK_EQ(1, c.problem, "the problem is found");
  case_free(&c);
  check_whole(store);
  store_close(store);
  text_free(&migrated);
  text_free(&fresh);
  work_end(&work);
}

/* A migration leaves runs out that are not trusted, so the copy beside the file keeps them. */
TEST(a_run_that_is_not_trusted_is_kept_beside_the_database) {
  struct work work = work_begin();
  struct store *store;
  char kept[128], part[160];
  snprintf(kept, sizeof kept, "%s.version-4", work.path);
  make_database(work.path, 3);
  make_older(work.path, 4);
  run_sql(work.path, "update run set is_trusted = 0; delete from best");
  struct hash before = hash_of_file(work.path);
  write_bytes(kept, "mine", 4);
  CHECK_EQ(HALOTUNE_DB, store_open(work.path, STORE_WRITE, &store), "a file of the user has the name of the copy");
  CHECK(strstr(fail_text(), "halotune.db.version-4: ") && strstr(fail_text(), "move it away"), "%s", fail_text());
  CHECK_EQ(4, file_bytes(kept), "it is as it was");
  CHECK_EQ(0, hash_compare(before, hash_of_file(work.path)), "and so is the database");
  unlink(kept);
  const struct timespec of_1970[2] = {{1, 0}, {1, 0}};
  snprintf(part, sizeof part, "%s.new-aBcDeF", kept);
  write_bytes(part, "half", 4);
  CHECK_EQ(0, utimensat(AT_FDCWD, part, of_1970, 0), "a part of the copy that an earlier process left");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_EQ(0, number_of(store, "select count(*) from run"), "left out");
  CHECK(access(part, F_OK) != 0, "the part is removed");
  store_close(store);
  CHECK_OK(store_open(kept, STORE_IMPORT, &store));
  CHECK_EQ(1, number_of(store, "select count(*) from run"), "and kept, for an import");
  store_close(store);
  CHECK_OK(store_open(kept, STORE_READ_UNTRUSTED, &store)); /* as `db info`, `db check` and `db export` read it */
  CHECK_EQ(0, number_of(store, "select count(*) from run"), "other readers leave it out");
  store_close(store);
  work_end(&work);
}

/* Up to version 4 a verdict that was not trusted retired a winner all the same. */
TEST(a_winner_that_version_4_retired_is_chosen_again) {
  static const enum store_mode modes[] = {STORE_READ, STORE_WRITE};
  for (size_t i = 0; i < COUNT(modes); i++) {
    struct work work = work_begin();
    struct store *store;
    make_database(work.path, 3);
    make_older(work.path, 4);
    run_sql(work.path, "update best set is_current = 0");
    CHECK_OK(store_open(work.path, modes[i], &store));
    CHECK_EQ(1, number_of(store, "select count(*) from best where is_current"), "mode %zu", i);
    store_close(store);
    work_end(&work);
  }
}

/* In a folder of all users another user puts a link where an earlier program made the copy. SQLite followed it. */
TEST(the_copy_of_what_is_not_trusted_follows_no_link_of_another_user) {
  if (geteuid() != 0) skip(); /* only root makes files of others */
  enum { OWNER = 54321, OTHER = 12345 };
  struct work work = work_begin();
  struct store *store;
  char folder[96], part[160], kept[128], target[128];
  snprintf(folder, sizeof folder, "%s/made", work.folder);
  snprintf(kept, sizeof kept, "%s.version-4", work.path);
  snprintf(part, sizeof part, "%s.new-%ld", kept, (long)getpid());
  snprintf(target, sizeof target, "%s-target", work.path);
  make_database(work.path, 3);
  make_older(work.path, 4);
  run_sql(work.path, "update best set is_trusted = 0");
  CHECK(chmod(work.folder, 0755) == 0 && chmod(folder, 01777) == 0, "a folder of all users");
  CHECK_EQ(0, chown(work.path, OWNER, OWNER) + chmod(work.path, 0600), "a database of a user");
  CHECK(symlink(target, part) == 0 && lchown(part, OTHER, OTHER) == 0, "a link of another user");
  CHECK(seteuid(OWNER) == 0, "the user's rights");
  const halotune_status status = store_open(work.path, STORE_WRITE, &store);
  store_close(store);
  CHECK(seteuid(0) == 0, "all rights again");
  CHECK_OK(status);
  CHECK(access(kept, F_OK) == 0, "the copy is made");
  CHECK(access(target, F_OK) != 0, "and nothing behind the link");
  unlink(part);
  work_end(&work);
}

/* Another user can put anything where the copy goes in a folder of all users. Only a whole copy of this user counts. */
TEST(only_a_regular_file_of_this_user_is_a_copy_of_an_earlier_attempt) {
  enum { HANGING_S = 100 };
  struct work work = work_begin();
  struct store *store;
  char kept[128], other[128], sql[192];
  snprintf(kept, sizeof kept, "%s.version-4", work.path);
  snprintf(other, sizeof other, "%s-other", work.path);
  make_database(work.path, 3);
  make_older(work.path, 4);
  run_sql(work.path, "update best set is_trusted = 0");
  snprintf(sql, sizeof sql, "vacuum into '%s'", other);
  run_sql(work.path, sql);
  alarm(HANGING_S); /* ends a test that waits for a pipe */
  for (int i = 0; i < 3; i++) {
    if (i == 0) CHECK_EQ(0, symlink(other, kept), "a link to a whole copy");
    if (i == 1) CHECK_EQ(0, mkfifo(kept, 0600), "a pipe that nobody writes to");
    if (i == 2) CHECK(link(other, kept) == 0 && chmod(kept, 0666) == 0, "a copy that all users can write");
    CHECK_EQ(HALOTUNE_DB, store_open(work.path, STORE_WRITE, &store), "row %d", i);
    CHECK(strstr(fail_text(), "move it away") != NULL, "row %d: %s", i, fail_text());
    unlink(kept);
  }
  alarm(0);
  unlink(other);
  work_end(&work);
}

/* SQLite takes a path for an address if it begins with "file:". */
TEST(a_path_that_looks_like_an_address_is_a_path) {
  struct work work = work_begin();
  struct store *store;
  const int back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  make_database(work.path, 3);
  make_older(work.path, 4);
  run_sql(work.path, "update best set is_trusted = 0");
  CHECK(back >= 0 && chdir(work.folder) == 0, "%s", work.folder);
  CHECK_EQ(0, rename(work.path, "file:a?mode=memory"), "%s", work.path);
  CHECK_OK(store_open("file:a?mode=memory", STORE_WRITE, &store));
  store_close(store);
  CHECK(access("file:a?mode=memory.version-4", F_OK) == 0, "the copy has the name of the database");
  CHECK_OK(store_open("file:a?mode=memory.version-4", STORE_IMPORT, &store));
  CHECK(number_of(store, "select count(*) from best") > 0, "and what was not trusted");
  store_close(store);
  unlink("file:a?mode=memory.version-4");
  unlink("file:a?mode=memory");
  CHECK(fchdir(back) == 0, "back again");
  close(back);
  work_end(&work);
}

/* `query` makes a remark about each file that is kept apart, which is not worth the migration of a large one. */
TEST(a_glance_migrates_no_large_file) {
  struct work work = work_begin();
  struct store *store;
  make_database(work.path, 3);
  make_older(work.path, 5);
  CHECK_OK(store_open(work.path, STORE_GLANCE, &store));
  CHECK_EQ(1, number_of(store, "select count(*) from best"), "of a small one");
  store_close(store);
  run_sql(work.path, "pragma application_id = 1212238933"); /* SCHEMA_UNTRUSTED_ID */
  CHECK_OK(store_open(work.path, STORE_GLANCE, &store));
  CHECK_EQ(1, number_of(store, "select count(*) from best"), "of a small one that is kept apart");
  store_close(store);
  run_sql(work.path, "pragma application_id = 1212238927"); /* SCHEMA_APPLICATION_ID */
  run_sql(work.path, "update run set warnings = hex(zeroblob(600000))");
  CHECK_EQ(HALOTUNE_DB, store_open(work.path, STORE_GLANCE, &store), "of a large one");
  CHECK_OK(store_open(work.path, STORE_READ_UNTRUSTED, &store));
  store_close(store);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  store_close(store);
  CHECK_OK(store_open(work.path, STORE_GLANCE, &store));
  CHECK_EQ(1, number_of(store, "select count(*) from best"), "of a large one of this version");
  store_close(store);
  work_end(&work);
}

/* Another program may lock a file that is kept apart for as long as it likes: `query` leaves out the remark. */
TEST(a_glance_waits_for_no_lock) {
  struct work work = work_begin();
  struct store *store;
  sqlite3 *other;
  make_database(work.path, SCHEMA_VERSION);
  CHECK_EQ(SQLITE_OK, sqlite3_open(work.path, &other), "open");
  CHECK_OK(query_script(other, "pragma journal_mode = delete; begin exclusive"));
  const double since_ms = clock_ms();
  CHECK_EQ(HALOTUNE_DB, store_open(work.path, STORE_GLANCE, &store), "a glance at a locked file");
  CHECK(clock_ms() - since_ms < query_usual_wait.most_ms, "it waited");
  sqlite3_close(other);
  CHECK_OK(store_open(work.path, STORE_GLANCE, &store));
  store_close(store);
  work_end(&work);
}

/* A migration that was interrupted after the copy was made begins again. */
TEST(a_copy_of_an_earlier_attempt_is_no_obstacle) {
  struct work work = work_begin();
  struct store *store;
  char kept[128];
  snprintf(kept, sizeof kept, "%s.version-4", work.path);
  make_database(work.path, 3);
  make_older(work.path, 4);
  run_sql(work.path, "update best set is_trusted = 0");
  char sql[192];
  snprintf(sql, sizeof sql, "vacuum into '%s'", kept);
  run_sql(work.path, sql);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  store_close(store);
  work_end(&work);
}

TEST(a_database_of_version_1_is_brought_up_to_date) {
  migrate_from(1, false);
  migrate_from(1, true);
}

TEST(a_database_of_version_4_is_brought_up_to_date) {
  migrate_from(4, false);
  migrate_from(4, true);
}

/* Files of version 5 have no numbers of steps, or have them already. */
TEST(a_database_of_version_5_is_brought_up_to_date) {
  migrate_from(5, false);
  struct work work = work_begin();
  struct store *store;
  make_database(work.path, 3);
  run_sql(work.path,
          "update problem set steps = 4; update best set steps = 4; drop table prediction; pragma user_version = 5");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_EQ(SCHEMA_VERSION, number_of(store, "pragma user_version"), "version");
  CHECK_EQ(1, number_of(store, "select count(*) from problem where steps = 4"), "the steps of the problem are kept");
  CHECK_EQ(1, number_of(store, "select count(*) from best where steps = 4"), "and those of its winner");
  CHECK_OK(query_script(store_connection(store), "update problem set steps = 1; update best set steps = 1"));
  check_whole(store); /* the launch makes one */
  store_close(store);
  work_end(&work);
}

TEST(a_database_of_version_6_is_brought_up_to_date) { migrate_from(6, false); }

TEST(a_database_of_version_7_is_brought_up_to_date) { migrate_from(7, false); }

TEST(a_database_of_version_8_is_brought_up_to_date) { migrate_from(8, false); }

TEST(a_held_database_does_not_change) {
  struct work work = work_begin();
  struct store *store;
  make_database(work.path, 3);
  CHECK_OK(store_open(work.path, STORE_READ_UNTRUSTED, &store));
  CHECK_OK(store_hold(store));
  run_sql(work.path, "update best set source = 'int evil;'"); /* between the check and the merge */
  CHECK_EQ(0, number_of(store, "select count(*) from best where source = 'int evil;'"), "what was checked");
  CHECK_EQ(1, number_of(store, "select count(*) > 0 from best"), "it has rows");
  check_whole(store);
  CHECK_OK(store_hold(store));
  store_close(store);
  work_end(&work);
}

/* Up to version 9 the identity of a template did not cover what it takes from common.yml. */
TEST(a_database_of_version_9_is_brought_up_to_date) {
  static const enum store_mode modes[] = {STORE_READ, STORE_IMPORT, STORE_WRITE};
  struct work work = work_begin();
  struct store *store;
  struct bench_case c;
  char old[IDENTITY_HEX_BYTES], hash[IDENTITY_HEX_BYTES], sql[256];
  migrate_from(9, false);
  case_load(&c);
  identity_hex(template_identity(c.template->old_own_hash, c.template->common_hash), old);
  identity_hex(c.template->hash, hash);
  CHECK(strcmp(old, hash) != 0, "zmarch takes parts of common.yml");
  make_database(work.path, 1);
  snprintf(sql, sizeof sql, "update template set hash = '%s'; pragma user_version = 9", old);
  run_sql(work.path, sql);
  snprintf(sql, sizeof sql, "select count(*) from template where hash = '%s'", hash);
  for (size_t i = 0; i < COUNT(modes); i++) {
    CHECK_OK(store_open(work.path, modes[i], &store));
    CHECK_EQ(1, number_of(store, sql), "mode %zu: the present name", i);
    check_whole(store);
    store_close(store);
  }
  case_free(&c);
  work_end(&work);
}

/* Nobody could see any more whether its rows change. */
TEST(a_removed_database_is_not_held) {
  struct work work = work_begin();
  struct store *store;
  make_database(work.path, 3);
  CHECK_OK(store_open(work.path, STORE_READ_UNTRUSTED, &store));
  unlink(work.path);
  CHECK_EQ(HALOTUNE_DB, store_hold(store), "hold");
  CHECK(strstr(fail_text(), work.path), "%s", fail_text());
  store_close(store);
  work_end(&work);
}

TEST(a_full_disk_loses_one_result_and_no_more) {
  struct work work = work_begin();
  struct store *store;
  struct bench_case c;
  char limit[64];
  halotune_status status = HALOTUNE_OK;
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  case_load(&c);
  case_put(&c, store, 512);
  int64_t run = case_run(&c, store, "580.1"), stored = 0;
  snprintf(limit, sizeof limit, "pragma max_page_count = %lld", (long long)number_of(store, "pragma page_count") + 4);
  CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(store), limit, NULL, NULL, NULL), "limit");
  for (; status == HALOTUNE_OK && stored < 1000; stored++) {
    struct variant_key key = case_variant(&c, (uint64_t)stored);
    struct measurement measurement = case_measurement(stored + 1);
    status = store_measurement(store, run, &key, &measurement, NULL);
  }
  CHECK_EQ(HALOTUNE_DB, status, "no room");
  CHECK(strstr(fail_text(), "make room"), "%s", fail_text());
  CHECK_EQ(stored - 1, number_of(store, "select count(*) from measurement"), "those before are there");
  CHECK_EQ(stored - 1, number_of(store, "select count(*) from variant"), "and no half of the last one");
  CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(store), "pragma max_page_count = 100000", NULL, NULL, NULL),
           "room again");
  struct variant_key key = case_variant(&c, (uint64_t)stored);
  struct measurement measurement = case_measurement(stored);
  CHECK_OK(store_measurement(store, run, &key, &measurement, NULL));
  check_whole(store);
  case_free(&c);
  store_close(store);
  work_end(&work);
}

/* Start a process that stores `count` results; -1: without end. */
static pid_t start_writer(const char *path, uint64_t first, long count) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  struct store *store;
  struct bench_case c;
  if (store_open(path, STORE_WRITE, &store) != HALOTUNE_OK) {
    fprintf(stderr, "# %s\n", fail_text());
    _exit(2);
  }
  case_load(&c);
  case_put(&c, store, 512);
  int64_t run = case_run(&c, store, "580.1");
  for (long i = 0; i != count; i++) {
    struct variant_key key = case_variant(&c, first + (uint64_t)i);
    struct measurement measurement = case_measurement(i + 1);
    if (store_measurement(store, run, &key, &measurement, NULL) == HALOTUNE_OK) continue;
    fprintf(stderr, "# %s\n", fail_text());
    _exit(3);
  }
  store_close(store);
  case_free(&c);
  _exit(0);
}

TEST(two_processes_write_one_file) {
  enum { WRITERS = 2, RESULTS = 200 };
  struct work work = work_begin();
  struct store *store;
  pid_t pids[WRITERS];
  for (int i = 0; i < WRITERS; i++)
    pids[i] = start_writer(work.path, (uint64_t)i * 100000, RESULTS); /* both create the file */
  for (int i = 0; i < WRITERS; i++) {
    int status = -1;
    waitpid(pids[i], &status, 0);
    CHECK_EQ(0, status, "writer %d", i);
  }
  CHECK_OK(store_open(work.path, STORE_READ, &store));
  CHECK_EQ(WRITERS * RESULTS, number_of(store, "select count(*) from measurement"), "nothing is lost");
  CHECK_EQ(1, number_of(store, "select count(*) from problem"), "nothing is there twice");
  CHECK_EQ(WRITERS, number_of(store, "select count(*) from run"), "runs");
  check_whole(store);
  store_close(store);
  work_end(&work);
}

/* Another writer that never ends its transaction is waited for, but not for ever. */
TEST(a_writer_that_stays_is_waited_for_with_a_limit) {
  static const struct query_wait soon = {50, INFINITY};
  struct work work = work_begin();
  struct store *silent, *store;
  struct bench_case c;
  CHECK_OK(store_open(work.path, STORE_WRITE, &silent));
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_OK(query_script(store_connection(silent), "begin immediate"));
  CHECK_EQ(30000, query_usual_wait.most_ms, "the limit of docs/debugging.md");
  case_load(&c);
  for (int is_late = 0; is_late < 2; is_late++) {
    if (is_late) store_wait_until(store, clock_ms() - 1);
    else query_set_wait(store_connection(store), &soon);
    CHECK_EQ(0, store_device(store, &case_device, false), "it was written");
    CHECK(strstr(fail_text(), "locked"), "%s", fail_text());
  }
  CHECK_OK(query_script(store_connection(silent), "rollback"));
  CHECK(store_device(store, &case_device, false) > 0, "%s", fail_text());
  case_free(&c);
  store_close(store);
  store_close(silent);
  work_end(&work);
}

/* A writer is killed at any time, even while it creates the file. The database is intact, and the next writer
 * continues. */
TEST(a_killed_writer_leaves_a_whole_database) {
  enum { KILLS = 20, MOST_US = 60000 };
  struct work work = work_begin();
  bool exists = false;
  for (uint64_t i = 0; i < KILLS; i++) {
    struct store *store;
    int status;
    pid_t pid = start_writer(work.path, i * 1000000, -1);
    usleep((useconds_t)(random_bits(42, i) % MOST_US));
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status), "writer %d ended by itself", (int)i);
    halotune_status opened = store_open(work.path, STORE_READ, &store);
    /* A slow machine may kill many writers before one of them has created the file. */
    CHECK(opened == HALOTUNE_OK || (opened == HALOTUNE_NOT_FOUND && !exists), "kill %d: %s", (int)i, fail_text());
    if (opened != HALOTUNE_OK) continue;
    exists = true;
    check_whole(store);
    CHECK_EQ(0, number_of(store, "select count(*) from variant where id not in (select variant_id from measurement)"),
             "kill %d: no half of a result", (int)i);
    store_close(store);
  }
  make_database(work.path, 3);
  work_end(&work);
}

/* Begin to change a database in a program that is killed then.
 *   set_mode  statement that sets the mode of its journal, and ends with a semicolon */
static void write_and_die(const char *path, const char *set_mode) {
  char sql[256];
  const pid_t pid = fork();
  if (pid == 0) {
    sqlite3 *connection = NULL;
    snprintf(sql, sizeof sql, "%spragma cache_size = 1; begin; update measurement set reason = hex(randomblob(200))",
             set_mode);
    sqlite3_open(path, &connection);
    sqlite3_exec(connection, sql, NULL, NULL, NULL);
    kill(getpid(), SIGKILL);
  }
  waitpid(pid, NULL, 0);
}

/* Without a write-ahead log, a killed writer leaves a journal, which the next reader must roll back. */
TEST(a_reader_undoes_what_a_killed_writer_began) {
  struct work work = work_begin();
  struct store *store;
  char journal[128];
  make_database(work.path, 300);
  write_and_die(work.path, "");
  snprintf(journal, sizeof journal, "%s-journal", work.path);
  CHECK(mode_of(journal) > 0, "a journal is left");
  CHECK_OK(store_open(work.path, STORE_READ, &store));
  CHECK_EQ(0, number_of(store, "select count(*) from measurement where reason <> ''"), "nothing of it is there");
  check_whole(store);
  store_close(store);
  work_end(&work);
}

/* `query` looks at files that are kept apart, and changes nothing there. */
TEST(a_glance_plays_no_journal) {
  static const char *const modes[] = {"", "pragma journal_mode = wal; "};
  static const char *const ends[] = {"", "-journal", "-wal", "-shm"};
  for (size_t i = 0; i < COUNT(modes); i++) {
    struct work work = work_begin();
    struct store *store;
    char paths[COUNT(ends)][128];
    struct hash hashes[COUNT(ends)];
    make_database(work.path, 300);
    write_and_die(work.path, modes[i]);
    for (size_t k = 0; k < COUNT(ends); k++) {
      snprintf(paths[k], sizeof paths[k], "%s%s", work.path, ends[k]);
      if (k == COUNT(ends) - 1) unlink(paths[k]); /* a reader of the WAL makes it */
      if (mode_of(paths[k]) > 0) hashes[k] = hash_of_file(paths[k]);
    }
    const bool had_journal = mode_of(paths[1]) > 0, had_wal = mode_of(paths[2]) > 0;
    CHECK_EQ(1, had_journal + had_wal, "%s: a journal or a WAL is left", modes[i]);
    if (store_open(work.path, STORE_GLANCE, &store) == HALOTUNE_OK) store_close(store);
    CHECK(mode_of(paths[3]) <= 0, "%s: an index of a WAL was made", modes[i]);
    CHECK_EQ(had_journal, mode_of(paths[1]) > 0, "%s: the journal", modes[i]);
    CHECK_EQ(had_wal, mode_of(paths[2]) > 0, "%s: the WAL", modes[i]);
    for (size_t k = 0; k < COUNT(ends) - 1; k++) {
      if (mode_of(paths[k]) <= 0) continue;
      const struct hash now = hash_of_file(paths[k]);
      CHECK(memcmp(&now, &hashes[k], sizeof now) == 0, "%s%s: its bytes have changed", modes[i], ends[k]);
    }
    CHECK_OK(store_open(work.path, STORE_READ, &store)); /* a reader that is allowed to undo it does */
    store_close(store);
    work_end(&work);
  }
}

/* Write a journal without pages, whose last bytes name a file for SQLite to remove. */
static void journal_write(const char *path, const char *victim) {
  static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  enum { SECTOR = 512, PAGE = 4096, LOCK_PAGE = 0x40000000 / PAGE + 1 };
  const uint32_t head[] = {0, 1, 1, SECTOR, PAGE};
  unsigned char bytes[SECTOR + 256] = {0};
  const size_t length = strlen(victim);
  size_t at = sizeof mark;
  uint32_t sum = 0;
  memcpy(bytes, mark, sizeof mark);
  for (size_t i = 0; i < COUNT(head); i++, at += 4) memcpy(bytes + at, &(uint32_t){htonl(head[i])}, 4);
  memcpy(bytes + SECTOR, &(uint32_t){htonl(LOCK_PAGE)}, 4);
  for (size_t i = 0; i < length; i++) {
    bytes[SECTOR + 4 + i] = (unsigned char)victim[i];
    sum += (unsigned char)victim[i];
  }
  at = SECTOR + 4 + length;
  memcpy(bytes + at, &(uint32_t){htonl((uint32_t)length)}, 4);
  memcpy(bytes + at + 4, &(uint32_t){htonl(sum)}, 4);
  memcpy(bytes + at + 8, mark, sizeof mark);
  CHECK_OK(file_replace_cached(path, bytes, at + 8 + sizeof mark));
}

/* SQLite removes the file that a journal names. */
TEST(a_journal_removes_no_other_file) {
  static const enum store_mode modes[] = {STORE_READ_UNTRUSTED, STORE_READ, STORE_WRITE};
  struct work work = work_begin();
  char journal[128], victim[128];
  struct store *store;
  snprintf(journal, sizeof journal, "%s-journal", work.path);
  snprintf(victim, sizeof victim, "%s/victim", work.folder);
  make_database(work.path, 3);
  for (size_t i = 0; i < COUNT(modes); i++) {
    CHECK_OK(file_replace_cached(victim, "x", 1));
    journal_write(journal, victim);
    CHECK_EQ(HALOTUNE_DB, store_open(work.path, modes[i], &store), "mode %zu", i);
    CHECK(strstr(fail_text(), "journal"), "%s", fail_text());
    CHECK(mode_of(victim) > 0, "mode %zu: the file is still there", i);
  }
  work_end(&work);
}

static void always_locked(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count, (void)values;
  sqlite3_result_error_code(context, SQLITE_PROTOCOL);
}

/* SQLite tries for 10 s before it says that locks of other processes prevent WAL mode. */
TEST(a_lock_that_others_keep_has_a_remedy) {
  struct store *store;
  CHECK_OK(store_open_memory(&store));
  sqlite3 *connection = store_connection(store);
  sqlite3_create_function_v2(connection, "locked", 0, SQLITE_UTF8, NULL, always_locked, NULL, NULL, NULL);
  CHECK_EQ(HALOTUNE_DB, query_script(connection, "select locked()"), "locked");
  CHECK(strstr(fail_text(), "chmod go-r"), "%s", fail_text());
  store_close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folder_and_file_are_the_users_alone),
      cmocka_unit_test(the_last_writer_leaves_one_file),
      cmocka_unit_test(only_local_filesystems_have_wal),
      cmocka_unit_test(a_trial_of_locks_leaves_files_of_others_alone),
      cmocka_unit_test(the_path_comes_from_the_environment),
      cmocka_unit_test(what_is_not_ours_is_refused_and_left_alone),
      cmocka_unit_test(a_query_without_end_is_ended),
      cmocka_unit_test(a_file_that_cannot_be_written_is_read),
      cmocka_unit_test(migrations_are_taken_step_by_step_or_not_at_all),
      cmocka_unit_test(a_run_that_is_not_trusted_is_kept_beside_the_database),
      cmocka_unit_test(a_winner_that_version_4_retired_is_chosen_again),
      cmocka_unit_test(the_copy_of_what_is_not_trusted_follows_no_link_of_another_user),
      cmocka_unit_test(a_path_that_looks_like_an_address_is_a_path),
      cmocka_unit_test(a_glance_migrates_no_large_file),
      cmocka_unit_test(a_glance_waits_for_no_lock),
      cmocka_unit_test(a_glance_reads_little),
      cmocka_unit_test(a_copy_of_an_earlier_attempt_is_no_obstacle),
      cmocka_unit_test(only_a_regular_file_of_this_user_is_a_copy_of_an_earlier_attempt),
      cmocka_unit_test(a_database_of_version_1_is_brought_up_to_date),
      cmocka_unit_test(a_database_of_version_4_is_brought_up_to_date),
      cmocka_unit_test(a_database_of_version_5_is_brought_up_to_date),
      cmocka_unit_test(a_database_of_version_6_is_brought_up_to_date),
      cmocka_unit_test(a_database_of_version_7_is_brought_up_to_date),
      cmocka_unit_test(a_database_of_version_8_is_brought_up_to_date),
      cmocka_unit_test(a_database_of_version_9_is_brought_up_to_date),
      cmocka_unit_test(a_copy_of_an_older_database_is_checked_itself),
      cmocka_unit_test(a_held_database_does_not_change),
      cmocka_unit_test(a_removed_database_is_not_held),
      cmocka_unit_test(a_full_disk_loses_one_result_and_no_more),
      cmocka_unit_test(a_writer_that_stays_is_waited_for_with_a_limit),
      cmocka_unit_test(two_processes_write_one_file),
      cmocka_unit_test(a_killed_writer_leaves_a_whole_database),
      cmocka_unit_test(a_reader_undoes_what_a_killed_writer_began),
      cmocka_unit_test(a_journal_removes_no_other_file),
      cmocka_unit_test(a_glance_plays_no_journal),
      cmocka_unit_test(a_lock_that_others_keep_has_a_remedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
