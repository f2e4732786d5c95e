/* query_untrusted.c: finds an untrusted winner, and prints how to trust it. */
#include "tuner/cli/query/query_untrusted.h"

#include <stdio.h>

#include "base/text.h"
#include "base/utf8.h"
#include "db/store/query.h"
#include "db/store/refuted.h"
#include "library/lookup/context.h"

/* Current winners come first, because trust would bring these into use. A parameter that is NULL sets no condition. */
static const char find_sql[] =
    "select b.origin, b.time_ms, d.name, s.name, p.dtype, p.nx, p.ny, p.nz from best b join problem p on p.id = "
    "b.problem_id"
    " join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id where not b.is_trusted and s.hash = ?1"
    " and p.dtype = ?2 and p.nx = ?3 and p.ny = ?4 and p.nz = ?5 and (d.name = ?6 or 'sm_' || d.capability = ?6)"
    " and (?7 is null or p.launch = ?7) and (?8 is null or p.cache = ?8) and p.is_reproducible >= ?9"
    " and not " SQL_IS_REFUTED("b") " order by b.is_current desc, b.time_ms limit 1";

static void bind_problem(sqlite3_stmt *query, const char *hash, const char *device, const halotune_problem *problem) {
  sqlite3_bind_text(query, 1, hash, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 2, dtype_names[problem->dtype], -1, SQLITE_STATIC);
  for (int axis = 0; axis < MAX_DIMS; axis++) sqlite3_bind_int64(query, 3 + axis, problem->grid[axis]);
  sqlite3_bind_text(query, 6, device, -1, SQLITE_STATIC);
  if (problem->launch) sqlite3_bind_text(query, 7, launch_mode_names[problem->launch - 1], -1, SQLITE_STATIC);
  if (problem->cache) sqlite3_bind_text(query, 8, cache_mode_names[problem->cache - 1], -1, SQLITE_STATIC);
  sqlite3_bind_int(query, 9, problem->reproducible);
}

/* The imported file may be gone or renamed. So the commands export the rows from this database and import them
 * again. */
static void untrusted_tell(const char *path, sqlite3_stmt *row) {
  const char *stencil = column_text(row, 3), *dtype = column_text(row, 4);
  const int nx = sqlite3_column_int(row, 5), ny = sqlite3_column_int(row, 6), nz = sqlite3_column_int(row, 7);
  struct text database = {0}, problem = {0}, file = {0};
  char origin[FAIL_TEXT_BYTES], device[FAIL_TEXT_BYTES], name[FAIL_TEXT_BYTES];
  printable_copy(origin, sizeof origin, column_text(row, 0));
  printable_copy(device, sizeof device, column_text(row, 2));
  snprintf(name, sizeof name, "%s,%s,%dx%dx%d", stencil, dtype, nx, ny, nz);
  text_shell_word(&problem, name);
  snprintf(name, sizeof name, "untrusted-%s.json", stencil);
  text_shell_word(&file, name);
  text_shell_word(&database, path);
  fprintf(
      stderr,
      "halotune: a winner for this problem, %.6g ms on %s, was imported from %s and is not trusted, so that no lookup returns it. To read its source:\n"
      "  halotune db export --db %s --problem %s --output %s\n"
      "If your GPU may run this source:\n  halotune db import --db %s --trust %s\n",
      sqlite3_column_double(row, 1), device, origin, text_string(&database), text_string(&problem), text_string(&file),
      text_string(&database), text_string(&file));
  text_free(&file);
  text_free(&problem);
  text_free(&database);
}

void query_tell_untrusted(const struct query *q) {
  struct known_device room;
  const struct known_device *device;
  const struct catalog *catalog = &q->ctx->catalog;
  int stencil = names_find(&catalog->stencil_names, q->problem.stencil);
  bool is_told = false;
  if (stencil < 0 || context_device(q->ctx, q->problem.device, &room, &device) != HALOTUNE_OK) return;
  for (int i = 0; i < catalog->database_count && !is_told; i++) {
    struct store *store;
    sqlite3_stmt *query = NULL;
    /* This is only a remark, so a database that cannot be read any more is skipped. */
    if (store_open(catalog->paths[i], STORE_READ, &store) != HALOTUNE_OK) continue;
    if (query_prepare(store_connection(store), find_sql, &query) == HALOTUNE_OK) {
      bind_problem(query, catalog->stencils[stencil].hash, device->name, &q->problem);
      if ((is_told = sqlite3_step(query) == SQLITE_ROW)) untrusted_tell(catalog->paths[i], query);
    }
    sqlite3_finalize(query);
    store_close(store);
  }
}
