/* compiler.h: the cubin cache in front of the compile pool. A source that was compiled before comes from disk, all
 * others from a worker. */
#ifndef GPU_WORKERS_COMPILER_H
#define GPU_WORKERS_COMPILER_H

#include "gpu/workers/compile_pool.h"

struct compiler;

struct compiler_options {
  struct compile_pool_options pool;
  bool no_cache; /* compile everything, keep nothing */
  /* called at most once for a damaged entry and once for a folder without write permission; NULL: no warnings */
  void (*warn)(const char *text);
};

/* Open cache and pool.
 *   out  the caller ends it with compiler_close; NULL on failure
 * Returns what compile_pool_open returns. Threads: open it before the program starts any, as for a pool. */
halotune_status compiler_open(const struct compiler_options *options, struct compiler **out);

void compiler_close(struct compiler *compiler);

const struct nvrtc_facts *compiler_nvrtc(const struct compiler *compiler);

bool compiler_has_room(const struct compiler *compiler);

/* Submit one compile, without waiting.
 *   request  its texts must live until the result came, or until compiler_drop
 * Returns what compile_pool_submit returns. */
halotune_status compiler_submit(struct compiler *compiler, uint64_t id, const struct compile_request *request);

struct compiler_result {
  struct compile_result compile; /* ended with compile_result_free */
  bool is_cached;                /* log and time are those of the original compile */
};

/* Wait for one result; results from the cache come first. See compile_pool_wait. */
halotune_status compiler_wait(struct compiler *compiler, int timeout_ms, struct compiler_result *out, bool *have);

/* Drop all requests without a result. Their results never come and never enter the cache, and their texts are not read
 * any more. Call it before these texts are freed, also if compiler_wait failed. */
void compiler_drop(struct compiler *compiler);

/* Compile one source and wait for it. Nothing else may be pending.
 *   out  ended with compiled_free after any outcome
 * Returns HALOTUNE_OK; HALOTUNE_COMPILE with the log as detail; or what compile_pool_wait returns. */
halotune_status compiler_compile(struct compiler *compiler, const struct compile_request *request,
                                 struct compiled *out);

#endif
