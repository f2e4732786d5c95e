/* output_file_test.c: links that another user put into a folder of all users are not followed. */
#include <sys/stat.h>

#include "tests/unit/stores.h"
#include "tuner/cli/output/output.h"

enum { OTHER_USER = 4321 };

TEST(links_of_others_in_shared_folders_are_not_followed) {
  static const struct {
    mode_t mode;
    uid_t owner, link_owner;
    halotune_status want;
  } rows[] = {
      {01777, 0, OTHER_USER, HALOTUNE_IO},          {01777, 0, 0, HALOTUNE_OK},
      {01777, OTHER_USER, OTHER_USER, HALOTUNE_IO}, {01777, OTHER_USER, OTHER_USER + 1, HALOTUNE_IO},
      {01777, OTHER_USER, 0, HALOTUNE_OK},          {0777, 0, 0, HALOTUNE_OK},
      {0755, 0, OTHER_USER, HALOTUNE_OK},           {0777, 0, OTHER_USER, HALOTUNE_IO},
  };
  if (geteuid() != 0) skip(); /* only root makes files of others */
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct work work = work_begin();
    char folder[96], link[128], target[128];
    struct stat facts;
    snprintf(folder, sizeof folder, "%s/shared", work.folder);
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(target, sizeof target, "%s/target", work.folder);
    CHECK(mkdir(folder, 0700) == 0 && symlink(target, link) == 0, "row %zu", i);
    CHECK(lchown(link, rows[i].link_owner, (gid_t)-1) == 0 && chown(folder, rows[i].owner, (gid_t)-1) == 0 &&
              chmod(folder, rows[i].mode) == 0,
          "row %zu", i);
    FILE *stream;
    CHECK_EQ(rows[i].want, output_stream(link, &stream), "row %zu: stream: %s", i, fail_text());
    CHECK_EQ(rows[i].want == HALOTUNE_OK, stream != NULL, "row %zu: stream", i);
    CHECK_EQ(rows[i].want == HALOTUNE_OK, stat(target, &facts) == 0, "row %zu: opened", i);
    if (stream) CHECK(fclose(stream) == 0 && unlink(target) == 0, "row %zu", i);
    CHECK_EQ(rows[i].want, output_file(link, OUTPUT_FOR_ALL, "text", 4), "row %zu: %s", i, fail_text());
    CHECK_EQ(rows[i].want == HALOTUNE_OK, stat(target, &facts) == 0, "row %zu: written", i);
    if (rows[i].want != HALOTUNE_OK) CHECK(strstr(fail_text(), "belongs to user 432"), "row %zu: %s", i, fail_text());
    /* the link as a folder in a path */
    char within[192];
    snprintf(within, sizeof within, "%s/within", link);
    snprintf(target, sizeof target, "%s/within", work.folder);
    CHECK(unlink(link) == 0 && symlink(work.folder, link) == 0 && lchown(link, rows[i].link_owner, (gid_t)-1) == 0,
          "row %zu", i);
    CHECK_EQ(rows[i].want, output_file(within, OUTPUT_FOR_ALL, "text", 4), "row %zu: folder: %s", i, fail_text());
    CHECK_EQ(rows[i].want == HALOTUNE_OK, stat(target, &facts) == 0, "row %zu: written into the folder", i);
    work_end(&work);
  }
}

TEST(a_stream_empties_files_and_does_not_wait_for_a_reader_of_a_pipe) {
  const struct work work = work_begin();
  char path[128], pipe[128];
  struct stat facts;
  FILE *stream;
  snprintf(path, sizeof path, "%s/file", work.folder);
  snprintf(pipe, sizeof pipe, "%s/pipe", work.folder);
  CHECK_OK(output_file(path, OUTPUT_FOR_ALL, "text", 4));
  CHECK_OK(output_stream(path, &stream));
  CHECK(fclose(stream) == 0 && stat(path, &facts) == 0, "file");
  CHECK_EQ(0, facts.st_size, "file");
  CHECK(mkfifo(pipe, 0600) == 0, "pipe");
  CHECK_EQ(HALOTUNE_IO, output_stream(pipe, &stream), "pipe");
  CHECK(strstr(fail_text(), "no program reads this pipe"), "%s", fail_text());
  CHECK_EQ(HALOTUNE_IO, output_stream(work.folder, &stream), "folder");
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(links_of_others_in_shared_folders_are_not_followed),
      cmocka_unit_test(a_stream_empties_files_and_does_not_wait_for_a_reader_of_a_pipe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
