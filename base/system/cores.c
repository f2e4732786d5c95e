/* cores.c: asks the kernel on which CPUs this process may run. */
#include "base/system/cores.h"

#include <errno.h>
#include <unistd.h>

/* Ask for the set of CPUs. The kernel refuses a set that is smaller than its own, and a cpu_set_t has room for only
 * 1024 CPUs. So try larger sets.
 *   bytes  receives the size of the set
 * Returns the set, for CPU_FREE; NULL if the kernel does not tell, or memory is out. */
static cpu_set_t *set_read(int (*ask)(pid_t pid, size_t bytes, cpu_set_t *cores), size_t *bytes) {
  enum { FEWEST = 1024, MOST = 1 << 20 };
  int error = EINVAL;
  for (int room = FEWEST; room <= MOST && error == EINVAL; room *= 2) {
    cpu_set_t *cores = CPU_ALLOC(room);
    if (!cores) return NULL;
    *bytes = CPU_ALLOC_SIZE(room);
    CPU_ZERO_S(*bytes, cores);
    if (ask(0, *bytes, cores) == 0) return cores;
    error = errno;
    CPU_FREE(cores);
  }
  return NULL;
}

int cores_usable_by(int (*ask)(pid_t pid, size_t bytes, cpu_set_t *cores)) {
  size_t bytes;
  cpu_set_t *cores = set_read(ask, &bytes);
  int count = cores ? CPU_COUNT_S(bytes, cores) : 0;
  if (cores) CPU_FREE(cores);
  if (count == 0) count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? count : 1;
}

int cores_usable(void) { return cores_usable_by(sched_getaffinity); }

bool cores_hash_by(int (*ask)(pid_t pid, size_t bytes, cpu_set_t *cores), struct hash *out) {
  size_t bytes;
  cpu_set_t *cores = set_read(ask, &bytes);
  if (!cores) return false;
  *out = hash_bytes(cores, bytes);
  CPU_FREE(cores);
  return true;
}

bool cores_hash(struct hash *out) { return cores_hash_by(sched_getaffinity, out); }
