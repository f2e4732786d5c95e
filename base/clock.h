/* clock.h: a clock that never goes back. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Milliseconds since an arbitrary start. Changes of the wall clock do not affect it. Threads: any number at once. */
double clock_ms(void);

#endif
