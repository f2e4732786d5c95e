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
  enum { SHORT_MS = 20 };
  char said[128] = "";
  int ends[2], how = 0;
  CHECK_EQ(0, pipe(ends), "pipe");
  const pid_t child = fork();
  if (child == 0) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL); /* as threads of a search do */
    dup2(ends[1], STDERR_FILENO);
    driver_limit_begin_within(SHORT_MS);
    for (;;) pause();
  }
  close(ends[1]);
  CHECK(read(ends[0], said, sizeof said - 1) > 0, "a sentence");
  CHECK(strstr(said, "does not answer"), "%s", said);
  CHECK_EQ(child, waitpid(child, &how, 0), "child");
  CHECK(WIFEXITED(how) && WEXITSTATUS(how) == DRIVER_LIMIT_EXIT, "%d", how);
  close(ends[0]);
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
      cmocka_unit_test(the_last_section_ends_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
