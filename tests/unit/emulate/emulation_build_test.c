/* emulation_build_test.c: compiling, the cache, launches that a GPU would refuse, and the ends of processes. It also
 * checks that the GPU's part of the wrappers compiles. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/identity/hash.h"
#include "base/system/clock.h"
#include "base/system/process.h"
#include "gpu/compile/cache_folder.h"
#include "gpu/compile/nvrtc.h"
#include "tests/unit/emulate/emulation_kernel.h"
#include "tuner/emulate/emulation_compiler.h"

static const char *const good = HEAD "  v[i] = u[i] + 1;\n}\n";

TEST(a_compile_error_costs_its_variant_only) {
  const struct emulation_source sources[] = {
      kernel_source("good.cu", good),
      kernel_source("bad.cu", HEAD "  v[i] = no_such_thing;\n}\n"),
      kernel_source("static.cu", HEAD "  __shared__ float s[64];\n  v[i] = s[i];\n}\n"),
      kernel_source("other.cu", HEAD "  v[i] = u[i] + 1;\n  words[0] = 1;\n}\n"),
      kernel_source("undefined.cu", HEAD "#if NO_SUCH_WORD == 0\n  v[i] = u[i] + 1;\n#endif\n}\n"),
      kernel_source("nameless.cu", "extern \"C\" __global__ void other() {}\n"),
  };
  static const char *const logs[] = {"", "bad.cu:3:10: error:",      "static shared memory: use SHARED_MEMORY(type)",
                                     "", "undefined.cu:3:5: error:", "kernel"};
  struct data data = make_data();
  struct emulation_batch *batch = build_kernels(sources, COUNT(sources), false);
  for (size_t i = 0; i < COUNT(sources); i++) {
    const struct emulation_compile *compile = emulation_batch_compile(batch, (int)i);
    bool ok = logs[i][0] == '\0';
    CHECK_EQ(ok ? COMPILE_OK : COMPILE_FAILED, compile->outcome, "%s: %s", sources[i].name, compile->log);
    CHECK(strstr(compile->log, logs[i]), "%s: %s", sources[i].name, compile->log);
    if (ok) CHECK_EQ(EMULATION_OK, run_kernel(batch, (int)i, &data, 64, 0, 0, 0).kind, "%s", sources[i].name);
  }
  struct emulation_outcome outcome;
  CHECK_EQ(HALOTUNE_ARGUMENT, emulation_run(batch, 1, &(struct emulation_launch){.kernel = "kernel"}, &outcome),
           "a failed variant");
  emulation_batch_free(batch);
  free_data(&data);
}

/* Tests run in the root of the tree. Line 3 of LICENSE has a version. */
TEST(an_error_shows_no_line_of_a_file_with_the_same_name) {
  const struct emulation_source source = kernel_source("LICENSE", HEAD "  v[i] = no_such_thing;\n}\n");
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  const char *log = emulation_batch_compile(batch, 0)->log;
  CHECK(strstr(log, "LICENSE:3:10: error:"), "%s", log);
  CHECK(!strstr(log, "Version 2.0"), "%s", log);
  emulation_batch_free(batch);
}

TEST(what_was_compiled_is_found_again) {
  struct emulation_source source = kernel_source("good.cu", good);
  struct data data = make_data();
  for (int round = 0; round < 2; round++) {
    struct emulation_batch *batch = build_kernels(&source, 1, false);
    CHECK(round == 0 || emulation_batch_compile(batch, 0)->cached, "round %d", round);
    CHECK_EQ(EMULATION_OK, run_kernel(batch, 0, &data, 64, 0, 0, 0).kind, "round %d", round);
    emulation_batch_free(batch);
  }
  free_data(&data);
}

static int warnings;
static char last_warning[400];

static void take_warning(const char *text) {
  __atomic_add_fetch(&warnings, 1, __ATOMIC_RELAXED);
  snprintf(last_warning, sizeof last_warning, "%s", text);
}

static void empty_file(const char *path, size_t length) {
  (void)length;
  CHECK_EQ(0, truncate(path, 0), "%s", path);
}

static void cut_file(const char *path, size_t length) { CHECK_EQ(0, truncate(path, (off_t)length - 1), "%s", path); }

static void change_byte(const char *path, size_t length) {
  char byte = 0;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0 && pread(fd, &byte, 1, (off_t)length / 2) == 1, "%s", path);
  byte = (char)(byte ^ 1);
  CHECK(pwrite(fd, &byte, 1, (off_t)length / 2) == 1 && close(fd) == 0, "%s", path);
}

/* Call `act` for each file of a folder whose name contains `part`. Returns the number of these files. */
static int for_files(const char *folder, const char *part, void (*act)(const char *path, size_t length)) {
  int count = 0;
  DIR *files = opendir(folder);
  for (struct dirent *entry; files && (entry = readdir(files));) {
    char path[900];
    struct stat facts;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (!strstr(entry->d_name, part) || lstat(path, &facts) != 0) continue;
    if (act) act(path, (size_t)facts.st_size);
    count++;
  }
  if (files) closedir(files);
  return count;
}

/* A cache below the tests' cache that shares no file with other tests. */
static struct emulation_options own_cache(const char *name, char *path, size_t bytes) {
  snprintf(path, bytes, "%s/%s", test_cache(), name);
  return (struct emulation_options){.folder = path, .warn = take_warning};
}

static void (*const damages[])(const char *path, size_t length) = {empty_file, cut_file, change_byte};

TEST(what_is_damaged_is_compiled_again_with_a_warning) {
  static const char *const files[] = {".so", ".runner"};
  char path[64];
  struct emulation_options options = own_cache("damaged", path, sizeof path);
  struct emulation_source source = kernel_source("good.cu", good);
  struct data data = make_data();
  struct emulation_batch *batch;
  CHECK_OK(emulation_build(&source, 1, &options, &batch));
  emulation_batch_free(batch);
  for (size_t i = 0; i < COUNT(damages) * COUNT(files); i++) {
    const char *part = files[i % COUNT(files)];
    CHECK_EQ(1, for_files(path, part, damages[i / COUNT(files)]), "row %zu", i);
    for (int round = 0; round < 2; round++) {
      warnings = 0;
      CHECK_OK(emulation_build(&source, 1, &options, &batch));
      CHECK_EQ(round == 0, warnings, "row %zu round %d", i, round);
      CHECK_EQ(round == 1 || i % COUNT(files) != 0, emulation_batch_compile(batch, 0)->cached, "row %zu round %d", i,
               round);
      CHECK_EQ(EMULATION_OK, run_kernel(batch, 0, &data, 64, 0, 0, 0).kind, "row %zu round %d", i, round);
      emulation_batch_free(batch);
    }
    CHECK(strstr(last_warning, part) && strstr(last_warning, "compiled again"), "row %zu: %s", i, last_warning);
  }
  free_data(&data);
}

/* Empty our sources in a folder that is named by a hash. */
static void empty_sources(const char *path, size_t length) {
  char folder[600];
  (void)length;
  if (strlen(strrchr(path, '/') + 1) != HASH_HEX_BYTES - 1) return;
  snprintf(folder, sizeof folder, "%s/tuner/emulate/runtime", path);
  CHECK(for_files(folder, ".h", empty_file) > 5, "%s", folder);
}

TEST(damaged_sources_of_ours_are_written_again) {
  char path[64];
  struct emulation_options options = own_cache("sources", path, sizeof path);
  struct emulation_source sources[] = {kernel_source("good.cu", good), kernel_source("other_name.cu", good)};
  struct emulation_batch *batch;
  CHECK_OK(emulation_build(&sources[0], 1, &options, &batch));
  emulation_batch_free(batch);
  CHECK(for_files(path, "", empty_sources) > 0, "%s", path);
  CHECK_OK(emulation_build(&sources[1], 1, &options, &batch));
  CHECK_EQ(COMPILE_OK, emulation_batch_compile(batch, 0)->outcome, "%s", emulation_batch_compile(batch, 0)->log);
  emulation_batch_free(batch);
}

TEST(the_cache_keeps_to_its_size) {
  static const char *const leftovers[] = {"/00112233445566778899aabbccddeeff.so.AAAAAA",
                                          "/00112233445566778899aabbccddeeff.runner.AAAAAA"};
  char path[64], leftover[COUNT(leftovers)][128];
  struct emulation_options options = own_cache("bounded", path, sizeof path);
  struct emulation_source sources[] = {kernel_source("a.cu", good), kernel_source("b.cu", good),
                                       kernel_source("c.cu", good)};
  const struct timespec old[] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
  struct data data = make_data();
  struct emulation_batch *batch;
  CHECK_OK(emulation_build(sources, 2, &options, &batch));
  emulation_batch_free(batch);
  CHECK_EQ(2, for_files(path, ".so", NULL), "below the bound");
  for (size_t i = 0; i < COUNT(leftovers); i++) {
    snprintf(leftover[i], sizeof *leftover, "%s%s", path, leftovers[i]);
    CHECK_EQ(0, close(open(leftover[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), "%s", leftover[i]);
    CHECK_EQ(0, utimensat(AT_FDCWD, leftover[i], old, 0), "%s", leftover[i]);
  }
  options.cache_bytes = 1;
  CHECK_OK(emulation_build(&sources[2], 1, &options, &batch));
  CHECK_EQ(EMULATION_OK, run_kernel(batch, 0, &data, 64, 0, 0, 0).kind, "what is in use stays");
  emulation_batch_free(batch);
  CHECK_EQ(0, for_files(path, ".so", NULL) + for_files(path, ".runner", NULL), "above the bound");
  free_data(&data);
}

/* Clean the cache at the end of a compile, as `halotune cache clean` does beside a running tune. */
static void clean_beside(void *context, int done) {
  struct cache_facts removed;
  bool is_held;
  (void)done;
  CHECK_OK(cache_folder_clean(context, &removed, &is_held));
  CHECK(is_held && removed.files == 0, "%d files are removed", removed.files);
}

TEST(a_cache_is_not_cleaned_while_it_is_used) {
  char path[64];
  struct emulation_options options = own_cache("used", path, sizeof path);
  struct emulation_source source = kernel_source("good.cu", good);
  struct data data = make_data();
  struct emulation_batch *batch;
  struct cache_facts removed;
  bool is_held;
  options.compiled = clean_beside;
  options.context = path;
  CHECK_OK(emulation_build(&source, 1, &options, &batch));
  clean_beside(path, 1);
  CHECK_EQ(EMULATION_OK, run_kernel(batch, 0, &data, 64, 0, 0, 0).kind, "its files are there");
  emulation_batch_free(batch);
  CHECK_OK(cache_folder_clean(path, &removed, &is_held));
  CHECK(!is_held && removed.files == 2, "%d files are removed", removed.files);
  CHECK_EQ(2, for_files(path, "", NULL), "the folder is empty");
  free_data(&data);
}

/* Put an empty folder in place of a cache, as another user can do once it was moved away. */
static void move_away(void *context, int done) {
  char moved[128];
  snprintf(moved, sizeof moved, "%s-moved", (const char *)context);
  if (done > 1) return;
  CHECK_EQ(0, rename(context, moved) + mkdir(context, 0700), "%s", moved);
}

/* Sources of ours, objects and runner are those of the folder that was checked. */
TEST(a_cache_is_used_to_the_end_where_it_was_opened) {
  char path[64], moved[128];
  struct emulation_options options = own_cache("exchanged", path, sizeof path);
  struct emulation_source sources[] = {kernel_source("a.cu", good), kernel_source("b.cu", good)};
  struct data data = make_data();
  struct emulation_batch *batch;
  options.compiled = move_away;
  options.context = path;
  options.workers = 1;
  snprintf(moved, sizeof moved, "%s-moved", path);
  CHECK_OK(emulation_build(sources, 2, &options, &batch));
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(COMPILE_OK, emulation_batch_compile(batch, i)->outcome, "%s", emulation_batch_compile(batch, i)->log);
    CHECK_EQ(EMULATION_OK, run_kernel(batch, i, &data, 64, 0, 0, 0).kind, "variant %d", i);
  }
  CHECK_EQ(0, for_files(path, ".so", NULL) + for_files(path, ".runner", NULL), "the other folder stays empty");
  CHECK_EQ(3, for_files(moved, ".so", NULL) + for_files(moved, ".runner", NULL), "the files are here");
  emulation_batch_free(batch);
  free_data(&data);
}

TEST(a_missing_compiler_is_said) {
  struct emulation_source source = kernel_source("good.cu", good);
  struct emulation_options options = {.folder = test_cache(), .compiler = "no-such-compiler"};
  struct emulation_batch *batch;
  CHECK_EQ(HALOTUNE_NOT_FOUND, emulation_build(&source, 1, &options, &batch), "%s", fail_text());
  CHECK(!batch && strstr(fail_text(), "no-such-compiler"), "%s", fail_text());
}

/* A compiler that never ends once a certain file exists. Before that it compiles the runner, however long that
 * takes. */
TEST(a_compiler_that_never_ends_is_ended) {
  char path[64], flag[80];
  struct emulation_source sources[] = {kernel_source("before.cu", good), kernel_source("slow.cu", good)};
  struct emulation_options options = {.folder = test_cache(), .compiler = path};
  struct emulation_batch *batch = NULL;
  static const char script[] = "#!/bin/sh\n[ -e \"$0.slow\" ] && sleep 1000\nexec g++ \"$@\"\n";
  snprintf(path, sizeof path, "%s/slow-compiler", test_cache());
  snprintf(flag, sizeof flag, "%s.slow", path);
  int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0700);
  CHECK(fd >= 0 && write(fd, script, strlen(script)) > 0 && close(fd) == 0, "%s", path);
  CHECK_OK(emulation_build(&sources[0], 1, &options, &batch));
  CHECK_EQ(COMPILE_OK, emulation_batch_compile(batch, 0)->outcome, "%s", emulation_batch_compile(batch, 0)->log);
  emulation_batch_free(batch);
  fd = open(flag, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && close(fd) == 0, "%s", flag);
  options.timeout_ms = 1000;
  CHECK_OK(emulation_build(&sources[1], 1, &options, &batch));
  CHECK_EQ(COMPILE_TIMEOUT, emulation_batch_compile(batch, 0)->outcome, "%s", emulation_batch_compile(batch, 0)->log);
  emulation_batch_free(batch);
}

static void write_script(const char *path, const char *script) {
  const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0700);
  CHECK(fd >= 0 && write(fd, script, strlen(script)) > 0 && close(fd) == 0, "%s", path);
}

static void count_compiled(void *context, int done) {
  (void)done;
  ++*(int *)context;
}

static bool is_file(const void *context) { return access(context, F_OK) == 0; }

/* The compiler never ends, and the ending comes once it runs. Other variants are not begun. */
TEST(a_compiler_ends_when_the_ending_comes) {
  char folder[64], compiler[80], flag[96];
  struct emulation_source sources[] = {kernel_source("one.cu", good), kernel_source("two.cu", good)};
  struct emulation_options options = {.folder = folder, .compiler = compiler, .workers = 1};
  struct emulation_batch *batch = NULL;
  snprintf(folder, sizeof folder, "%s/ended", test_cache());
  snprintf(compiler, sizeof compiler, "%s/ended-compiler", test_cache());
  snprintf(flag, sizeof flag, "%s.runs", compiler);
  write_script(compiler, "#!/bin/sh\necho >>\"$0.runs\"\nexec sleep 100000\n");
  options.ending = (struct ending){.is_over = is_file, .context = flag};
  CHECK_EQ(HALOTUNE_CANCELLED, emulation_build(sources, COUNT(sources), &options, &batch), "%s", fail_text());
  CHECK(!batch, "there is no batch");
  char *bytes;
  size_t length = 0;
  CHECK_OK(file_read(flag, 64, &bytes, &length));
  CHECK_EQ(1, length, "it was begun once");
  free(bytes);
  unlink(flag);
}

/* Without a runner no variant can run, so none is compiled. */
TEST(a_compiler_that_makes_no_runner_is_asked_once) {
  char folder[64], compiler[80];
  int compiled = 0;
  struct emulation_source sources[] = {kernel_source("first.cu", good), kernel_source("second.cu", good)};
  struct emulation_options options = own_cache("no-runner", folder, sizeof folder);
  struct emulation_batch *batch = NULL;
  snprintf(compiler, sizeof compiler, "%s/no-runner-compiler", test_cache());
  write_script(compiler, "#!/bin/sh\ncase \"$*\" in *-rdynamic*) echo no runner >&2; exit 1;; esac\nexec g++ \"$@\"\n");
  options.compiler = compiler;
  options.workers = 1;
  options.compiled = count_compiled;
  options.context = &compiled;
  CHECK_EQ(HALOTUNE_COMPILE, emulation_build(sources, 2, &options, &batch), "%s", fail_text());
  CHECK(!batch && strstr(fail_text(), "no runner"), "%s", fail_text());
  CHECK_EQ(0, compiled, "variants");
}

/* The system may kill a part of the compiler where memory runs out. The compiler then ends like after an error. */
TEST(a_compiler_that_was_killed_has_not_rejected_its_source) {
  static const char *const parts[] = {"cc1plus", "as", "collect2"};
  char path[64], folder[80], part[120];
  struct emulation_source sources[] = {kernel_source("first.cu", good),
                                       kernel_source("broken.cu", HEAD "  v[i] = x;\n}\n")};
  struct emulation_options options = own_cache("killed", path, sizeof path);
  struct emulation_batch *batch = NULL;
  char compiler[64];
  snprintf(compiler, sizeof compiler, "%s/killed-compiler", test_cache());
  snprintf(folder, sizeof folder, "%s.parts", compiler);
  options.compiler = compiler;
  write_script(compiler, "#!/bin/sh\nexec g++ -B \"$0.parts/\" \"$@\"\n");
  CHECK_OK(emulation_build(&sources[1], 1, &options, &batch)); /* makes the runner, too */
  CHECK_EQ(COMPILE_FAILED, emulation_batch_compile(batch, 0)->outcome, "an error in the source");
  emulation_batch_free(batch);
  CHECK(mkdir(folder, 0700) == 0, "%s", folder);
  for (size_t i = 0; i < COUNT(parts); i++) {
    snprintf(part, sizeof part, "%s/%s", folder, parts[i]);
    write_script(part, "#!/bin/sh\nkill -9 $$\n");
    CHECK_OK(emulation_build(&sources[0], 1, &options, &batch));
    CHECK_EQ(COMPILE_CRASHED, emulation_batch_compile(batch, 0)->outcome, "%s: %s", parts[i],
             emulation_batch_compile(batch, 0)->log);
    emulation_batch_free(batch);
    CHECK(unlink(part) == 0, "%s", part);
  }
  CHECK_OK(emulation_build(&sources[0], 1, &options, &batch));
  CHECK_EQ(COMPILE_OK, emulation_batch_compile(batch, 0)->outcome, "%s", emulation_batch_compile(batch, 0)->log);
  emulation_batch_free(batch);
}

TEST(a_compiler_that_lacks_files_or_disk_has_not_rejected_its_source) {
  static const char *const limits[] = {"ulimit -n 4", "trap '' XFSZ; ulimit -f 2", "exec /nonexistent/g++"};
  char folder[64], compiler[80], limit[96], script[160];
  struct emulation_source sources[] = {kernel_source("first.cu", good),
                                       kernel_source("broken.cu", HEAD "  v[i] = x;\n}\n")};
  struct emulation_options options = own_cache("short", folder, sizeof folder);
  struct emulation_batch *batch = NULL;
  snprintf(compiler, sizeof compiler, "%s/short-compiler", test_cache());
  snprintf(limit, sizeof limit, "%s.limit", compiler);
  options.compiler = compiler;
  write_script(compiler, "#!/bin/sh\n[ -e \"$0.limit\" ] && . \"$0.limit\"\nexec g++ \"$@\"\n");
  CHECK_OK(emulation_build(&sources[1], 1, &options, &batch)); /* makes the runner, too */
  CHECK_EQ(COMPILE_FAILED, emulation_batch_compile(batch, 0)->outcome, "an error in the source");
  emulation_batch_free(batch);
  for (size_t i = 0; i < COUNT(limits); i++) {
    snprintf(script, sizeof script, "%s\n", limits[i]);
    write_script(limit, script);
    CHECK_OK(emulation_build(&sources[0], 1, &options, &batch));
    CHECK_EQ(COMPILE_CRASHED, emulation_batch_compile(batch, 0)->outcome, "%s: %s", limits[i],
             emulation_batch_compile(batch, 0)->log);
    emulation_batch_free(batch);
  }
  CHECK(unlink(limit) == 0, "%s", limit);
  CHECK_OK(emulation_build(&sources[0], 1, &options, &batch));
  CHECK_EQ(COMPILE_OK, emulation_batch_compile(batch, 0)->outcome, "%s", emulation_batch_compile(batch, 0)->log);
  emulation_batch_free(batch);
}

TEST(only_an_error_at_a_line_blames_the_source) {
  static const struct {
    const char *log;
    bool blames;
  } logs[] = {
      {"star7.cu:3:10: error: 'x' was not declared in this scope\n", true},
      {"star7.cu:3: error: no column\n", true},
      {"In file included from <command-line>:\n/cache/cuda_on_cpu.h:12:3: error: static assertion failed\n", true},
      {"a.cu:1:5: error: \"A\" is not defined [-Werror=undef]\ncc1plus: some warnings being treated as errors\n", true},
      {"", false},
      {": error: ", false},
      {"3: error: ", false},
      {"a.cu:3:5: warning: unused variable 'x'\ng++: fatal error: Killed signal terminated program cc1plus\n", false},
      {"{standard input}:9: Error: unknown pseudo-op: `.lo'\ng++: fatal error: Killed signal terminated program as\n",
       false},
      {"a.cu:9:1: fatal error: error writing to -: No space left on device\n", false},
      {"a.cu:9:1: internal compiler error: Segmentation fault\n", false},
      {"cc1plus: out of memory allocating 65536 bytes after a total of 1486848 bytes\n", false},
      {"g++-12: error: vfork: Resource temporarily unavailable\n", false},
      {"clang-14: error: unable to execute command: Killed\n", false},
      {"cc1plus: error while loading shared libraries: libmpfr.so.6: failed to map segment\n", false},
      {"/usr/bin/ld: final link failed: File too large\ncollect2: error: ld returned 1 exit status\n", false},
  };
  for (size_t i = 0; i < COUNT(logs); i++)
    CHECK_EQ(logs[i].blames, emulation_compiler_blames_source(logs[i].log), "%s", logs[i].log);
}

static const struct {
  const char *text;
  unsigned grid[3], block[3];
  size_t shared_bytes, shared_limit_bytes;
} refused[] = {
    {"a block of 2048x1x1; from 1 to 1024x1024x64", {1, 1, 1}, {2048, 1, 1}, 0, 0},
    {"a block of 1x1x65", {1, 1, 1}, {1, 1, 65}, 0, 0},
    {"a block of 64x32x1 threads; at most 1024", {1, 1, 1}, {64, 32, 1}, 0, 0},
    {"a block of 32x0x1", {1, 1, 1}, {32, 0, 1}, 0, 0},
    {"a grid of 1x65536x1", {1, 65536, 1}, {32, 1, 1}, 0, 0},
    {"a grid of 1x1x0", {1, 1, 0}, {32, 1, 1}, 0, 0},
    {"49153 bytes of shared memory; a block can have 49152", {1, 1, 1}, {32, 1, 1}, 49153, 49152},
    {"232449 bytes of shared memory; a block can have 232448", {1, 1, 1}, {32, 1, 1}, 232449, 0},
    {"kernel kernel takes 5 arguments, not 0", {1, 1, 1}, {32, 1, 1}, 0, 0},
};

TEST(launches_that_a_gpu_refuses_are_refused) {
  struct emulation_source source = kernel_source("good.cu", good);
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  struct emulation_outcome outcome;
  for (size_t row = 0; row < COUNT(refused); row++) {
    struct emulation_launch launch = {.kernel = "kernel",
                                      .shared_bytes = refused[row].shared_bytes,
                                      .shared_limit_bytes = refused[row].shared_limit_bytes};
    memcpy(launch.grid, refused[row].grid, sizeof launch.grid);
    memcpy(launch.block, refused[row].block, sizeof launch.block);
    CHECK_OK(emulation_run(batch, 0, &launch, &outcome));
    CHECK_EQ(EMULATION_BAD_LAUNCH, outcome.kind, "%s", outcome.text);
    CHECK(strstr(outcome.text, refused[row].text), "row %zu: %s", row, outcome.text);
  }
  struct emulation_launch other = {.kernel = "other", .grid = {1, 1, 1}, .block = {1, 1, 1}};
  CHECK_OK(emulation_run(batch, 0, &other, &outcome));
  CHECK_TEXT("the source has no kernel other", outcome.text, "another kernel");
  other.blocks = EMULATION_RANDOM;
  CHECK_EQ(HALOTUNE_ARGUMENT, emulation_run(batch, 0, &other, &outcome), "random blocks");
  emulation_batch_free(batch);
}

TEST(arguments_have_to_fit_the_kernel) {
  static const char *const names[] = {"first", "second"};
  const struct emulation_source source = {
      .name = "two.cu",
      .kernels = names,
      .kernel_count = 2,
      .text =
          "struct Shape { int a; double b; };\nstruct Empty {};\n"
          "extern \"C\" __global__ void first(const Shape s, const Empty, double *out) { out[threadIdx.x] = s.a + s.b; }\n"
          "extern \"C\" __global__ void second(double *out, char c) { out[threadIdx.x] += c; }\n"};
  const struct {
    int a;
    double b;
  } shape = {1, 0.5};
  const char three[4] = {3}, empty = 0;
  struct emulation_buffer *buffer;
  struct emulation_outcome outcome;
  CHECK_OK(emulation_buffer_create(5 * sizeof(double), sizeof(double), &buffer));
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  struct emulation_argument arguments[] = {
      {.kind = EMULATION_ARGUMENT_BYTES, .bytes = &shape, .byte_count = sizeof shape},
      {.kind = EMULATION_ARGUMENT_BYTES, .bytes = &empty, .byte_count = 1},
      {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = buffer, .offset_bytes = sizeof(double)},
      {.kind = EMULATION_ARGUMENT_BYTES, .bytes = three, .byte_count = 1}};
  struct emulation_launch launch = {
      .kernel = "first", .grid = {1, 1, 1}, .block = {4, 1, 1}, .arguments = arguments, .argument_count = 3};
  CHECK_OK(emulation_run(batch, 0, &launch, &outcome));
  CHECK_EQ(EMULATION_OK, outcome.kind, "%s", outcome.text);
  launch.kernel = "second";
  launch.arguments = arguments + 2;
  launch.argument_count = 2;
  CHECK_OK(emulation_run(batch, 0, &launch, &outcome));
  CHECK_EQ(EMULATION_OK, outcome.kind, "%s", outcome.text);
  const double *out = emulation_buffer_data(buffer);
  CHECK_NEAR(4.5, out[1], 0, "the first thread's");
  CHECK_NEAR(4.5, out[4], 0, "the last thread's");
  CHECK_EQ(EMULATION_POISON_BUFFER, emulation_poison_of(&out[0], sizeof *out), "nobody's");
  CHECK_EQ(0, emulation_poison_of(&out[1], sizeof *out), "a number");
  arguments[3].byte_count = 4;
  CHECK_OK(emulation_run(batch, 0, &launch, &outcome));
  CHECK_TEXT("argument 1 of kernel second has 1 bytes, not 4", outcome.text, "another size");
  emulation_batch_free(batch);
  emulation_buffer_free(buffer);
}

TEST(a_crash_costs_one_run) {
  const struct emulation_source sources[] = {
      kernel_source("crash.cu", HEAD "  float *volatile p = nullptr;\n  if (words[0] == 0) v[i] = *p;\n}\n"),
      kernel_source("good.cu", good)};
  struct data data = make_data();
  struct emulation_batch *batch = build_kernels(sources, 2, false);
  for (int round = 0; round < 3; round++) {
    CHECK_EQ(EMULATION_OK, run_kernel(batch, 1, &data, 64, 0, 0, round).kind, "round %d", round);
    CHECK_EQ(EMULATION_CRASHED, run_kernel(batch, 0, &data, 64, 0, 0, round).kind, "round %d", round);
  }
  emulation_batch_free(batch);
  free_data(&data);
}

/* Whether a runner of our cache is running, which is one whose file is there. */
static bool a_runner_runs(void) {
  bool found = false;
  DIR *processes = opendir("/proc");
  for (struct dirent *entry; processes && (entry = readdir(processes));) {
    char path[300], program[300];
    snprintf(path, sizeof path, "/proc/%s/exe", entry->d_name);
    ssize_t length = readlink(path, program, sizeof program - 1);
    if (length > 0) found = found || strncmp(program, cache_folder, strlen(cache_folder)) == 0;
  }
  if (processes) closedir(processes);
  return found;
}

enum { LONG_MS = 600000 }; /* the longest wait, only so that no test waits for ever */

/* The time until which a loop waits for an event. */
static double wait_begin(void) { return clock_ms() + LONG_MS; }

/* Sleep between two looks for the event. Returns false if the time is over. */
static bool wait_goes_on(double until_ms) {
  usleep(20000);
  return clock_ms() < until_ms;
}

TEST(a_runner_ends_with_the_program) {
  struct emulation_source source =
      kernel_source("endless.cu", HEAD "  while (*(volatile unsigned *)words == 0) {}\n}\n");
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  pid_t program = fork();
  if (program == 0) {
    struct data data = make_data();
    while (true) run_kernel(batch, 0, &data, 64, 0, 0, 0);
  }
  double until_ms = wait_begin();
  bool has_started;
  while (!(has_started = a_runner_runs()) && wait_goes_on(until_ms)) {}
  CHECK(has_started, "the runner did not start");
  kill(program, SIGKILL);
  process_wait_until(program, INFINITY, NULL);
  until_ms = wait_begin();
  while (a_runner_runs() && wait_goes_on(until_ms)) {}
  CHECK(!a_runner_runs(), "the runner is still there");
  emulation_batch_free(batch);
}

/* Whether a process is running. A process that ended but was not waited for has no program. */
static bool process_runs(long pid) {
  char path[64], program[300];
  snprintf(path, sizeof path, "/proc/%ld/exe", pid);
  return readlink(path, program, sizeof program) > 0;
}

/* Read the number in a file; 0 if there is none yet. */
static long read_number(const char *path) {
  char *bytes;
  size_t length;
  if (file_read(path, 64, &bytes, &length) != HALOTUNE_OK) return 0;
  long number = length > 0 && bytes[length - 1] == '\n' ? strtol(bytes, NULL, 10) : 0;
  free(bytes);
  return number;
}

/* Like g++, the script starts another program, and prints its process number. */
TEST(a_compiler_ends_with_the_program) {
  static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
  char file[64], script[200];
  snprintf(file, sizeof file, "%s/compiler", test_cache());
  snprintf(script, sizeof script, "sleep 1000 & echo $! >%s; wait", file);
  for (size_t i = 0; i < COUNT(signals); i++) {
    unlink(file);
    pid_t program = fork();
    if (program == 0) {
      const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
      const struct text nothing = {0};
      struct text said = {0};
      struct process_result result;
      if (signals[i] != SIGKILL) signal(signals[i], SIG_DFL); /* background jobs of a shell ignore SIGINT */
      process_run(arguments, NULL, &nothing, -1, 1000000, NULL, &said, &result);
      _exit(0);
    }
    long compiler = 0;
    double until_ms = wait_begin();
    while ((compiler = read_number(file)) == 0 && wait_goes_on(until_ms)) {}
    CHECK(compiler > 0 && process_runs(compiler), "row %zu: it did not start", i);
    kill(program, signals[i]);
    process_wait_until(program, INFINITY, NULL);
    until_ms = wait_begin();
    while (process_runs(compiler) && wait_goes_on(until_ms)) {}
    CHECK(!process_runs(compiler), "row %zu: it is still there", i);
  }
}

/* For g++, an empty part of these variables is the working folder. */
TEST(a_compiler_takes_nothing_of_the_working_folder) {
  static const char *const variables[] = {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "COMPILER_PATH"};
  static const char *const files[] = {"math.h", "cmath", "stdio.h", "stdint.h", "cc1plus", "cc1", "as", "collect2"};
  char path[64], folder[] = "/tmp/halotune-test-XXXXXX", before[4096], name[128], *kept[COUNT(variables)];
  struct emulation_source source = kernel_source("good.cu", good);
  struct emulation_batch *batch;
  CHECK(getcwd(before, sizeof before) && mkdtemp(folder) && chdir(folder) == 0, "%s", folder);
  snprintf(path, sizeof path, "%s/cache", folder);
  const struct emulation_options options = {.folder = path, .warn = take_warning};
  for (size_t i = 0; i < COUNT(files); i++) {
    snprintf(name, sizeof name, "%s/%s", folder, files[i]);
    FILE *file = fopen(name, "w");
    CHECK(file && fputs("#error \"a file of others\"\nexit 3\n", file) >= 0 && fclose(file) == 0, "%s", name);
    CHECK_EQ(0, chmod(name, 0700), "%s", name);
  }
  for (size_t i = 0; i < COUNT(variables); i++) {
    const char *now = getenv(variables[i]);
    kept[i] = now ? strdup(now) : NULL;
    setenv(variables[i], ":", 1);
  }
  CHECK_OK(emulation_build(&source, 1, &options, &batch));
  CHECK_EQ(COMPILE_OK, emulation_batch_compile(batch, 0)->outcome, "%s", emulation_batch_compile(batch, 0)->log);
  emulation_batch_free(batch);
  for (size_t i = 0; i < COUNT(variables); i++) {
    if (kept[i]) setenv(variables[i], kept[i], 1);
    else unsetenv(variables[i]);
    free(kept[i]);
  }
  CHECK(chdir(before) == 0 && cache_folder_remove(folder) == HALOTUNE_OK, "%s", folder);
}

/* The program is killed here, but any other end has the same effect. The working folder has an `rm` of others. */
TEST(a_cache_that_cannot_be_written_is_temporary) {
  struct emulation_source source = kernel_source("good.cu", good);
  char parent[64], said[64], foreign[80], path[4096];
  snprintf(parent, sizeof parent, "%s/temporary", test_cache());
  snprintf(said, sizeof said, "%s/said", test_cache());
  CHECK_EQ(0, mkdir(parent, 0700), "%s", parent);
  snprintf(foreign, sizeof foreign, "%s/rm", parent);
  FILE *file = fopen(foreign, "w");
  CHECK(file && fputs("#!/bin/sh\n", file) >= 0 && fclose(file) == 0 && chmod(foreign, 0700) == 0, "%s", foreign);
  snprintf(path, sizeof path, ":%s", getenv("PATH"));
  pid_t program = fork();
  if (program == 0) {
    struct emulation_options options = {.warn = take_warning};
    struct emulation_batch *batch;
    bool ok = true;
    setenv("XDG_CACHE_HOME", "/proc", 1);
    setenv("TMPDIR", parent, 1);
    setenv("PATH", path, 1);
    if (chdir(parent) != 0) _exit(1);
    for (int round = 0; round < 2; round++) {
      ok = ok && emulation_build(&source, 1, &options, &batch) == HALOTUNE_OK && warnings == 1 &&
           emulation_batch_compile(batch, 0)->cached == (round == 1);
    }
    ok = ok && strstr(last_warning, "/proc/halotune") && for_files(parent, "halotune-", NULL) == 1;
    int fd = open(said, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (write(fd, ok ? "1\n" : "2\n", 2) == 2) pause();
    _exit(1);
  }
  double until_ms = wait_begin();
  while (read_number(said) == 0 && wait_goes_on(until_ms)) {}
  CHECK_EQ(1, read_number(said), "built in a temporary folder, with one warning");
  kill(program, SIGKILL);
  process_wait_until(program, INFINITY, NULL);
  until_ms = wait_begin();
  while (for_files(parent, "halotune-", NULL) > 0 && wait_goes_on(until_ms)) {}
  CHECK_EQ(0, for_files(parent, "halotune-", NULL), "it is removed");
}

static const char wrapper_kernel[] =
    "template <class T, int N> __device__ void move(T *p) {\n"
    "  T a[N];\n"
    "  load_vector(p + N*threadIdx.x, a);\n"
    "  for (T &x : a) x += 1;\n"
    "  store_vector<N>(p + N*threadIdx.x, a);\n"
    "}\n"
    "extern \"C\" __global__ void kernel(float *f, double *d, unsigned *words) {\n"
    "  float *s = SHARED_MEMORY(float);\n"
    "  move<float, 1>(f); move<float, 2>(f); move<float, 4>(f);\n"
    "  move<double, 1>(d); move<double, 2>(d); move<double, 4>(d);\n"
    "  async_copy<4>(s + 4*threadIdx.x, f);\n"
    "  async_copy<8>(s + 4*threadIdx.x, f);\n"
    "  async_copy_zero<16>(s + 4*threadIdx.x, f, threadIdx.x < 5);\n"
    "  async_commit();\n"
    "  async_wait<1>();\n"
    "  async_wait<0>();\n"
    "  __syncthreads();\n"
    "  while (load_acquire(words) == 0) spin_yield();\n"
    "  store_release(words, atomicAdd(words + 1, 1u));\n"
    "  f[threadIdx.x] = load_plain(s + threadIdx.x) + load_readonly(f + 1000) + (float)load_readonly(d);\n"
    "}\n";

static const char *const archs[] = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};

/* The wrappers of sm_90. */
static const char wrapper_kernel_sm_90[] =
    "extern \"C\" __global__ void __launch_bounds__(64) wrappers_sm_90(const __grid_constant__ TensorMap in,\n"
    "                                                               const __grid_constant__ TensorMap out, float *f) {\n"
    "  const TensorMap *maps[] = {&in, &out};\n"
    "  float *s = SHARED_MEMORY(float);\n"
    "  unsigned long long *barrier = SHARED_MEMORY(unsigned long long) + 512;\n"
    "  launch_dependents();\n"
    "  wait_for_previous();\n"
    "  tensor_prefetch(maps[0]);\n"
    "  tensor_copy(s, maps[0], -4, 2, barrier);\n"
    "  tensor_copy(s, maps[0], -4, 2, 3, barrier);\n"
    "  tensor_fence();\n"
    "  tensor_store(maps[1], 4, 2, s);\n"
    "  tensor_store(maps[1], 4, 2, 3, s);\n"
    "  tensor_store_commit();\n"
    "  tensor_store_wait<1>();\n"
    "  tensor_store_wait<0>();\n"
    "  cluster_sync();\n"
    "  cluster_arrive(barrier, cluster_rank()^1);\n"
    "  cluster_wait(barrier, 0);\n"
    "  f[threadIdx.x] = *cluster_map(s + threadIdx.x, cluster_rank()^1);\n"
    "  double a[4] = {}, b[2] = {}, sums[4] = {};\n"
    "  multiply_matrices(a, b, sums);\n"
    "  f[threadIdx.x] += (float)sums[0];\n"
    "  cluster_sync();\n"
    "}\n";

static struct text wrapper_source(void) {
  static const char *const parts[][2] = {{"templates/wrappers.cuh", wrapper_kernel},
                                         {"templates/wrappers_sm_90.cuh", wrapper_kernel_sm_90}};
  struct text source = {0};
  for (size_t i = 0; i < COUNT(parts); i++) {
    char *wrappers;
    size_t length;
    CHECK_OK(file_read(parts[i][0], 1 << 20, &wrappers, &length));
    text_add(&source, wrappers, length);
    text_printf(&source, "%s", parts[i][1]);
    free(wrappers);
  }
  return source;
}

TEST(the_wrappers_of_the_gpu_compile_with_nvrtc) {
  struct nvrtc nvrtc;
  if (nvrtc_open(&nvrtc) != HALOTUNE_OK) {
    nvrtc_close(&nvrtc);
    skip();
  }
  struct text source = wrapper_source();
  for (size_t i = 0; i < COUNT(archs); i++) {
    struct compiled compiled;
    struct compile_request request = {.source = source.bytes, .name = "wrappers.cu", .arch = archs[i]};
    halotune_status status = compile_source(&nvrtc, &request, &compiled);
    CHECK(status == HALOTUNE_OK, "%s: %s", archs[i], fail_text());
    compiled_free(&compiled);
  }
  text_free(&source);
  nvrtc_close(&nvrtc);
}

TEST(the_wrappers_of_the_gpu_compile_with_nvcc) {
  const char *nvcc = access("/usr/local/cuda/bin/nvcc", X_OK) == 0 ? "/usr/local/cuda/bin/nvcc" : "nvcc";
  const struct text nothing = {0};
  struct text source = wrapper_source(), path = {0}, options = {0}, said = {0};
  struct process_result result;
  text_printf(&path, "%s/wrappers.cu", test_cache());
  text_printf(&options, "-gencode=arch=compute_75,code=sm_75");
  for (size_t i = 1; i < COUNT(archs); i++) {
    text_printf(&options, " -gencode=arch=compute_%s,code=%s", archs[i] + strlen("sm_"), archs[i]);
  }
  FILE *file = fopen(path.bytes, "w");
  CHECK(file && fputs(source.bytes, file) >= 0 && fclose(file) == 0, "%s", path.bytes);
  char *words[32] = {NULL}, *rest = NULL;
  size_t count = 0;
  const char *arguments[COUNT(words) + 8] = {nvcc, "-fatbin", "-o", "/dev/null", path.bytes};
  for (char *word = strtok_r(options.bytes, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) words[count++] = word;
  for (size_t i = 0; i < count; i++) arguments[5 + i] = words[i];
  halotune_status status = process_run(arguments, NULL, &nothing, -1, 120000, NULL, &said, &result);
  if (status == HALOTUNE_OK) CHECK_EQ(0, result.wait_status, "%s", text_string(&said));
  text_free(&source);
  text_free(&path);
  text_free(&options);
  text_free(&said);
  if (status == HALOTUNE_NOT_FOUND) skip();
  CHECK_OK(status);
}

int main(void) {
  unsetenv("HALOTUNE_TEST_CACHE"); /* the cache is what is tested */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_compile_error_costs_its_variant_only),
      cmocka_unit_test(an_error_shows_no_line_of_a_file_with_the_same_name),
      cmocka_unit_test(what_was_compiled_is_found_again),
      cmocka_unit_test(what_is_damaged_is_compiled_again_with_a_warning),
      cmocka_unit_test(damaged_sources_of_ours_are_written_again),
      cmocka_unit_test(the_cache_keeps_to_its_size),
      cmocka_unit_test(a_cache_is_not_cleaned_while_it_is_used),
      cmocka_unit_test(a_cache_is_used_to_the_end_where_it_was_opened),
      cmocka_unit_test(a_missing_compiler_is_said),
      cmocka_unit_test(a_compiler_that_never_ends_is_ended),
      cmocka_unit_test(a_compiler_ends_when_the_ending_comes),
      cmocka_unit_test(a_compiler_that_was_killed_has_not_rejected_its_source),
      cmocka_unit_test(a_compiler_that_makes_no_runner_is_asked_once),
      cmocka_unit_test(a_compiler_that_lacks_files_or_disk_has_not_rejected_its_source),
      cmocka_unit_test(only_an_error_at_a_line_blames_the_source),
      cmocka_unit_test(launches_that_a_gpu_refuses_are_refused),
      cmocka_unit_test(arguments_have_to_fit_the_kernel),
      cmocka_unit_test(a_crash_costs_one_run),
      cmocka_unit_test(a_runner_ends_with_the_program),
      cmocka_unit_test(a_compiler_ends_with_the_program),
      cmocka_unit_test(a_compiler_takes_nothing_of_the_working_folder),
      cmocka_unit_test(a_cache_that_cannot_be_written_is_temporary),
      cmocka_unit_test(the_wrappers_of_the_gpu_compile_with_nvrtc),
      cmocka_unit_test(the_wrappers_of_the_gpu_compile_with_nvcc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
