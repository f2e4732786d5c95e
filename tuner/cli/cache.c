/* cache.c: `halotune cache`: how much the cache of cubins keeps, and emptying it. */
#include <stdio.h>
#include <string.h>

#include "gpu/cubin_cache.h"
#include "tuner/cli/command.h"

static halotune_status clean(struct cubin_cache *cache) {
  struct cubin_cache_facts removed;
  halotune_status status = cubin_cache_clean(cache, &removed);
  if (status != HALOTUNE_OK) return status;
  printf("removed %d cubins, %llu bytes, from %s\n", removed.files, (unsigned long long)removed.bytes, cache->folder);
  return HALOTUNE_OK;
}

static void show(const struct cubin_cache *cache) {
  struct cubin_cache_facts kept = cubin_cache_facts(cache);
  printf("%d cubins, %llu of at most %llu bytes, in %s\n", kept.files, (unsigned long long)kept.bytes,
         (unsigned long long)cache->max_bytes, cache->folder);
}

static enum exit_code run(const struct invocation *invocation) {
  const char *what = invocation->arguments[0];
  bool cleans = strcmp(what, "clean") == 0;
  struct cubin_cache cache;
  if (!cleans && strcmp(what, "show") != 0) {
    return report_failure(fail(HALOTUNE_ARGUMENT, "cache knows 'show' and 'clean', not '%s'", what));
  }
  halotune_status status = cubin_cache_open(NULL, 0, &cache);
  if (status == HALOTUNE_OK && !cache.folder) {
    status = fail(HALOTUNE_IO, "there is no cache: neither $XDG_CACHE_HOME nor $HOME is set");
  }
  if (status == HALOTUNE_OK && cleans) status = clean(&cache);
  else if (status == HALOTUNE_OK) show(&cache);
  cubin_cache_close(&cache);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {{0}};

const struct command command_cache = {
    "cache", "WHAT", 1, 1, "look after the cache of compiled kernels: show or clean", options, run,
};
