/* problem_json.h: one problem of a database: its winner, finalists and all its variants. */
#ifndef REPORTS_DOCUMENT_PROBLEM_JSON_H
#define REPORTS_DOCUMENT_PROBLEM_JSON_H

#include <sqlite3.h>

#include "base/json.h"
#include "reports/rows/definitions.h"

/* Make the object; docs/report.md names what it holds.
 *   most  variants that it may hold; where there are more, a choice of them
 *   out   a new reference; NULL when memory is out, and on failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status problem_json(sqlite3 *db, const struct definitions *definitions, int64_t problem, int most,
                             json_t **out);

#endif
