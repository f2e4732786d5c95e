/* report.c: sends outcomes to the program. */
#include "tuner/emulate/runtime/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tuner/emulate/runtime/indices.h"
#include "tuner/emulate/runtime/protocol.h"

void report_send(const struct emulation_outcome *outcome) {
  if (send(EMULATION_SOCKET, outcome, sizeof *outcome, MSG_NOSIGNAL) != (ssize_t)sizeof *outcome) _exit(EXIT_FAILURE);
}

void report_send_counts(const struct emulation_counts *counts) {
  if (send(EMULATION_SOCKET, counts, sizeof *counts, MSG_NOSIGNAL) != (ssize_t)sizeof *counts) _exit(EXIT_FAILURE);
}

/* It is static because the stack may have overflowed. */
static struct emulation_outcome last;

static _Noreturn void send_last(void) {
  memcpy(last.block, &blockIdx, sizeof last.block);
  memcpy(last.thread, &threadIdx, sizeof last.thread);
  report_send(&last);
  _exit(EXIT_SUCCESS); /* without exit handlers, since locks may be held and stacks switched */
}

void report(enum emulation_outcome_kind kind, const char *format, ...) {
  va_list arguments;
  last.kind = kind;
  va_start(arguments, format);
  vsnprintf(last.text, sizeof last.text, format, arguments);
  va_end(arguments);
  send_last();
}

void report_crash(int signal, const char *text) {
  last.kind = EMULATION_CRASHED;
  last.signal = signal;
  snprintf(last.text, sizeof last.text, "%s", text);
  send_last();
}

void report_out_of_memory(const char *what) {
  last.kind = EMULATION_CRASHED;
  snprintf(last.text, sizeof last.text, "the runner is out of memory: %s", what);
  send_last();
}
