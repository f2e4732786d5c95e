/* transfer.h: how well the winner of one GPU does on another. */
#ifndef REPORTS_FIGURES_TRANSFER_H
#define REPORTS_FIGURES_TRANSFER_H

#include <sqlite3.h>

#include "base/fail.h"
#include "base/json.h"

/* A list of pairs of problems that differ in their GPU alone, where the winner of the one was measured for the other:
 * its time there beside the best there. Both times are of final rounds where it was in any, else both are of the
 * search: the two differ in how they are taken. Needs an open scope (scope.h).
 *   out  a new reference; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status transfer_json(sqlite3 *db, json_t **out);

#endif
