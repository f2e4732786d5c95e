/* cores.h: how many cores this process may use. */
#ifndef BASE_CORES_H
#define BASE_CORES_H

#include <sched.h>

/* Count the CPUs on which this process may run. taskset, Slurm and containers may allow fewer than the machine has.
 * Returns at least 1. Threads: any number at once. */
int cores_usable(void);

/* Like cores_usable, with a replacement for sched_getaffinity, so that tests can simulate machines of any size. */
int cores_usable_by(int (*ask)(pid_t pid, size_t bytes, cpu_set_t *cores));

#endif
