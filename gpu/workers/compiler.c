/* compiler.c: looks up each request in the cubin cache, and sends misses to the compile pool. */
#include "gpu/workers/compiler.h"

#include <stdlib.h>

#include "base/memory/array.h"
#include "gpu/compile/cubin_cache.h"

/* A request that has no result yet, or that the cache has answered. */
struct entry {
  uint64_t id;
  struct compile_request request;
  bool is_ready;
  struct compiled compiled; /* set if is_ready is true */
};

struct compiler {
  struct compile_pool *pool;
  struct cubin_cache cache; /* folder NULL: no cache */
  struct entry *entries;
  int count, capacity;
  void (*warn)(const char *text);
  bool warned_of_read, warned_of_write;
};

halotune_status compiler_open(const struct compiler_options *options, struct compiler **out) {
  *out = NULL;
  struct compiler *compiler = calloc(1, sizeof *compiler);
  if (!compiler) return fail_memory();
  compiler->warn = options->warn;
  halotune_status status = compile_pool_open(&options->pool, &compiler->pool);
  if (status == HALOTUNE_OK && !options->no_cache) status = cubin_cache_open(NULL, 0, &compiler->cache);
  if (status != HALOTUNE_OK) {
    compiler_close(compiler);
    return status;
  }
  *out = compiler;
  return HALOTUNE_OK;
}

void compiler_drop(struct compiler *compiler) {
  for (int i = 0; i < compiler->count; i++) {
    if (compiler->entries[i].is_ready) compiled_free(&compiler->entries[i].compiled);
  }
  compiler->count = 0;
  compile_pool_drop(compiler->pool);
}

void compiler_close(struct compiler *compiler) {
  if (!compiler) return;
  if (compiler->pool) compiler_drop(compiler);
  if (compiler->cache.folder) cubin_cache_close(&compiler->cache);
  compile_pool_close(compiler->pool);
  free(compiler->entries);
  free(compiler);
}

const struct nvrtc_facts *compiler_nvrtc(const struct compiler *compiler) { return compile_pool_nvrtc(compiler->pool); }

/* The limit of pending requests. It also bounds the results from the cache that wait in memory. */
enum { MOST_PENDING = 256 };

bool compiler_has_room(const struct compiler *compiler) {
  return compiler->count < MOST_PENDING && compile_pool_has_room(compiler->pool);
}

static void warn_once(struct compiler *compiler, bool *warned) {
  if (compiler->warn && !*warned) compiler->warn(fail_text());
  *warned = true;
}

static struct entry *entry_add(struct compiler *compiler) {
  if (!array_room(compiler->entries, compiler->count, compiler->capacity)) return NULL;
  struct entry *entry = &compiler->entries[compiler->count++];
  *entry = (struct entry){.id = 0};
  return entry;
}

halotune_status compiler_submit(struct compiler *compiler, uint64_t id, const struct compile_request *request) {
  struct entry *entry = entry_add(compiler);
  if (!entry) return fail_memory();
  entry->id = id;
  entry->request = *request;
  if (compiler->cache.folder) {
    enum cubin_cache_answer answer =
        cubin_cache_get(&compiler->cache, request, compiler_nvrtc(compiler), &entry->compiled);
    if (answer == CUBIN_CACHE_DAMAGED) warn_once(compiler, &compiler->warned_of_read);
    entry->is_ready = answer == CUBIN_CACHE_HIT;
    if (entry->is_ready) return HALOTUNE_OK;
  }
  halotune_status status = compile_pool_submit(compiler->pool, id, request);
  if (status != HALOTUNE_OK) compiler->count--;
  return status;
}

static void entry_remove(struct compiler *compiler, struct entry *entry) {
  *entry = compiler->entries[--compiler->count];
}

static struct entry *entry_find(struct compiler *compiler, uint64_t id) {
  for (int i = 0; i < compiler->count; i++) {
    if (compiler->entries[i].id == id && !compiler->entries[i].is_ready) return &compiler->entries[i];
  }
  return NULL;
}

halotune_status compiler_wait(struct compiler *compiler, int timeout_ms, struct compiler_result *out, bool *have) {
  for (int i = 0; i < compiler->count; i++) {
    struct entry *entry = &compiler->entries[i];
    if (!entry->is_ready) continue;
    *out = (struct compiler_result){.is_cached = true};
    out->compile = (struct compile_result){.id = entry->id, .outcome = COMPILE_OK, .compiled = entry->compiled};
    entry_remove(compiler, entry);
    *have = true;
    return HALOTUNE_OK;
  }
  struct compile_result result;
  halotune_status status = compile_pool_wait(compiler->pool, timeout_ms, &result, have);
  if (status != HALOTUNE_OK || !*have) return status;
  struct entry *entry = entry_find(compiler, result.id);
  bool is_kept = !entry || !compiler->cache.folder || result.outcome != COMPILE_OK ||
                 cubin_cache_put(&compiler->cache, &entry->request, compiler_nvrtc(compiler), &result.compiled);
  if (!is_kept) warn_once(compiler, &compiler->warned_of_write);
  if (entry) entry_remove(compiler, entry);
  *out = (struct compiler_result){.compile = result};
  return HALOTUNE_OK;
}

halotune_status compiler_compile(struct compiler *compiler, const struct compile_request *request,
                                 struct compiled *out) {
  struct compiler_result result;
  bool have = false;
  *out = (struct compiled){.cubin = NULL};
  halotune_status status = compiler_submit(compiler, 0, request);
  if (status == HALOTUNE_OK) status = compiler_wait(compiler, -1, &result, &have);
  if (status != HALOTUNE_OK) compiler_drop(compiler); /* the caller frees the texts of the request */
  if (status != HALOTUNE_OK) return status;
  if (!have) return fail(HALOTUNE_IO, "the compile of %s gave no result", request->name);
  *out = result.compile.compiled;
  if (result.compile.outcome == COMPILE_OK) return HALOTUNE_OK;
  return fail(HALOTUNE_COMPILE, "%s: %s", compile_outcome_name(result.compile.outcome), out->log ? out->log : "");
}
