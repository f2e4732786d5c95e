/* winner_json.h: the JSON of a problem's winner, and of its finalists. */
#ifndef REPORTS_DOCUMENT_WINNER_JSON_H
#define REPORTS_DOCUMENT_WINNER_JSON_H

#include <sqlite3.h>

#include "base/text/json.h"
#include "reports/figures/setting.h"

/* Make the object of a problem's current best; null if there is none.
 *   out  a new reference; NULL when memory is out, and on failure
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status winner_json(sqlite3 *db, struct setting *setting, json_t **out);

/* Make the list of finalists of the winner's run, sorted by rank. Without a winner, it has those of the newest run with
 * final rounds. `out` and errors are those of winner_json. */
halotune_status finalists_json(sqlite3 *db, struct setting *setting, json_t **out);

/* A list of [name, value] pairs: the value of a name; "" if there is none. */
const char *pair_value(const json_t *pairs, const char *name);

/* Whether a winner of the document groups weights that repeat. */
bool groups_weights(const json_t *winner);

#endif
