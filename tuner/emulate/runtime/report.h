/* report.h: ends a run early. It sends the outcome to the program and ends the runner. */
#ifndef EMULATE_RUNTIME_REPORT_H
#define EMULATE_RUNTIME_REPORT_H

#include "tuner/emulate/runtime/counts.h"

/* Send an outcome with the running block and thread, and end the runner. Signal handlers may call it. */
_Noreturn void report(enum emulation_outcome_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like report, for a crash with this signal. */
_Noreturn void report_crash(int signal, const char *text);

/* End the runner because memory is out, which is not the kernel's fault. */
_Noreturn void report_out_of_memory(const char *what);

/* Return an allocation, or end the runner if it failed. */
static inline void *must_have(void *memory, const char *what) {
  if (!memory) report_out_of_memory(what);
  return memory;
}

/* Send an outcome. It ends the runner if no program reads it. */
void report_send(const struct emulation_outcome *outcome);
void report_send_counts(const struct emulation_counts *counts);

#endif
