/* fork_order_test.c: a fork beside a thread that reads a database, and that has a lock of the program. It is alone in
 * its program, because the order in which locks are first used decides whether a fork takes them in the order of other
 * threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/library/tuned.h"

static const struct tuned rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27}};

/* The program's own lock, which is held during calls of the library. */
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

static void take_own_lock(void) { pthread_mutex_lock(&own_lock); }
static void give_own_lock(void) { pthread_mutex_unlock(&own_lock); }

/* A thread that opens a database again and again. */
struct opener {
  const char *path;
  atomic_bool has_begun, may_end;
};

static void *open_often(void *context) {
  struct opener *opener = context;
  halotune_ctx *ctx;
  atomic_store(&opener->has_begun, true);
  while (!atomic_load(&opener->may_end)) {
    take_own_lock();
    if (halotune_open(&opener->path, 1, &ctx) == HALOTUNE_OK) halotune_close(ctx);
    give_own_lock();
  }
  return NULL;
}

/* Make the database in another process: here, halotune_open is the first call of the library. */
static void make_elsewhere(const char *path) {
  const pid_t child = fork();
  int how = -1;
  if (child == 0) {
    tuned_make(path, rows, COUNT(rows));
    _exit(0);
  }
  waitpid(child, &how, 0);
  CHECK_EQ(0, how, "the database");
}

TEST(a_fork_takes_locks_in_the_order_of_readers) {
  enum { FORKS = 100, MOST_S = 300 };
  struct work work = work_begin();
  struct opener opener = {.path = work.path};
  pthread_t thread;
  make_elsewhere(work.path);
  CHECK_EQ(0, pthread_create(&thread, NULL, open_often, &opener), "thread");
  while (!atomic_load(&opener.has_begun)) usleep(100);
  alarm(MOST_S); /* against hanging */
  for (int n = 0; n < FORKS; n++) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int how = -1;
    waitpid(child, &how, 0);
    CHECK_EQ(0, how, "fork %d", n);
  }
  alarm(0);
  atomic_store(&opener.may_end, true);
  pthread_join(thread, NULL);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_fork_takes_locks_in_the_order_of_readers)};
  if (pthread_atfork(take_own_lock, give_own_lock, give_own_lock) != 0) return EXIT_FAILURE;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
