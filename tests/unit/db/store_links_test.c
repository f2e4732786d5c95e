/* store_links_test.c: a database is opened through no link that another user has put into a folder of all users, and by
 * no second name that another user may have made. Other owners need root. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/files/path.h"
#include "db/exchange/import.h"
#include "tests/unit/stores.h"

enum { OTHER_USER = 4321 };

/* The link leads to a database of this user, or to a folder with one. */
static const struct {
  mode_t mode; /* of the link's folder */
  uid_t owner, link_owner;
  bool is_followed;
} links[] = {
    {01777, 0, OTHER_USER, false}, {01777, OTHER_USER, OTHER_USER, false}, {0777, 0, OTHER_USER, false},
    {01777, 0, 0, true},           {01777, OTHER_USER, 0, true},           {0755, 0, OTHER_USER, true},
};

/* Make a database that knows a GPU. */
static void make_store(const char *path, const char *gpu) {
  struct store *store;
  struct device_facts device = {.capability = 90};
  snprintf(device.name, sizeof device.name, "%s", gpu);
  CHECK_OK(store_open(path, STORE_WRITE, &store));
  CHECK(store_device(store, &device, false) > 0, "%s", fail_text());
  store_close(store);
}

static void check_open(size_t row, const char *path, const char *target) {
  static const enum store_mode modes[] = {STORE_READ, STORE_READ_UNTRUSTED, STORE_WRITE};
  const halotune_status want = links[row].is_followed ? HALOTUNE_OK : HALOTUNE_DB;
  const struct hash before = hash_of_file(target);
  struct store *store;
  char *real;
  for (size_t m = 0; m < COUNT(modes); m++) {
    CHECK_EQ(want, store_open(path, modes[m], &store), "row %zu, mode %zu: %s", row, m, fail_text());
    if (!links[row].is_followed) CHECK(strstr(fail_text(), "belongs to user 4321"), "row %zu: %s", row, fail_text());
    store_close(store);
  }
  CHECK_EQ(want, store_real_path(path, &real), "row %zu: %s", row, fail_text());
  CHECK_TEXT(links[row].is_followed ? target : "", real ? real : "", "row %zu", row);
  free(real);
  CHECK(links[row].is_followed || hash_compare(before, hash_of_file(target)) == 0, "row %zu: the database changed",
        row);
}

TEST(links_of_others_in_shared_folders_are_not_followed) {
  if (geteuid() != 0) skip(); /* only root makes files of others */
  for (size_t i = 0; i < COUNT(links); i++) {
    const struct work work = work_begin();
    char shared[96], link[128], within[160], missing[160], target[128];
    struct store *store;
    struct stat facts;
    snprintf(shared, sizeof shared, "%s/shared", work.folder);
    snprintf(link, sizeof link, "%s/link", shared);
    make_store(work.path, "GPU");
    CHECK_EQ(0, mkdir(shared, 0700) + symlink(work.path, link) + lchown(link, links[i].link_owner, (gid_t)-1), "link");
    CHECK_EQ(0, chown(shared, links[i].owner, (gid_t)-1) + chmod(shared, links[i].mode), "folder");
    check_open(i, link, work.path);
    /* the link as a folder in a path, and as a new file */
    snprintf(target, sizeof target, "%s/made", work.folder);
    snprintf(within, sizeof within, "%s/halotune.db", link);
    snprintf(missing, sizeof missing, "%s/new/other.db", link);
    CHECK_EQ(0, unlink(link) + symlink(target, link) + lchown(link, links[i].link_owner, (gid_t)-1), "link");
    check_open(i, within, work.path);
    CHECK_EQ(links[i].is_followed ? HALOTUNE_OK : HALOTUNE_DB, store_open(missing, STORE_WRITE, &store), "row %zu", i);
    store_close(store);
    snprintf(target, sizeof target, "%s/made/new", work.folder);
    CHECK_EQ(links[i].is_followed, stat(target, &facts) == 0, "row %zu: a folder is made", i);
    work_end(&work);
  }
}

/* Who may have made the second name of a database depends on its folder. */
TEST(a_database_has_a_second_name_only_where_no_other_user_can_make_one) {
  static const struct {
    mode_t mode;
    uid_t folder, file;
    halotune_status want;
  } rows[] = {
      {0755, 0, 0, HALOTUNE_OK},
      {0777, 0, 0, HALOTUNE_DB},
      {01777, 0, 0, HALOTUNE_DB},
      {0775, 0, 0, HALOTUNE_DB},
      {0755, 0, OTHER_USER, HALOTUNE_OK},
      {0755, OTHER_USER, 0, HALOTUNE_DB},
      {0755, OTHER_USER, OTHER_USER, HALOTUNE_OK},
      {0755, OTHER_USER, OTHER_USER + 1, HALOTUNE_DB},
      {0777, OTHER_USER, OTHER_USER, HALOTUNE_DB},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (geteuid() != 0 && (rows[i].folder != 0 || rows[i].file != 0)) continue;
    const struct work work = work_begin();
    char folder[96], second[128];
    struct store *store;
    make_store(work.path, "GPU");
    snprintf(folder, sizeof folder, "%s/made", work.folder);
    snprintf(second, sizeof second, "%s/second.db", work.folder);
    CHECK_EQ(0, link(work.path, second) + chmod(folder, rows[i].mode), "row %zu", i);
    if (geteuid() == 0)
      CHECK_EQ(0, chown(work.path, rows[i].file, (gid_t)-1) + chown(folder, rows[i].folder, (gid_t)-1), "row %zu", i);
    for (int m = 0; m < 2; m++) {
      CHECK_EQ(rows[i].want, store_open(work.path, m ? STORE_WRITE : STORE_READ, &store), "row %zu: %s", i,
               fail_text());
      store_close(store);
      if (rows[i].want != HALOTUNE_OK) CHECK(strstr(fail_text(), "has a second name"), "row %zu: %s", i, fail_text());
    }
    CHECK_EQ(0, unlink(second), "row %zu", i);
    CHECK_OK(store_open(work.path, STORE_READ, &store));
    store_close(store);
    work_end(&work);
  }
}

/* A descriptor of this process is no link that somebody can exchange. */
TEST(a_database_is_opened_by_a_descriptor_and_by_a_relative_path) {
  const struct work work = work_begin();
  struct store *store;
  char path[64];
  make_store(work.path, "GPU");
  const int fd = open(work.path, O_RDONLY | O_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  CHECK_OK(store_open(path, STORE_READ, &store));
  store_close(store);
  CHECK_EQ(0, close(fd) + chdir(work.folder), "folder");
  CHECK_OK(store_open("made/../made/halotune.db", STORE_READ, &store));
  store_close(store);
  CHECK_OK(store_open("/proc/self/cwd/made/halotune.db", STORE_WRITE, &store));
  store_close(store);
  CHECK_EQ(0, chdir("/"), "/");
  work_end(&work);
}

/* Exchange two names without end, until this process is killed or its parent ends. */
static void exchange_always(const char *one, const char *other) {
  const pid_t parent = getppid();
  while (getppid() == parent) renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
  _exit(0);
}

/* Another user exchanges his folder with his link to a folder of this user, again and again. */
TEST(a_link_that_appears_is_not_followed) {
  enum { TRIES = 2000 };
  static const enum store_mode modes[] = {STORE_READ, STORE_WRITE};
  if (geteuid() != 0) skip(); /* only root makes files of others */
  const struct work work = work_begin();
  char shared[96], theirs[128], link[128], file[160], *folder = path_folder(work.path);
  struct store *store;
  snprintf(shared, sizeof shared, "%s/shared", work.folder);
  snprintf(theirs, sizeof theirs, "%s/theirs", shared);
  snprintf(link, sizeof link, "%s/link", shared);
  snprintf(file, sizeof file, "%s/%s", theirs, path_name(work.path));
  make_store(work.path, "own");
  CHECK_EQ(0, mkdir(shared, 0755) + mkdir(theirs, 0755), "%s", theirs);
  make_store(file, "theirs");
  CHECK_EQ(0, symlink(folder, link) + lchown(link, OTHER_USER, OTHER_USER), "%s", link);
  CHECK_EQ(0, chown(theirs, OTHER_USER, OTHER_USER) + chmod(shared, 01777), "%s", theirs);
  const pid_t child = fork();
  if (child == 0) exchange_always(theirs, link);
  for (int i = 0; i < TRIES; i++) {
    const halotune_status status = store_open(file, modes[i % 2], &store);
    CHECK_EQ(0, status == HALOTUNE_OK ? number_of(store, "select count(*) from device where name = 'own'") : 0,
             "try %d: this user's database is open", i);
    store_close(store);
    char *real = NULL;
    if (store_real_path(file, &real) == HALOTUNE_OK)
      CHECK(strncmp(real, shared, strlen(shared)) == 0, "try %d: %s is in a folder of this user", i, real);
    free(real);
  }
  CHECK_EQ(0, kill(child, SIGKILL), "the other user");
  CHECK_EQ(child, waitpid(child, NULL, 0), "the other user");
  free(folder);
  work_end(&work);
}

/* Whether another process can take a lock on a file. */
static bool is_unlocked(const char *path) {
  int state;
  const pid_t child = fork();
  if (child == 0) {
    struct flock all = {.l_type = F_WRLCK};
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    _exit(fd < 0 || fcntl(fd, F_GETLK, &all) != 0 ? 2 : all.l_type == F_UNLCK);
  }
  CHECK(waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) < 2, "%s: %d", path, state);
  return WEXITSTATUS(state) == 1;
}

/* A process that closes a file loses all its locks on the file, also those that it has by another descriptor. */
TEST(a_link_to_an_open_database_does_not_end_its_locks) {
  const struct work work = work_begin();
  static const char *const ends[] = {"", "-shm"};
  char locked[128], link[128];
  struct store *store, *other;
  struct imported imported;
  snprintf(link, sizeof link, "%s/link", work.folder);
  make_store(work.path, "GPU");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  for (size_t i = 0; i < COUNT(ends); i++) {
    char *bytes = NULL;
    size_t length = 0;
    snprintf(locked, sizeof locked, "%s%s", work.path, ends[i]);
    CHECK(!is_unlocked(locked), "%s is locked", locked);
    CHECK_EQ(0, symlink(locked, link), "link");
    CHECK_OK(file_read(link, 1 << 28, &bytes, &length));
    free(bytes);
    CHECK(!is_unlocked(locked), "%s stays locked when it was read", locked);
    if (import_open(link, &imported) == HALOTUNE_OK) store_close(imported.store);
    CHECK(!is_unlocked(locked), "%s stays locked when it was imported", locked);
    CHECK_EQ(*ends[i] ? HALOTUNE_DB : HALOTUNE_OK, store_open(link, STORE_READ, &other), "%s", fail_text());
    store_close(other);
    CHECK(!is_unlocked(locked), "%s stays locked when it was opened", locked);
    CHECK_EQ(0, unlink(link), "link");
  }
  store_close(store);
  CHECK(is_unlocked(work.path), "%s is not locked when it was closed", work.path);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(links_of_others_in_shared_folders_are_not_followed),
      cmocka_unit_test(a_database_has_a_second_name_only_where_no_other_user_can_make_one),
      cmocka_unit_test(a_database_is_opened_by_a_descriptor_and_by_a_relative_path),
      cmocka_unit_test(a_link_that_appears_is_not_followed),
      cmocka_unit_test(a_link_to_an_open_database_does_not_end_its_locks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
