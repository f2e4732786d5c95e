/* journal_files_test.c: files beside a database: which of them SQLite opens, makes and leaves. Other owners need
 * root. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "base/files/path.h"
#include "base/system/process.h"
#include "db/store/held_folder.h"
#include "db/store/journal_check.h"
#include "db/store/journal_vfs.h"
#include "db/store/query.h"
#include "tests/unit/stores.h"

enum { OTHER = 12345 }; /* another user */

/* The byte of a database that says how it is written: with a journal, or with a WAL. */
enum { WITH_JOURNAL = 1, WITH_WAL = 2 };

static int way_of_writing(const char *path) {
  unsigned char head[20] = {0};
  FILE *file = fopen(path, "rb");
  CHECK(file && fread(head, 1, sizeof head, file) == sizeof head, "%s", path);
  fclose(file);
  return head[18];
}

/* The bytes of the journal beside a database; -1 if there is none. */
static long journal_bytes(const char *path) {
  char journal[160];
  struct stat facts;
  snprintf(journal, sizeof journal, "%s-journal", path);
  return lstat(journal, &facts) == 0 ? (long)facts.st_size : -1;
}

TEST(the_last_process_leaves_a_single_file_in_each_folder) {
  static const struct {
    mode_t folder, database;
  } rows[] = {{0700, 0600}, {01777, 0600}, {01777, 0644}, {0770, 0600}, {0770, 0660}, {0777, 0666}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct store *store;
    char *folder = path_folder(work.path);
    make_database(work.path, 1);
    CHECK(chmod(folder, rows[i].folder) == 0 && chmod(work.path, rows[i].database) == 0, "%s", folder);
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    CHECK_EQ(WITH_WAL, way_of_writing(work.path), "row %zu, while it is open", i);
    store_close(store);
    CHECK_EQ(WITH_JOURNAL, way_of_writing(work.path), "row %zu", i);
    CHECK_EQ(-1, journal_bytes(work.path), "row %zu: no journal", i);
    CHECK_OK(store_open(work.path, STORE_READ, &store));
    store_close(store);
    free(folder);
    work_end(&work);
  }
}

/* SQLite looks for a journal or a WAL when the mode changes, and before transactions. It does not see those of another
 * user, and does not write to them. */
TEST(a_file_that_another_user_puts_beside_a_database_meanwhile_is_not_used) {
  if (geteuid() != 0) skip(); /* only root makes files of others */
  static const struct {
    const char *end;
    bool has_reader; /* which keeps the database from the WAL mode */
    int way;         /* of writing, at the end */
  } rows[] = {{"-journal", false, WITH_WAL}, {"-journal", true, WITH_JOURNAL}, {"-wal", true, WITH_JOURNAL}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct store *store;
    sqlite3 *reader = NULL;
    struct stat facts;
    char beside[160], *folder = path_folder(work.path);
    snprintf(beside, sizeof beside, "%s%s", work.path, rows[i].end);
    make_database(work.path, 1);
    CHECK_EQ(0, chmod(folder, 01777), "%s", folder);
    if (rows[i].has_reader) {
      CHECK_EQ(SQLITE_OK, sqlite3_open_v2(work.path, &reader, SQLITE_OPEN_READONLY, NULL), "%s", work.path);
      CHECK_EQ(SQLITE_OK, sqlite3_exec(reader, "begin; select count(*) from run", NULL, NULL, NULL), "a reader");
    }
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    sqlite3_close(reader);
    FILE *file = fopen(beside, "wb");
    CHECK(file && fputs("not SQLite's", file) >= 0 && fclose(file) == 0 && chown(beside, OTHER, OTHER) == 0, "%s",
          beside);
    CHECK_EQ(1, number_of(store, "select count(*) from best"), "row %zu: it is not read", i);
    store_close(store);
    CHECK(stat(beside, &facts) == 0 && facts.st_size == 12 && facts.st_uid == OTHER, "row %zu: it stays", i);
    CHECK_EQ(rows[i].way, way_of_writing(work.path), "row %zu", i);
    CHECK_EQ(HALOTUNE_DB, store_open(work.path, STORE_WRITE, &store), "the next program refuses it");
    CHECK(strstr(fail_text(), "belongs to user 12345") != NULL, "%s", fail_text());
    unlink(beside);
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    CHECK_EQ(1, number_of(store, "select count(*) from best"), "row %zu: the rows are there", i);
    store_close(store);
    CHECK_EQ(WITH_JOURNAL, way_of_writing(work.path), "row %zu: without it the mode changes", i);
    free(folder);
    work_end(&work);
  }
}

/* Write a journal with all pages of a database, as of a program that was killed. */
static void write_journal(const char *path, const char *database) {
  enum { SECTOR = 512, PAGE_SIZE_AT = 16, CHECKED_EVERY = 200, NONCE = 7 };
  unsigned char head[SECTOR] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  char *bytes = NULL;
  size_t length = 0;
  CHECK_OK(file_read(database, 1 << 28, &bytes, &length));
  const unsigned char *pages = (const unsigned char *)bytes;
  const size_t size = (size_t)pages[PAGE_SIZE_AT] << 8 | pages[PAGE_SIZE_AT + 1];
  const uint32_t count = (uint32_t)(length / size);
  const uint32_t words[] = {htonl(count), htonl(NONCE), htonl(count), htonl(SECTOR), htonl((uint32_t)size)};
  memcpy(head + 8, words, sizeof words);
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(head, sizeof head, 1, file) == 1, "%s", path);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t sum = NONCE, number = htonl(i + 1);
    for (size_t at = size - CHECKED_EVERY; at > 0 && at < size; at -= CHECKED_EVERY) sum += pages[i * size + at];
    sum = htonl(sum);
    CHECK(fwrite(&number, sizeof number, 1, file) == 1 && fwrite(pages + i * size, size, 1, file) == 1 &&
              fwrite(&sum, sizeof sum, 1, file) == 1,
          "%s", path);
  }
  CHECK_EQ(0, fclose(file), "%s", path);
  free(bytes);
}

/* SQLite looks for a journal by the name of the database, and plays it into the file that is open. */
TEST(a_journal_beside_another_file_is_not_played_into_a_database_that_was_moved) {
  if (geteuid() != 0) skip(); /* only root makes files of others */
  static const mode_t all = 0666;
  struct work work = work_begin();
  struct store *store;
  sqlite3 *theirs;
  char moved[160], journal[192], source[160], played[160], *folder = path_folder(work.path);
  snprintf(moved, sizeof moved, "%s-moved", work.path);
  snprintf(journal, sizeof journal, "%s-journal", work.path);
  snprintf(source, sizeof source, "%s/theirs.db", work.folder);
  make_database(work.path, 1);
  CHECK_EQ(SQLITE_OK, sqlite3_open(source, &theirs), "%s", source);
  CHECK_EQ(SQLITE_OK, sqlite3_exec(theirs, "create table theirs (id integer primary key)", NULL, NULL, NULL), "theirs");
  sqlite3_close(theirs);
  snprintf(played, sizeof played, "%s-played", work.path);
  snprintf(journal, sizeof journal, "%s-journal", played);
  make_database(played, 1);
  write_journal(journal, source);
  run_sql(played, "insert into theirs values (1)"); /* SQLite plays such a journal into any file */
  snprintf(journal, sizeof journal, "%s-journal", work.path);
  CHECK_EQ(0, chmod(folder, 01777), "%s", folder);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_EQ(0, rename(work.path, moved), "%s", moved);
  write_journal(journal, source);
  CHECK_EQ(0, rename(source, work.path), "another file of this name");
  CHECK_EQ(0, chown(work.path, OTHER, OTHER) + chmod(work.path, all), "%s", work.path);
  CHECK_EQ(0, chown(journal, OTHER, OTHER) + chmod(journal, all), "%s", journal);
  CHECK_EQ(1, number_of(store, "select count(*) from best"), "the rows are there");
  store_close(store); /* SQLite leaves the WAL, and looks for a journal */
  CHECK_OK(store_open(moved, STORE_READ, &store));
  CHECK_EQ(1, number_of(store, "select count(*) from best"), "the rows are there");
  store_close(store);
  free(folder);
  work_end(&work);
}

/* The owner of a database can replace what lies beside it. A file of this user there could be moved to another database
 * of this user. */
TEST(a_reader_makes_nothing_beside_a_database_of_another_user) {
  if (geteuid() != 0) skip(); /* only root makes files of others */
  static const enum store_mode modes[] = {STORE_READ, STORE_IMPORT, STORE_READ_SOON, STORE_WRITE};
  struct work work = work_begin();
  struct store *store;
  make_database(work.path, 1);
  run_sql(work.path, "pragma journal_mode = wal");
  CHECK_EQ(0, chown(work.path, OTHER, OTHER), "%s", work.path);
  for (size_t i = 0; i < COUNT(modes); i++) {
    CHECK_EQ(HALOTUNE_DB, store_open(work.path, modes[i], &store), "mode %d", (int)modes[i]);
    CHECK(strstr(fail_text(), "belongs to user 12345") && strstr(fail_text(), "copy it"), "%s", fail_text());
    for (int end = 0; end < 2; end++) {
      char beside[160];
      snprintf(beside, sizeof beside, "%s%s", work.path, end ? "-shm" : "-wal");
      CHECK(access(beside, F_OK) != 0, "mode %d: %s", (int)modes[i], beside);
    }
  }
  run_sql(work.path, "pragma journal_mode = delete");
  CHECK_OK(store_open(work.path, STORE_READ, &store));
  store_close(store);
  work_end(&work);
}

/* Root tunes into a database of all users. Others read it meanwhile, and make nothing beside it. */
TEST(others_read_a_database_of_root_that_is_open) {
  if (geteuid() != 0) skip(); /* only root can be another user */
  struct work work = work_begin();
  struct store *store, *reader;
  char *folder = path_folder(work.path);
  make_database(work.path, 1);
  CHECK_EQ(0, chmod(work.folder, 0755) + chmod(folder, 0755) + chmod(work.path, 0644), "%s", folder);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_EQ(WITH_WAL, way_of_writing(work.path), "it is open");
  CHECK_EQ(0, seteuid(OTHER), "another user");
  const halotune_status status = store_open(work.path, STORE_READ, &reader);
  store_close(reader);
  CHECK_EQ(0, seteuid(0), "root again");
  CHECK_EQ(HALOTUNE_OK, status, "%s", fail_text());
  store_close(store);
  CHECK_EQ(WITH_JOURNAL, way_of_writing(work.path), "a single file is left");
  free(folder);
  work_end(&work);
}

/* The folder of an open database is exchanged with a link to another folder, which has a database of the same name.
 * What a writer does then comes into the first one, and nothing beside the other one is made or removed. */
TEST(an_open_database_stays_in_its_folder) {
  struct work work = work_begin();
  struct store *store;
  char other[96], moved[96], theirs[128], beside[160], line[192];
  char *folder = path_folder(work.path);
  make_database(work.path, 1);
  snprintf(other, sizeof other, "%s/other", work.folder);
  snprintf(moved, sizeof moved, "%s/moved", work.folder);
  snprintf(theirs, sizeof theirs, "%s/%s", other, path_name(work.path));
  snprintf(beside, sizeof beside, "%s-wal", theirs);
  CHECK_EQ(0, mkdir(other, 0700), "%s", other);
  snprintf(line, sizeof line, "vacuum into '%s'", theirs);
  run_sql(work.path, line);
  const struct hash before = hash_of_file(theirs);
  FILE *file = fopen(beside, "wb");
  CHECK(file && fclose(file) == 0, "%s", beside);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_EQ(0, rename(folder, moved) + symlink(other, folder), "%s", folder);
  CHECK_OK(query_script(store_connection(store), "begin immediate; update run set host = 'moved'; commit"));
  CHECK_EQ(1, number_of(store, "select count(*) from run where host = 'moved'"), "the change");
  store_close(store);
  CHECK(access(beside, F_OK) == 0, "the file beside the other one is not removed");
  unlink(beside);
  CHECK(hash_compare(before, hash_of_file(theirs)) == 0, "the other database is as it was");
  CHECK_EQ(0, unlink(folder) + rename(moved, folder), "%s", folder);
  CHECK_OK(store_open(work.path, STORE_READ, &store));
  CHECK_EQ(1, number_of(store, "select count(*) from run where host = 'moved'"), "the change is in the first one");
  store_close(store);
  unlink(theirs);
  free(folder);
  work_end(&work);
}

/* Another user can move a file of this user to which he can write, and can give it a second name. */
TEST(a_file_beside_a_database_must_not_give_more_rights_than_the_database) {
  static const struct {
    mode_t folder, database, beside;
    bool has_names;
    enum journal_trust want;
  } rows[] = {
      {01777, 0600, 0600, false, JOURNAL_TRUSTED},  {01777, 0600, 0666, false, JOURNAL_DOUBTFUL},
      {01777, 0644, 0664, false, JOURNAL_DOUBTFUL}, {01777, 0666, 0666, false, JOURNAL_TRUSTED},
      {01777, 0660, 0660, false, JOURNAL_TRUSTED},  {01777, 0600, 0600, true, JOURNAL_DOUBTFUL},
      {0700, 0600, 0600, true, JOURNAL_TRUSTED},    {01777, 0600, 0644, false, JOURNAL_DOUBTFUL},
      {0700, 0600, 0644, false, JOURNAL_TRUSTED},   {0755, 0640, 0600, false, JOURNAL_TRUSTED},
      {01777, 0640, 0600, false, JOURNAL_DOUBTFUL}, {01777, 0666, 0644, false, JOURNAL_TRUSTED},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct stat facts;
    char beside[160], other[160], *folder = path_folder(work.path);
    snprintf(beside, sizeof beside, "%s-wal", work.path);
    snprintf(other, sizeof other, "%s-other", work.path);
    make_database(work.path, 1);
    FILE *file = fopen(beside, "wb");
    CHECK(file && fputs("pages", file) >= 0 && fclose(file) == 0, "%s", beside);
    CHECK_EQ(0, chmod(folder, rows[i].folder) + chmod(work.path, rows[i].database) + chmod(beside, rows[i].beside),
             "row %zu", i);
    if (rows[i].has_names) CHECK_EQ(0, link(beside, other), "%s", other);
    CHECK_EQ(0, lstat(beside, &facts), "%s", beside);
    CHECK_EQ(rows[i].want, journal_trust_of(work.path, beside, &facts), "row %zu", i);
    unlink(other);
    free(folder);
    work_end(&work);
  }
}

/* Give a file an access list with which the user OTHER may write, and the group may only read. Returns false where the
 * file system has no lists. */
static bool let_other_write(const char *path, const char *kind) {
  enum { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, MASK = 16, OTHERS = 32, NOBODY = -1 };
  const struct {
    uint16_t tag, rights;
    uint32_t id;
  } list[] = {{USER_OBJ, 6, (uint32_t)NOBODY},
              {USER, 6, OTHER},
              {GROUP_OBJ, 4, (uint32_t)NOBODY},
              {MASK, 6, (uint32_t)NOBODY},
              {OTHERS, 0, (uint32_t)NOBODY}};
  char value[sizeof(uint32_t) + sizeof list] = {2}; /* the version, in little-endian order */
  memcpy(value + sizeof(uint32_t), list, sizeof list);
  return setxattr(path, kind, value, sizeof value, 0) == 0;
}

static bool has_access_list(const char *path) { return getxattr(path, "system.posix_acl_access", NULL, 0) >= 0; }

/* A new file gets the default list of its folder, and the mode of the database would make it effective. */
TEST(a_file_beside_a_database_gets_the_access_list_of_the_database) {
  struct work work = work_begin();
  struct store *store;
  struct stat facts;
  char beside[160], *folder = path_folder(work.path);
  make_database(work.path, 1);
  CHECK_EQ(0, chmod(work.path, 0660), "%s", work.path);
  if (!let_other_write(folder, "system.posix_acl_default")) skip();
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  for (size_t i = 0; i < 2; i++) {
    snprintf(beside, sizeof beside, "%s%s", work.path, i ? "-shm" : "-wal");
    CHECK_EQ(0, lstat(beside, &facts), "%s", beside);
    CHECK_EQ(0660, facts.st_mode & 0777, "%s", beside);
    CHECK(!has_access_list(beside), "%s has an access list", beside);
  }
  /* Somebody gives one of them a list, or it comes from another folder. */
  CHECK(let_other_write(beside, "system.posix_acl_access"), "%s", beside);
  CHECK_EQ(0, lstat(beside, &facts), "%s", beside);
  CHECK_EQ(JOURNAL_DOUBTFUL, journal_trust_of(work.path, beside, &facts), "with a list");
  CHECK(let_other_write(work.path, "system.posix_acl_access"), "%s", work.path);
  CHECK_EQ(JOURNAL_TRUSTED, journal_trust_of(work.path, beside, &facts), "with the database's list");
  store_close(store);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK(has_access_list(beside), "the database's list");
  store_close(store);
  free(folder);
  work_end(&work);
}

/* The group of a file tells nothing where others than the members of this group can put files. */
TEST(a_group_counts_only_where_it_alone_can_put_files) {
  enum { GROUP = 4400, ANOTHER_GROUP };
  static const struct {
    mode_t mode;
    gid_t group; /* mode and group of the folder */
    bool has_list;
    enum journal_trust want;
  } rows[] = {
      {02770, GROUP, false, JOURNAL_TRUSTED},        {03770, GROUP, false, JOURNAL_TRUSTED},
      {0755, ANOTHER_GROUP, false, JOURNAL_TRUSTED}, {01770, ANOTHER_GROUP, false, JOURNAL_FOREIGN},
      {03777, GROUP, false, JOURNAL_FOREIGN},        {03770, GROUP, true, JOURNAL_FOREIGN},
  };
  if (geteuid() != 0) skip(); /* only root makes files of others */
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct stat facts;
    char beside[PATH_MAX + 8], *folder = path_folder(work.path);
    snprintf(beside, sizeof beside, "%s-wal", work.path);
    make_database(work.path, 1);
    FILE *file = fopen(beside, "wb");
    CHECK(file && fclose(file) == 0, "%s", beside);
    CHECK_EQ(0, chown(work.path, 0, GROUP) + chown(beside, OTHER, GROUP) + chown(folder, 0, rows[i].group), "row %zu",
             i);
    CHECK_EQ(0, chmod(work.path, 0660) + chmod(beside, 0660) + chmod(folder, rows[i].mode), "row %zu", i);
    const bool is_made = !rows[i].has_list || let_other_write(folder, "system.posix_acl_access");
    struct held_file held;
    CHECK_OK(held_open(work.path, &held)); /* as a store does */
    snprintf(beside, sizeof beside, "%s-wal", held.name);
    CHECK_EQ(0, lstat(beside, &facts), "%s", beside);
    if (is_made) CHECK_EQ(rows[i].want, journal_trust_of(held.name, beside, &facts), "row %zu", i);
    held_close(&held);
    free(folder);
    work_end(&work);
  }
}

/* A user who is not in the group of his database cannot give files to this group. */
TEST(a_database_of_a_group_of_others_is_written_if_the_group_has_no_rights) {
  static const struct {
    mode_t folder, database;
    halotune_status want;
  } rows[] = {
      {0700, 0600, HALOTUNE_OK}, {01777, 0600, HALOTUNE_OK}, {0700, 0660, HALOTUNE_DB}, {0700, 0640, HALOTUNE_DB}};
  if (geteuid() != 0) skip(); /* only root can be another user */
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct store *store, *reader;
    char beside[160], *folder = path_folder(work.path);
    snprintf(beside, sizeof beside, "%s-journal", work.path);
    make_database(work.path, 1);
    CHECK_EQ(0, chmod(work.folder, 0755) + chmod(work.path, rows[i].database), "row %zu", i);
    CHECK_EQ(0, chown(work.path, OTHER, 4400) + chown(folder, OTHER, OTHER) + chmod(folder, rows[i].folder), "row %zu",
             i);
    CHECK_EQ(0, seteuid(OTHER), "another user");
    halotune_status status = store_open(work.path, STORE_WRITE, &store), read = status;
    if (status == HALOTUNE_OK)
      status = query_script(store_connection(store), "begin immediate; update run set host = 'other'; commit");
    if (status == HALOTUNE_OK) {
      read = store_open(work.path, STORE_READ, &reader);
      store_close(reader);
    }
    store_close(store);
    CHECK_EQ(0, seteuid(0), "root again");
    CHECK_EQ(rows[i].want, status, "row %zu: %s", i, fail_text());
    CHECK_EQ(rows[i].want, read, "row %zu: %s", i, fail_text());
    if (status != HALOTUNE_OK) {
      CHECK(strstr(fail_text(), "you are not in this group"), "%s", fail_text());
      /* nor does a reader make such a file, who has to undo what a killed program began */
      sqlite3 *connection = NULL;
      CHECK_EQ(0, seteuid(OTHER), "another user");
      sqlite3_open_v2(work.path, &connection, SQLITE_OPEN_READWRITE, journal_vfs(VFS_WRITE));
      const int code = sqlite3_exec(connection, "begin immediate; update run set host = 'x'; commit", NULL, NULL, NULL);
      sqlite3_close(connection);
      CHECK_EQ(0, seteuid(0), "root again");
      CHECK(code != SQLITE_OK, "row %zu", i);
    }
    CHECK(access(beside, F_OK) != 0, "%s is left", beside);
    free(folder);
    work_end(&work);
  }
}

/* The owner of a file holds a lease on it: who opens the file waits until he gives it back, or for 45 s. */
TEST(the_program_waits_for_no_lease) {
  struct work work = work_begin();
  struct store *store;
  int ready[2];
  char byte;
  make_database(work.path, 1);
  CHECK_EQ(0, pipe2(ready, O_CLOEXEC), "pipe");
  const pid_t parent = getpid(), owner = fork();
  if (owner == 0) {
    process_die_with(parent);
    signal(SIGIO, SIG_IGN);
    const int fd = open(work.path, O_RDWR | O_CLOEXEC);
    const bool has_lease = fd >= 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
    (void)!write(ready[1], has_lease ? "1" : "0", 1);
    while (true) pause();
  }
  CHECK_EQ(1, read(ready[0], &byte, 1), "the owner");
  journal_vfs_open_soon();
  CHECK_EQ(byte == '1' ? HALOTUNE_DB : HALOTUNE_OK, store_open(work.path, STORE_READ, &store), "%s", fail_text());
  store_close(store);
  CHECK_EQ(0, kill(owner, SIGKILL), "the owner");
  CHECK_EQ(owner, waitpid(owner, NULL, 0), "the owner");
  CHECK_OK(store_open(work.path, STORE_READ, &store));
  store_close(store);
  close(ready[0]);
  close(ready[1]);
  work_end(&work);
}

/* A program has a default VFS of its own, uses the library, and removes its VFS. Its databases are those of Unix then.
 * This test comes first: the library makes its own VFS once. */
TEST(the_access_to_files_of_other_databases_stays_that_of_unix) {
  sqlite3_vfs *standard = sqlite3_vfs_find(NULL), own = *standard;
  own.pNext = NULL;
  own.zName = "own";
  CHECK_EQ(SQLITE_OK, sqlite3_vfs_register(&own, 1), "the program's");
  CHECK(journal_vfs(VFS_READ) && journal_vfs(VFS_WRITE), "the library's");
  CHECK(sqlite3_vfs_find(NULL) == &own, "the default is the program's");
  CHECK_EQ(SQLITE_OK, sqlite3_vfs_unregister(&own), "the program's");
  CHECK(sqlite3_vfs_find(NULL) == standard, "the default is that of Unix");
}

/* A writer that was killed leaves a journal. One that names another file made SQLite remove that file. */
TEST(a_journal_that_names_another_file_removes_nothing) {
  struct work work = work_begin();
  sqlite3 *connection = NULL;
  struct stat facts;
  char named[160];
  snprintf(named, sizeof named, "%s-super", work.path);
  make_database(work.path, 1);
  FILE *file = fopen(named, "wb");
  CHECK(file && fclose(file) == 0, "%s", named);
  CHECK_EQ(SQLITE_OK, sqlite3_open_v2(work.path, &connection, SQLITE_OPEN_READWRITE, journal_vfs(VFS_WRITE)), "%s",
           work.path);
  sqlite3_vfs *vfs = sqlite3_vfs_find(journal_vfs(VFS_WRITE));
  sqlite3_file *opened = calloc(1, (size_t)vfs->szOsFile);
  CHECK(opened != NULL, "memory");
  CHECK_EQ(SQLITE_CANTOPEN, vfs->xOpen(vfs, named, opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_SUPER_JOURNAL, NULL),
           "such a file is not opened");
  CHECK(opened->pMethods == NULL && stat(named, &facts) == 0, "it stays");
  free(opened);
  sqlite3_close(connection);
  unlink(named);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_access_to_files_of_other_databases_stays_that_of_unix),
      cmocka_unit_test(the_last_process_leaves_a_single_file_in_each_folder),
      cmocka_unit_test(a_file_that_another_user_puts_beside_a_database_meanwhile_is_not_used),
      cmocka_unit_test(a_journal_beside_another_file_is_not_played_into_a_database_that_was_moved),
      cmocka_unit_test(a_reader_makes_nothing_beside_a_database_of_another_user),
      cmocka_unit_test(others_read_a_database_of_root_that_is_open),
      cmocka_unit_test(an_open_database_stays_in_its_folder),
      cmocka_unit_test(a_file_beside_a_database_must_not_give_more_rights_than_the_database),
      cmocka_unit_test(a_file_beside_a_database_gets_the_access_list_of_the_database),
      cmocka_unit_test(a_group_counts_only_where_it_alone_can_put_files),
      cmocka_unit_test(a_database_of_a_group_of_others_is_written_if_the_group_has_no_rights),
      cmocka_unit_test(a_journal_that_names_another_file_removes_nothing),
      cmocka_unit_test(the_program_waits_for_no_lease), /* the last one: it changes how SQLite opens files */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
