/* emulation_batch.h: the batch that emulation_build makes and emulation_run uses; private to tuner/emulate. */
#ifndef EMULATE_EMULATION_BATCH_H
#define EMULATE_EMULATION_BATCH_H

#include "base/text/text.h"
#include "tuner/emulate/emulation.h"
#include "tuner/emulate/emulation_runner.h"

struct emulation_variant {
  struct emulation_compile compile;
  char *name, *log, *object;      /* object: the compiled variant's file; NULL if it did not compile */
  struct emulation_runner runner; /* the first run starts it */
};

/* All paths lead through the descriptor of the cache's folder, also in compilers and runners: another user may put
 * another folder at its path. */
struct emulation_batch {
  struct emulation_variant *variants;
  int count;
  char *runner; /* path of the runner's program */
  char *shown;  /* path of the cache's folder, for messages */
  char *folder; /* the path by which it is used: through `descriptor` (own_folder_hold) */
  int descriptor;
  int hold;             /* on the folder: the runner's program and the objects stay as long as the batch; -1: none */
  uint64_t cache_bytes; /* the size to which the cache is trimmed */
};

/* Append a text to `out`, with the shown path of the folder in place of the one by which it is used. */
void emulation_batch_show_folder(const struct emulation_batch *batch, const char *text, struct text *out);

/* Fail with the present detail, with the shown path of the folder in place of the one by which it is used. Returns
 * `status`. */
halotune_status emulation_batch_fail(const struct emulation_batch *batch, halotune_status status);

#endif
