/* cores.h: the one answer to "how many cores". */
#ifndef BASE_CORES_H
#define BASE_CORES_H

#include <sched.h>

/* The CPUs that this process may run on: taskset, Slurm and containers may allow fewer than the machine has. At least 1.
 * Threads: any number at once. */
int cores_usable(void);

/* The same with another function for the kernel's answer, as sched_getaffinity: tests have machines of any size. */
int cores_usable_by(int (*ask)(pid_t pid, size_t bytes, cpu_set_t *cores));

#endif
