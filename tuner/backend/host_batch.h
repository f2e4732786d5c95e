/* host_batch.h: what host_build makes and host_run uses. */
#ifndef TUNER_BACKEND_HOST_BATCH_H
#define TUNER_BACKEND_HOST_BATCH_H

#include "tuner/backend/host.h"
#include "tuner/backend/host_runner.h"

struct host_variant {
  struct host_compile compile;
  char *name, *log, *object; /* object: the compiled variant's file; NULL if it did not compile */
  struct host_runner runner; /* started by the first run */
};

struct host_batch {
  struct host_variant *variants;
  int count;
  char *runner;         /* the runner's program */
  char *folder;         /* the cache, */
  uint64_t cache_bytes; /* and the most that it keeps */
};

#endif
