/* cubin_cache.h: compiled sources kept on disk between runs, each beside the source that it came from.
 *
 * The cache never makes anything fail: what it cannot read is a miss, what it cannot write is not kept. Several
 * processes may use one folder at a time; entries appear whole (by rename) and are checked when read. */
#ifndef GPU_COMPILE_CUBIN_CACHE_H
#define GPU_COMPILE_CUBIN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "gpu/compile/cache_folder.h"
#include "gpu/compile/compile.h"

struct cubin_cache {
  char *folder; /* NULL: no cache */
  uint64_t max_bytes;
  int unchecked_puts; /* since the size was last looked at */
};

enum cubin_cache_answer {
  CUBIN_CACHE_MISS,
  CUBIN_CACHE_HIT,
  CUBIN_CACHE_DAMAGED, /* a miss, too; worth a warning: fail_text() names the file */
};

/* Use a cache; cache_folder.h counts and empties it. No folder is made before the first entry.
 *   folder     NULL: $XDG_CACHE_HOME/halotune, else ~/.cache/halotune; with no home there is no cache
 *   max_bytes  0: CACHE_FOLDER_MAX_BYTES
 *   out        ended with cubin_cache_close, whatever happened
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. Threads: one at a time for one struct. */
halotune_status cubin_cache_open(const char *folder, uint64_t max_bytes, struct cubin_cache *out);

/* Bring the folder to its size, if this cache has put something there, and end. */
void cubin_cache_close(struct cubin_cache *cache);

/* Look up what the same source, options, architecture and NVRTC version gave. The request's name does not count.
 *   out  on a hit the caller's, ended with compiled_free; the log and the time are those of the compile back then */
enum cubin_cache_answer cubin_cache_get(struct cubin_cache *cache, const struct compile_request *request,
                                        const struct nvrtc_facts *nvrtc, struct compiled *out);

/* Keep a compiled source. Returns false, with fail_text(), when it could not be kept (a full disk, a folder that cannot
 * be written); the caller goes on without. Now and then this removes the entries that were not used for longest. */
bool cubin_cache_put(struct cubin_cache *cache, const struct compile_request *request, const struct nvrtc_facts *nvrtc,
                     const struct compiled *compiled);

/* The source that a cubin was compiled from; one of them, if several gave the same. Reads the head of every entry.
 *   cubin   hash_bytes of the cubin
 *   source  receives the text, from malloc, the caller's; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_NOT_FOUND or HALOTUNE_MEMORY. */
halotune_status cubin_cache_source(const struct cubin_cache *cache, struct hash cubin, char **source);

#endif
