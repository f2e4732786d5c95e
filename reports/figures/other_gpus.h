/* other_gpus.h: how well the winner of one GPU does on another. */
#ifndef REPORTS_FIGURES_OTHER_GPUS_H
#define REPORTS_FIGURES_OTHER_GPUS_H

#include <sqlite3.h>

#include "base/fail.h"
#include "base/text/json.h"

/* Make a list of pairs of problems that differ only in their GPU, if the winner of the first was measured for the
 * second. An element has its time there and the best time there. Both are times of final rounds if it was in any, else
 * both are times of the search, because the two phases measure differently. Needs an open scope (report_scope.h).
 *   out  a new reference; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status transfer_json(sqlite3 *db, json_t **out);

#endif
