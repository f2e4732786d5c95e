/* emulation_cache.h: the folder of what the host backend compiled. Each file ends with a hash of itself, which loaders do not
 * mind, so that one that was damaged is not taken for a variant that is wrong. */
#ifndef EMULATE_EMULATION_CACHE_H
#define EMULATE_EMULATION_CACHE_H

#include "base/fail.h"
#include "base/hash.h"
#include "tuner/emulate/emulation.h"

/* Find the folder and make it. Where the usual one cannot be made or written, it is a temporary one, which goes with this
 * program, however it ends; that is warned of once.
 *   folder  receives its path, from malloc, the caller's; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status emulation_cache_open(const struct emulation_options *options, char **folder);

/* Warn, as the options want it. */
void emulation_cache_warn(const struct emulation_options *options, const char *text);

/* Part of every key: another layout of files is another key. */
struct hash emulation_cache_format(void);

/* Put the hash behind what the compiler wrote. Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status emulation_cache_seal(const char *path);

enum emulation_cache_answer {
  EMULATION_CACHE_MISS,
  EMULATION_CACHE_HIT,
  EMULATION_CACHE_DAMAGED, /* a miss, too; fail_text() names the file */
};

/* Whether a sealed file is there, and whole. A hit counts as its last use. */
enum emulation_cache_answer emulation_cache_find(const char *path);

#endif
