/* watch.h: watches for faults, the time limit, and the end of the program. */
#ifndef EMULATE_RUNTIME_WATCH_H
#define EMULATE_RUNTIME_WATCH_H

#include <stdint.h>

/* Call it once at the start. From then on the runner ends soon after the program. */
void watch_begin(void);

/* A kernel begins: faults are now the kernel's, and after this much processor time it is reported as hung. */
void watch_kernel(uint64_t timeout_ms);

/* The kernel is done. */
void watch_nothing(void);

#endif
