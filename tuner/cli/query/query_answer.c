/* query_answer.c: where a winner was verified as well. It takes no part in lookups, so that it is read only here. */
#include <stdio.h>

#include "db/store/query.h"
#include "db/store/store.h"
#include "tuner/cli/query/query_answer.h"

bool query_second_grid(const struct query *query, char grid[QUERY_GRID_BYTES]) {
  const struct served *row = query->answer.row;
  struct store *store = NULL;
  struct binder binder = {.at = 0};
  grid[0] = '\0';
  if (!row || store_open(query->ctx->catalog.paths[row->database], STORE_READ, &store) != HALOTUNE_OK) return false;
  const char sql[] = "select second_grid from best where id = ?1 and date = ?2";
  bool found = query_prepare(store_connection(store), sql, &binder.query) == HALOTUNE_OK;
  if (found) {
    bind_integer(&binder, row->id);
    bind_text(&binder, row->date);
    found = sqlite3_step(binder.query) == SQLITE_ROW;
  }
  if (found) snprintf(grid, QUERY_GRID_BYTES, "%s", column_text(binder.query, 0));
  sqlite3_finalize(binder.query);
  store_close(store);
  return found;
}
