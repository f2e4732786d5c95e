/* clock.h: clocks that never go back: the machine's clock, that of a thread, or one that a test advances. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>

/* Milliseconds since an arbitrary start. Changes of the wall clock do not affect it. Threads: any number at once. */
double clock_ms(void);

/* Milliseconds of processor time that this thread has used: what others use of a busy machine does not count. */
double clock_thread_ms(void);

/* The clock of code that waits or plans. {NULL, NULL} means clock_ms(). */
struct time_source {
  double (*now_ms)(void *state); /* must never go back */
  void *state;
};

static inline double time_now_ms(const struct time_source *source) {
  return source->now_ms ? source->now_ms(source->state) : clock_ms();
}

#endif
