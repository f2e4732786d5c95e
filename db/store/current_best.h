/* current_best.h: the one rule that says which best of a problem is current. */
#ifndef DB_STORE_CURRENT_BEST_H
#define DB_STORE_CURRENT_BEST_H

#include <stdint.h>

#include "db/store/store.h"

/* Make the best that the rule chooses for a problem the current one, within a transaction. If all bests are known to be
 * wrong, none is current. Whatever adds, removes or changes rows calls this for each problem that the rows may decide.
 * The rule depends on the rows alone, so that the order in which rows come and go changes nothing. A document can claim
 * a date, a host and a complete run. So rules 2 and 3 make a best history only where the other best has the same giver
 * (refuted.h), or this user measured it:
 *   1. a best that is known to be wrong is history
 *   2. a best of a run that was cut short is history if a complete run with the same driver and NVRTC has one
 *   3. of the others, a best is history if there is a newer one of the same variant, driver and NVRTC, or a newer one
 *      that the same host measured with another driver or NVRTC, or for another objective; or if this user's newest
 *      one is newer, and has another driver or NVRTC
 *   4. of the others, those count first that were ranked by the objective of this user's newest one, then those that
 *      were ranked by time
 *   5. of these, the fastest is current (or the one with the least energy, or energy times time). Of equal ones this
 *      user's come first, then the newest. If this user measured the variant of a best with its driver and NVRTC, the
 *      newest of these times and energies counts
 *   winner  receives the best's id, or 0
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status best_choose(struct store *store, int64_t problem, int64_t *winner);

/* The same for several problems.
 *   problems  a table with the column `id`, or a statement in parentheses
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status bests_choose(struct store *store, const char *problems);

/* SQL that makes a temporary table for it, without rows: the problems whose current best a change may decide. */
#define SQL_MAKE_TOUCHED "create temp table if not exists touched (id integer primary key); delete from touched;"

#endif
