/* emulation_build.h: builds kernels for tests of the emulation, in the shared cache or in one of its own. */
#ifndef EMULATE_EMULATION_BUILD_H
#define EMULATE_EMULATION_BUILD_H

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/host_cache.h"
#include "tests/unit/unit.h"
#include "tuner/emulate/emulation.h"

/* A cache for this program alone. The first call of program_cache makes it, and the end of the program removes it. */
static char cache_folder[] = "/tmp/halotune-host-XXXXXX";

static void remove_cache(void) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", cache_folder);
  if (system(command) != 0) print_error("# %s failed\n", command); // NOLINT(cert-env33-c): the folder is our own
}

static const char *program_cache(void) {
  static bool made;
  if (!made && mkdtemp(cache_folder)) {
    made = true;
    atexit(remove_cache);
  }
  return cache_folder;
}

/* The cache that test programs share, else that of this program. */
static inline const char *test_cache(void) {
  const char *shared = host_cache();
  return shared ? shared : program_cache();
}

static inline struct emulation_batch *build_kernels(const struct emulation_source *sources, int count, bool sanitize) {
  struct emulation_options options = {.folder = test_cache(), .sanitize = sanitize};
  struct emulation_batch *batch = NULL;
  CHECK_OK(emulation_build(sources, count, &options, &batch));
  return batch;
}

#endif
