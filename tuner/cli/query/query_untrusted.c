/* query_untrusted.c: finds an untrusted winner, and prints how to trust it. */
#include "tuner/cli/query/query_untrusted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "db/exchange/untrusted_files.h"
#include "db/store/query.h"
#include "db/store/refuted.h"
#include "library/lookup/context.h"

/* Current winners come first, because trust would bring these into use. A parameter that is NULL sets no condition. */
static const char find_sql[] =
    "select b.time_ms, d.name from best b join problem p on p.id = b.problem_id"
    " join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id where"
    " iif(?1 is null, s.name = ?10, s.hash = ?1)"
    " and p.dtype = ?2 and p.nx = ?3 and p.ny = ?4 and p.nz = ?5 and (d.name = ?6 or 'sm_' || d.capability = ?6)"
    " and (?7 is null or p.launch = ?7) and (?8 is null or p.cache = ?8) and p.is_reproducible >= ?9 and p.steps <= ?11"
    " and not " SQL_IS_REFUTED("b") " order by b.is_current desc, b.time_ms limit 1";

/* The winner that is searched for in the files that are kept beside a database. */
struct search {
  const char *hash, *name, *device, *database; /* hash: NULL for a stencil that no database knows */
  const halotune_problem *problem;
  double until_thread_ms; /* by clock_thread_ms: no file is looked into after this time */
  bool is_told;
};

static void bind_problem(sqlite3_stmt *query, const struct search *search) {
  const halotune_problem *problem = search->problem;
  sqlite3_bind_text(query, 1, search->hash, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 2, dtype_names[problem->dtype], -1, SQLITE_STATIC);
  for (int axis = 0; axis < MAX_DIMS; axis++) sqlite3_bind_int64(query, 3 + axis, problem->grid[axis]);
  sqlite3_bind_text(query, 6, search->device, -1, SQLITE_STATIC);
  if (problem->launch) sqlite3_bind_text(query, 7, launch_mode_names[problem->launch - 1], -1, SQLITE_STATIC);
  if (problem->cache) sqlite3_bind_text(query, 8, cache_mode_names[problem->cache - 1], -1, SQLITE_STATIC);
  sqlite3_bind_int(query, 9, problem->reproducible);
  sqlite3_bind_text(query, 10, search->name, -1, SQLITE_STATIC);
  const int steps = problem->steps == HALOTUNE_STEPS_ANY ? LAUNCH_MOST_STEPS : problem->steps;
  sqlite3_bind_int(query, 11, steps > 1 ? steps : 1);
}

static void untrusted_tell(const struct search *search, const char *file, sqlite3_stmt *row) {
  struct text database = {0}, from = {0};
  char device[FAIL_TEXT_BYTES], printable[FAIL_TEXT_BYTES];
  printable_name(device, sizeof device, column_text(row, 1));
  printable_name(printable, sizeof printable, file);
  text_shell_word(&from, printable);
  text_shell_word(&database, search->database);
  fprintf(stderr,
          "halotune: a winner for this problem, %.6g ms on %s, was imported and is not trusted, so that no lookup "
          "returns it. To see its rows:\n"
          "  halotune db import --db %s --trust %s\n"
          "If your GPU may run this, add --yes.\n",
          sqlite3_column_double(row, 0), device, text_string(&database), text_string(&from));
  text_free(&from);
  text_free(&database);
}

/* Skip a file that cannot be read, or not within some 50 ms, because this is only a remark. Otherwise the maker of the
 * file could delay the answer, and with many files for long. */
static halotune_status file_search(void *context, const char *file) {
  enum { MOST_STEPS = 1000000 };
  struct search *search = context;
  struct store *store;
  sqlite3_stmt *query = NULL;
  if (search->is_told || clock_thread_ms() > search->until_thread_ms) return HALOTUNE_OK;
  if (store_open(file, STORE_GLANCE, &store) != HALOTUNE_OK) return HALOTUNE_OK;
  store_limit(store, MOST_STEPS);
  if (query_prepare(store_connection(store), find_sql, &query) == HALOTUNE_OK) {
    bind_problem(query, search);
    if ((search->is_told = sqlite3_step(query) == SQLITE_ROW)) untrusted_tell(search, file, query);
  }
  sqlite3_finalize(query);
  store_close(store);
  return HALOTUNE_OK;
}

/* Search the files that are kept beside a database. A failure costs only the remark. */
static void database_search(struct search *search, const char *database) {
  char printable[FAIL_TEXT_BYTES];
  search->database = database;
  if (untrusted_each(database, search->until_thread_ms, file_search, search) != HALOTUNE_IO) return;
  printable_name(printable, sizeof printable, fail_text());
  fprintf(stderr, "halotune: %s\n", printable);
}

static bool has_database(const struct catalog *catalog, const char *path) {
  for (int i = 0; i < catalog->database_count; i++) {
    if (strcmp(catalog->databases[i].path, path) == 0) return true;
  }
  return false;
}

void query_tell_untrusted(const struct query *q) {
  static const double most_ms = 500;
  struct known_device room;
  const struct known_device *device;
  const struct catalog *catalog = &q->ctx->catalog;
  int stencil = names_find(&catalog->stencil_names, q->problem.stencil);
  char *own = NULL; /* the user's database may not exist yet */
  if (context_device(q->ctx, q->problem.device, &room, &device) != HALOTUNE_OK) return;
  struct search search = {.hash = stencil < 0 ? NULL : catalog->stencils[stencil].hash,
                          .name = q->problem.stencil,
                          .device = device->name,
                          .problem = &q->problem,
                          .until_thread_ms = clock_thread_ms() + most_ms};
  for (int i = 0; i < catalog->database_count && !search.is_told; i++)
    database_search(&search, catalog->databases[i].path);
  if (!search.is_told && !q->names_database && store_default_path(&own) == HALOTUNE_OK && !has_database(catalog, own))
    database_search(&search, own);
  /* Names decide which files come first, and who made the files chose their names. */
  if (!search.is_told && clock_thread_ms() > search.until_thread_ms)
    fprintf(stderr,
            "halotune: there are too many imported files that are not trusted to look into all of them: one may have "
            "a winner for this problem; 'halotune db info' lists the files\n");
  free(own);
}
