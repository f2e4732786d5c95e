/* emulation_cache_test.c: who may write what the emulation's cache gives to a compiler or executes, and what killed
 * processes leave there. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/replace.h"
#include "base/system/process.h"
#include "gpu/compile/cache_folder.h"
#include "tests/unit/unit.h"
#include "tuner/emulate/emulation_cache.h"
#include "tuner/emulate/emulation_files.h"
#include "tuner/emulate/emulation_scratch.h"

static char folder[64];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/halotune-own-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return cache_folder_remove(folder) == HALOTUNE_OK ? 0 : -1;
}

static const char *in_folder(const char *name) {
  static char path[2][256];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

/* Put a whole file where a runner is looked for, then make of it something that a peer could have put there. */
static void seal_file(const char *path) {
  CHECK_OK(file_replace_cached(path, "runner", 6));
  CHECK_OK(emulation_cache_seal(path));
}
static void make_pipe(const char *path) { CHECK_EQ(0, unlink(path) || mkfifo(path, 0600), "%s", path); }
static void make_link(const char *path) {
  CHECK_EQ(0, rename(path, in_folder("other")) || symlink(in_folder("other"), path), "%s", path);
}
static void let_others_write(const char *path) { CHECK_EQ(0, chmod(path, 0766), "%s", path); }
static void give_away(const char *path) {
  if (chown(path, 12345, 12345) != 0) unlink(path); /* only root can */
}
static void leave(const char *path) { (void)path; }

TEST(only_a_file_of_ours_is_executed) {
  static const struct {
    void (*change)(const char *path);
    enum emulation_cache_answer want;
  } rows[] = {{leave, EMULATION_CACHE_HIT},
              {make_pipe, EMULATION_CACHE_MISS},
              {make_link, EMULATION_CACHE_MISS},
              {let_others_write, EMULATION_CACHE_MISS},
              {give_away, EMULATION_CACHE_MISS}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%zu.runner", folder, i);
    seal_file(path);
    rows[i].change(path);
    CHECK_EQ(rows[i].want, emulation_cache_find(path), "row %zu", i);
    seal_file(path);
    CHECK_EQ(EMULATION_CACHE_HIT, emulation_cache_find(path), "row %zu: replaced", i);
  }
}

static char warning[400];
static void take_warning(const char *text) { snprintf(warning, sizeof warning, "%s", text); }

TEST(a_folder_that_others_can_write_is_refused_with_the_remedy) {
  struct emulation_options options = {.folder = in_folder("cache"), .warn = take_warning};
  char *got;
  CHECK_OK(emulation_cache_open(&options, &got));
  free(got);
  CHECK_EQ(0, chmod(options.folder, 0770), "%s", options.folder);
  CHECK_EQ(HALOTUNE_IO, emulation_cache_open(&options, &got), "writable by the group");
  CHECK(strstr(fail_text(), "run: chmod -R go-w "), "%s", fail_text());
  CHECK_EQ(0, chmod(options.folder, 0700), "%s", options.folder);
  CHECK_OK(emulation_cache_open(&options, &got));
  free(got);
  if (chown(options.folder, 12345, 12345) == 0) { /* only root can */
    CHECK_EQ(HALOTUNE_IO, emulation_cache_open(&options, &got), "another user's");
    CHECK(strstr(fail_text(), "XDG_CACHE_HOME"), "%s", fail_text());
  }
}

/* Each file is replaced by a pipe or a link, and each folder is opened to others in turn. */
TEST(sources_that_others_can_write_are_not_compiled) {
  char files[128], header[256], parent[256];
  struct stat facts;
  snprintf(files, sizeof files, "%s/00112233445566778899aabbccddeeff", folder);
  snprintf(header, sizeof header, "%s/%s", files, EMULATION_FILES_HEADER);
  CHECK_OK(emulation_files_write(files));
  make_pipe(header);
  CHECK_OK(emulation_files_write(files));
  CHECK(lstat(header, &facts) == 0 && S_ISREG(facts.st_mode), "a pipe is replaced");
  make_link(header);
  CHECK_OK(emulation_files_write(files));
  CHECK(lstat(header, &facts) == 0 && S_ISREG(facts.st_mode), "a link is replaced");
  snprintf(parent, sizeof parent, "%s/tuner/emulate", files);
  for (int up = 0; up < 3; up++) {
    CHECK_EQ(0, chmod(parent, 0777), "%s", parent);
    CHECK_EQ(HALOTUNE_IO, emulation_files_write(files), "%s", parent);
    CHECK_EQ(0, chmod(parent, 0700), "%s", parent);
    *strrchr(parent, '/') = '\0';
  }
  CHECK_OK(emulation_files_write(files));
}

static int scratch_folders(void) {
  int count = 0;
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) count += cache_folder_is_scratch(entry->d_name);
  if (entries) closedir(entries);
  return count;
}

/* Open a scratch folder in a child process, write a file into it, and kill the child if `is_killed`. */
static pid_t child_with_scratch(bool is_killed) {
  int ends[2];
  char byte = 0;
  CHECK_EQ(0, pipe(ends), "pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    struct emulation_scratch scratch;
    char path[256];
    if (emulation_scratch_open(folder, &scratch) != HALOTUNE_OK) _exit(1);
    snprintf(path, sizeof path, "%s/ccabcdef.o", scratch.folder);
    if (file_replace_cached(path, "object", 6) != HALOTUNE_OK || write(ends[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ends[1]);
  CHECK_EQ(1, read(ends[0], &byte, 1), "the child has its folder");
  close(ends[0]);
  if (is_killed) process_kill(pid);
  return pid;
}

TEST(the_next_run_removes_what_a_killed_compiler_left) {
  struct emulation_scratch scratch;
  child_with_scratch(true);
  const pid_t alive = child_with_scratch(false);
  CHECK_EQ(1, scratch_folders(), "the second child removed what the first one left");
  CHECK_OK(emulation_scratch_open(folder, &scratch));
  CHECK_EQ(2, scratch_folders(), "what a living process uses stays");
  emulation_scratch_close(&scratch);
  CHECK_EQ(1, scratch_folders(), "closed");
  process_kill(alive);
  CHECK_OK(emulation_scratch_open(folder, &scratch));
  CHECK_EQ(1, scratch_folders(), "our own");
  emulation_scratch_close(&scratch);
  CHECK_EQ(0, scratch_folders(), "none");
}

static void *open_and_close(void *context) {
  enum { TIMES = 200 };
  struct stat facts;
  (void)context;
  for (int i = 0; i < TIMES; i++) {
    struct emulation_scratch scratch;
    char lock[256];
    if (emulation_scratch_open(folder, &scratch) != HALOTUNE_OK) return (void *)1;
    snprintf(lock, sizeof lock, "%s/lock", scratch.folder);
    const bool is_there = stat(lock, &facts) == 0;
    emulation_scratch_close(&scratch);
    if (!is_there) return (void *)2;
  }
  return NULL;
}

/* A process that cleans up never takes a folder that is being made for the folder of a dead process. */
TEST(a_folder_that_is_being_made_stays) {
  pthread_t threads[4];
  for (size_t i = 0; i < COUNT(threads); i++)
    CHECK_EQ(0, pthread_create(&threads[i], NULL, open_and_close, NULL), "thread");
  for (size_t i = 0; i < COUNT(threads); i++) {
    void *result;
    pthread_join(threads[i], &result);
    CHECK(!result, "thread %zu lost its folder (%ld)", i, (long)(intptr_t)result);
  }
  CHECK_EQ(0, scratch_folders(), "none is left");
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  umask(0); /* the most generous one */
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(only_a_file_of_ours_is_executed),
      WITH_FOLDER(a_folder_that_others_can_write_is_refused_with_the_remedy),
      WITH_FOLDER(sources_that_others_can_write_are_not_compiled),
      WITH_FOLDER(the_next_run_removes_what_a_killed_compiler_left),
      WITH_FOLDER(a_folder_that_is_being_made_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
