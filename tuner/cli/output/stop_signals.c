/* stop_signals.c: the flag that SIGINT and SIGTERM set. */
#include "tuner/cli/output/stop_signals.h"

#include <stddef.h>

#include "base/system/pipe.h"

static volatile sig_atomic_t stop;

static void ask_to_stop(int number) {
  stop = 1;
  signal(number, SIG_DFL);
}

void stop_signals_catch(void) {
  struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESTART};
  pipe_stop_by(&stop);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

const volatile sig_atomic_t *stop_flag(void) { return &stop; }
