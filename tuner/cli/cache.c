/* cache.c: `halotune cache`: shows how much the caches of compiled kernels hold, and empties them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/own.h"
#include "base/memory/array.h"
#include "base/text/text.h"
#include "gpu/compile/cache_folder.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"

static const struct {
  const char *key, *what, *below; /* what: the name of one entry */
} caches[] = {{"cubins", "cubin", ""}, {"host", "host object", "/host"}};

/* What `clean` leaves in a cache because a running process uses it. */
struct left {
  bool is_held;
  struct cache_facts facts;
};

/*   left  NULL: nothing was cleaned */
static json_t *facts_json(const struct cache_facts *facts, const char *folder, const struct left *left) {
  json_t *json = json_object();
  json_put(&json, "folder", text_json(folder));
  json_put(&json, left ? "removed_files" : "files", json_integer(facts->files));
  json_put(&json, left ? "removed_bytes" : "bytes", json_integer((json_int_t)facts->bytes));
  if (left) json_put(&json, "left_files", json_integer(left->facts.files));
  else json_put(&json, "max_bytes", json_integer((json_int_t)CACHE_FOLDER_MAX_BYTES));
  return json;
}

static void print_facts(const struct cache_facts *facts, const char *what, const char *folder,
                        const struct left *left) {
  unsigned long long bytes = facts->bytes;
  if (left && left->is_held) {
    printf("left %d %s%s in %s, which a running process uses; run `halotune cache clean` after its end\n",
           left->facts.files, what, PLURAL(left->facts.files), folder);
    return;
  }
  if (left) printf("removed ");
  printf("%d %s%s, %llu", facts->files, what, PLURAL(facts->files), bytes);
  if (left) printf(" byte%s, from %s\n", PLURAL(bytes), folder);
  else printf(" of at most %llu bytes, in %s\n", CACHE_FOLDER_MAX_BYTES, folder);
}

/* Show or clean one cache. The facts are added to *json, or printed as text if `json` is NULL. */
static halotune_status look_after(size_t number, bool cleans, json_t **json) {
  struct cache_facts facts = {0};
  struct left left = {.is_held = false};
  const struct left *of_clean = cleans ? &left : NULL;
  char *folder, *through = NULL;
  int fd = -1;
  halotune_status status = cache_folder_default(caches[number].below, &folder);
  if (status != HALOTUNE_OK) return status;
  if (!folder) return fail(HALOTUNE_IO, "there is no cache: neither $XDG_CACHE_HOME nor $HOME is set");
  if (cleans && (status = own_folder_hold(folder, &fd, &through)) == HALOTUNE_OK)
    status = cache_folder_clean(through, &facts, &left.is_held);
  if (status == HALOTUNE_NOT_FOUND) status = HALOTUNE_OK; /* nothing is there */
  if (left.is_held) left.facts = cache_folder_facts(folder);
  if (!cleans) facts = cache_folder_facts(folder);
  if (status == HALOTUNE_OK && json) json_put(json, caches[number].key, facts_json(&facts, folder, of_clean));
  else if (status == HALOTUNE_OK) print_facts(&facts, caches[number].what, folder, of_clean);
  if (fd >= 0) close(fd);
  free(through);
  free(folder);
  return status;
}

static enum exit_code cache_run(const struct invocation *invocation) {
  enum { SHOW, CLEAN };
  static const char *const parts[] = {"show", "clean"};
  const bool as_json = option_given(invocation, "json");
  int part;
  halotune_status status = word_find("cache", invocation->arguments[0], parts, COUNT(parts), &part);
  if (status != HALOTUNE_OK) return report_failure(status);
  json_t *json = as_json ? json_object() : NULL;
  for (size_t i = 0; i < COUNT(caches) && status == HALOTUNE_OK; i++) {
    status = look_after(i, part == CLEAN, as_json ? &json : NULL);
  }
  if (status == HALOTUNE_OK && as_json) status = print_json(json);
  else json_decref(json);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_cache = {
    "cache", "WHAT", 1, 1, "show or empty the caches of compiled kernels: show, clean", options, cache_run,
};
