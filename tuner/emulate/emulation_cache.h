/* emulation_cache.h: the folder of compiled variants. Each file ends with a hash of itself, which loaders ignore. So a
 * damaged file is not mistaken for a variant that computes wrong results. */
#ifndef EMULATE_EMULATION_CACHE_H
#define EMULATE_EMULATION_CACHE_H

#include "base/fail.h"
#include "base/identity/hash.h"
#include "tuner/emulate/emulation.h"

/* Find or make the folder. If the usual one cannot be made or written, or if others can write it, use a temporary one,
 * which is removed when this program ends, even if it is killed. That gives one warning.
 *   folder  receives its path from malloc, which the caller frees; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status emulation_cache_open(const struct emulation_options *options, char **folder);

/* Warn in the way that the options say. */
void emulation_cache_warn(const struct emulation_options *options, const char *text);

/* The version of the files' layout, which is part of every key. */
struct hash emulation_cache_format(void);

/* Append the hash to the file that the compiler wrote. Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status emulation_cache_seal(const char *path);

enum emulation_cache_answer {
  EMULATION_CACHE_MISS,
  EMULATION_CACHE_HIT,
  EMULATION_CACHE_DAMAGED, /* also a miss; fail_text() names the file */
};

/* Find a sealed file, and check it. A hit counts as the last use of the file. */
enum emulation_cache_answer emulation_cache_find(const char *path);

#endif
