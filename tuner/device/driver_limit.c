/* driver_limit.c: a timer of the system, whose signal ends the program. */
#include "tuner/device/driver_limit.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int sections;

static void end_program(int number) {
  static const char text[] =
      "halotune: NVIDIA's driver does not answer; 'nvidia-smi' and the system's log may tell why\n";
  (void)number;
  const ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1); /* it ends in any case */
  (void)ignored;
  _exit(DRIVER_LIMIT_EXIT);
}

static void timer_set(int limit_ms) {
  enum { MS_PER_S = 1000, US_PER_MS = 1000 };
  const struct itimerval timer = {
      .it_value = {.tv_sec = limit_ms / MS_PER_S, .tv_usec = (suseconds_t)(limit_ms % MS_PER_S) * US_PER_MS}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

void driver_limit_begin_within(int limit_ms) {
  const struct sigaction action = {.sa_handler = end_program};
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  sigaction(SIGALRM, &action, NULL);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
  atomic_fetch_add(&sections, 1);
  timer_set(limit_ms);
}

void driver_limit_begin(void) { driver_limit_begin_within(DRIVER_LIMIT_MS); }

void driver_limit_end(void) {
  if (atomic_fetch_sub(&sections, 1) == 1) timer_set(0);
}
