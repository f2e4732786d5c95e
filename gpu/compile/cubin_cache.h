/* cubin_cache.h: keeps compiled sources on disk between runs, each together with its source.
 *
 * The cache never makes a caller fail: an entry that it cannot read is a miss, and an entry that it cannot write is not
 * kept. A folder that others can write counts as empty. An entry counts as missing if it is a link or a pipe, or
 * belongs to another user. Several processes may use one folder at the same time. Entries appear complete (by rename)
 * and are checked when they are read. */
#ifndef GPU_COMPILE_CUBIN_CACHE_H
#define GPU_COMPILE_CUBIN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/identity/hash.h"
#include "gpu/compile/cache_folder.h"
#include "gpu/compile/compile.h"

struct cubin_cache {
  char *folder; /* NULL: no cache */
  uint64_t max_bytes;
  int unchecked_puts; /* entries written since the size of the folder was last checked */
};

enum cubin_cache_answer {
  CUBIN_CACHE_MISS,
  CUBIN_CACHE_HIT,
  CUBIN_CACHE_DAMAGED, /* a miss that deserves a warning: fail_text() names the file */
};

/* Open a cache. The folder is created with the first entry. cache_folder.h counts and empties it.
 *   folder     NULL: $XDG_CACHE_HOME/halotune, else ~/.cache/halotune; without a home there is no cache
 *   max_bytes  0: CACHE_FOLDER_MAX_BYTES
 *   out        end with cubin_cache_close after any outcome
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. Threads: only one at a time may use a struct. */
halotune_status cubin_cache_open(const char *folder, uint64_t max_bytes, struct cubin_cache *out);

/* Trim the folder if this cache has written to it, and free the struct. */
void cubin_cache_close(struct cubin_cache *cache);

/* Look up the result for the same source, options, architecture and NVRTC version. The request's name does not matter.
 *   out  on a hit the caller ends it with compiled_free; log and time are those of the original compile */
enum cubin_cache_answer cubin_cache_get(struct cubin_cache *cache, const struct compile_request *request,
                                        const struct nvrtc_facts *nvrtc, struct compiled *out);

/* Keep a compiled source. Returns false, with fail_text(), if it could not be kept (a full disk, a folder without write
 * permission); the caller continues without it. Some calls trim the folder. */
bool cubin_cache_put(struct cubin_cache *cache, const struct compile_request *request, const struct nvrtc_facts *nvrtc,
                     const struct compiled *compiled);

/* Find a source from which a cubin was compiled. Reads the head of every entry.
 *   cubin   hash_bytes of the cubin
 *   source  receives the text from malloc, which the caller frees; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_NOT_FOUND or HALOTUNE_MEMORY. */
halotune_status cubin_cache_source(const struct cubin_cache *cache, struct hash cubin, char **source);

#endif
