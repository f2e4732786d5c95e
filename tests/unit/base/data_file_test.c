/* data_file_test.c: which files that are found without being named are used. Other owners need root. */
#include "base/files/data_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/data_folders.h"
#include "base/text/text.h"
#include "tests/unit/base/place.h"

/* Each row changes one thing below an empty folder, in which these are made before: the files found/file, theirs/file
 * and open/file; folders of mode 755 but for `open`, which is sticky; and in `found` the links
 * to_file -> ../theirs/file, to_open -> ../open/file, away -> to_file, and nowhere -> ../theirs/missing; and the link
 * `folder` -> theirs. */
static const struct {
  const char *changed; /* what gets another owner or mode */
  mode_t mode;         /* 0: as it is */
  bool is_given_away;
  const char *path;
  enum data_flaw want;
} rows[] = {
    {"found", 0, false, "found/file", DATA_NO_FLAW},
    {"found", 0, false, "found/to_file", DATA_NO_FLAW},
    {"found", 0, false, "found/to_open", DATA_NO_FLAW},
    {"found", 0, false, "found/away", DATA_NO_FLAW},
    {"found", 0, false, "folder/file", DATA_NO_FLAW},
    {"found", 0, false, "found", DATA_NO_FLAW},
    {"found", 0, false, "found/nothing", DATA_MISSING},
    {"found", 0, false, "found/nowhere", DATA_MISSING},
    {"found", 0, false, "found/nothing/file", DATA_MISSING},
    {"found/file", 0666, false, "found/file", DATA_WRITABLE},
    {"theirs/file", 0646, false, "found/away", DATA_WRITABLE},
    {"open", 0777, false, "found/to_open", DATA_EXCHANGEABLE},
    {"open", 0777, false, "open/file", DATA_NO_FLAW}, /* no link leads there: the folder is the caller's to check */
    {"theirs", 0757, false, "folder/file", DATA_EXCHANGEABLE},
    {"found/file", 0, true, "found/file", DATA_FOREIGN},
    {"theirs/file", 0, true, "found/to_file", DATA_FOREIGN},
    {"open/file", 0, true, "found/to_open", DATA_FOREIGN},
    {"theirs", 0, true, "found/to_file", DATA_EXCHANGEABLE},
    {"theirs", 0, true, "found/away", DATA_EXCHANGEABLE},
    {"theirs", 0, true, "found/nowhere", DATA_EXCHANGEABLE},
    {"theirs", 0, true, "folder/file", DATA_EXCHANGEABLE},
    {"theirs", 0, true, "theirs/file", DATA_NO_FLAW},
    {"found/to_file", 0, true, "found/away", DATA_EXCHANGEABLE},
    {"folder", 0, true, "folder/file", DATA_EXCHANGEABLE},
};

static void make_file(const char *path) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  CHECK(fd >= 0 && write(fd, "text", 4) == 4 && close(fd) == 0, "%s", path);
}

static void make_place(char *folder) {
  place_enter(folder);
  CHECK_EQ(0, mkdir("found", 0755) + mkdir("theirs", 0755) + mkdir("open", 0700) + chmod("open", 01777), "folders");
  CHECK_EQ(0, symlink("../theirs/file", "found/to_file") + symlink("../open/file", "found/to_open"), "links");
  CHECK_EQ(0, symlink("to_file", "found/away") + symlink("../theirs/missing", "found/nowhere"), "links");
  CHECK_EQ(0, symlink("theirs", "folder"), "a link to a folder");
  make_file("found/file");
  make_file("theirs/file");
  make_file("open/file");
}

TEST(a_file_that_another_user_can_exchange_is_not_used) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    char folder[] = "/tmp/halotune-data-XXXXXX", absolute[256], *bytes;
    struct stat facts;
    size_t length;
    if (rows[i].is_given_away && geteuid() != 0) continue;
    make_place(folder);
    place_change(rows[i].changed, rows[i].mode, rows[i].is_given_away);
    snprintf(absolute, sizeof absolute, "%s/%s", folder, rows[i].path);
    for (int k = 0; k < 2; k++) {
      const char *path = k == 0 ? rows[i].path : absolute;
      CHECK_EQ(rows[i].want, data_file_look(path, &facts), "row %zu: %s: %s", i, path, fail_text());
      fail(HALOTUNE_IO, "before");
      CHECK_EQ(rows[i].want == DATA_NO_FLAW, data_is_safe(path), "row %zu: %s", i, path);
      CHECK_TEXT("before", fail_text(), "row %zu: the detail stays", i);
      const bool is_read = data_file_read(path, 100, &bytes, &length) == HALOTUNE_OK;
      CHECK_EQ(rows[i].want == DATA_NO_FLAW && !S_ISDIR(facts.st_mode), is_read, "row %zu: %s", i, fail_text());
      if (is_read) CHECK_TEXT("text", bytes, "row %zu", i);
      if (rows[i].want > DATA_MISSING)
        CHECK(strstr(fail_text(), " is not used, because "), "row %zu: %s", i, fail_text());
      free(bytes);
    }
    place_leave(folder);
  }
}

/* The call waits for no pipe. */
TEST(only_regular_files_are_read) {
  char folder[] = "/tmp/halotune-data-XXXXXX", *bytes;
  size_t length;
  make_place(folder);
  CHECK_EQ(0, mkfifo("found/pipe", 0600), "a pipe");
  CHECK_EQ(HALOTUNE_IO, data_file_read("found/pipe", 100, &bytes, &length), "a pipe");
  CHECK_TEXT("found/pipe: this is not a regular file", fail_text(), "a pipe");
  CHECK_EQ(HALOTUNE_NOT_FOUND, data_file_read("found/nothing", 100, &bytes, &length), "nothing");
  CHECK_TEXT("found/nothing: No such file or directory", fail_text(), "nothing");
  CHECK_EQ(HALOTUNE_IO, data_file_read("found/file", 3, &bytes, &length), "a longer file");
  CHECK(bytes == NULL && length == 0, "nothing after a failure");
  place_leave(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_that_another_user_can_exchange_is_not_used),
      cmocka_unit_test(only_regular_files_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
