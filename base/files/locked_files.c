/* locked_files.c: a short list of paths, which are looked up when a descriptor is closed. */
#include "base/files/locked_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory/array.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char **paths;
static int path_count, path_room;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }
static void register_handlers(void) { (void)pthread_atfork(before_fork, after_fork, after_fork); }

halotune_status locked_files_add(const char *path) {
  pthread_once(&once, register_handlers);
  char *copy = strdup(path);
  pthread_mutex_lock(&lock);
  const bool has_room = copy && array_room(paths, path_count, path_room);
  if (has_room) paths[path_count++] = copy;
  pthread_mutex_unlock(&lock);
  if (has_room) return HALOTUNE_OK;
  free(copy);
  return fail_memory();
}

void locked_files_remove(const char *path) {
  pthread_mutex_lock(&lock);
  int at = 0;
  while (at < path_count && strcmp(paths[at], path) != 0) at++;
  if (at < path_count) {
    free(paths[at]);
    paths[at] = paths[--path_count];
  }
  if (path_count == 0) {
    free(paths);
    paths = NULL;
    path_room = 0;
  }
  pthread_mutex_unlock(&lock);
}

static bool is_listed(const struct stat *file) {
  struct stat there;
  for (int i = 0; i < path_count; i++) {
    if (stat(paths[i], &there) == 0 && there.st_dev == file->st_dev && there.st_ino == file->st_ino) return true;
  }
  return false;
}

void locked_files_close(int fd) {
  struct stat facts;
  pthread_mutex_lock(&lock);
  if (fstat(fd, &facts) != 0 || !is_listed(&facts)) close(fd);
  pthread_mutex_unlock(&lock);
}
