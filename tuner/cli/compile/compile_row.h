/* compile_row.h: the result of compiling one variant. */
#ifndef CLI_COMPILE_COMPILE_ROW_H
#define CLI_COMPILE_COMPILE_ROW_H

#include "base/identity/hash.h"
#include "gpu/architecture/occupancy.h"
#include "gpu/workers/compile_pool.h"
#include "stencil/template/access.h"
#include "tuner/cli/options/problem.h"

/* Outcomes of a row: enumerator, name. They are those of enum compile_outcome and two more. */
/* clang-format off */
#define COMPILE_ROW_LIST(X)     \
  X(OK, "ok")                   \
  X(FAILED, "compile_failed")   \
  X(CRASHED, "compile_crashed") \
  X(TIMEOUT, "compile_timeout") \
  X(NO_FIT, "does_not_fit")     \
  X(LEFT_OUT, "left_out")
/* clang-format on */

#define COMPILE_ROW_AS_ENUMERATOR(name, text) COMPILE_ROW_##name,
enum compile_row_outcome { COMPILE_ROW_LIST(COMPILE_ROW_AS_ENUMERATOR) COMPILE_ROW_OUTCOMES };
#undef COMPILE_ROW_AS_ENUMERATOR

extern const char *const compile_row_names[COMPILE_ROW_OUTCOMES];

/* The members after `detail` are set only for COMPILE_ROW_OK and COMPILE_ROW_NO_FIT. */
struct compile_row {
  const struct template *template;
  struct configuration configuration;
  enum compile_row_outcome outcome;
  char *detail; /* the reason of a failure, from malloc; NULL for none */
  bool is_cached;
  double compile_time_ms; /* for a cached cubin, the time of the original compile */
  struct block_needs needs;
  int static_shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes;
  long dynamic_shared_bytes, cubin_bytes, cluster_blocks; /* cluster_blocks: 1 without clusters */
  struct hash cubin_hash;
  struct occupancy occupancy;
  struct access access;
  double waves;
};

/* Fill the row from a cubin.
 *   generated  gives the launch geometry and the kernel's name
 *   compiled   has a cubin
 *   sm_count   multiprocessors of the GPU
 * Returns HALOTUNE_OK, also for a cubin without the kernel, which is a failed row; or HALOTUNE_MEMORY. */
halotune_status compile_row_fill(struct compile_row *row, const struct problem *problem,
                                 const struct generated *generated, const struct compiled *compiled, int sm_count);

/* Fill the row of a variant that failed. Its detail is the first line of the log that reports an error, or the log's
 * first line. */
void compile_row_fail(struct compile_row *row, enum compile_row_outcome outcome, const char *log);

void compile_row_free(struct compile_row *row);

#endif
