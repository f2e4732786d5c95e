/* merge_best.h: which best of a problem is current after a merge, and after rows were removed. */
#ifndef DB_EXCHANGE_MERGE_BEST_H
#define DB_EXCHANGE_MERGE_BEST_H

#include <sqlite3.h>

#include "db/exchange/merge_options.h"

/* Decide which best of a problem is current after the rows of both databases are in one. The rule depends on the rows
 * alone, so that the order of several merges changes nothing. A document can claim a date, a host and a complete run.
 * So rules 2 and 3 make a best history only where the other best has the same giver (db/store/refuted.h), or this user
 * measured it:
 *   1. a best that is known to be wrong is history
 *   2. a best of a run that was cut short is history if a complete run with the same driver and NVRTC has one
 *   3. of the others, a best is history if there is a newer one of the same variant, driver and NVRTC, or a newer one
 *      that the same host measured with another driver or NVRTC, or for another objective
 *   4. of the others, those count first that were ranked by the objective of this user's newest one, then those that
 *      were ranked by time
 *   5. of these, the fastest is current (or the one with the least energy, or energy times time); of equal ones the
 *      newest. If this user measured the variant of a best with its driver and NVRTC, the newest of these times and
 *      energies counts
 *   to       the database, within a transaction
 *   theirs   the row that was current in the other database; 0 for none
 *   options  its conflict() is called for a decision between our best and theirs
 *   counts   the conflicts and the bests that are known to be wrong are added to it
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status merge_best(sqlite3 *to, int64_t problem, int64_t theirs, const struct merge_options *options,
                           struct merge_counts *counts);

/* Make the best that this rule chooses for a problem the current one, within a transaction. If all are known to be
 * wrong, none is current.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status best_choose(sqlite3 *to, int64_t problem);

#endif
