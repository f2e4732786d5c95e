/* cores.h: which cores this process may use, and how many. */
#ifndef BASE_CORES_H
#define BASE_CORES_H

#include <sched.h>
#include <stdbool.h>

#include "base/identity/hash.h"

/* Count the CPUs on which this process may run. taskset, Slurm and containers may allow fewer than the machine has.
 * Returns at least 1. Threads: any number at once. */
int cores_usable(void);

/* Hash the set of the CPUs on which this process may run. Two processes of one machine have the same hash if they may
 * use the same CPUs. Returns false if the kernel does not tell. Threads: any number at once. */
bool cores_hash(struct hash *out);

/* Like these, with a replacement for sched_getaffinity, so that tests can simulate machines of any size. */
int cores_usable_by(int (*ask)(pid_t pid, size_t bytes, cpu_set_t *cores));
bool cores_hash_by(int (*ask)(pid_t pid, size_t bytes, cpu_set_t *cores), struct hash *out);

#endif
