/* going_runs.h: the runs that go on: a process still stores results into them. Until they end, that process keeps ids
 * of rows, so nobody may delete these rows: SQLite gives the id of a deleted row to a later one. */
#ifndef DB_STORE_GOING_RUNS_H
#define DB_STORE_GOING_RUNS_H

#include "db/store/store.h"

/* Whether a process tunes on a GPU into a database (tuner/cli/tune/tuning_lock.h). */
typedef bool is_tuning(const char *database, const char *uuid);

/* Within a transaction that writes, note the runs that go on in the temporary table going_run(id): runs of this user
 * without an end, on a GPU on which a process tunes. Runs of killed tunes on this GPU count, too, until that process
 * ends.
 *   asks   NULL: no run goes on
 *   count  receives their number
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status going_runs_note(struct store *store, is_tuning *asks, long *count);

#endif
