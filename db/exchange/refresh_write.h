/* refresh_write.h: gives one variant another version of its template; private to refresh.c. */
#ifndef DB_EXCHANGE_REFRESH_WRITE_H
#define DB_EXCHANGE_REFRESH_WRITE_H

#include "db/exchange/refresh_outcome.h"
#include "db/store/going_runs.h"

struct refresh_change {
  int64_t variant, from;     /* ids of the variant and of its present template */
  const struct template *to; /* the installed template; NULL without one */
  char *parameters;          /* the configuration as JSON in the order of `to`; from malloc, or NULL */
  enum refresh_outcome outcome;
};

/* Make the variant one of the installed template, in one transaction. If the installed template has this variant
 * already, all rows move to that one; of rows that both have, one is left. If both have different results of one run,
 * nothing changes, and the outcome becomes REFRESH_TWICE. If the variant has another template than `from` now, or is
 * gone, nothing changes, and the outcome becomes REFRESH_CHANGED. The old template is removed with its last variant.
 * While a run goes on, no variant and no template is removed: if the installed template has this variant already,
 * nothing changes, and the outcome becomes REFRESH_TUNED.
 *   asks    tells which runs go on; NULL: none
 *   is_dry  find the outcome alone
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status refresh_write(struct store *store, struct refresh_change *change, is_tuning *asks, bool is_dry);

#endif
