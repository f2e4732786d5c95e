/* same_file.h: whether two files are one. */
#ifndef BASE_SAME_FILE_H
#define BASE_SAME_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* By what stat() tells about them: two names can lead to one file. */
static inline bool same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

#endif
