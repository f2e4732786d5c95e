/* limited_call_test.c: calls that end, calls that never do, and calls that end after their caller has left. */
#include "base/system/limited_call.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "tests/unit/unit.h"

struct job {
  sem_t go, dropped;
  halotune_status status;
};

static halotune_status wait_and_fail(void *argument) {
  struct job *job = argument;
  sigset_t blocked;
  while (sem_wait(&job->go) != 0) {}
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  return sigismember(&blocked, SIGINT) ? fail(job->status, "the job's words") : HALOTUNE_ARGUMENT;
}

static void drop(void *argument) {
  struct job *job = argument;
  sem_post(&job->dropped);
}

static void job_begin(struct job *job, int go) {
  CHECK_EQ(0, sem_init(&job->go, 0, (unsigned)go), "semaphore");
  CHECK_EQ(0, sem_init(&job->dropped, 0, 0), "semaphore");
  job->status = HALOTUNE_PARSE;
}

static void job_end(struct job *job) {
  sem_destroy(&job->dropped);
  sem_destroy(&job->go);
}

TEST(a_call_that_ends_in_time_tells_how) {
  const struct limited_call how = {.work = wait_and_fail, .drop = drop, .limit_ms = 600000};
  struct job job;
  bool is_late = true;
  job_begin(&job, 1);
  fail(HALOTUNE_IO, "before");
  CHECK_EQ(HALOTUNE_PARSE, limited_call(&how, &job, &is_late), "status");
  CHECK_TEXT("the job's words", fail_text(), "detail");
  CHECK(!is_late && sem_trywait(&job.dropped) != 0, "the job is the caller's");
  job_end(&job);
}

TEST(a_call_that_does_not_end_is_left) {
  const struct limited_call how = {.work = wait_and_fail, .drop = drop, .limit_ms = 20};
  struct job job;
  bool is_late = false;
  job_begin(&job, 0);
  fail(HALOTUNE_IO, "before");
  CHECK_EQ(HALOTUNE_CANCELLED, limited_call(&how, &job, &is_late), "status");
  CHECK_TEXT("before", fail_text(), "no detail");
  CHECK(is_late && sem_trywait(&job.dropped) != 0, "it still runs");
  CHECK(limited_call_is_left(), "left");
  sem_post(&job.go);
  while (sem_wait(&job.dropped) != 0) {}
  while (limited_call_is_left()) sched_yield();
  job_end(&job);
}

/* Give new threads stacks for which there is room, or none. */
static void stacks_set(bool have_room) {
  const size_t usual_bytes = (size_t)1 << 23, most_bytes = (size_t)1 << 60;
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0 &&
            pthread_attr_setstacksize(&attributes, have_room ? usual_bytes : most_bytes) == 0 &&
            pthread_setattr_default_np(&attributes) == 0,
        "stacks");
  pthread_attr_destroy(&attributes);
}

/* Only a thread gives a limit, so the call is not made without one. */
TEST(without_a_thread_there_is_no_call) {
  const struct limited_call how = {.work = wait_and_fail, .drop = drop, .limit_ms = 20};
  struct job job;
  bool is_late = true;
  job_begin(&job, 1);
  stacks_set(false);
  CHECK_EQ(HALOTUNE_MEMORY, limited_call(&how, &job, &is_late), "status");
  stacks_set(true);
  CHECK(strstr(fail_text(), "no thread"), "%s", fail_text());
  CHECK(!is_late && !limited_call_is_left() && sem_trywait(&job.go) == 0, "not called");
  job_end(&job);
}

static atomic_bool has_left;

/* Runs after the thread has left the job, and takes a while. */
static void leave(void *unused) {
  const struct timespec pause = {.tv_nsec = 20000000};
  (void)unused;
  nanosleep(&pause, NULL);
  atomic_store(&has_left, true);
}

static halotune_status leave_slowly(void *key) {
  pthread_setspecific(*(pthread_key_t *)key, key);
  return HALOTUNE_OK;
}

/* A program may unload the library as soon as it has the answer. */
TEST(no_thread_of_a_call_that_ended_is_left) {
  const struct limited_call how = {.work = leave_slowly, .drop = drop, .limit_ms = 600000};
  pthread_key_t key;
  bool is_late;
  CHECK_EQ(0, pthread_key_create(&key, leave), "key");
  CHECK_OK(limited_call(&how, &key, &is_late));
  CHECK(!is_late && atomic_load(&has_left), "the thread has ended");
  pthread_key_delete(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_that_ends_in_time_tells_how),
      cmocka_unit_test(a_call_that_does_not_end_is_left),
      cmocka_unit_test(without_a_thread_there_is_no_call),
      cmocka_unit_test(no_thread_of_a_call_that_ended_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
