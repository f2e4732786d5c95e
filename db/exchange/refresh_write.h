/* refresh_write.h: gives one variant another version of its template; private to refresh.c. */
#ifndef DB_EXCHANGE_REFRESH_WRITE_H
#define DB_EXCHANGE_REFRESH_WRITE_H

#include "db/exchange/refresh_outcome.h"
#include "db/store/going_runs.h"

/* What a decision is about: a variant `v` and its template `t`, as one text. Ids are not enough: when other programs
 * remove rows, SQLite gives their ids to later ones. */
#define SQL_REFRESHED(v, t) t ".hash || ' ' || " v ".source_hash || ' ' || " v ".stencil_id || ' ' || " v ".parameters"

struct refresh_change {
  int64_t variant, from;     /* ids of the variant and of its present template */
  char *was;                 /* SQL_REFRESHED of the two; from malloc */
  const struct template *to; /* the installed template; NULL without one */
  char *parameters;          /* the configuration as JSON in the order of `to`; from malloc, or NULL */
  enum refresh_outcome outcome;
};

/* Make the variant one of the installed template, in one transaction. If the installed template has this variant
 * already, all rows move to that one; of rows that both have, one is left. If both have different results of one run,
 * nothing changes, and the outcome becomes REFRESH_TWICE. If the variant or its template is no longer what it
 * `was`, nothing changes, and the outcome becomes REFRESH_CHANGED. The old template is removed with its last variant.
 * While a run goes on, no variant and no template is removed: if the installed template has this variant already,
 * nothing changes, and the outcome becomes REFRESH_TUNED.
 *   asks    tells which runs go on; NULL: none
 *   is_dry  find the outcome alone
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status refresh_write(struct store *store, struct refresh_change *change, is_tuning *asks, bool is_dry);

#endif
