/* locked_files.c: a short list of paths. They are looked up when a descriptor is closed. */
#include "base/files/locked_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/same_file.h"
#include "base/memory/array.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct locked_file {
  char *path;
  bool is_noted;
  struct stat facts; /* of the file that was opened, if it is noted */
} * files;
static int file_count, file_room;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }
static void register_handlers(void) { (void)pthread_atfork(before_fork, after_fork, after_fork); }

void locked_files_guard_forks(void) { pthread_once(&once, register_handlers); }

halotune_status locked_files_add(const char *path) {
  locked_files_guard_forks();
  char *copy = strdup(path);
  pthread_mutex_lock(&lock);
  const bool has_room = copy && array_room(files, file_count, file_room);
  if (has_room) files[file_count++] = (struct locked_file){.path = copy};
  pthread_mutex_unlock(&lock);
  if (has_room) return HALOTUNE_OK;
  free(copy);
  return fail_memory();
}

/* Find the entry of a path that was added last; NULL: there is none. */
static struct locked_file *find_file(const char *path) {
  for (int i = file_count - 1; i >= 0; i--) {
    if (strcmp(files[i].path, path) == 0) return &files[i];
  }
  return NULL;
}

void locked_files_remove(const char *path) {
  pthread_mutex_lock(&lock);
  struct locked_file *file = find_file(path);
  if (file) {
    free(file->path);
    file_count--;
    memmove(file, file + 1, (size_t)(&files[file_count] - file) * sizeof *file);
  }
  if (file_count == 0) {
    free(files);
    files = NULL;
    file_room = 0;
  }
  pthread_mutex_unlock(&lock);
}

bool locked_files_note(const char *path, const struct stat *facts) {
  pthread_mutex_lock(&lock);
  struct locked_file *file = find_file(path);
  const bool is_new = file && !file->is_noted;
  if (is_new) {
    file->is_noted = true;
    file->facts = *facts;
  }
  const bool is_right = !file || same_file(&file->facts, facts);
  pthread_mutex_unlock(&lock);
  return is_right;
}

bool locked_files_noted(const char *path, struct stat *out) {
  pthread_mutex_lock(&lock);
  const struct locked_file *file = find_file(path);
  const bool is_noted = file && file->is_noted;
  if (is_noted) *out = file->facts;
  pthread_mutex_unlock(&lock);
  return is_noted;
}

static bool is_listed(const struct stat *file) {
  struct stat there;
  for (int i = 0; i < file_count; i++) {
    if (stat(files[i].path, &there) == 0 && same_file(&there, file)) return true;
  }
  return false;
}

void locked_files_close(int fd) {
  struct stat facts;
  pthread_mutex_lock(&lock);
  if (fstat(fd, &facts) != 0 || !is_listed(&facts)) close(fd);
  pthread_mutex_unlock(&lock);
}
