/* problem_json.h: the JSON of one problem of a database: its winner, finalists and variants. */
#ifndef REPORTS_DOCUMENT_PROBLEM_JSON_H
#define REPORTS_DOCUMENT_PROBLEM_JSON_H

#include <sqlite3.h>

#include "base/text/json.h"
#include "reports/rows/definitions.h"
#include "reports/rows/request.h"

/* Make the object that docs/report.md describes.
 *   most  the most variants that it may hold; if there are more, a selection of them
 *   out   a new reference; NULL when memory is out, and on failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status problem_json(sqlite3 *db, const struct definitions *definitions, int64_t problem,
                             const struct report_request *request, int most, json_t **out);

#endif
