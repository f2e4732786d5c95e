/* host_cache.h: the folder in which test programs share what the emulation compiles. `make unit` names it in
 * $HALOTUNE_TEST_CACHE, so that the runner and the kernels of tests are compiled once, and not again under a sanitizer.
 * Tests of the cache itself use a folder of their own. */
#ifndef TESTS_UNIT_HOST_CACHE_H
#define TESTS_UNIT_HOST_CACHE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/make.h"

/* The shared folder, which exists then; NULL if there is none. */
static inline const char *host_cache(void) {
  const char *folder = getenv("HALOTUNE_TEST_CACHE");
  return folder && *folder && folder_make(folder) == HALOTUNE_OK ? folder : NULL;
}

/* Make the cache below this $XDG_CACHE_HOME use the shared folder. Returns whether the emulation can use the cache. */
static inline bool host_cache_use(const char *cache_home) {
  const char *shared = host_cache();
  char path[256];
  if (!shared) return true;
  snprintf(path, sizeof path, "%s/halotune", cache_home);
  if (folder_make(path) != HALOTUNE_OK) return false;
  snprintf(path, sizeof path, "%s/halotune/host", cache_home);
  return symlink(shared, path) == 0;
}

#endif
