/* varying_rows.h: rows of one key that documents may give with other content: the clocks and the memory of a GPU, and
 * the text of a template, whose identity covers neither the order of parameters nor all of `sums` and `cost`. The first
 * document that gives a row decides what is stored. The row of a signer without results there gives way to the row of
 * one with results. So after `db forget` of the first signer, another import of the second document brings its row. */
#ifndef DB_EXCHANGE_VARYING_ROWS_H
#define DB_EXCHANGE_VARYING_ROWS_H

#include "db/exchange/table.h"
#include "db/store/store.h"

enum varying_word {
  VARYING_OWN,    /* this user's row: the other one does not count */
  VARYING_STAYS,  /* the row stays; the other one is of somebody else, or has no results */
  VARYING_YIELDS, /* the other row takes its place, with its origin */
};

/* Decide between a row of this database and one of another database that has its key and other content.
 *   table         TABLE_DEVICE or TABLE_TEMPLATE
 *   ours, theirs  ids of the two rows
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status varying_decide(sqlite3 *to, int64_t ours, sqlite3 *from, int64_t theirs, enum table_name table,
                               enum varying_word *out);

/* Count the GPUs and templates that a signer gave and that only results of others use.
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status varying_count_left(struct store *store, const char *signer, long *out);

#endif
