/* compile_pool.h: many compiles at once, each in a process that it may crash or never leave. */
#ifndef GPU_WORKERS_COMPILE_POOL_H
#define GPU_WORKERS_COMPILE_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpu/compile/compile.h"

/* How a compile ended: enumerator, the name that is stored and shown. */
#define COMPILE_OUTCOME_LIST(X) \
  X(OK, "ok")                   \
  X(FAILED, "compile_failed")   \
  X(CRASHED, "compile_crashed") \
  X(TIMEOUT, "compile_timeout")

#define COMPILE_AS_ENUMERATOR(name, text) COMPILE_##name,
enum compile_outcome { COMPILE_OUTCOME_LIST(COMPILE_AS_ENUMERATOR) };
#undef COMPILE_AS_ENUMERATOR

const char *compile_outcome_name(enum compile_outcome outcome);

struct compile_pool_options {
  int workers;    /* 0: one for each core that this process may use */
  int timeout_ms; /* of one compile; 0: COMPILE_POOL_TIMEOUT_MS */
};

enum { COMPILE_POOL_TIMEOUT_MS = 30000 };

struct compile_result {
  uint64_t id; /* the submitter's */
  enum compile_outcome outcome;
  struct compiled compiled; /* without a cubin unless the outcome is COMPILE_OK; the log then says why */
};

struct compile_pool;

/* Start a pool. Its workers are processes that load NVRTC themselves; this program never does.
 *   out  the caller's, ended with compile_pool_close; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_NO_NVRTC with what to install, HALOTUNE_IO or HALOTUNE_MEMORY.
 * Threads: open it before the program starts any and before it uses a GPU; then use it from the thread that opened it
 * only, which has to live as long, because the workers die with it (within moments, also if it is killed). Ctrl-C does
 * not reach the workers: after one, the pool still answers. */
halotune_status compile_pool_open(const struct compile_pool_options *options, struct compile_pool **out);

/* The version and the architectures of the workers' NVRTC. Valid as long as the pool. */
const struct nvrtc_facts *compile_pool_nvrtc(const struct compile_pool *pool);

/* Whether a compile can be submitted now. Every worker takes two, so that it has its next one at hand while the program
 * is busy elsewhere. */
bool compile_pool_has_room(const struct compile_pool *pool);

/* How many compiles were submitted and not yet returned. */
int compile_pool_pending(const struct compile_pool *pool);

/* Hand in one compile; never waits.
 *   id       comes back with the result
 *   request  copied
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT when there is no room; HALOTUNE_MEMORY; HALOTUNE_IO when no worker can run. */
halotune_status compile_pool_submit(struct compile_pool *pool, uint64_t id, const struct compile_request *request);

/* Wait for one result, in the order in which they end. Sources and cubins of more than some 100 KB move only within
 * this call, so call it often (timeout_ms 0 returns at once). timeout_ms  the longest wait; negative: until there is a
 * result out         the caller's, ended with compile_result_free; untouched when none came have        receives
 * whether there is a result: not if the time is over or nothing is pending Returns HALOTUNE_OK; HALOTUNE_IO or
 * HALOTUNE_MEMORY when the pool cannot go on. What a compile does wrong is an outcome, never an error here. */
halotune_status compile_pool_wait(struct compile_pool *pool, int timeout_ms, struct compile_result *out, bool *have);

/* Drop all compiles that were submitted and not yet returned: no result of them will come. Their workers are killed; the next
 * compile starts others. */
void compile_pool_drop(struct compile_pool *pool);

void compile_result_free(struct compile_result *result);

/* The process of the worker that compiles `id`, for diagnosis; 0 if none does. */
pid_t compile_pool_process(const struct compile_pool *pool, uint64_t id);

/* End the pool. Compiles under way are dropped, and their workers killed. NULL is fine. */
void compile_pool_close(struct compile_pool *pool);

#endif
