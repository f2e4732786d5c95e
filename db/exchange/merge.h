/* merge.h: copies the rows of one database into another. */
#ifndef DB_EXCHANGE_MERGE_H
#define DB_EXCHANGE_MERGE_H

#include "db/exchange/merge_options.h"
#include "db/store/store.h"

/* Merge all of `from`, which is trusted, into `to`, in one transaction: all of it or nothing. Rows that are already
 * there stay. If a run was still running in `to`, its end and its measurements are copied. Three things are added to
 * rows that are there: results of a run, its end, and machine code of a best that has none. They are only taken in two
 * cases: the row's origin has the kind and the signer of options->origin; or the run has no end here, and both
 * databases have the same user and machine as its origin. A best is left with the end of its run. The clocks of a GPU
 * and the text of a template can yield to others (varying_rows.h). If a row has the key of a row in `to` and other
 * content otherwise, nothing is taken.
 * The rule of db/exchange/merge_best.h then decides which best of a problem is current. It does not depend on the order
 * in which several databases are merged. Several files in one transaction take less time: begin it on the connection of
 * `to` before the first call, and end it with query_finish after the last one. After a failure it can only be rolled
 * back, with all of these files. Coefficients of predicted times are taken for a GPU that has none, and replace all
 * that the same signer gave before.
 *   counts  may be NULL
 * Returns HALOTUNE_OK; HALOTUNE_DB, also for a row in conflict, which the detail names; or HALOTUNE_MEMORY. */
halotune_status store_merge(struct store *to, struct store *from, const struct merge_options *options,
                            struct merge_counts *counts);

#endif
