/* report.h: how a run ends early: the outcome goes to the program, and the runner ends. */
#ifndef EMULATE_RUNTIME_REPORT_H
#define EMULATE_RUNTIME_REPORT_H

#include "tuner/emulate/runtime/outcome.h"

/* Name the outcome, the block and the thread that runs now, and end the runner. Also called in signal handlers. */
_Noreturn void report(enum emulation_outcome_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a crash, with its signal. */
_Noreturn void report_crash(int signal, const char *text);

/* The runner cannot go on: no fault of the kernel. */
_Noreturn void report_out_of_memory(const char *what);

/* What an allocation returned, which is memory then. */
static inline void *must_have(void *memory, const char *what) {
  if (!memory) report_out_of_memory(what);
  return memory;
}

/* Send an outcome; ends the runner if nobody is there to read it. */
void report_send(const struct emulation_outcome *outcome);

#endif
