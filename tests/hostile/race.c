/* race.c: another user who is faster than the program, for LD_PRELOAD by root. When openat or lstat finds nothing at
 * $RACE_LINK, a link of user 12345 to $RACE_TARGET is there before the program's next call. With RACE_SKIP=N, the first
 * N such calls change nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHER_USER = 12345 };

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

/* Whether a call looked at the place of the link, and is the first one that is not skipped.
 *   name  as below */
static bool is_moment(const char *name, const char *link) {
  static int skipped;
  const char *skip = getenv("RACE_SKIP");
  if (strcmp(name, link) != 0 && strcmp(name, strrchr(link, '/') + 1) != 0) return false;
  return skipped++ >= (skip ? atoi(skip) : 0);
}

/* Put the link there, if a call has failed that looked at its place.
 *   name  the path that the call got, or its last part */
static void exchange_after(int result, const char *name) {
  const int code = errno;
  const char *link = getenv("RACE_LINK"), *target = getenv("RACE_TARGET");
  if (result < 0 && code == ENOENT && link && target && is_moment(name, link) && symlink(target, link) == 0)
    (void)!lchown(link, OTHER_USER, OTHER_USER);
  errno = code;
}

int openat(int folder, const char *name, int flags, ...) {
  int (*real)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))next("openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  const int result = real(folder, name, flags, mode);
  exchange_after(result, name);
  return result;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int lstat(const char *path, struct stat *facts) {
  int (*real)(const char *, struct stat *) = (int (*)(const char *, struct stat *))next("lstat");
  const int result = real(path, facts);
  exchange_after(result, path);
  return result;
}
