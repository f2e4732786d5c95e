/* merge_best.h: which best of a problem is current after a merge. */
#ifndef DB_EXCHANGE_MERGE_BEST_H
#define DB_EXCHANGE_MERGE_BEST_H

#include <sqlite3.h>

#include "db/exchange/merge_options.h"

/* Statements for the decisions of one merge. SQLite takes milliseconds to prepare one, and little time to run it. */
struct best_queries {
  sqlite3_stmt *current, *named; /* read the current best of a problem, and the best with an id */
};

/* Prepare them. In case of a failure, too, end them with best_queries_free.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status best_queries_open(struct best_queries *queries, struct store *to);
void best_queries_free(struct best_queries *queries);

/* Choose the current best of a problem (db/store/current_best.h) after the rows of both databases are in one.
 *   to       the database, within a transaction
 *   theirs   the row that was current in the other database; 0 for none
 *   options  its conflict() is called for a decision between our best and theirs
 *   counts   the conflicts and the bests that are known to be wrong are added to it
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status merge_best(struct store *to, const struct best_queries *queries, int64_t problem, int64_t theirs,
                           const struct merge_options *options, struct merge_counts *counts);

#endif
