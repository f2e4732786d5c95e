/* forget.h: rows that are no longer wanted. */
#ifndef DB_EXCHANGE_FORGET_H
#define DB_EXCHANGE_FORGET_H

#include "db/exchange/chosen_rows.h"
#include "db/store/going_runs.h"

struct forget_counts {
  long runs, measurements, bests;
  long wrong;       /* of the measurements, those that say that a variant is wrong */
  long predictions; /* coefficients of predicted times */
  long fitted;      /* coefficients that stay: this user fitted them, perhaps to times of the signer that are removed */
  long alone;       /* a signer's devices, stencils, texts, templates and so on that have no result */
  long left;        /* chosen runs that stay, because they go on */
  bool is_tuned;    /* runs go on in the database, so no row is removed because nothing refers to it */
};

/* Count what store_forget would remove.
 *   asks  tells which runs go on (db/store/going_runs.h); NULL: none
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_forget_count(struct store *store, const struct choice *choice, is_tuning *asks,
                                   struct forget_counts *out);

/* In one transaction, remove the chosen runs with their measurements and finalists, the chosen bests, and all rows
 * that nothing refers to any more; with a signer, only rows of the signer. The current bests are then those that the
 * rule of db/store/current_best.h chooses from the rows that stay, as if the removed rows had never been there: a
 * verdict is forgotten with its run.
 * Coefficients of predicted times are removed with their signer, or with the last problem of their GPU. What a signer
 * brought without a result is removed, too, unless results of others use it. Runs that go on stay, with their rows.
 * While any run goes on, no row is removed only because nothing refers to it: the tune may have its id.
 *   asks  as above
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_forget(struct store *store, const struct choice *choice, is_tuning *asks);

#endif
