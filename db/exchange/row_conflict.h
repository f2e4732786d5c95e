/* row_conflict.h: what a merge says of a row that both databases have, each with other content. */
#ifndef DB_EXCHANGE_ROW_CONFLICT_H
#define DB_EXCHANGE_ROW_CONFLICT_H

#include <sqlite3.h>

#include "base/fail.h"
#include "db/exchange/table.h"

struct row_conflict {
  sqlite3 *to; /* the database that would take the row */
  const struct table *table;
  enum table_name number;      /* of the table */
  int column;                  /* in which the rows differ */
  sqlite3_stmt *theirs, *ours; /* both rows, as table_select has them: id, columns */
  const char *file;            /* name of the other database */
};

/* Fail with the name of the row, and with what helps.
 * Returns HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status row_conflict_fail(const struct row_conflict *conflict);

#endif
