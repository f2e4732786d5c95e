/* signals.c: the signal handlers. They run on their own stack, because a fiber's stack may have overflowed. */
#include "tuner/emulate/runtime/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tuner/emulate/runtime/fiber.h"
#include "tuner/emulate/runtime/memory.h"
#include "tuner/emulate/runtime/report.h"

static const long tick_us = 50 * 1000L;

static pid_t parent;
static volatile sig_atomic_t kernel_runs;
static uint64_t deadline_ms, limit_ms;

static uint64_t processor_time_ms(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

static void on_tick(int number) {
  (void)number;
  if (getppid() != parent) _exit(EXIT_FAILURE);
  if (!kernel_runs || processor_time_ms() < deadline_ms) return;
  report(EMULATION_HUNG, "the kernel still runs after %llu ms of processor time", (unsigned long long)limit_ms);
}

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)context;
  char text[256];
  long long offset;
  if (!kernel_runs) { /* a fault of the runner itself */
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  bool has_address = number == SIGSEGV || number == SIGBUS;
  int argument = has_address ? memory_find(info->si_addr, &offset) : -1;
  if (argument >= 0 && memory_is_hidden()) {
    report(EMULATION_UNDEFINED, "access to byte %lld of the buffer of argument %d before wait_for_previous()", offset,
           argument);
  }
  if (argument >= 0) {
    report(EMULATION_OUT_OF_BOUNDS, "access to byte %lld of the buffer of argument %d, far outside of it", offset,
           argument);
  }
  if (has_address && fiber_guards(info->si_addr)) {
    snprintf(text, sizeof text, "a thread needs more than %d KiB of stack", FIBER_STACK_BYTES / 1024);
  } else if (has_address) {
    snprintf(text, sizeof text, "%s at address %p", strsignal(number), info->si_addr);
  } else {
    snprintf(text, sizeof text, "%s", strsignal(number));
  }
  report_crash(number, text);
}

static void give_handlers_a_stack(void) {
  static char stack[65536];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
}

void signals_install(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
  const struct itimerval tick = {{0, tick_us}, {0, tick_us}};
  const struct rlimit no_core = {0, 0};
  parent = getppid();
  setrlimit(RLIMIT_CORE, &no_core);
  give_handlers_a_stack();
  struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  struct sigaction alarm_tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART | SA_ONSTACK};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigaction(faults[i], &fault, NULL);
  sigaction(SIGALRM, &alarm_tick, NULL);
  setitimer(ITIMER_REAL, &tick, NULL);
}

void signals_kernel_begins(uint64_t timeout_ms) {
  limit_ms = timeout_ms;
  deadline_ms = processor_time_ms() + timeout_ms;
  kernel_runs = 1;
}

void signals_kernel_ends(void) { kernel_runs = 0; }
