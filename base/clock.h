/* clock.h: time that only moves forward. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Milliseconds since an arbitrary start; changes of the wall clock do not touch it. Threads: any number at once. */
double clock_ms(void);

#endif
