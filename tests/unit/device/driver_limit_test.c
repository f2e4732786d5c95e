/* driver_limit_test.c: a call that never returns ends the program, and one that returns does not. */
#include "tuner/device/driver_limit.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static bool is_armed(void) {
  struct itimerval timer;
  CHECK_EQ(0, getitimer(ITIMER_REAL, &timer), "timer");
  return timer.it_value.tv_sec > 0 || timer.it_value.tv_usec > 0;
}

TEST(a_driver_that_never_answers_ends_the_program) {
  enum { SHORT_MS = 24 };
  char said[128] = "";
  int ends[2], how = 0;
  CHECK_EQ(0, pipe(ends), "pipe");
  const pid_t child = fork();
  if (child == 0) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL); /* as threads of a search do */
    dup2(ends[1], STDERR_FILENO);
    driver_limit_begin_for(SHORT_MS, "a word\n");
    for (;;) pause();
  }
  close(ends[1]);
  CHECK(read(ends[0], said, sizeof said - 1) > 0, "a sentence");
  CHECK(strcmp(said, "a word\n") == 0, "%s", said);
  CHECK_EQ(child, waitpid(child, &how, 0), "child");
  CHECK(WIFEXITED(how) && WEXITSTATUS(how) == DRIVER_LIMIT_EXIT, "%d", how);
  close(ends[0]);
}

/* The kernel keeps one of many equal signals for a process that is stopped, and for one that blocks them. */
static void stop_for_many_parts(void) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  for (int i = 0; i < 5 * DRIVER_LIMIT_PARTS; i++) raise(SIGALRM);
  sigprocmask(SIG_SETMASK, &before, NULL);
}

/* `stops` long stops count as many parts, and `parts` more are counted. Returns how the program ended. */
static int count_in_child(int stops, int parts) {
  int how = 0;
  const pid_t child = fork();
  if (child == 0) {
    driver_limit_begin();
    for (int i = 0; i < stops; i++) stop_for_many_parts();
    for (int i = 0; i < parts; i++) raise(SIGALRM);
    _exit(0);
  }
  CHECK_EQ(child, waitpid(child, &how, 0), "child");
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

TEST(time_in_which_the_program_was_stopped_is_not_counted) {
  static const struct {
    int stops, parts, want;
  } rows[] = {
      {0, DRIVER_LIMIT_PARTS - 1, 0}, {0, DRIVER_LIMIT_PARTS, DRIVER_LIMIT_EXIT},     {1, 0, 0},
      {1, DRIVER_LIMIT_PARTS - 2, 0}, {1, DRIVER_LIMIT_PARTS - 1, DRIVER_LIMIT_EXIT},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_EQ(rows[i].want, count_in_child(rows[i].stops, rows[i].parts), "row %zu", i);
}

TEST(the_last_section_ends_the_limit) {
  CHECK(!is_armed(), "before");
  driver_limit_begin();
  driver_limit_begin();
  CHECK(is_armed(), "two");
  driver_limit_end();
  CHECK(is_armed(), "one");
  driver_limit_end();
  CHECK(!is_armed(), "none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_driver_that_never_answers_ends_the_program),
      cmocka_unit_test(time_in_which_the_program_was_stopped_is_not_counted),
      cmocka_unit_test(the_last_section_ends_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
