/* make_test.c: folders and files are made where the user has named them, and behind no link of another user in a folder
 * of all users. Other owners need root. */
#include "base/files/make.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/base/place.h"

static halotune_status (*const makers[])(const char *path) = {folder_make, folder_make_for_all, file_make};
static const mode_t modes[] = {S_IFDIR | 0700, S_IFDIR | 0755, S_IFREG | 0600};

/* `all` has the mode, and in it a link of the owner to the folder `target`. */
static const struct {
  mode_t all;
  uid_t owner;
  bool is_followed;
} links[] = {
    {01777, OTHER_USER, false}, {0777, OTHER_USER, false}, {01777, 0, true}, {0777, 0, true}, {0755, OTHER_USER, true}};

TEST(nothing_is_made_behind_a_link_of_another_user) {
  if (geteuid() != 0) skip(); /* only root makes files of others */
  for (size_t i = 0; i < COUNT(links) * COUNT(makers); i++) {
    const size_t row = i / COUNT(makers), maker = i % COUNT(makers);
    char folder[] = "/tmp/halotune-make-XXXXXX", all[64], link[64], path[80], target[64], made[80];
    struct stat facts;
    CHECK(mkdtemp(folder), "%s", folder);
    snprintf(all, sizeof all, "%s/all", folder);
    snprintf(link, sizeof link, "%s/all/link", folder);
    snprintf(path, sizeof path, "%s/all/link/new", folder);
    snprintf(target, sizeof target, "%s/target", folder);
    snprintf(made, sizeof made, "%s/target/new", folder);
    CHECK_EQ(0, mkdir(all, 0700) + chmod(all, links[row].all) + mkdir(target, 0700), "folders");
    CHECK_EQ(0, symlink(target, link) + lchown(link, links[row].owner, (gid_t)-1), "link");
    const halotune_status want = links[row].is_followed ? HALOTUNE_OK : HALOTUNE_IO;
    CHECK_EQ(want, makers[maker](path), "row %zu, maker %zu: %s", row, maker, fail_text());
    CHECK_EQ(links[row].is_followed, stat(made, &facts) == 0, "row %zu, maker %zu: made", row, maker);
    if (want != HALOTUNE_OK)
      CHECK(strstr(fail_text(), "link belongs to user") || strstr(fail_text(), "this link in"), "%s", fail_text());
    place_leave(folder);
  }
}

TEST(what_is_there_stays) {
  for (size_t i = 0; i < COUNT(makers); i++) {
    char folder[] = "/tmp/halotune-make-XXXXXX", path[64], far[64];
    struct stat facts;
    CHECK(mkdtemp(folder), "%s", folder);
    snprintf(path, sizeof path, "%s/new", folder);
    snprintf(far, sizeof far, "%s/no/folder", folder);
    const mode_t mask = umask(022);
    CHECK_OK(makers[i](path));
    umask(mask);
    CHECK_EQ(0, lstat(path, &facts), "maker %zu", i);
    CHECK_EQ(modes[i], facts.st_mode, "maker %zu", i);
    CHECK_EQ(0, chmod(path, 0500), "maker %zu", i);
    CHECK_OK(makers[i](path));
    CHECK_EQ(0, lstat(path, &facts), "maker %zu", i);
    CHECK_EQ(0500, facts.st_mode & 0777, "maker %zu: as it was", i);
    CHECK_EQ(makers[i] == folder_make ? HALOTUNE_OK : HALOTUNE_IO, makers[i](far), "maker %zu", i);
    place_leave(folder);
  }
}

TEST(a_file_is_no_folder) {
  char folder[] = "/tmp/halotune-make-XXXXXX", path[64];
  CHECK(mkdtemp(folder), "%s", folder);
  snprintf(path, sizeof path, "%s/file", folder);
  CHECK_OK(file_make(path));
  CHECK_EQ(HALOTUNE_IO, folder_make(path), "%s", path);
  CHECK_EQ(HALOTUNE_IO, folder_make_for_all(path), "%s", path);
  snprintf(path, sizeof path, "%s/slashes///", folder);
  CHECK_OK(folder_make_for_all(path));
  CHECK_OK(folder_make_for_all(path));
  place_leave(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_made_behind_a_link_of_another_user),
      cmocka_unit_test(what_is_there_stays),
      cmocka_unit_test(a_file_is_no_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
