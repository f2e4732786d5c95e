/* compile_row.c: computes registers, occupancy and accesses from the compiler's report. */
#include "tuner/cli/compile/compile_row.h"

#include <stdlib.h>
#include <string.h>

#define AS_NAME(name, text) text,
const char *const compile_row_names[COMPILE_ROW_OUTCOMES] = {COMPILE_ROW_LIST(AS_NAME)};
#undef AS_NAME

halotune_status compile_row_fill(struct compile_row *row, const struct problem *problem,
                                 const struct generated *generated, const struct compiled *compiled, int sm_count) {
  const struct kernel_resources *kernel = resource_report_find(&compiled->report, generated->launch.kernel);
  const struct sm_limits *limits = &problem->arch_facts->limits;
  struct bindings bindings;
  if (!kernel) {
    compile_row_fail(row, COMPILE_ROW_FAILED, "the compiler's report has no such kernel");
    return HALOTUNE_OK;
  }
  halotune_status status = problem_bindings(problem, row->template, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, &row->configuration);
  row->access = access_of(&bindings);
  bindings_free(&bindings);
  row->static_shared_bytes = kernel->shared_bytes;
  row->dynamic_shared_bytes = generated->launch.shared_bytes;
  row->cluster_blocks = launch_cluster_blocks(&generated->launch);
  row->spill_store_bytes = kernel->spill_store_bytes;
  row->spill_load_bytes = kernel->spill_load_bytes;
  row->stack_bytes = kernel->stack_bytes;
  row->cubin_bytes = (long)compiled->cubin_bytes;
  row->cubin_hash = hash_bytes(compiled->cubin, compiled->cubin_bytes);
  row->compile_time_ms = compiled->compile_time_ms;
  row->needs = (struct block_needs){
      .threads = (int)(generated->launch.block[0] * generated->launch.block[1] * generated->launch.block[2]),
      .registers = kernel->registers,
      .shared_bytes = kernel->shared_bytes + (int)generated->launch.shared_bytes,
      .barriers = kernel->barriers};
  row->occupancy = occupancy_of(limits, &row->needs);
  row->waves = access_waves(generated->launch.grid, row->occupancy.blocks, sm_count);
  row->outcome = row->occupancy.blocks > 0 ? COMPILE_ROW_OK : COMPILE_ROW_NO_FIT;
  return HALOTUNE_OK;
}

void compile_row_fail(struct compile_row *row, enum compile_row_outcome outcome, const char *log) {
  int length;
  const char *line = compile_log_error(log, &length);
  row->outcome = outcome;
  row->detail = strndup(line, (size_t)length);
}

void compile_row_free(struct compile_row *row) {
  free(row->detail);
  row->detail = NULL;
}
