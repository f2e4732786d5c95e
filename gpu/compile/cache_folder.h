/* cache_folder.h: the files of a cache folder, and keeping them within a size. */
#ifndef GPU_COMPILE_CACHE_FOLDER_H
#define GPU_COMPILE_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"

#define CACHE_FOLDER_MAX_BYTES (2ull << 30) /* of one folder, where nothing else is said */

/* An entry is named by 32 hexadecimal digits and one of these. Files of other names are not ours and are left alone, but
 * for what a process that died left of an entry (see base/replace.h). */
#define CACHE_ENTRY_SUFFIX ".cubin"
#define CACHE_OBJECT_SUFFIX ".so"     /* of the host backend: a variant, */
#define CACHE_RUNNER_SUFFIX ".runner" /* and what executes it */

/* Where a cache is kept: $XDG_CACHE_HOME/halotune, else ~/.cache/halotune. No folder is made.
 *   below   a folder in there, "/host", or ""
 *   folder  from malloc, the caller's; NULL, without failing, where there is no home
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status cache_folder_default(const char *below, char **folder);

struct cache_file {
  const char *path;
  bool is_leftover; /* of a process that died, or in the making */
  uint64_t bytes;
  int64_t used_ns; /* when it was last used; since 1970 */
};

/* Call `visit` for each of our files, in no order; the file's path is valid during the call, which may remove it. A
 * folder that is NULL or not there has none. */
void cache_folder_visit(const char *folder, void (*visit)(void *context, const struct cache_file *file), void *context);

struct cache_facts {
  int files;
  uint64_t bytes;
};

/* How much is kept. */
struct cache_facts cache_folder_facts(const char *folder);

/* Remove every entry, what is left of others, and folders named by 32 hexadecimal digits (of sources that entries are made
 * of); nothing else that lies there.
 *   removed  receives how many files of entries that was
 * Returns HALOTUNE_OK; HALOTUNE_IO when some could not be removed. */
halotune_status cache_folder_clean(const char *folder, struct cache_facts *removed);

/* If the entries take more than `max_bytes`, remove those that were not used for longest, down to nine tenths of it;
 * and leftovers of more than an hour. What cannot be removed stays. */
void cache_folder_trim(const char *folder, uint64_t max_bytes);

#endif
