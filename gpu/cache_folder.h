/* cache_folder.h: the files of a cache folder, and keeping them within a size. */
#ifndef GPU_CACHE_FOLDER_H
#define GPU_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* An entry is named by 32 hexadecimal digits and this. Files of other names are not ours and are left alone, but for
 * what a process that died left of an entry (see base/replace.h). */
#define CACHE_ENTRY_SUFFIX ".cubin"

struct cache_file {
  const char *path;
  bool is_leftover; /* of a process that died, or in the making */
  uint64_t bytes;
  int64_t used_ns; /* when it was last used; since 1970 */
};

/* Call `visit` for each of our files, in no order; the file's path is valid during the call, which may remove it. A
 * folder that is NULL or not there has none. */
void cache_folder_visit(const char *folder, void (*visit)(void *context, const struct cache_file *file), void *context);

/* If the entries take more than `max_bytes`, remove those that were not used for longest, down to nine tenths of it;
 * and leftovers of more than an hour. What cannot be removed stays. */
void cache_folder_trim(const char *folder, uint64_t max_bytes);

#endif
