/* run_rows.c: keys of variants, and the end of a run without a winner. */
#include "tuner/search/run/run_rows.h"

#include <math.h>

struct variant_key run_rows_key(const struct run_rows *rows, const struct trial *trial) {
  return (struct variant_key){.stencil = rows->stencil,
                              .template_id = rows->templates[trial->proposal.template_index],
                              .template = trial->template,
                              .configuration = &trial->proposal.configuration,
                              .source = trial->generated.hash};
}

halotune_status run_rows_end(const struct run_rows *rows, const char *reason, double memcpy_ms) {
  const struct run_end end = {
      .reason = reason, .empty_ms = NAN, .copy_ms = NAN, .memcpy_ms = memcpy_ms, .warnings = rows->warnings};
  return rows->run ? store_run_end(rows->store, rows->run, &end) : HALOTUNE_OK;
}
