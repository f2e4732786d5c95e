/* winner_json.h: the winner of a problem, and its finalists. */
#ifndef REPORTS_DOCUMENT_WINNER_JSON_H
#define REPORTS_DOCUMENT_WINNER_JSON_H

#include <sqlite3.h>

#include "base/json.h"
#include "reports/figures/setting.h"

/* The current best of a problem as an object; null where there is none.
 *   out  a new reference; NULL when memory is out, and on failure
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status winner_json(sqlite3 *db, struct setting *setting, json_t **out);

/* The finalists of the winner's run by rank; without a winner, of the newest run that had final rounds. As winner_json. */
halotune_status finalists_json(sqlite3 *db, struct setting *setting, json_t **out);

#endif
