/* memory.c: asks the kernel, which counts what it can take back from its caches as free. */
#include "base/system/memory.h"

#include <math.h>
#include <stdio.h>

static double available_bytes(void) {
  FILE *file = fopen("/proc/meminfo", "re");
  char line[128];
  double kib = INFINITY;
  if (!file) return kib;
  while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lf kB", &kib) != 1) continue;
  fclose(file);
  return 1024 * kib;
}

halotune_status memory_check(const char *what, double bytes) {
  const double free_bytes = available_bytes();
  if (bytes <= free_bytes) return HALOTUNE_OK;
  return fail(HALOTUNE_MEMORY, "%s take %.1f GB, and %.1f GB of memory are free", what, bytes * 1e-9,
              free_bytes * 1e-9);
}
