/* merge_best.h: which best of a problem is current after a merge. */
#ifndef DB_EXCHANGE_MERGE_BEST_H
#define DB_EXCHANGE_MERGE_BEST_H

#include <sqlite3.h>

#include "db/exchange/merge_options.h"

/* Choose the current best of a problem (db/store/current_best.h) after the rows of both databases are in one.
 *   to       the database, within a transaction
 *   theirs   the row that was current in the other database; 0 for none
 *   options  its conflict() is called for a decision between our best and theirs
 *   counts   the conflicts and the bests that are known to be wrong are added to it
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status merge_best(sqlite3 *to, int64_t problem, int64_t theirs, const struct merge_options *options,
                           struct merge_counts *counts);

#endif
