/* cache_folder.h: lists the files of a cache folder, and keeps the folder within a size. cubin_cache.h reads and writes
 * the entries. */
#ifndef GPU_COMPILE_CACHE_FOLDER_H
#define GPU_COMPILE_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"

#define CACHE_FOLDER_MAX_BYTES (2ull << 30) /* the default limit of one folder */

/* A file is ours if its name is 32 or 64 hexadecimal digits and one of these suffixes. A temporary file that a process
 * left when it died is ours, too (see base/files/replace.h). All other files are left alone. */
#define CACHE_ENTRY_SUFFIX ".cubin"
#define CACHE_OBJECT_SUFFIX ".so"     /* a variant that the emulation compiled */
#define CACHE_RUNNER_SUFFIX ".runner" /* the program that executes it */
#define CACHE_COUNT_SUFFIX ".count"   /* the counted accesses of a variant */

/* Folders whose names begin like this hold unfinished work of compilers: tuner/emulate/emulation_scratch.h. */
#define CACHE_SCRATCH_PREFIX "compile-"
bool cache_folder_is_scratch(const char *name);

/* Whether a folder of this name holds sources of an entry: it is named by the entry's key. */
bool cache_folder_has_sources(const char *name);

/* Find the default folder of a cache: $XDG_CACHE_HOME/halotune, else ~/.cache/halotune. It does not create the folder.
 *   below   a folder in there, such as "/host", or ""
 *   folder  receives the path from malloc, which the caller frees; NULL if there is no home, which is no failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status cache_folder_default(const char *below, char **folder);

/* Check that the default folder of all caches is this user's alone, as own_folder_check does. The owner of that folder
 * could exchange a folder in it while a compiler reads from it.
 *   makes  make the folder if it does not exist
 * Returns HALOTUNE_OK, also if there is no home; HALOTUNE_NOT_FOUND without a detail, if nothing is there; HALOTUNE_IO
 * or HALOTUNE_MEMORY. */
halotune_status cache_folder_secure(bool makes);

struct cache_file {
  const char *path;
  bool is_leftover; /* it is not a complete entry: its process died, or is still writing it */
  uint64_t bytes;
  int64_t used_ns; /* when it was last used; since 1970 */
};

/* Call `visit` for each of our files, in no order. The file's path is valid during the call, and the call may remove
 * the file. A folder that is NULL or does not exist has no files. */
void cache_folder_visit(const char *folder, void (*visit)(void *context, const struct cache_file *file), void *context);

struct cache_facts {
  int files;
  uint64_t bytes;
};

/* Count the entries and their bytes. */
struct cache_facts cache_folder_facts(const char *folder);

/* --- cache_folder_clean.c --- */

/* Remove every entry, all leftovers, folders named by 32 hexadecimal digits (which hold sources of entries), and those
 * of compilers. Other files in the folder stay. All stay while a process holds the folder.
 *   removed  receives the number of removed entries and their bytes
 *   is_held  receives whether a process holds the folder
 * Returns HALOTUNE_OK, or HALOTUNE_IO if some could not be removed. */
halotune_status cache_folder_clean(const char *folder, struct cache_facts *removed, bool *is_held);

/* Hold a folder by a file .lock in it. A compiler or another process gets its files by their paths: until the
 * descriptor is closed, or this process ends, cache_folder_clean leaves it as it is. One that runs is waited for, for
 * 10 s.
 * Returns the descriptor; -1 if there is no such folder, or after the wait. */
int cache_folder_hold(const char *folder);

/* Remove a folder and all that is in it. It follows no link. Returns HALOTUNE_OK or HALOTUNE_IO. */
halotune_status cache_folder_remove(const char *path);

/* --- cache_folder_trim.c --- */

/* If the entries take more than `max_bytes`, remove the least recently used ones until they take nine tenths of it.
 * Also remove leftovers that are older than an hour. Files that cannot be removed stay, and all files stay where
 * own_folder_check refuses the folder. fail_text() stays as it is. */
void cache_folder_trim(const char *folder, uint64_t max_bytes);

#endif
