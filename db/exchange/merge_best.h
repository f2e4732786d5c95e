/* merge_best.h: which best of a problem is current after a merge. */
#ifndef DB_EXCHANGE_MERGE_BEST_H
#define DB_EXCHANGE_MERGE_BEST_H

#include <sqlite3.h>

#include "db/exchange/merge.h"

/* Decide which best of a problem is current, now that the rows of both databases are in one. The rule depends on the
 * rows alone, so that the order of several merges changes nothing:
 *   1. a best that is known to be wrong (db/store/refuted.h) is history
 *   2. a newer one of the same variant, driver and NVRTC makes the older one history; so does a newer one that the same
 *      host measured with another driver or NVRTC, or for another objective
 *   3. of the others that were ranked by time the fastest is current; of equally fast ones the newest
 *   4. if none was ranked by time, the one with the least energy (or energy times time) is
 *   to       the database, within a transaction
 *   theirs   the row that was current in the other database; 0 for none
 *   options  conflict() hears of a decision between ours and theirs
 *   counts   of conflicts, and of what is known to be wrong, are added to
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status merge_best(sqlite3 *to, int64_t problem, int64_t theirs, const struct merge_options *options,
                           struct merge_counts *counts);

#endif
