/* disk.c: a file system that lies, for LD_PRELOAD. statfs calls every folder NFS, unless $DISK_TYPE is set. $DISK_LOCKS
 * says what the locks of files are: honest; none (ENOLCK); unknown (ENOSYS); blind: every lock is granted; slow: each
 * takes 2 ms. Names of logs that SQLite opens for WAL are appended to $DISK_LOG. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { NFS = 0x6969, SLOW_US = 2000 };

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int statfs(const char *path, struct statfs *facts) {
  int (*real)(const char *, struct statfs *) = (int (*)(const char *, struct statfs *))next("statfs");
  const int result = real(path, facts);
  if (result == 0 && !getenv("DISK_TYPE")) facts->f_type = NFS;
  return result;
}

static int locks_as(const char *word) {
  const char *locks = getenv("DISK_LOCKS");
  return locks && strcmp(locks, word) == 0;
}

static int is_lock(int command) {
  return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

static int any_fcntl(const char *name, int fd, int command, void *argument) {
  int (*real)(int, int, ...) = (int (*)(int, int, ...))next(name);
  if (is_lock(command) && locks_as("blind")) return 0;
  if (is_lock(command) && (locks_as("none") || locks_as("unknown"))) {
    errno = locks_as("none") ? ENOLCK : ENOSYS;
    return -1;
  }
  if (is_lock(command) && locks_as("slow")) usleep(SLOW_US);
  return real(fd, command, argument);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved names. */
int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return any_fcntl("fcntl", fd, command, argument);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return any_fcntl("fcntl64", fd, command, argument);
}

static void tell_log(const char *path) {
  const size_t length = strlen(path);
  const char *log = getenv("DISK_LOG");
  if (!log || length < 4 || (strcmp(path + length - 4, "-wal") != 0 && strcmp(path + length - 4, "-shm") != 0)) return;
  FILE *file = fopen(log, "a");
  if (!file) return;
  fprintf(file, "%s\n", path);
  fclose(file);
}

static int any_open(const char *name, const char *path, int flags, int mode) {
  tell_log(path);
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))next(name);
  return real(path, flags, mode);
}

/* SQLite opens with the second one, unless Halotune's program opens for it. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = va_arg(list, int);
  va_end(list);
  return any_open("open", path, flags, mode);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = va_arg(list, int);
  va_end(list);
  return any_open("open64", path, flags, mode);
}
