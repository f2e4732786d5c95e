/* compile_pool.h: compiles many sources at once, each in a worker process that it may crash or block. */
#ifndef GPU_WORKERS_COMPILE_POOL_H
#define GPU_WORKERS_COMPILE_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/system/clock.h"
#include "gpu/compile/compile.h"

/* How a compile ended: enumerator, and the name that is stored and shown. */
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
  int workers; /* 0: one for each core that this process may use */
  /* the limit of one compile; 0: COMPILE_POOL_TIMEOUT_MS. A time between two calls, as while the program is stopped,
   * counts as a twelfth of it at most. */
  int timeout_ms;
  struct time_source clock; /* measures the limit */
  /* the memory that a worker may take; 0: COMPILE_POOL_MEMORY_BYTES. A compile that wants more fails or crashes. */
  size_t memory_bytes;
};

/* Winners of the starter database take 200 MB of memory at most. A hostile source of 200 bytes would take 6.6 GB. */
enum { COMPILE_POOL_TIMEOUT_MS = 30000 };
#define COMPILE_POOL_MEMORY_BYTES ((size_t)2 << 30)

struct compile_result {
  uint64_t id; /* from compile_pool_submit */
  enum compile_outcome outcome;
  struct compiled compiled;   /* has a cubin only if the outcome is COMPILE_OK; otherwise the log says why not */
  int worker;                 /* number of the worker that compiled it, from 0 */
  struct compile_times times; /* {0} if there was no reply */
};

struct compile_pool;

/* Start a pool. Its workers are processes that load NVRTC themselves; this program never loads it.
 *   out  the caller ends it with compile_pool_close; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_NO_NVRTC with what to install, HALOTUNE_IO or HALOTUNE_MEMORY.
 * Threads: open it before the program starts threads or uses a GPU. Only the thread that opened it may use it, and that
 * thread must outlive it, because the workers die with the thread (soon after it, even if it is killed). Ctrl-C does
 * not reach the workers; the pool still works after it. */
halotune_status compile_pool_open(const struct compile_pool_options *options, struct compile_pool **out);

/* The version and the architectures of the workers' NVRTC. Valid as long as the pool. */
const struct nvrtc_facts *compile_pool_nvrtc(const struct compile_pool *pool);

/* Whether a compile can be submitted now. Every worker takes two jobs, so that it has the next one while the program is
 * busy elsewhere. */
bool compile_pool_has_room(const struct compile_pool *pool);

/* The number of compiles that were submitted and not yet returned. */
int compile_pool_pending(const struct compile_pool *pool);

/* Submit one compile, without waiting.
 *   id       returned with the result
 *   request  copied
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if there is no room; HALOTUNE_MEMORY; HALOTUNE_IO if no worker can run. */
halotune_status compile_pool_submit(struct compile_pool *pool, uint64_t id, const struct compile_request *request);

/* Wait for one result. Results come in the order in which compiles end. Sources and cubins of more than about 100 KB
 * move only during this call, so call it often (timeout_ms 0 returns at once).
 *   timeout_ms  the longest wait; negative: wait until there is a result
 *   out         the caller ends it with compile_result_free; unchanged if there is no result
 *   have        receives whether there is a result; false if the time is over or nothing is pending
 * Returns HALOTUNE_OK, or HALOTUNE_IO or HALOTUNE_MEMORY if the pool cannot continue. A failed compile is an outcome,
 * never an error here. */
halotune_status compile_pool_wait(struct compile_pool *pool, int timeout_ms, struct compile_result *out, bool *have);

/* Drop all compiles that were submitted and not yet returned. Their results never come, and their workers are killed.
 * The next compile starts new workers. */
void compile_pool_drop(struct compile_pool *pool);

void compile_result_free(struct compile_result *result);

/* The process of the worker that compiles `id`, for tests and diagnosis; 0 if there is none. */
pid_t compile_pool_process(const struct compile_pool *pool, uint64_t id);

/* End the pool. Pending compiles are dropped and the workers killed. NULL is allowed. */
void compile_pool_close(struct compile_pool *pool);

#endif
