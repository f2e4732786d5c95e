/* emulation_batch.h: the batch that emulation_build makes and emulation_run uses; private to tuner/emulate. */
#ifndef EMULATE_EMULATION_BATCH_H
#define EMULATE_EMULATION_BATCH_H

#include "tuner/emulate/emulation.h"
#include "tuner/emulate/emulation_runner.h"

struct emulation_variant {
  struct emulation_compile compile;
  char *name, *log, *object;      /* object: the compiled variant's file; NULL if it did not compile */
  struct emulation_runner runner; /* the first run starts it */
};

struct emulation_batch {
  struct emulation_variant *variants;
  int count;
  char *runner;         /* path of the runner's program */
  char *folder;         /* folder of the cache */
  int hold;             /* on the folder: the runner's program and the objects stay as long as the batch; -1: none */
  uint64_t cache_bytes; /* the size to which the cache is trimmed */
};

#endif
