/* found_files.c: which paths were found, and which files are not used. */
#include "tuner/cli/options/found_files.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/data_file.h"
#include "base/files/file.h"
#include "base/memory/array.h"
#include "base/text/text.h"

/* Paths, which stay until the program ends. */
struct paths {
  char **list;
  int count, capacity;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct paths found, told;

static bool paths_have(const struct paths *paths, const char *path) {
  bool is_known = false;
  for (int i = 0; i < paths->count && !is_known; i++) is_known = strcmp(paths->list[i], path) == 0;
  return is_known;
}

/* Add a path that is not there yet. */
static bool paths_add(struct paths *paths, const char *path) {
  char **list = array_grow(paths->list, paths->count, &paths->capacity, sizeof *list);
  if (!list) return false;
  paths->list = list;
  list[paths->count] = strdup(path);
  return list[paths->count] && ++paths->count;
}

bool found_file_is_new(const char *path) {
  pthread_mutex_lock(&lock);
  const bool is_known = paths_have(&told, path);
  if (!is_known) paths_add(&told, path); /* if memory is out, the user is told again */
  pthread_mutex_unlock(&lock);
  return !is_known;
}

bool found_file_keep(const char *path) {
  pthread_mutex_lock(&lock);
  const bool is_kept = paths_have(&found, path) || paths_add(&found, path);
  pthread_mutex_unlock(&lock);
  return is_kept;
}

bool found_file_is_kept(const char *path) {
  pthread_mutex_lock(&lock);
  const bool is_kept = paths_have(&found, path);
  pthread_mutex_unlock(&lock);
  return is_kept;
}

/* Tell why a file is not used, and what the user can do: with a file of another user only root can.
 *   flaw, facts  from data_file_look, whose reason is in fail_text() */
static void tell_unusable(const char *path, const char *variable, enum data_flaw flaw, const struct stat *facts) {
  const char *remedy = variable ? variable : "a path";
  struct text word = {0};
  if (!found_file_is_new(path)) return;
  text_shell_word(&word, path);
  if (flaw == DATA_WRITABLE)
    fprintf(stderr, "halotune: %s; run%s: chmod o-w %s\n", fail_text(), facts->st_uid == geteuid() ? "" : ", as root",
            text_string(&word));
  else if (flaw == DATA_FOREIGN)
    fprintf(stderr, "halotune: %s; if you trust it, name its folder in %s, or run, as root: chown %lu %s\n",
            fail_text(), remedy, (unsigned long)geteuid(), text_string(&word));
  else fprintf(stderr, "halotune: %s; if you trust it, name its folder in %s\n", fail_text(), remedy);
  text_free(&word);
}

bool found_file_is_usable(const char *path, const char *variable) {
  struct stat facts;
  const enum data_flaw flaw = data_file_look(path, &facts);
  if (flaw == DATA_NO_FLAW || flaw == DATA_MISSING) return true;
  tell_unusable(path, variable, flaw, &facts);
  return false;
}
