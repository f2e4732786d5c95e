/* choose.h: the rows of a database that are about some of its problems, for export and forget. */
#ifndef DB_EXCHANGE_CHOOSE_H
#define DB_EXCHANGE_CHOOSE_H

#include "db/store/store.h"

/* What rows must be about; a member that is NULL or false is no condition. */
struct choice {
  const char *stencil; /* its name */
  const char *device;  /* its name or uuid */
  bool has_dtype, has_grid;
  enum dtype dtype;
  struct grid grid;
  const char *signer; /* of the document that rows were imported from: the name that the user gave, or the key */
  const char *before; /* a date, "2026-11-21" or with a time: what began, or was measured, before it */
};

/* Fill the temporary tables chosen_device ... chosen_best, each with the ids (rowids) of its table's chosen rows:
 * problems, what was measured of them, and what these rows refer to. They last as long as the connection, or until
 * the next choice.
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status store_choose(struct store *store, const struct choice *choice);

#endif
