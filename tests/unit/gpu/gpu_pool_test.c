/* gpu_pool_test.c: the compile pool: many compiles, and workers that crash, hang or lose their program. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "gpu/workers/compile_pool.h"
#include "tests/unit/unit.h"

/* Template instantiations that practically never end. */
static const char runaway[] = "template <int N, unsigned M> struct tree { static const long sum = tree<N - 1, 2 * "
                              "M>::sum + tree<N - 1, 2 * M + 1>::sum; };\n"
                              "template <unsigned M> struct tree<0, M> { static const long sum = M; };\n"
                              "__global__ void k(long *a) { *a = tree<28, 1>::sum; }\n";
static const char small[] = "extern \"C\" __global__ void k(float *a) { a[threadIdx.x] = 1; }\n";

enum { LONG_MS = 600000 }; /* the longest wait, only so that no test waits for ever */

static struct compile_pool *open_pool(int workers) {
  struct compile_pool *pool;
  const struct compile_pool_options options = {.workers = workers};
  CHECK_OK(compile_pool_open(&options, &pool));
  return pool;
}

static void submit_source(struct compile_pool *pool, uint64_t id, const char *source) {
  const struct compile_request request = {.source = source, .name = "test.cu", .arch = "sm_90"};
  CHECK_OK(compile_pool_submit(pool, id, &request));
}

static struct compile_result next_result(struct compile_pool *pool) {
  struct compile_result result;
  bool have;
  CHECK_OK(compile_pool_wait(pool, LONG_MS, &result, &have));
  CHECK(have, "a result");
  return result;
}

static void check_outcome(const struct compile_result *result, uint64_t id, enum compile_outcome want) {
  CHECK_EQ(id, result->id, "%s", result->compiled.log);
  CHECK_TEXT(compile_outcome_name(want), compile_outcome_name(result->outcome), "%s", result->compiled.log);
}

TEST(an_absent_nvrtc_is_told_by_open) {
  struct compile_pool *pool;
  const struct compile_pool_options options = {.workers = 1};
  setenv("HALOTUNE_NVRTC", "/nonexistent/libnvrtc.so", 1);
  halotune_status status = compile_pool_open(&options, &pool);
  unsetenv("HALOTUNE_NVRTC");
  CHECK_EQ(HALOTUNE_NO_NVRTC, status, "%s", fail_text());
  CHECK(!pool, "no pool");
  CHECK(strstr(fail_text(), "install"), "%s", fail_text());
}

TEST(many_sources_come_back_each_as_its_own_cubin) {
  enum { SOURCES = 24 };
  struct compile_pool *pool = open_pool(2);
  bool seen[SOURCES] = {false};
  int submitted = 0, done = 0;
  CHECK(compile_pool_nvrtc(pool)->major >= 12, "%d", compile_pool_nvrtc(pool)->major);
  while (done < SOURCES) {
    for (; submitted < SOURCES && compile_pool_has_room(pool); submitted++) {
      char source[200];
      if (submitted % 4 == 3) snprintf(source, sizeof source, "__global__ void k() { wrong_%d; }", submitted);
      else
        snprintf(source, sizeof source, "extern \"C\" __global__ void k%d(int *a) { a[0] = %d; }", submitted,
                 submitted);
      submit_source(pool, (uint64_t)submitted, source);
    }
    struct compile_result result = next_result(pool);
    char name[32];
    int i = (int)result.id;
    CHECK(!seen[i], "source %d twice", i);
    seen[i] = true;
    check_outcome(&result, result.id, i % 4 == 3 ? COMPILE_FAILED : COMPILE_OK);
    snprintf(name, sizeof name, i % 4 == 3 ? "wrong_%d" : "k%d", i);
    if (i % 4 == 3) CHECK(strstr(result.compiled.log, name), "%s", result.compiled.log);
    else CHECK(resource_report_find(&result.compiled.report, name), "source %d", i);
    compile_result_free(&result);
    done++;
  }
  CHECK_EQ(0, compile_pool_pending(pool), "pending");
  compile_pool_close(pool);
}

TEST(a_full_pool_and_an_empty_one_say_so) {
  struct compile_result result;
  bool have = true;
  struct compile_pool *pool = open_pool(1);
  const struct compile_request request = {.source = small, .name = "test.cu", .arch = "sm_90"};
  CHECK_OK(compile_pool_wait(pool, -1, &result, &have));
  CHECK(!have, "nothing is pending, so the wait ends");
  while (compile_pool_has_room(pool)) submit_source(pool, 1, small);
  CHECK_EQ(HALOTUNE_ARGUMENT, compile_pool_submit(pool, 2, &request), "%s", fail_text());
  CHECK_EQ(2, compile_pool_pending(pool), "pending");
  CHECK_OK(compile_pool_wait(pool, 0, &result, &have));
  if (have) compile_result_free(&result);
  compile_pool_close(pool); /* with pending compiles */
}

TEST(two_pools_do_not_hold_each_other) {
  struct compile_pool *first = open_pool(1), *second;
  submit_source(first, 1, small);
  second = open_pool(1); /* forked while the sockets of the first pool are open */
  submit_source(second, 2, small);
  struct compile_result result = next_result(first);
  check_outcome(&result, 1, COMPILE_OK);
  compile_result_free(&result);
  compile_pool_close(first);
  result = next_result(second);
  check_outcome(&result, 2, COMPILE_OK);
  compile_result_free(&result);
  compile_pool_close(second);
}

TEST(a_bad_architecture_is_an_outcome) {
  struct compile_pool *pool = open_pool(1);
  const struct compile_request request = {.source = small, .name = "test.cu", .arch = "compute_90"};
  CHECK_OK(compile_pool_submit(pool, 1, &request));
  struct compile_result result = next_result(pool);
  check_outcome(&result, 1, COMPILE_FAILED);
  CHECK(strstr(result.compiled.log, "PTX"), "%s", result.compiled.log);
  compile_result_free(&result);
  compile_pool_close(pool);
}

/* Megabytes are sent in both directions at the same time: a source full of comments, and a cubin full of data. */
TEST(large_messages_pass) {
  enum { COMMENT_BYTES = 2 << 20, DATA_INTS = 3 << 18, JOBS = 4 };
  struct compile_pool *pool = open_pool(2);
  struct text source = {0};
  text_printf(&source, "/*");
  for (int i = 0; i < COMMENT_BYTES / 16; i++) text_printf(&source, "%s", "a long comment\n ");
  text_printf(&source, "*/ __device__ int data[%d] = {1}; extern \"C\" __global__ void k(int *a) { *a = data[*a]; }",
              DATA_INTS);
  for (int i = 0; i < JOBS; i++) submit_source(pool, (uint64_t)i, text_string(&source));
  for (int i = 0; i < JOBS; i++) {
    struct compile_result result = next_result(pool);
    check_outcome(&result, result.id, COMPILE_OK);
    CHECK(result.compiled.cubin_bytes > DATA_INTS * sizeof(int), "%zu", result.compiled.cubin_bytes);
    compile_result_free(&result);
  }
  text_free(&source);
  compile_pool_close(pool);
}

/* The field of /proc/PID/stat with this number, counted from 1; from the third on. The second field is the program's
 * name in brackets. */
static long process_field(pid_t pid, int number) {
  char path[64], line[1024] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *stat = fopen(path, "r");
  CHECK(stat && fgets(line, sizeof line, stat), "%s", path);
  fclose(stat);
  const char *field = strrchr(line, ')');
  for (int i = 2; i < number && field; i++) field = strchr(field + 1, ' ');
  CHECK(field, "%s", line);
  return strtol(field + 1, NULL, 10);
}

static pid_t parent_of(pid_t pid) { return (pid_t)process_field(pid, 4); }

/* Ticks of processor time that a process has used. */
static long ticks_of(pid_t pid) { return process_field(pid, 14) + process_field(pid, 15); }

/* Wait until a process has used so much more processor time. */
static void await_ticks(pid_t pid, long ticks) {
  double end_ms = clock_ms() + LONG_MS;
  for (long begin = ticks_of(pid); ticks_of(pid) < begin + ticks && clock_ms() < end_ms;) usleep(1000);
  CHECK(clock_ms() < end_ms, "process %d does not compute", (int)pid);
}

/* Start a compile that never ends, in a pool with one worker that is idle. Returns when NVRTC is at work: the worker
 * has used more processor time since then than it takes to read a request. */
static pid_t start_runaway(struct compile_pool *pool) {
  enum { TICKS = 10 };
  submit_source(pool, 0, small);
  struct compile_result result = next_result(pool);
  check_outcome(&result, 0, COMPILE_OK);
  compile_result_free(&result);
  submit_source(pool, 1, runaway);
  pid_t worker = compile_pool_process(pool, 1);
  CHECK(worker > 0, "the runaway is being compiled");
  await_ticks(worker, TICKS);
  return worker;
}

static double test_clock_ms(void *state) { return *(const double *)state; }

TEST(a_runaway_compile_is_a_timeout_and_the_pool_goes_on) {
  enum { TIMEOUT_MS = 6000, PARTS = 12 };
  double now_ms = 1000;
  const struct compile_pool_options options = {
      .workers = 1, .timeout_ms = TIMEOUT_MS, .clock = {.now_ms = test_clock_ms, .state = &now_ms}};
  struct compile_pool *pool;
  struct compile_result result;
  bool have;
  CHECK_OK(compile_pool_open(&options, &pool));
  submit_source(pool, 1, runaway);
  submit_source(pool, 2, small); /* queued in the same worker */
  now_ms += 3600e3;
  CHECK_OK(compile_pool_wait(pool, 0, &result, &have));
  CHECK(!have, "an hour in which the program was stopped uses up a part of the limit");
  for (int part = 1; part < PARTS; part++) {
    now_ms += TIMEOUT_MS / PARTS - (part == 1);
    CHECK_OK(compile_pool_wait(pool, 0, &result, &have));
    CHECK(!have, "%d of %d parts", part + 1, PARTS);
  }
  now_ms += 1;
  CHECK_OK(compile_pool_wait(pool, 0, &result, &have));
  CHECK(have, "the time is over");
  check_outcome(&result, 1, COMPILE_TIMEOUT);
  CHECK(strstr(result.compiled.log, "6000 ms"), "%s", result.compiled.log);
  compile_result_free(&result);
  result = next_result(pool);
  check_outcome(&result, 2, COMPILE_OK);
  compile_result_free(&result);
  compile_pool_close(pool);
}

/* The compile of `runaway` takes gigabytes before its time is over. */
TEST(a_compile_that_wants_too_much_memory_fails_and_the_pool_goes_on) {
  const struct compile_pool_options options = {.workers = 1, .timeout_ms = LONG_MS, .memory_bytes = (size_t)512 << 20};
  struct compile_pool *pool;
  CHECK_OK(compile_pool_open(&options, &pool));
  submit_source(pool, 1, runaway);
  submit_source(pool, 2, small);
  struct compile_result result = next_result(pool);
  CHECK_EQ(1, result.id, "%s", result.compiled.log);
  CHECK(result.outcome == COMPILE_FAILED || result.outcome == COMPILE_CRASHED, "%s",
        compile_outcome_name(result.outcome));
  compile_result_free(&result);
  result = next_result(pool);
  check_outcome(&result, 2, COMPILE_OK);
  compile_result_free(&result);
  compile_pool_close(pool);
}

TEST(a_crash_costs_one_compile_and_names_its_signal) {
  struct compile_pool *pool = open_pool(1);
  pid_t worker = start_runaway(pool);
  submit_source(pool, 2, small);
  CHECK_EQ(0, compile_pool_process(pool, 2), "the other one waits");
  kill(worker, SIGSEGV);
  struct compile_result result = next_result(pool);
  check_outcome(&result, 1, COMPILE_CRASHED);
  CHECK(strstr(result.compiled.log, "signal 11"), "%s", result.compiled.log);
  compile_result_free(&result);
  result = next_result(pool);
  check_outcome(&result, 2, COMPILE_OK);
  compile_result_free(&result);
  compile_pool_close(pool);
}

/* NVRTC opens its second library for the first compile. An architecture that it does not know ends before that, so that
 * the limit of the worker is set in time. */
TEST(a_shortage_of_files_in_a_worker_does_not_reject_its_source) {
  static const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  const struct compile_request request = {.source = small, .name = "test.cu", .arch = "sm_1"};
  struct compile_pool *pool = open_pool(1);
  CHECK_OK(compile_pool_submit(pool, 1, &request));
  CHECK(prlimit(compile_pool_process(pool, 1), RLIMIT_NOFILE, &none, NULL) == 0, "the limit of the worker");
  struct compile_result result = next_result(pool);
  check_outcome(&result, 1, COMPILE_FAILED);
  compile_result_free(&result);
  submit_source(pool, 2, small);
  result = next_result(pool);
  check_outcome(&result, 2, COMPILE_CRASHED);
  /* a sanitizer can end the worker before NVRTC returns */
  CHECK(strstr(result.compiled.log, "NVRTC did not finish") || strstr(result.compiled.log, "died of signal"), "%s",
        result.compiled.log);
  compile_result_free(&result);
  compile_pool_close(pool);
}

/* NVRTC handles some of these signals by exiting while it compiles, so they are sent during a compile. */
TEST(signals_of_the_terminal_do_not_reach_a_worker) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  struct compile_pool *pool = open_pool(1);
  pid_t worker = start_runaway(pool);
  for (size_t i = 0; i < COUNT(signals); i++) {
    struct compile_result result;
    bool have;
    kill(worker, signals[i]);
    await_ticks(worker, 2);
    CHECK_OK(compile_pool_wait(pool, 0, &result, &have));
    CHECK(!have, "signal %d ended the compile", signals[i]);
    CHECK_EQ(worker, compile_pool_process(pool, 1), "signal %d", signals[i]);
  }
  compile_pool_close(pool);
}

/* Wait for the end of an orphan, which this process adopts. Returns whether it ended. */
static bool orphan_ends(pid_t pid) {
  for (double end_ms = clock_ms() + LONG_MS; clock_ms() < end_ms; usleep(5000)) {
    if (waitpid(pid, NULL, WNOHANG) == pid) return true;
  }
  return false;
}

/* A program with a busy pool. It prints the processes of its worker and its spawner, and never ends. */
static void be_a_program(int out) {
  struct compile_pool *pool = open_pool(1);
  submit_source(pool, 1, runaway);
  pid_t processes[2] = {compile_pool_process(pool, 1)};
  processes[1] = parent_of(processes[0]);
  if (write(out, processes, sizeof processes) != sizeof processes) _exit(EXIT_FAILURE);
  for (;;) pause();
}

TEST(workers_die_with_a_program_that_is_killed) {
  int ends[2];
  pid_t processes[2] = {0};
  CHECK_EQ(0, pipe(ends), "pipe");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t program = fork();
  if (program == 0) be_a_program(ends[1]);
  close(ends[1]);
  CHECK_EQ(sizeof processes, read(ends[0], processes, sizeof processes), "the processes");
  kill(program, SIGKILL);
  CHECK_EQ(program, waitpid(program, NULL, 0), "program");
  for (size_t i = 0; i < COUNT(processes); i++) {
    CHECK(orphan_ends(processes[i]), "process %zu lives", i);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  close(ends[0]);
}

TEST(a_pool_whose_spawner_is_gone_reports_it) {
  struct compile_pool *pool = open_pool(1);
  const struct compile_request request = {.source = small, .name = "test.cu", .arch = "sm_90"};
  halotune_status status = HALOTUNE_OK;
  submit_source(pool, 1, small);
  kill(parent_of(compile_pool_process(pool, 1)), SIGKILL);
  for (int i = 0; i < 10 && status == HALOTUNE_OK; i++) {
    struct compile_result result;
    bool have;
    status = compile_pool_wait(pool, -1, &result, &have);
    if (have) compile_result_free(&result);
    if (status == HALOTUNE_OK && compile_pool_has_room(pool)) status = compile_pool_submit(pool, 2, &request);
  }
  CHECK_EQ(HALOTUNE_IO, status, "%s", fail_text());
  CHECK(strstr(fail_text(), "was killed by signal 9 (Killed)"), "%s", fail_text());
  compile_pool_close(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_absent_nvrtc_is_told_by_open),
      cmocka_unit_test(many_sources_come_back_each_as_its_own_cubin),
      cmocka_unit_test(a_full_pool_and_an_empty_one_say_so),
      cmocka_unit_test(two_pools_do_not_hold_each_other),
      cmocka_unit_test(a_bad_architecture_is_an_outcome),
      cmocka_unit_test(large_messages_pass),
      cmocka_unit_test(a_runaway_compile_is_a_timeout_and_the_pool_goes_on),
      cmocka_unit_test(a_compile_that_wants_too_much_memory_fails_and_the_pool_goes_on),
      cmocka_unit_test(a_crash_costs_one_compile_and_names_its_signal),
      cmocka_unit_test(a_shortage_of_files_in_a_worker_does_not_reject_its_source),
      cmocka_unit_test(signals_of_the_terminal_do_not_reach_a_worker),
      cmocka_unit_test(workers_die_with_a_program_that_is_killed),
      cmocka_unit_test(a_pool_whose_spawner_is_gone_reports_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
