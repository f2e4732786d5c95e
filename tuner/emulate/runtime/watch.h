/* watch.h: what a runner looks out for while a kernel runs: faults, the time, and the end of the program. */
#ifndef EMULATE_RUNTIME_WATCH_H
#define EMULATE_RUNTIME_WATCH_H

#include <stdint.h>

/* Once, at the start. From then on the runner ends soon after the program does. */
void watch_begin(void);

/* From now on a kernel runs: what faults is its fault, and it is reported as hung after this much processor time. */
void watch_kernel(uint64_t timeout_ms);

/* The kernel is done. */
void watch_nothing(void);

#endif
