/* row_conflict.c: names a row by those columns of its key that people can read. */
#include "db/exchange/row_conflict.h"

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"

/* What helps if a GPU is in conflict. */
static halotune_status write_device_remedy(const struct row_conflict *c, struct text *out) {
  int64_t is_own = 0;
  const halotune_status status = query_with(c->to, "select " SQL_IS_OWN("d") " from device d where id = ?1",
                                            sqlite3_column_int64(c->ours, 0), &is_own);
  text_printf(out, is_own ? "; you measured this GPU, so the file is wrong about it: 'halotune db forget --device UUID "
                            "--db FILE' helps there"
                          : "; if this database is wrong about the GPU, 'halotune db forget --device UUID' removes it "
                            "with its results");
  return status;
}

/* Tables whose rows belong to a problem. Place: the row. */
static const char *const problem_of_row_sql[TABLE_COUNT] = {
    [TABLE_RUN] = "select problem_id from run where id = ?1",
    [TABLE_BEST] = "select problem_id from best where id = ?1",
    [TABLE_MEASUREMENT] = "select r.problem_id from measurement m join run r on r.id = m.run_id where m.rowid = ?1",
    [TABLE_FINALIST] = "select r.problem_id from finalist f join run r on r.id = f.run_id where f.rowid = ?1",
};

/* What helps if a result is in conflict. */
static halotune_status write_result_remedy(const struct row_conflict *c, struct text *out) {
  static const char sql[] =
      "select printable(s.name) || ',' || printable(p.dtype) || ',' || p.nx || 'x' || p.ny || 'x' || p.nz from problem p"
      " join stencil s on s.id = p.stencil_id where p.id = ?1";
  sqlite3_stmt *query = NULL;
  int64_t problem = 0;
  halotune_status status = query_with(c->to, problem_of_row_sql[c->number], sqlite3_column_int64(c->ours, 0), &problem);
  if (status == HALOTUNE_OK) status = query_prepare(c->to, sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int64(query, 1, problem);
    if (sqlite3_step(query) == SQLITE_ROW)
      text_printf(out,
                  "; one of both was changed: 'halotune db forget --problem %s' removes these results here, and the "
                  "same with '--db FILE' those of another database",
                  column_text(query, 0));
  }
  sqlite3_finalize(query);
  return status;
}

halotune_status row_conflict_fail(const struct row_conflict *c) {
  struct text key = {0}, remedy = {0};
  char word[FAIL_TEXT_BYTES / 4];
  halotune_status status = HALOTUNE_OK;
  if (c->number == TABLE_DEVICE) status = write_device_remedy(c, &remedy);
  else if (problem_of_row_sql[c->number]) status = write_result_remedy(c, &remedy);
  if (status != HALOTUNE_OK) {
    text_free(&remedy);
    return status;
  }
  for (int i = 0; i < c->table->column_count; i++) {
    if (!c->table->columns[i].is_key || c->table->columns[i].refers_to >= 0) continue;
    printable_name(word, sizeof word, column_text(c->theirs, i + 1));
    text_printf(&key, "%s%s '%s'", key.length ? ", " : "", c->table->columns[i].name, word);
  }
  status = fail(
      HALOTUNE_DB,
      "%s: row %lld of %s%s%s%s is in conflict: this database has that row with another '%s'; nothing of this file was taken%s",
      c->file, (long long)sqlite3_column_int64(c->theirs, 0), c->table->name, key.length ? " (" : "", text_string(&key),
      key.length ? ")" : "", c->table->columns[c->column].name, text_string(&remedy));
  text_free(&remedy);
  text_free(&key);
  return status;
}
