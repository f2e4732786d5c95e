/* forget.h: rows that are no longer wanted. */
#ifndef DB_EXCHANGE_FORGET_H
#define DB_EXCHANGE_FORGET_H

#include "db/exchange/choose.h"

struct forget_counts {
  long runs, measurements, bests;
  long predictions; /* coefficients of predicted times */
};

/* Count what store_forget would remove.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_forget_count(struct store *store, const struct choice *choice, struct forget_counts *out);

/* Remove the chosen runs with their measurements and finalists, the chosen bests, and whatever nothing refers to
 * then, in one transaction. Where the current best of a problem goes and older ones stay, the fastest of them
 * becomes current, unless it is known to be wrong (db/store/refuted.h): then the next one. Coefficients of predicted
 * times go with their signer, or with the last problem of their GPU.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_forget(struct store *store, const struct choice *choice);

#endif
