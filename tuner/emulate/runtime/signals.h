/* signals.h: the signal handlers of the runner: faults of a kernel, its time limit, and the end of the program. */
#ifndef EMULATE_RUNTIME_SIGNALS_H
#define EMULATE_RUNTIME_SIGNALS_H

#include <stdint.h>

/* Call it once at the start. From then on the runner ends soon after the program. */
void signals_install(void);

/* A kernel begins: faults are now the kernel's, and after this much processor time it is reported as hung. */
void signals_kernel_begins(uint64_t timeout_ms);

/* The kernel is done. */
void signals_kernel_ends(void);

#endif
