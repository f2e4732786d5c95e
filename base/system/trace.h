/* trace.h: writes what a run does, and when, into a file in Chrome's trace format, which chrome://tracing and
 * ui.perfetto.dev show.
 *
 * A process has at most one trace, as it has one standard error, so that no room has to hand it on. Without a trace a
 * span costs one comparison. A process that is killed leaves a file that lacks the closing bracket, which viewers
 * accept. Threads: any number at once, between trace_begin and trace_close. */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/identity/identity.h"

/* A lane is a row of the picture: something that does one thing at a time. Spans of a lane may be nested. */
enum trace_lane {
  TRACE_PHASES = 1, /* set-up, search, finals, and their parts */
  TRACE_PROGRAM,    /* the thread that generates sources and takes results */
  TRACE_STRATEGY,   /* the strategy that proposes variants; on a GPU, in a thread of its own */
  TRACE_STORE,      /* the database */
  TRACE_RUNNER,     /* the thread that runs variants on the GPU */
  TRACE_GPU,        /* the process that owns the GPU */
  TRACE_COMPILERS   /* the first compiler; the others follow */
};

/* Begin a trace.
 *   opened  for writing; trace_close closes it
 *   path    its name for messages; valid until trace_close */
void trace_begin(FILE *opened, const char *path);

/* End the trace, if there is one. Returns HALOTUNE_OK, or HALOTUNE_IO if something could not be written. */
halotune_status trace_close(void);

bool trace_is_on(void);

/* The time at which a span begins, of clock_ms(). 0 without a trace. */
double trace_now_ms(void);

/* Write a span that has ended.
 *   begin_ms, end_ms  of clock_ms(), which is the same in all processes of a machine
 *   variant           the hash of the source of the variant that it is about; NULL for none
 *   detail            a text for the reader; NULL for none */
void trace_span(int lane, const char *name, double begin_ms, double end_ms, const struct identity *variant,
                const char *detail);

/* Write a span that ends now. */
void trace_end(int lane, const char *name, double begin_ms, const struct identity *variant, const char *detail);

#endif
