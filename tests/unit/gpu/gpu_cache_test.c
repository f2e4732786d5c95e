/* gpu_cache_test.c: the cubin cache, with made-up cubins. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/compile/cubin_cache.h"
#include "tests/unit/unit.h"

static const struct nvrtc_facts nvrtc_13 = {.major = 13}, nvrtc_12 = {.major = 12, .minor = 9};
static const char *const fast[] = {"--use_fast_math"};
static char folder[64];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/halotune-cache-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  struct cubin_cache cache;
  struct cache_facts removed;
  bool is_held;
  cubin_cache_open(folder, 0, &cache);
  cache_folder_clean(cache.folder, &removed, &is_held);
  cubin_cache_close(&cache);
  return rmdir(folder);
}

static struct cubin_cache open_cache(uint64_t max_bytes) {
  struct cubin_cache cache;
  CHECK_OK(cubin_cache_open(folder, max_bytes, &cache));
  return cache;
}

static struct compile_request request_of(const char *source) {
  return (struct compile_request){.source = source, .name = "test.cu", .arch = "sm_90"};
}

/* A cubin that identifies its source: `length` bytes that repeat the source. */
static struct compiled compiled_of(const char *source, size_t length) {
  struct compiled made = {.cubin = malloc(length), .cubin_bytes = length, .log = strdup(source), .compile_time_ms = 30};
  for (size_t i = 0; i < length; i++) made.cubin[i] = source[i % strlen(source)];
  return made;
}

static bool put_source(struct cubin_cache *cache, const char *source, size_t length) {
  struct compile_request request = request_of(source);
  struct compiled made = compiled_of(source, length);
  bool kept = cubin_cache_put(cache, &request, &nvrtc_13, &made);
  compiled_free(&made);
  return kept;
}

/* Look up a cubin, and check that a hit is complete. */
static enum cubin_cache_answer get_source(struct cubin_cache *cache, const char *source, size_t length) {
  struct compiled got;
  struct compile_request request = request_of(source);
  enum cubin_cache_answer answer = cubin_cache_get(cache, &request, &nvrtc_13, &got);
  if (answer == CUBIN_CACHE_HIT) {
    struct compiled want = compiled_of(source, length);
    CHECK_EQ(want.cubin_bytes, got.cubin_bytes, "%s", source);
    CHECK(memcmp(want.cubin, got.cubin, length) == 0, "%s", source);
    CHECK_TEXT(source, got.log, "log");
    compiled_free(&want);
  }
  compiled_free(&got);
  return answer;
}

/* Find the path of the only entry. */
static void entry_path(char *path, size_t bytes) {
  DIR *files = opendir(folder);
  CHECK(files, "%s", folder);
  path[0] = '\0';
  for (struct dirent *file; (file = readdir(files));) {
    if (file->d_name[0] != '.') snprintf(path, bytes, "%.60s/%.200s", folder, file->d_name);
  }
  closedir(files);
  CHECK(path[0], "an entry");
}

TEST(what_was_put_is_found_by_everything_that_went_in) {
  static const struct {
    struct compile_request request;
    const struct nvrtc_facts *nvrtc;
    enum cubin_cache_answer want;
  } rows[] = {
      {{"a", "other.cu", "sm_90", NULL, 0}, &nvrtc_13, CUBIN_CACHE_HIT}, /* the name is only for messages */
      {{"b", "test.cu", "sm_90", NULL, 0}, &nvrtc_13, CUBIN_CACHE_MISS},
      {{"a", "test.cu", "sm_80", NULL, 0}, &nvrtc_13, CUBIN_CACHE_MISS},
      {{"a", "test.cu", "sm_90", fast, 1}, &nvrtc_13, CUBIN_CACHE_MISS},
      {{"a", "test.cu", "sm_90", NULL, 0}, &nvrtc_12, CUBIN_CACHE_MISS},
  };
  struct cubin_cache cache = open_cache(0);
  CHECK(put_source(&cache, "a", 1000), "%s", fail_text());
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct compiled got;
    CHECK_EQ(rows[i].want, cubin_cache_get(&cache, &rows[i].request, rows[i].nvrtc, &got), "row %zu", i);
    compiled_free(&got);
  }
  CHECK_EQ(CUBIN_CACHE_HIT, get_source(&cache, "a", 1000), "whole");
  cubin_cache_close(&cache);
}

TEST(a_damaged_entry_is_a_miss_that_is_told_once) {
  struct cubin_cache cache = open_cache(0);
  struct stat facts;
  char path[300];
  CHECK(put_source(&cache, "source", 300), "%s", fail_text());
  entry_path(path, sizeof path);
  CHECK_EQ(0, stat(path, &facts), "%s", path);
  for (off_t at = 0; at < facts.st_size; at += 7) { /* flip one bit in every part of the entry */
    if (at >= 32 && at < 48) continue;              /* the cubin's hash is used only to find the source */
    char byte;
    int fd = open(path, O_RDWR);
    CHECK(pread(fd, &byte, 1, at) == 1, "%s", path);
    byte ^= 4;
    CHECK(pwrite(fd, &byte, 1, at) == 1, "%s", path);
    close(fd);
    CHECK_EQ(CUBIN_CACHE_DAMAGED, get_source(&cache, "source", 300), "byte %ld", (long)at);
    CHECK(strstr(fail_text(), "damaged"), "%s", fail_text());
    CHECK_EQ(CUBIN_CACHE_MISS, get_source(&cache, "source", 300), "byte %ld", (long)at);
    CHECK(put_source(&cache, "source", 300), "%s", fail_text());
  }
  for (off_t length = 0; length < facts.st_size; length += 13) {
    CHECK_EQ(0, truncate(path, length), "%s", path);
    CHECK_EQ(CUBIN_CACHE_DAMAGED, get_source(&cache, "source", 300), "cut to %ld", (long)length);
    CHECK(put_source(&cache, "source", 300), "%s", fail_text());
  }
  CHECK_EQ(CUBIN_CACHE_HIT, get_source(&cache, "source", 300), "restored");
  cubin_cache_close(&cache);
}

TEST(a_cubin_leads_to_its_source) {
  struct cubin_cache cache = open_cache(0);
  char *source;
  struct compiled made = compiled_of("second", 100);
  struct hash hash = hash_bytes(made.cubin, made.cubin_bytes);
  compiled_free(&made);
  CHECK_EQ(HALOTUNE_NOT_FOUND, cubin_cache_source(&cache, hash, &source), "an empty cache");
  CHECK(put_source(&cache, "first", 100) && put_source(&cache, "second", 100) && put_source(&cache, "third", 100), "%s",
        fail_text());
  CHECK_OK(cubin_cache_source(&cache, hash, &source));
  CHECK_TEXT("second", source, "source");
  free(source);
  hash.low++;
  CHECK_EQ(HALOTUNE_NOT_FOUND, cubin_cache_source(&cache, hash, &source), "another cubin");
  CHECK(!source, "no source");
  cubin_cache_close(&cache);
}

TEST(the_least_recently_used_entries_go_first) {
  enum { ENTRIES = 10, BYTES = 10000 };
  struct cubin_cache cache = open_cache(0);
  char source[ENTRIES][24], path[300];
  for (int i = 0; i < ENTRIES; i++) {
    snprintf(source[i], sizeof *source, "source %d", i);
    CHECK(put_source(&cache, source[i], BYTES), "%s", fail_text());
    usleep(2000);
  }
  CHECK_EQ(CUBIN_CACHE_HIT, get_source(&cache, source[0], BYTES), "used again");
  cubin_cache_close(&cache);

  cache = open_cache((uint64_t)ENTRIES / 2 * BYTES);
  struct cache_facts facts = cache_folder_facts(cache.folder);
  CHECK_EQ(ENTRIES, facts.files, "nothing is removed while the size was not looked at");
  CHECK(put_source(&cache, source[0], BYTES), "%s", fail_text());
  cubin_cache_close(&cache);

  cache = open_cache(0);
  facts = cache_folder_facts(cache.folder);
  CHECK(facts.bytes <= (uint64_t)ENTRIES / 2 * BYTES && facts.files >= 3, "%d files", facts.files);
  CHECK_EQ(CUBIN_CACHE_HIT, get_source(&cache, source[0], BYTES), "the one that was used");
  CHECK_EQ(CUBIN_CACHE_MISS, get_source(&cache, source[1], BYTES), "the oldest");
  CHECK_EQ(CUBIN_CACHE_HIT, get_source(&cache, source[ENTRIES - 1], BYTES), "the newest");
  snprintf(path, sizeof path, "%s/notes.txt", folder);
  close(open(path, O_CREAT | O_WRONLY, 0600));
  bool is_held;
  CHECK_OK(cache_folder_clean(cache.folder, &facts, &is_held));
  CHECK_EQ(0, cache_folder_facts(cache.folder).files, "clean");
  CHECK_EQ(0, unlink(path), "a file that is not ours stays");
  cubin_cache_close(&cache);
}

TEST(leftovers_of_a_dead_process_go_after_an_hour) {
  static const struct {
    const char *suffix;
    int age_s;
    bool stays;
  } rows[] = {{"AAAAAA", 7200, false}, {"BBBBBB", 60, true}};
  struct cubin_cache cache = open_cache(0);
  char path[COUNT(rows)][300];
  for (size_t i = 0; i < COUNT(rows); i++) {
    snprintf(path[i], sizeof *path, "%s/00112233445566778899aabbccddeeff.cubin.%s", folder, rows[i].suffix);
    close(open(path[i], O_CREAT | O_WRONLY, 0600));
    const struct timespec used = {.tv_sec = time(NULL) - rows[i].age_s};
    utimensat(AT_FDCWD, path[i], (const struct timespec[]){used, used}, 0);
  }
  CHECK(put_source(&cache, "a", 10), "%s", fail_text());
  cubin_cache_close(&cache);
  for (size_t i = 0; i < COUNT(rows); i++) CHECK_EQ(rows[i].stays, access(path[i], F_OK) == 0, "row %zu", i);
}

TEST(two_processes_share_a_cache) {
  enum { ROUNDS = 150, SOURCES = 5, BYTES = 20000 };
  pid_t children[2];
  for (int child = 0; child < 2; child++) {
    children[child] = fork();
    if (children[child] != 0) continue;
    int status = EXIT_SUCCESS;
    struct cubin_cache cache = {0};
    for (int i = 0; i < ROUNDS && status == EXIT_SUCCESS; i++) {
      char source[16];
      snprintf(source, sizeof source, "source %d", i % SOURCES);
      if (i % 50 == 0) { /* a close trims the folder, so one process removes files that the other reads and writes */
        cubin_cache_close(&cache);
        if (cubin_cache_open(folder, (uint64_t)3 * BYTES, &cache) != HALOTUNE_OK) status = EXIT_FAILURE;
      }
      if (!put_source(&cache, source, BYTES) || get_source(&cache, source, BYTES) == CUBIN_CACHE_DAMAGED)
        status = EXIT_FAILURE;
    }
    cubin_cache_close(&cache);
    _exit(status);
  }
  for (int child = 0; child < 2; child++) {
    int how = -1;
    waitpid(children[child], &how, 0);
    CHECK_EQ(0, how, "child %d", child);
  }
}

TEST(a_folder_that_cannot_be_written_only_keeps_nothing) {
  static const char *const folders[] = {"/proc/halotune", "/dev/null/halotune"};
  for (size_t i = 0; i < COUNT(folders); i++) {
    struct cubin_cache cache;
    CHECK_OK(cubin_cache_open(folders[i], 0, &cache));
    CHECK(!put_source(&cache, "a", 10), "row %zu", i);
    CHECK(strstr(fail_text(), folders[i]) || strstr(fail_text(), "/dev/null"), "%s", fail_text());
    CHECK_EQ(CUBIN_CACHE_MISS, get_source(&cache, "a", 10), "row %zu", i);
    CHECK_EQ(0, cache_folder_facts(cache.folder).files, "row %zu", i);
    cubin_cache_close(&cache);
  }
}

TEST(an_entry_that_is_not_a_file_of_ours_is_a_miss) {
  char path[300], other[300];
  for (int row = 0; row < 4; row++) {
    struct cubin_cache cache = open_cache(0);
    CHECK(put_source(&cache, "a", 10), "%s", fail_text());
    entry_path(path, sizeof path);
    snprintf(other, sizeof other, "%s.other", folder);
    if (row == 0) CHECK_EQ(0, unlink(path) || mkfifo(path, 0600), "a pipe, which nobody writes");
    if (row == 1) CHECK_EQ(0, rename(path, other) || symlink(other, path), "a link to a whole entry");
    if (row == 2) CHECK_EQ(0, chmod(path, 0620), "others can write it");
    if (row == 3 && chown(path, 12345, 12345) != 0) unlink(path); /* only root can */
    CHECK_EQ(CUBIN_CACHE_MISS, get_source(&cache, "a", 10), "row %d", row);
    CHECK(put_source(&cache, "a", 10), "row %d: %s", row, fail_text());
    CHECK_EQ(CUBIN_CACHE_HIT, get_source(&cache, "a", 10), "row %d: replaced", row);
    unlink(other);
    cubin_cache_close(&cache);
  }
}

TEST(a_folder_that_others_can_write_holds_nothing) {
  struct cubin_cache cache = open_cache(0);
  CHECK(put_source(&cache, "a", 10), "%s", fail_text());
  CHECK_EQ(0, chmod(folder, 0777), "%s", folder);
  CHECK_EQ(CUBIN_CACHE_MISS, get_source(&cache, "a", 10), "writable");
  CHECK(!put_source(&cache, "b", 10) && strstr(fail_text(), "run: chmod -R go-w /tmp"), "%s", fail_text());
  CHECK_EQ(0, chmod(folder, 0700), "%s", folder);
  CHECK_EQ(CUBIN_CACHE_HIT, get_source(&cache, "a", 10), "mended");
  if (chown(folder, 12345, 12345) == 0) { /* only root can */
    CHECK_EQ(CUBIN_CACHE_MISS, get_source(&cache, "a", 10), "another user's");
    CHECK(!put_source(&cache, "b", 10) && strstr(fail_text(), "user 12345"), "%s", fail_text());
  }
  cubin_cache_close(&cache);
}

/* The user removes the cache while a program uses it, in a folder where all users may make files. Another user puts a
 * link there, to a folder of the first one. A link of the user's own, in a folder of the user's own, is followed. */
TEST(nothing_is_removed_through_a_link_that_another_user_put_there) {
  enum { OTHER_USER = 12345 };
  static const char *const entries[] = {"00112233445566778899aabbccddeeff.cubin",
                                        "00112233445566778899aabbccddeeff.so.AAAAAA"};
  const struct timespec old[] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
  char all[] = "/tmp/halotune-all-XXXXXX", mine[64], kept[64], path[128];
  if (geteuid() != 0) skip(); /* only root makes links of others */
  CHECK(mkdtemp(all), "%s", all);
  snprintf(mine, sizeof mine, "%s/mine", all);
  snprintf(kept, sizeof kept, "%s/kept", all);
  for (int is_theirs = 0; is_theirs < 2; is_theirs++) {
    struct cubin_cache cache;
    struct cache_facts removed;
    bool is_held;
    CHECK_EQ(0, chmod(all, is_theirs ? 01777 : 0700), "%s", all);
    CHECK_OK(cubin_cache_open(mine, 1, &cache));
    CHECK(put_source(&cache, "int a;", 500), "%s", fail_text());
    CHECK_EQ(0, rename(mine, kept), "%s", kept);
    for (size_t i = 0; i < COUNT(entries); i++) {
      snprintf(path, sizeof path, "%s/%s", kept, entries[i]);
      CHECK_EQ(0, close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), "%s", path);
      CHECK_EQ(0, utimensat(AT_FDCWD, path, old, 0), "%s", path);
    }
    CHECK_EQ(0, symlink("kept", mine), "%s", mine);
    if (is_theirs) CHECK_EQ(0, lchown(mine, OTHER_USER, (gid_t)-1), "%s", mine);
    fail(HALOTUNE_IO, "an earlier failure");
    cubin_cache_close(&cache);
    CHECK_TEXT("an earlier failure", fail_text(), "the detail");
    for (size_t i = 0; i < COUNT(entries); i++) {
      snprintf(path, sizeof path, "%s/%s", kept, entries[i]);
      CHECK_EQ(is_theirs ? 0 : -1, unlink(path), "it stays behind a link of another user only: %s", path);
    }
    CHECK_OK(cache_folder_clean(kept, &removed, &is_held));
    CHECK_EQ(is_theirs, removed.files, "what was put");
    CHECK(unlink(mine) == 0 && rmdir(kept) == 0, "%s", kept);
  }
  CHECK_EQ(0, rmdir(all), "%s", all);
}

TEST(a_full_disk_leaves_nothing_behind) {
  struct cubin_cache cache = open_cache(0);
  struct rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  bool kept = put_source(&cache, "a", 100000);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  CHECK(!kept, "more than the disk takes");
  CHECK_EQ(0, cache_folder_facts(cache.folder).files, "%s", fail_text());
  CHECK(put_source(&cache, "a", 100000), "%s", fail_text());
  cubin_cache_close(&cache);
}

TEST(the_default_folder_is_private_and_under_the_cache_home) {
  static const struct {
    const char *cache_home, *home, *want;
  } rows[] = {
      {"/tmp/c", "/home/me", "/tmp/c/halotune"},
      {NULL, "/home/me", "/home/me/.cache/halotune"},
      {"", "/home/me", "/home/me/.cache/halotune"},
      {"relative", "/home/me", "/home/me/.cache/halotune"},
      {NULL, NULL, NULL},
  };
  struct cubin_cache cache;
  char cache_home[100];
  struct stat facts;
  char home[200];
  snprintf(home, sizeof home, "%s", getenv("HOME") ? getenv("HOME") : "");
  for (size_t i = 0; i < COUNT(rows); i++) {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    if (rows[i].cache_home) setenv("XDG_CACHE_HOME", rows[i].cache_home, 1);
    if (rows[i].home) setenv("HOME", rows[i].home, 1);
    CHECK_OK(cubin_cache_open(NULL, 0, &cache));
    CHECK_TEXT(rows[i].want ? rows[i].want : "none", cache.folder ? cache.folder : "none", "row %zu", i);
    if (!rows[i].want)
      CHECK(!put_source(&cache, "a", 10) && get_source(&cache, "a", 10) == CUBIN_CACHE_MISS, "row %zu", i);
    cubin_cache_close(&cache);
  }
  snprintf(cache_home, sizeof cache_home, "%s/new", folder);
  setenv("XDG_CACHE_HOME", cache_home, 1);
  CHECK_OK(cubin_cache_open(NULL, 0, &cache));
  CHECK(put_source(&cache, "a", 10), "%s", fail_text());
  CHECK_EQ(0, stat(cache.folder, &facts), "%s", cache.folder);
  CHECK_EQ(0700, facts.st_mode & 0777, "only the user reads it");
  struct cache_facts removed;
  bool is_held;
  CHECK_OK(cache_folder_clean(cache.folder, &removed, &is_held));
  CHECK_EQ(1, removed.files, "one entry");
  CHECK_EQ(0, rmdir(cache.folder), "%s is empty", cache.folder);
  CHECK_EQ(0, rmdir(cache_home), "%s is empty", cache_home);
  cubin_cache_close(&cache);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", home, 1);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(what_was_put_is_found_by_everything_that_went_in),
      WITH_FOLDER(a_damaged_entry_is_a_miss_that_is_told_once),
      WITH_FOLDER(a_cubin_leads_to_its_source),
      WITH_FOLDER(the_least_recently_used_entries_go_first),
      WITH_FOLDER(leftovers_of_a_dead_process_go_after_an_hour),
      WITH_FOLDER(two_processes_share_a_cache),
      WITH_FOLDER(a_folder_that_cannot_be_written_only_keeps_nothing),
      WITH_FOLDER(an_entry_that_is_not_a_file_of_ours_is_a_miss),
      WITH_FOLDER(a_folder_that_others_can_write_holds_nothing),
      cmocka_unit_test(nothing_is_removed_through_a_link_that_another_user_put_there),
      WITH_FOLDER(a_full_disk_leaves_nothing_behind),
      WITH_FOLDER(the_default_folder_is_private_and_under_the_cache_home),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
