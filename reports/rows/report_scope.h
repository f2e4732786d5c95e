/* report_scope.h: the problems of a report: all of a database, or those of one stencil or of some GPUs. */
#ifndef REPORTS_ROWS_REPORT_SCOPE_H
#define REPORTS_ROWS_REPORT_SCOPE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "reports/rows/request.h"

/* Rows of `problem` in the report's order. While the scope is open, queries of the same connection find their ids in
 * the temporary table temp.chosen, whose only column is `id`. Start with {0}, end with report_scope_close. */
struct report_scope {
  int64_t *problems;
  int count, capacity;
  /* no stencil or GPU was given, so GPUs, stencils and templates without a problem belong to the scope, too */
  bool is_whole;
};

/* SQL texts that select what belongs to the problems of the scope. */
#define CHOSEN_PROBLEMS "(select id from temp.chosen)"
#define CHOSEN_RUNS "(select id from run where problem_id in " CHOSEN_PROBLEMS ")"
#define CHOSEN_VARIANTS                                                                                             \
  "(select variant_id from measurement where run_id in " CHOSEN_RUNS " union select variant_id from finalist where" \
  " run_id in " CHOSEN_RUNS " union select variant_id from best where problem_id in " CHOSEN_PROBLEMS ")"

/* Open a scope. Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if the database has nothing that matches; HALOTUNE_DB or
 * HALOTUNE_MEMORY. Call report_scope_close in any case. */
halotune_status report_scope_open(sqlite3 *db, const struct report_request *request, struct report_scope *out);

void report_scope_close(sqlite3 *db, struct report_scope *scope);

#endif
