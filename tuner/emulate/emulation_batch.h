/* emulation_batch.h: what emulation_build makes and emulation_run uses. */
#ifndef EMULATE_EMULATION_BATCH_H
#define EMULATE_EMULATION_BATCH_H

#include "tuner/emulate/emulation.h"
#include "tuner/emulate/emulation_runner.h"

struct emulation_variant {
  struct emulation_compile compile;
  char *name, *log, *object;      /* object: the compiled variant's file; NULL if it did not compile */
  struct emulation_runner runner; /* started by the first run */
};

struct emulation_batch {
  struct emulation_variant *variants;
  int count;
  char *runner;         /* the runner's program */
  char *folder;         /* the cache, */
  uint64_t cache_bytes; /* and the most that it keeps */
};

#endif
