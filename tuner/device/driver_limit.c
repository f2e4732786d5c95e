/* driver_limit.c: a timer of the system, whose signals end the program. */
#include "tuner/device/driver_limit.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int sections, parts;
static _Atomic(const char *) said;

/* The timer continues while the process is stopped. The signals of that time arrive as one. */
static void count_part(int number) {
  (void)number;
  if (atomic_fetch_add(&parts, 1) + 1 < DRIVER_LIMIT_PARTS) return;
  const char *sentence = atomic_load(&said);
  const ssize_t ignored = write(STDERR_FILENO, sentence, strlen(sentence)); /* the program ends in any case */
  (void)ignored;
  _exit(DRIVER_LIMIT_EXIT);
}

static void timer_set(int part_ms) {
  enum { MS_PER_S = 1000, US_PER_MS = 1000 };
  const struct timeval part = {.tv_sec = part_ms / MS_PER_S, .tv_usec = (suseconds_t)(part_ms % MS_PER_S) * US_PER_MS};
  const struct itimerval timer = {.it_interval = part, .it_value = part};
  setitimer(ITIMER_REAL, &timer, NULL);
}

void driver_limit_begin_for(int limit_ms, const char *sentence) {
  const struct sigaction action = {.sa_handler = count_part, .sa_flags = SA_RESTART};
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  atomic_store(&said, sentence);
  atomic_store(&parts, 0);
  sigaction(SIGALRM, &action, NULL);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
  atomic_fetch_add(&sections, 1);
  timer_set(limit_ms < DRIVER_LIMIT_PARTS ? 1 : limit_ms / DRIVER_LIMIT_PARTS);
}

void driver_limit_begin(void) {
  driver_limit_begin_for(DRIVER_LIMIT_MS,
                         "halotune: NVIDIA's driver does not answer; 'nvidia-smi' and the system's log may tell why\n");
}

void driver_limit_end(void) {
  if (atomic_fetch_sub(&sections, 1) == 1) timer_set(0);
}
