/* scope.h: which problems a report is about: all of a database, or those of one stencil or of some GPUs. */
#ifndef REPORTS_ROWS_SCOPE_H
#define REPORTS_ROWS_SCOPE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "reports/rows/request.h"

/* Rows of `problem` in the report's order. While it is open, queries of the same connection find them in the temporary
 * table temp.chosen, whose only column is `id`. Start with {0}, end with report_scope_close. */
struct report_scope {
  int64_t *problems;
  int count, capacity;
  bool is_whole; /* nothing was asked for, so that GPUs, stencils and templates without a problem belong to it, too */
};

/* Texts of SQL: what belongs to the problems of the scope. */
#define CHOSEN_PROBLEMS "(select id from temp.chosen)"
#define CHOSEN_RUNS "(select id from run where problem_id in " CHOSEN_PROBLEMS ")"
#define CHOSEN_VARIANTS                                                                                             \
  "(select variant_id from measurement where run_id in " CHOSEN_RUNS " union select variant_id from finalist where" \
  " run_id in " CHOSEN_RUNS " union select variant_id from best where problem_id in " CHOSEN_PROBLEMS ")"

/* Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where the database has nothing of what is asked for; HALOTUNE_DB or
 * HALOTUNE_MEMORY. report_scope_close is due in any case. */
halotune_status report_scope_open(sqlite3 *db, const struct report_request *request, struct report_scope *out);

void report_scope_close(sqlite3 *db, struct report_scope *scope);

#endif
