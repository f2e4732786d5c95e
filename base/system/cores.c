/* cores.c: asks the kernel on which CPUs this process may run. */
#include "base/system/cores.h"

#include <errno.h>
#include <unistd.h>

int cores_usable_by(int (*ask)(pid_t pid, size_t bytes, cpu_set_t *cores)) {
  enum { FEWEST = 1024, MOST = 1 << 20 };
  int count = 0, error = EINVAL;
  /* The kernel refuses a set that is smaller than its own, and a cpu_set_t has room for only 1024 CPUs. So try larger
   * sets. */
  for (int room = FEWEST; room <= MOST && count == 0 && error == EINVAL; room *= 2) {
    cpu_set_t *cores = CPU_ALLOC(room);
    if (!cores) break;
    if (ask(0, CPU_ALLOC_SIZE(room), cores) == 0) count = CPU_COUNT_S(CPU_ALLOC_SIZE(room), cores);
    else error = errno;
    CPU_FREE(cores);
  }
  if (count == 0) count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? count : 1;
}

int cores_usable(void) { return cores_usable_by(sched_getaffinity); }
