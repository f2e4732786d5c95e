/* chosen_rows.h: the rows of a database that are about some of its problems, for export and forget. */
#ifndef DB_EXCHANGE_CHOSEN_ROWS_H
#define DB_EXCHANGE_CHOSEN_ROWS_H

#include "db/store/store.h"

/* What rows must be about; a member that is NULL, 0 or false is not a condition. */
struct choice {
  const char *stencil; /* its name */
  const char *device;  /* its name or uuid */
  bool has_dtype, has_grid;
  enum dtype dtype;
  struct grid grid;
  const char *launch, *cache; /* one of launch_mode_names, and of cache_mode_names */
  int steps;                  /* time steps of a launch */
  bool is_reproducible;       /* only problems of variants that give the same bits */
  const char *signer;         /* who signed the document that rows came from: the name that the user gave, or the key */
  const char *before; /* a date, "2026-11-21" or with a time: only rows that began, or were measured, before it */
};

/* Fill the temporary tables chosen_device ... chosen_best with the ids (rowids) of the chosen rows: problems, what was
 * measured of them, and the rows that these refer to. The tables last as long as the connection, or until the next
 * choice.
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status store_choose(struct store *store, const struct choice *choice);

#endif
