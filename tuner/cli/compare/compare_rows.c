/* compare_rows.c: reads winners with one query. */
#include "tuner/cli/compare/compare_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/text.h"
#include "db/store/query.h"
#include "db/store/refuted.h"

/* Among those of one problem come those first that this user measured, and of these the newest. */
static const char winners_sql[] =
    "select printable(s.name), s.hash, printable(p.dtype), p.nx, p.ny, p.nz, printable(p.launch), printable(p.cache),"
    " p.is_reproducible, p.steps, printable(d.name), printable(t.name), printable(b.date), printable(b.driver), b.time_ms, case when b.sample_count > 1 then b.low_ms end,"
    " case when b.sample_count > 1 then b.high_ms end, " SQL_IS_OWN(
        "b") " from best b join problem p on p.id = b.problem_id join stencil s on s.id = p.stencil_id"
             " join device d on d.id = p.device_id join variant v on v.id = b.variant_id join template t on t.id = v.template_id"
             " where not d.is_emulation and (b.is_current or ?2 <> '' or ?3 <> '' or ?4 <> '') and not " SQL_IS_REFUTED(
                 "b") /* a run that was cut short replaces no winner of a whole run on the same driver and NVRTC */
    " and (b.is_current or not exists (select 1 from run r where r.id = b.run_id and r.state = 'partial')"
    " or not exists (select 1 from best o left join run r on r.id = o.run_id where o.problem_id = b.problem_id"
    " and o.driver = b.driver and o.nvrtc = b.nvrtc and " SQL_DATE("o.date") " <= " SQL_DATE(
        "b.date") " and coalesce(r.state <> 'partial', 1)))"
                  " and (?1 = '' or d.uuid = ?1 or instr(lower(d.name), lower(?1)) > 0)"
                  " and (?2 = '' or b.driver = ?2 or b.driver like ?2 || '.%')"
                  " and (?3 = '' or b.date < ?3) and (?4 = '' or b.date >= ?4) and (?5 = '' or s.name = ?5)"
                  " order by b.date desc, b.id desc";

/* Append "star7 f32 512x512x512, graph, 4 steps". Usual values are left out. */
static void add_problem(sqlite3_stmt *query, struct text *text) {
  text_printf(text, "%s %s %ld", column_text(query, 0), column_text(query, 2), (long)sqlite3_column_int64(query, 3));
  for (int i = 4; i < 6; i++) {
    if (sqlite3_column_int64(query, i) > 1 || (i == 4 && sqlite3_column_int64(query, 5) > 1))
      text_printf(text, "x%ld", (long)sqlite3_column_int64(query, i));
  }
  if (strcmp(column_text(query, 6), "stream") != 0) text_printf(text, ", %s", column_text(query, 6));
  if (strcmp(column_text(query, 7), "steady") != 0) text_printf(text, ", %s", column_text(query, 7));
  if (sqlite3_column_int(query, 8)) text_printf(text, ", reproducible");
  if (sqlite3_column_int(query, 9) > 1) text_printf(text, ", %d steps", sqlite3_column_int(query, 9));
}

static halotune_status add_row(struct compare_rows *rows, sqlite3_stmt *query, bool by_device) {
  struct text problem = {0}, key = {0};
  if (!array_room(rows->list, rows->count, rows->capacity)) return fail_memory();
  struct compare_row *row = &rows->list[rows->count];
  add_problem(query, &problem);
  text_printf(&key, "%s %s %s", text_string(&problem), column_text(query, 1), by_device ? column_text(query, 10) : "");
  *row = (struct compare_row){.problem = strdup(text_string(&problem)),
                              .key = strdup(text_string(&key)),
                              .winner = strdup(column_text(query, 11)),
                              .time_ms = sqlite3_column_double(query, 14),
                              .low_ms = column_real(query, 15),
                              .high_ms = column_real(query, 16),
                              .is_own = sqlite3_column_int(query, 17) != 0};
  snprintf(row->date, sizeof row->date, "%s", column_text(query, 12));
  snprintf(row->driver, sizeof row->driver, "%s", column_text(query, 13));
  snprintf(row->device, sizeof row->device, "%s", column_text(query, 10));
  rows->count++;
  const bool ok = text_ok(&problem) && text_ok(&key) && row->problem && row->key && row->winner;
  text_free(&problem);
  text_free(&key);
  return ok ? HALOTUNE_OK : fail_memory();
}

static int by_key(const void *a, const void *b) {
  const struct compare_row *x = a, *y = b;
  int order = strcmp(x->key, y->key);
  if (order == 0) order = (int)y->is_own - (int)x->is_own;
  return order ? order : strcmp(y->date, x->date); /* the newest first */
}

static void row_free(struct compare_row *row) {
  free(row->problem);
  free(row->key);
  free(row->winner);
}

/* Keep the first row of each key. */
static void keep_first(struct compare_rows *rows) {
  int kept = 0;
  if (rows->count > 0) qsort(rows->list, (size_t)rows->count, sizeof *rows->list, by_key);
  for (int i = 0; i < rows->count; i++) {
    if (kept > 0 && strcmp(rows->list[kept - 1].key, rows->list[i].key) == 0) row_free(&rows->list[i]);
    else rows->list[kept++] = rows->list[i];
  }
  rows->count = kept;
}

halotune_status compare_rows_read(struct store *store, const struct compare_side *side, bool by_device,
                                  struct compare_rows *out) {
  struct binder binder = {.query = NULL};
  halotune_status status = query_prepare(store_connection(store), winners_sql, &binder.query);
  if (status != HALOTUNE_OK) return status;
  bind_text(&binder, side->device);
  bind_text(&binder, side->driver);
  bind_text(&binder, side->before);
  bind_text(&binder, side->since);
  bind_text(&binder, side->stencil);
  int step = SQLITE_DONE;
  while (status == HALOTUNE_OK && (step = sqlite3_step(binder.query)) == SQLITE_ROW)
    status = add_row(out, binder.query, by_device);
  if (status == HALOTUNE_OK && step != SQLITE_DONE) status = query_fail(store_connection(store));
  sqlite3_finalize(binder.query);
  if (status == HALOTUNE_OK) keep_first(out);
  return status;
}

void compare_rows_free(struct compare_rows *rows) {
  for (int i = 0; i < rows->count; i++) row_free(&rows->list[i]);
  free(rows->list);
  *rows = (struct compare_rows){.list = NULL};
}

enum change compare_times(const struct compare_row *before, const struct compare_row *after, double tolerance) {
  const double ratio = after->time_ms / before->time_ms;
  if (ratio > 1 + tolerance && !(after->low_ms <= before->high_ms)) return CHANGE_SLOWER;
  if (1 / ratio > 1 + tolerance && !(after->high_ms >= before->low_ms)) return CHANGE_FASTER;
  return CHANGE_NONE;
}
