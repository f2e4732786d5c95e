/* place.h: a folder that is empty at first, in which a test works. What lies in it can get the mode or the owner that
 * makes it unsafe. */
#ifndef TESTS_UNIT_BASE_PLACE_H
#define TESTS_UNIT_BASE_PLACE_H

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

enum { OTHER_USER = 12345 };

/* Make the folder, and make it the working directory.
 *   folder  a template of mkdtemp */
static inline void place_enter(char *folder) {
  CHECK(mkdtemp(folder) != NULL, "a folder");
  CHECK_EQ(0, chdir(folder), "%s", folder);
}

static inline void place_leave(const char *folder) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK_EQ(0, chdir("/"), "/");
  CHECK_EQ(0, system(command), "%s", command); // NOLINT: the name is from mkdtemp
}

/* Give a file or folder another mode or owner.
 *   mode           0: as it is
 *   is_given_away  to OTHER_USER, for which the test has to be root */
static inline void place_change(const char *path, mode_t mode, bool is_given_away) {
  if (mode) CHECK_EQ(0, chmod(path, mode), "%s: mode", path);
  if (is_given_away) CHECK_EQ(0, lchown(path, OTHER_USER, (gid_t)-1), "%s: owner", path);
}

#endif
