/* exchange_test.c: which folders on the way to a file let another user exchange it. Other owners need root. */
#include "base/files/exchange.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/own.h"
#include "base/files/place.h"
#include "tests/unit/base/place.h"

/* Each row changes one thing below an empty folder, in which these are made before: mine/cache and open/cache, folders
 * of mode 700 but for `open`; and links `to_open` -> open, `back` -> open/link, open/link -> mine. */
static const struct {
  const char *changed; /* what gets another owner or mode */
  mode_t mode;         /* 0: as it is */
  bool is_given_away;
  const char *path;
  const char *told; /* in the detail; NULL: accepted */
} rows[] = {
    {"open", 01777, false, "open/cache", NULL},
    {"open", 01777, false, "to_open/cache", NULL},
    {"open", 01777, false, "back/cache", "open/link: this link is in a folder of all users"},
    {"open", 01777, false, "around/cache", NULL},
    {"open", 0777, false, "open/cache", "open: all users can exchange what lies in this folder"},
    {"open", 0777, false, "to_open/cache", "run: chmod +t"},
    {"open", 0777, false, "open/nothing/yet", "chmod +t"},
    {"open", 0777, false, "open", NULL},
    {"open", 0770, false, "open/cache", NULL},
    {"open", 01777, true, "open/cache", "open: this folder belongs to user 12345"},
    {"open", 01777, true, "open/nothing", "use a folder of your own"},
    {"open", 01777, true, "to_open/cache", "open: this folder belongs to user 12345"},
    {"open", 0755, true, "to_open/cache", "open: this folder belongs to user 12345"},
    {"open", 0755, true, "back/cache", "open: this folder belongs to user 12345"},
    {"open/cache", 0, true, "open/cache/", "open/cache: this folder belongs to user 12345"},
    {"open/link", 0, true, "open/link/cache", "open/link: this link belongs to user 12345"},
    {"open/link", 0, true, "back/cache", "open/link: this link belongs to user 12345"},
    {"mine/cache", 0, true, "mine/cache", NULL}, /* own_check refuses it */
    {"mine/cache", 0, true, "mine/cache/file", "mine/cache: this folder belongs to user 12345"},
    {"mine", 0, false, "missing/cache", NULL},
    {"mine", 0, false, "mine/cache", NULL},
};

static void make_place(char *folder) {
  place_enter(folder);
  CHECK_EQ(0, mkdir("mine", 0700) + mkdir("mine/cache", 0700) + mkdir("open", 0700) + mkdir("open/cache", 0700),
           "folders");
  CHECK_EQ(0, chmod("open", 01777), "sticky");
  CHECK_EQ(0, symlink("open", "to_open") + symlink("open/link", "back"), "links");
  CHECK_EQ(0, symlink("../mine", "open/link"), "the link in it");
  CHECK_EQ(0, mkdir("shut", 0755) + symlink("shut/link", "around") + symlink("../mine", "shut/link"), "closed");
}

TEST(a_folder_that_another_user_can_exchange_is_refused) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    char folder[] = "/tmp/halotune-exchange-XXXXXX", absolute[256];
    if (rows[i].is_given_away && geteuid() != 0) continue;
    make_place(folder);
    place_change(rows[i].changed, rows[i].mode, rows[i].is_given_away);
    snprintf(absolute, sizeof absolute, "%s/%s", folder, rows[i].path);
    for (int k = 0; k < 2; k++) {
      const char *path = k == 0 ? rows[i].path : absolute;
      CHECK_EQ(rows[i].told ? HALOTUNE_IO : HALOTUNE_OK, exchange_check(path), "row %zu: %s", i, path);
      if (rows[i].told) CHECK(strstr(fail_text(), rows[i].told) != NULL, "row %zu: %s", i, fail_text());
    }
    place_leave(folder);
  }
}

/* The working directory of a relative path counts as the folder around it. */
TEST(the_working_directory_counts) {
  char folder[] = "/tmp/halotune-exchange-XXXXXX";
  make_place(folder);
  CHECK_EQ(0, chdir("open"), "open");
  CHECK_OK(exchange_check("cache"));
  CHECK_EQ(0, chmod(".", 0777), "not sticky");
  CHECK_EQ(HALOTUNE_IO, exchange_check("cache"), "not sticky");
  CHECK(strstr(fail_text(), ".: all users") == fail_text(), "%s", fail_text());
  place_leave(folder);
}

/* The folder itself counts as one in which others can exchange files. */
TEST(a_folder_is_found_if_nobody_can_exchange_what_lies_in_it) {
  char folder[] = "/tmp/halotune-exchange-XXXXXX";
  bool is_there = true;
  make_place(folder);
  CHECK_OK(exchange_find_folder("mine/missing", &is_there));
  CHECK(!is_there, "nothing is there");
  CHECK_OK(exchange_find_folder("open/cache", &is_there));
  CHECK(is_there, "a folder");
  CHECK_OK(exchange_find_folder("around", &is_there));
  CHECK(is_there, "a link to a link");
  CHECK_EQ(0, chmod("open/cache", 0777), "not sticky");
  CHECK_OK(exchange_check("open/cache"));
  CHECK_EQ(HALOTUNE_IO, exchange_find_folder("open/cache", &is_there), "all users can write");
  CHECK(!is_there, "after a failure");
  if (geteuid() == 0) {
    place_change("mine/cache", 0, true);
    CHECK_EQ(HALOTUNE_IO, exchange_find_folder("mine/cache", &is_there), "of another user");
  }
  place_leave(folder);
}

/* A check that accepts leaves the detail of the failure before. */
TEST(what_is_not_there_leaves_no_detail) {
  fail(HALOTUNE_IO, "before");
  CHECK_OK(exchange_check("/nothing/there"));
  CHECK_TEXT("before", fail_text(), "the detail");
  CHECK_EQ(HALOTUNE_NOT_FOUND, own_folder_check("/nothing/there"), "so that nobody uses the path afterwards");
  CHECK_TEXT("before", fail_text(), "the detail");
}

/* Each folder is made in the open folder above it. */
TEST(a_folder_is_made_with_all_that_is_missing_above_it) {
  char folder[] = "/tmp/halotune-exchange-XXXXXX", absolute[256];
  struct stat made, opened;
  int fd;
  make_place(folder);
  snprintf(absolute, sizeof absolute, "%s/around/a/b//c/", folder);
  for (int i = 0; i < 4; i++) {
    CHECK_OK(exchange_open_folder(absolute, EXCHANGE_WAY, &fd));
    CHECK_EQ(i == 0, fd < 0, "not there before");
    if (fd >= 0) close(fd);
    CHECK_OK(exchange_make_folder(absolute, i % 2 ? EXCHANGE_WAY : EXCHANGE_LINKS, &fd));
    CHECK_EQ(0, fstat(fd, &opened) + stat("mine/a/b/c", &made), "behind the links");
    CHECK(made.st_ino == opened.st_ino && (made.st_mode & 0777) == 0700, "mode %o", (unsigned)made.st_mode);
    close(fd);
    CHECK_OK(own_folder_make(absolute));
    CHECK_OK(own_folder_check(absolute));
  }
  CHECK_EQ(0, symlink("../far/away", "shut/far"), "a link of this user that leads nowhere yet");
  CHECK_OK(own_folder_make("shut/far/b"));
  CHECK_EQ(0, stat("far/away/b", &made), "is followed");
  CHECK_EQ(0, close(open("mine/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), "a file");
  CHECK_EQ(HALOTUNE_NOT_FOUND, own_folder_check("mine/file"), "not a folder");
  CHECK_EQ(HALOTUNE_IO, exchange_make_folder("mine/file/a", EXCHANGE_LINKS, &fd), "a file in the way");
  CHECK_TEXT("mine/file/a: File exists", fail_text(), "the reason");
  CHECK_EQ(-1, fd, "no descriptor");
  CHECK_EQ(0, chmod("mine/a", 0777), "others can exchange what lies in it");
  CHECK_OK(exchange_open_folder("mine/a", EXCHANGE_WAY, &fd));
  close(fd);
  CHECK_EQ(HALOTUNE_IO, own_folder_make("mine/a"), "but the folder itself is refused as a cache");
  CHECK(strstr(fail_text(), "chmod -R go-w") != NULL, "%s", fail_text());
  CHECK_EQ(HALOTUNE_IO, exchange_make_folder("mine/a/d", EXCHANGE_WAY, &fd), "and nothing is made in it");
  CHECK(access("mine/a/d", F_OK) != 0, "nothing");
  if (geteuid() == 0) {
    place_change("shut/far", 0, true); /* a link of another user */
    for (int rule = EXCHANGE_LINKS; rule <= EXCHANGE_WAY; rule++) {
      CHECK_EQ(HALOTUNE_IO, exchange_make_folder("shut/far/c", (enum exchange_rule)rule, &fd), "rule %d", rule);
      CHECK(access("far/away/c", F_OK) != 0, "nothing is made behind it");
    }
  }
  place_leave(folder);
}

/* A process without a free descriptor has looked at no folder, so it accepts none. */
TEST(what_cannot_be_looked_at_is_refused) {
  struct rlimit before, few;
  char folder[] = "/tmp/halotune-exchange-XXXXXX";
  make_place(folder);
  CHECK_EQ(0, getrlimit(RLIMIT_NOFILE, &before), "limit");
  const int next = open("/", O_PATH);
  CHECK(next >= 0 && close(next) == 0, "a descriptor");
  few = (struct rlimit){.rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max};
  CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &few), "no more descriptors");
  const halotune_status status = exchange_check("mine/cache");
  CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &before), "as before");
  CHECK_EQ(HALOTUNE_IO, status, "%s", fail_text());
  place_leave(folder);
}

/* The kernel writes " (deleted)" behind the path of a removed file, and another user can make a file of this name. */
TEST(what_was_removed_has_no_path) {
  char folder[] = "/tmp/halotune-exchange-XXXXXX", name[64], *path = NULL;
  struct place place;
  make_place(folder);
  CHECK_EQ(0, mkdir("mine/work", 0700) + chdir("mine/work") + rmdir("../work"), "working folder");
  CHECK_EQ(0, mkdir("../work (deleted)", 0700), "of this name");
  CHECK_OK(exchange_real_path("x.db", &path));
  CHECK_TEXT("x.db", path, "a name in a removed folder");
  free(path);
  CHECK_EQ(0, chdir("../work (deleted)"), "a folder");
  const int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int other = open("file (deleted)", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && other >= 0, "files");
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  CHECK_OK(exchange_find_place(name, &place));
  CHECK_TEXT("file", place.name, "it is there");
  place_close(&place);
  CHECK_EQ(0, unlink("file"), "remove it");
  CHECK_EQ(HALOTUNE_IO, exchange_find_place(name, &place), "it was removed");
  place_close(&place);
  CHECK_EQ(HALOTUNE_IO, exchange_real_path(name, &path), "it was removed");
  close(fd);
  close(other);
  place_leave(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_folder_that_another_user_can_exchange_is_refused),
      cmocka_unit_test(the_working_directory_counts),
      cmocka_unit_test(a_folder_is_found_if_nobody_can_exchange_what_lies_in_it),
      cmocka_unit_test(what_is_not_there_leaves_no_detail),
      cmocka_unit_test(a_folder_is_made_with_all_that_is_missing_above_it),
      cmocka_unit_test(what_cannot_be_looked_at_is_refused),
      cmocka_unit_test(what_was_removed_has_no_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
