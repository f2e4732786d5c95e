/* gpu_link_test.c: the program's end of the connection to GPU workers that answer, lie, hang and die. No worker
 * survives a program that was killed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/process.h"
#include "base/system/transfer.h"
#include "tests/unit/emulate/running.h"
#include "tests/unit/unit.h"
#include "tuner/device/gpu_link.h"

enum { DEADLINE_MS = 300, LONG_MS = 30000 };

/* What a worker does with its first request. */
enum manner {
  ANSWERS,
  SAYS_NOTHING,
  GOES,
  KILLS_ITSELF,
  SHORT_REPLY,
  HUGE_REPLY,
  BAD_STATUS,
  BAD_PAYLOAD,
  TRAILING,
  HALF_REPLY,
  MANNERS
};

static void write_numbers(struct text *out, uint64_t status, uint64_t outcome, uint64_t slot, uint64_t is_lost,
                          uint64_t payload) {
  pack_u64(out, 0);
  pack_u64(out, status);
  pack_text(out, "detail");
  pack_u64(out, outcome);
  pack_u64(out, slot);
  pack_u64(out, is_lost);
  pack_u64(out, payload);
  for (int i = 0; i < GPU_MARK_COUNT; i++) pack_double(out, 0);
}

static void misbehave(void *state, int socket) {
  const enum manner manner = *(const enum manner *)state;
  struct text reply = {0};
  uint64_t length;
  char body[256];
  if (!read_all(socket, (char *)&length, sizeof length) || length > sizeof body || !read_all(socket, body, length))
    return;
  if (manner == SAYS_NOTHING) pause();
  if (manner == GOES) return;
  if (manner == KILLS_ITSELF) raise(SIGSEGV);
  write_numbers(&reply, manner == BAD_STATUS ? 99 : HALOTUNE_OK, OUTCOME_MEASURED, 0, 0,
                manner == BAD_PAYLOAD ? 1000 : 0);
  if (manner == TRAILING) pack_u64(&reply, 1);
  if (manner == SHORT_REPLY) reply.length -= 8;
  gpu_message_end(&reply);
  if (manner == HUGE_REPLY) memset(reply.bytes, 0x7f, sizeof length);
  write_all(socket, reply.bytes, manner == HALF_REPLY ? reply.length / 2 : reply.length);
  if (manner == HALF_REPLY || manner == HUGE_REPLY) pause();
  pause();
}

static void write_request(struct text *request) {
  gpu_request_begin(request, GPU_REQUEST_UNLOAD);
  pack_u64(request, 0);
  gpu_message_end(request);
}

TEST(what_a_worker_does_is_told_and_the_next_one_works) {
  static const struct {
    enum manner manner;
    enum gpu_link_end end;
    const char *death;
  } rows[] = {
      {ANSWERS, GPU_LINK_ANSWERED, ""},
      {SAYS_NOTHING, GPU_LINK_HUNG, "signal 9"},
      {GOES, GPU_LINK_DIED, "ended by itself"},
      {KILLS_ITSELF, GPU_LINK_DIED, "signal 11"},
      {SHORT_REPLY, GPU_LINK_DIED, "invalid answer"},
      {HUGE_REPLY, GPU_LINK_DIED, "invalid answer"},
      {BAD_STATUS, GPU_LINK_DIED, "invalid answer"},
      {BAD_PAYLOAD, GPU_LINK_DIED, "invalid answer"},
      {TRAILING, GPU_LINK_DIED, "invalid answer"},
      {HALF_REPLY, GPU_LINK_HUNG, "signal 9"},
  };
  _Static_assert(COUNT(rows) == MANNERS, "a row for each manner");
  for (size_t i = 0; i < COUNT(rows); i++) {
    enum manner manner = rows[i].manner;
    const int deadline_ms = rows[i].end == GPU_LINK_HUNG ? DEADLINE_MS : LONG_MS;
    const struct spawner_program program = {.name = "test worker", .serve = misbehave, .state = &manner};
    struct gpu_link link;
    struct gpu_reply reply;
    struct text request = {0};
    write_request(&request);
    CHECK_OK(gpu_link_open(&program, &link));
    CHECK_EQ(GPU_LINK_DIED, gpu_link_call(&link, &request, DEADLINE_MS, &reply), "no worker was started");
    for (int round = 0; round < 2; round++) {
      CHECK_OK(gpu_link_start(&link));
      CHECK_EQ(rows[i].end, gpu_link_call(&link, &request, deadline_ms, &reply), "row %zu", i);
      CHECK(strstr(link.death, rows[i].death), "row %zu: %s", i, link.death);
      CHECK_EQ(rows[i].end == GPU_LINK_ANSWERED, link.pid != 0, "row %zu", i);
    }
    gpu_link_close(&link);
    text_free(&request);
  }
}

TEST(a_worker_refuses_requests_that_make_no_sense) {
  struct gpu_link link;
  struct gpu_reply reply;
  CHECK_OK(gpu_link_open(NULL, &link));
  CHECK_OK(gpu_link_start(&link));
  for (uint64_t kind = 0; kind <= GPU_REQUEST_COUNT; kind++) {
    if (kind == GPU_REQUEST_UNLOAD) continue;
    struct text request = {0};
    gpu_request_begin(&request, (enum gpu_request)kind);
    gpu_message_end(&request);
    CHECK_EQ(GPU_LINK_ANSWERED, gpu_link_call(&link, &request, LONG_MS, &reply), "%s", link.death);
    CHECK_EQ(HALOTUNE_PARSE, reply.status, "request %d: %s", (int)kind, reply.detail);
    text_free(&request);
  }
  gpu_link_close(&link);
}

/* Send a request that consists of numbers. Returns the status of its reply. */
static halotune_status ask_numbers(struct gpu_link *link, enum gpu_request kind, const uint64_t *numbers, int count) {
  struct gpu_reply reply = {.status = HALOTUNE_IO};
  struct text request = {0};
  gpu_request_begin(&request, kind);
  for (int i = 0; i < count; i++) pack_u64(&request, numbers[i]);
  gpu_message_end(&request);
  CHECK_EQ(GPU_LINK_ANSWERED, gpu_link_call(link, &request, LONG_MS, &reply), "%s", link->death);
  text_free(&request);
  return reply.status;
}

TEST(the_parts_of_a_cubin_follow_each_other) {
  static const struct {
    uint64_t offset, bytes;
    halotune_status want;
  } rows[] = {
      {0, 100, HALOTUNE_OK},     {100, 50, HALOTUNE_OK},   {100, 50, HALOTUNE_PARSE}, /* this part is there already */
      {160, 10, HALOTUNE_PARSE}, {150, 0, HALOTUNE_PARSE}, {150, GPU_WINDOW_BYTES + 1ull, HALOTUNE_PARSE},
      {150, 10, HALOTUNE_OK},    {0, 7, HALOTUNE_OK}, /* another cubin */
      {160, 10, HALOTUNE_PARSE}, {7, 1, HALOTUNE_OK},
  };
  struct gpu_link link;
  CHECK_OK(gpu_link_open(NULL, &link));
  CHECK_OK(gpu_link_start(&link));
  for (size_t i = 0; i < COUNT(rows); i++) {
    const uint64_t numbers[] = {rows[i].offset, rows[i].bytes};
    CHECK_EQ(rows[i].want, ask_numbers(&link, GPU_REQUEST_CUBIN, numbers, 2), "row %zu", i);
  }
  CHECK_EQ(HALOTUNE_PARSE, ask_numbers(&link, GPU_REQUEST_PREPARE, &(uint64_t){8}, 1), "no GPU was opened");
  gpu_link_close(&link);
}

TEST(no_worker_outlives_a_program_that_was_killed) {
  enum { LATE_MS = 60000 }; /* only so that the test cannot wait for ever */
  int ends[2];
  pid_t pids[2] = {0};
  CHECK_EQ(0, pipe(ends), "pipe");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t program = fork();
  if (program == 0) {
    enum manner manner = SAYS_NOTHING;
    const struct spawner_program worker = {.name = "test worker", .serve = misbehave, .state = &manner};
    struct gpu_link link;
    struct gpu_reply reply;
    struct text request = {0};
    write_request(&request);
    if (gpu_link_open(&worker, &link) != HALOTUNE_OK || gpu_link_start(&link) != HALOTUNE_OK) _exit(1);
    const pid_t own[2] = {link.spawner.pid, link.pid};
    if (write(ends[1], own, sizeof own) != sizeof own) _exit(1);
    gpu_link_call(&link, &request, LONG_MS, &reply);
    _exit(1);
  }
  CHECK(read_all(ends[0], (char *)pids, sizeof pids), "no pids came");
  CHECK(is_running(pids[0]) && is_running(pids[1]), "they run");
  kill(program, SIGKILL);
  double until_ms = clock_ms() + LATE_MS;
  while ((is_running(pids[0]) || is_running(pids[1])) && clock_ms() < until_ms) usleep(5000);
  CHECK(!is_running(pids[0]), "the spawner is left");
  CHECK(!is_running(pids[1]), "the worker is left");
  while (waitpid(-1, NULL, 0) > 0) {}
  close(ends[0]);
  close(ends[1]);
}

static halotune_status prepare_for_ever(void *state, struct text *facts) {
  (void)state, (void)facts;
  while (pause() < 0) continue;
  return HALOTUNE_OK;
}

static void serve_nothing(void *state, int socket) { (void)state, (void)socket; }

/* Whether a process has ended, of which this one is the parent no more. */
static bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

TEST(a_silent_spawner_is_killed) {
  enum { SHORT_MS = 20 };
  const struct spawner_program silent = {
      .name = "test worker", .prepare = prepare_for_ever, .serve = serve_nothing, .answer_ms = SHORT_MS};
  const struct spawner_program good = {.name = "test worker", .serve = serve_nothing, .answer_ms = LONG_MS};
  struct spawner spawner;
  struct text facts = {0};
  pid_t worker;
  int socket;
  CHECK_EQ(HALOTUNE_IO, spawner_open(&silent, &facts, &spawner), "it never gets ready");
  CHECK(strstr(fail_text(), "did not answer in 0.02 s"), "%s", fail_text());
  spawner_close(&spawner);
  for (int stops = 0; stops < 2; stops++) {
    CHECK_OK(spawner_open(&good, &facts, &spawner));
    const pid_t process = spawner.pid;
    CHECK_EQ(0, kill(process, SIGSTOP), "stopped");
    spawner.answer_ms = spawner.end_ms = SHORT_MS;
    if (stops) CHECK_EQ(PROCESS_NOT_ENDED, spawner_stop(&spawner, getpid() + 1), "its end is not known");
    else CHECK_EQ(HALOTUNE_IO, spawner_start(&spawner, &worker, &socket), "no worker");
    CHECK(is_gone(process), "the spawner");
    CHECK_EQ(HALOTUNE_IO, spawner_start(&spawner, &worker, &socket), "nor later");
    spawner_close(&spawner);
  }
  text_free(&facts);
}

static void let_all_trace_it(void *state, int socket) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  misbehave(state, socket);
}

/* Start a process that traces another one, whose parent then does not see its end. Returns 0 if it may not. */
static pid_t tracer_start(pid_t traced) {
  int ends[2];
  char word = 'n';
  CHECK_EQ(0, pipe(ends), "pipe");
  const pid_t tracer = fork();
  if (tracer == 0) {
    word = ptrace(PTRACE_SEIZE, traced, NULL, NULL) == 0 ? 'y' : 'n';
    if (write(ends[1], &word, 1) == 1) {
      for (;;) pause();
    }
    _exit(1);
  }
  CHECK_EQ(1, read(ends[0], &word, 1), "tracer");
  close(ends[0]);
  close(ends[1]);
  if (word == 'y') return tracer;
  process_kill(tracer);
  return 0;
}

TEST(no_worker_begins_while_the_one_before_has_not_ended) {
  enum { END_MS = 50 };
  enum manner manner = ANSWERS;
  const struct spawner_program program = {
      .name = "test worker", .serve = let_all_trace_it, .state = &manner, .end_ms = END_MS};
  struct gpu_link link;
  struct gpu_reply reply;
  struct text request = {0};
  write_request(&request);
  CHECK_OK(gpu_link_open(&program, &link));
  CHECK_OK(gpu_link_start(&link));
  CHECK_EQ(GPU_LINK_ANSWERED, gpu_link_call(&link, &request, LONG_MS, &reply), "it lets all trace it");
  const pid_t tracer = tracer_start(link.pid);
  if (tracer) {
    gpu_link_stop(&link);
    CHECK_TEXT("its process was killed, but is not known to have ended", link.death, "death");
    CHECK_EQ(HALOTUNE_IO, gpu_link_start(&link), "the GPU may not be free");
    CHECK(strstr(fail_text(), "may still hold the GPU"), "%s", fail_text());
    process_kill(tracer);
  }
  gpu_link_close(&link);
  text_free(&request);
  if (!tracer) skip(); /* no process may trace another one here */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_silent_spawner_is_killed),
      cmocka_unit_test(what_a_worker_does_is_told_and_the_next_one_works),
      cmocka_unit_test(a_worker_refuses_requests_that_make_no_sense),
      cmocka_unit_test(the_parts_of_a_cubin_follow_each_other),
      cmocka_unit_test(no_worker_begins_while_the_one_before_has_not_ended),
      cmocka_unit_test(no_worker_outlives_a_program_that_was_killed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
