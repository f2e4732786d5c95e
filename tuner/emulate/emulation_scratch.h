/* emulation_scratch.h: a folder in the cache for what a compiler writes before its product is whole. */
#ifndef EMULATE_EMULATION_SCRATCH_H
#define EMULATE_EMULATION_SCRATCH_H

#include "base/fail.h"

struct emulation_scratch {
  char *folder; /* NULL: none */
  int lock;     /* held as long as this process lives: a folder without a holder was left by a killed process */
};

/* Make a folder, and remove those that killed processes left in this cache.
 *   cache  the cache's folder
 *   out    end with emulation_scratch_close after any outcome
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. Threads: any number at once, also in several processes. */
halotune_status emulation_scratch_open(const char *cache, struct emulation_scratch *out);

/* Remove the folder and all that is in it. */
void emulation_scratch_close(struct emulation_scratch *scratch);

#endif
