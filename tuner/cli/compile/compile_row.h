/* compile_row.h: what became of one variant that was compiled. */
#ifndef CLI_COMPILE_COMPILE_ROW_H
#define CLI_COMPILE_COMPILE_ROW_H

#include "gpu/architecture/occupancy.h"
#include "gpu/workers/compile_pool.h"
#include "stencil/template/access.h"
#include "tuner/cli/options/problem.h"

/* How it ended, beside enum compile_outcome: enumerator, name. */
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

/* All but the first four members are of COMPILE_ROW_OK and COMPILE_ROW_NO_FIT only. */
struct compile_row {
  const struct template *template;
  struct configuration configuration;
  enum compile_row_outcome outcome;
  char *detail; /* why it failed; from malloc; may be NULL */
  bool is_cached;
  double compile_time_ms; /* back then, where it is cached */
  struct block_needs needs;
  int static_shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes;
  long dynamic_shared_bytes, cubin_bytes, cluster_blocks; /* blocks of a cluster, 1 for none */
  struct hash cubin_hash;
  struct occupancy occupancy;
  struct access access;
  double waves;
};

/* What the variant needs of a GPU.
 *   generated  its launch geometry and its kernel's name
 *   compiled   with a cubin
 *   sm_count   multiprocessors of the GPU */
halotune_status compile_row_fill(struct compile_row *row, const struct problem *problem,
                                 const struct generated *generated, const struct compiled *compiled, int sm_count);

/* The first line of a compiler's log that speaks of an error, as the row's detail; of any other failure, its first line. */
void compile_row_fail(struct compile_row *row, enum compile_row_outcome outcome, const char *log);

void compile_row_free(struct compile_row *row);

#endif
