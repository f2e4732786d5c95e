/* compiler.h: the cubin cache in front of the compile pool: what was compiled before comes from disk, all else from a worker. */
#ifndef GPU_WORKERS_COMPILER_H
#define GPU_WORKERS_COMPILER_H

#include "gpu/workers/compile_pool.h"

struct compiler;

struct compiler_options {
  struct compile_pool_options pool;
  bool no_cache;                  /* compile all, keep nothing */
  void (*warn)(const char *text); /* of a cache that is damaged or cannot be written, once each; NULL: nobody is told */
};

/* Open cache and pool.
 *   out  the caller's, ended with compiler_close; NULL on failure
 * Returns what compile_pool_open returns. Threads: as for a pool: open it before the program has any. */
halotune_status compiler_open(const struct compiler_options *options, struct compiler **out);

void compiler_close(struct compiler *compiler);

const struct nvrtc_facts *compiler_nvrtc(const struct compiler *compiler);

bool compiler_has_room(const struct compiler *compiler);

/* Hand in one compile; never waits.
 *   request  its texts must live until the result came, or compiler_drop
 * Returns what compile_pool_submit returns. */
halotune_status compiler_submit(struct compiler *compiler, uint64_t id, const struct compile_request *request);

struct compiler_result {
  struct compile_result compile; /* ended with compile_result_free */
  bool is_cached;                /* the log and the time are those of the compile back then */
};

/* Wait for one result: those from the cache first. As compile_pool_wait. */
halotune_status compiler_wait(struct compiler *compiler, int timeout_ms, struct compiler_result *out, bool *have);

/* Drop all requests that have no result yet: none of their results will come or get into the cache, and their texts are read no
 * more. Call it before these texts are freed, also where compiler_wait has failed. */
void compiler_drop(struct compiler *compiler);

/* Compile one source and wait for it; nothing else may be pending.
 *   out  ended with compiled_free after any outcome
 * Returns HALOTUNE_OK; HALOTUNE_COMPILE, the detail being the log; or what compile_pool_wait returns. */
halotune_status compiler_compile(struct compiler *compiler, const struct compile_request *request,
                                 struct compiled *out);

#endif
