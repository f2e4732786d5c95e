/* merge.c: table by table, row by row; the columns are data (table.h), only runs and bests have rules of their own. */
#include "db/exchange/merge.h"

#include <stdlib.h>
#include <string.h>

#include "db/exchange/id_map.h"
#include "db/store/query.h"
#include "db/store/refuted.h"

struct merge {
  sqlite3 *to, *from;
  const struct tables *tables;
  const struct merge_options *options;
  struct merge_counts counts;
  struct id_maps ids;
  sqlite3_stmt *select, *find, *insert; /* of the present table */
};

/* The present row's value in column `i`, into the same place of insert and find. */
static halotune_status carry_value(struct merge *m, const struct table *table, sqlite3_stmt *to, int i) {
  const struct column *column = &table->columns[i];
  int place = i + 2;
  sqlite3_value *value = sqlite3_column_value(m->select, i + 1);
  if (column->refers_to < 0 || sqlite3_value_type(value) == SQLITE_NULL) {
    sqlite3_bind_value(to, place, value);
    return HALOTUNE_OK;
  }
  int64_t id = id_map_find(&m->ids, column->refers_to, sqlite3_column_int64(m->select, i + 1));
  sqlite3_bind_int64(to, place, id);
  return id ? HALOTUNE_OK
            : fail(HALOTUNE_DB, "a row of %s refers to one of %s that is not there; 'halotune db check' tells more",
                   table->name, table_names[column->refers_to]);
}

static halotune_status find_row(struct merge *m, const struct table *table, int64_t *id) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < table->column_count && status == HALOTUNE_OK; i++) {
    if (table->columns[i].is_key) status = carry_value(m, table, m->find, i);
  }
  if (status == HALOTUNE_OK) return query_run(m->find, id);
  sqlite3_reset(m->find);
  return status;
}

/* The tables whose rows are trusted or not, and how to trust one that was here already. What the other database trusts is
 * of no use: the caller decides. */
static const char *const trust_statements[TABLE_COUNT] = {[TABLE_RUN] = "update run set is_trusted = 1 where id = ?1",
                                                          [TABLE_BEST] =
                                                              "update best set is_trusted = 1 where id = ?1"};

static void bind_trust(struct merge *m, const struct table *table) {
  sqlite3_bind_int(m->insert, table_column(table, "is_trusted") + 2, m->options->trust);
}

/* A best begins as history. Where the other database says to have it from is of no use here either: it may be anything,
 * and names at best a file that the caller never had. */
static void bind_best(struct merge *m, const struct table *table) {
  sqlite3_bind_int(m->insert, table_column(table, "is_current") + 2, 0);
  sqlite3_bind_text(m->insert, table_column(table, "origin") + 2, m->options->origin, -1, SQLITE_STATIC);
}

static halotune_status insert_row(struct merge *m, int number, int64_t *id) {
  const struct table *table = &m->tables->list[number];
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < table->column_count && status == HALOTUNE_OK; i++) status = carry_value(m, table, m->insert, i);
  if (status == HALOTUNE_OK && trust_statements[number]) bind_trust(m, table);
  if (status == HALOTUNE_OK && number == TABLE_BEST) bind_best(m, table);
  if (status == HALOTUNE_OK) status = query_run(m->insert, NULL);
  else sqlite3_reset(m->insert);
  if (status == HALOTUNE_OK) *id = sqlite3_last_insert_rowid(m->to);
  m->counts.runs += number == TABLE_RUN;
  m->counts.measurements += number == TABLE_MEASUREMENT;
  m->counts.bests += number == TABLE_BEST;
  return status;
}

/* A run that was running when it was merged before may have ended since. */
static halotune_status end_run(struct merge *m, int64_t id) {
  static const char *const columns[] = {"state",   "reason",    "ended",    "empty_ms",
                                        "copy_ms", "memcpy_ms", "warnings", "outcomes"};
  sqlite3_stmt *query = NULL;
  halotune_status status =
      query_prepare(m->to,
                    "update run set state = ?2, reason = ?3, ended = ?4, empty_ms = ?5, copy_ms = ?6, memcpy_ms = ?7,"
                    " warnings = ?8, outcomes = ?9 where id = ?1 and state = 'running'",
                    &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int64(query, 1, id);
    for (int i = 0; i < (int)(sizeof columns / sizeof *columns); i++) {
      int column = table_column(&m->tables->list[TABLE_RUN], columns[i]);
      sqlite3_bind_value(query, i + 2, sqlite3_column_value(m->select, column + 1));
    }
    status = query_run(query, NULL);
  }
  sqlite3_finalize(query);
  return status;
}

/* What decides between two bests, read from a row of CURRENT below. */
struct rival {
  int64_t id, variant;
  bool is_trusted;
  double time_ms;
  char date[32], driver[64], nvrtc[64];
};

static void read_rival(sqlite3_stmt *row, struct rival *out) {
  out->id = sqlite3_column_int64(row, 0);
  out->variant = sqlite3_column_int64(row, 1);
  out->is_trusted = sqlite3_column_int(row, 2) != 0;
  out->time_ms = sqlite3_column_double(row, 3);
  sqlite3_snprintf((int)sizeof out->date, out->date, "%s", column_text(row, 4));
  sqlite3_snprintf((int)sizeof out->driver, out->driver, "%s", column_text(row, 5));
  sqlite3_snprintf((int)sizeof out->nvrtc, out->nvrtc, "%s", column_text(row, 6));
}

static halotune_status find_rival(struct merge *m, const char *sql, int64_t place, struct rival *out) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(m->to, sql, &query);
  *out = (struct rival){.id = 0};
  if (status != HALOTUNE_OK) return status;
  sqlite3_bind_int64(query, 1, place);
  int code = sqlite3_step(query);
  if (code == SQLITE_ROW) read_rival(query, out);
  else if (code != SQLITE_DONE) status = query_fail(m->to);
  sqlite3_finalize(query);
  return status;
}

static bool theirs_wins(const struct rival *ours, const struct rival *theirs, const char **why) {
  bool same = strcmp(ours->driver, theirs->driver) == 0 && strcmp(ours->nvrtc, theirs->nvrtc) == 0;
  int dates = strcmp(theirs->date, ours->date);
  if (ours->is_trusted != theirs->is_trusted) {
    *why = "the other is not trusted";
    return theirs->is_trusted;
  }
  if (same && dates != 0) {
    *why = "newer, measured with the same driver and NVRTC";
    return dates > 0;
  }
  *why = "faster";
  return theirs->time_ms < ours->time_ms;
}

static halotune_status run_on(struct merge *m, const char *sql, int64_t place) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(m->to, sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int64(query, 1, place);
    status = query_run(query, NULL);
  }
  sqlite3_finalize(query);
  return status;
}

static halotune_status tell(struct merge *m, const struct rival *ours, const struct rival *theirs, bool is_taken,
                            const char *why) {
  sqlite3_stmt *query = NULL;
  if (is_taken) m->counts.taken++;
  else m->counts.kept++;
  if (!m->options->conflict) return HALOTUNE_OK;
  halotune_status status = query_prepare(
      m->to,
      "select s.name, p.dtype, d.name, p.launch,"
      " p.cache || iif(p.is_reproducible, ', reproducible', ''), p.nx, p.ny, p.nz from best b join problem p"
      " on p.id = b.problem_id join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id"
      " where b.id = ?1",
      &query);
  if (status == HALOTUNE_OK) sqlite3_bind_int64(query, 1, theirs->id);
  if (status == HALOTUNE_OK && sqlite3_step(query) != SQLITE_ROW) status = query_fail(m->to);
  if (status == HALOTUNE_OK) {
    struct merge_conflict conflict = {column_text(query, 0),
                                      column_text(query, 1),
                                      column_text(query, 2),
                                      column_text(query, 3),
                                      column_text(query, 4),
                                      {{0}},
                                      ours->time_ms,
                                      theirs->time_ms,
                                      is_taken,
                                      why};
    for (int axis = 0; axis < MAX_DIMS; axis++) conflict.grid.n[axis] = (long)sqlite3_column_int64(query, 5 + axis);
    m->options->conflict(m->options->context, &conflict);
  }
  sqlite3_finalize(query);
  return status;
}

/* What they know to be wrong is served here no more. */
static halotune_status retire(struct merge *m) {
  halotune_status status =
      query_script(m->to, "update best as b set is_current = 0 where is_current and " SQL_IS_REFUTED("b"));
  if (status == HALOTUNE_OK) m->counts.retired = sqlite3_changes(m->to);
  return status;
}

static halotune_status find_refuted(struct merge *m, int64_t id, bool *out) {
  sqlite3_stmt *query = NULL;
  int64_t found = 0;
  halotune_status status = query_prepare(m->to, "select " SQL_IS_REFUTED("b") " from best b where b.id = ?1", &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int64(query, 1, id);
    status = query_run(query, &found);
  }
  sqlite3_finalize(query);
  *out = found != 0;
  return status;
}

/* Their current best of a problem, now in row `id`, meets ours, if there is any. */
static halotune_status decide(struct merge *m, int64_t id) {
  static const char by_id[] = "select id, variant_id, is_trusted, time_ms, date, driver, nvrtc from best where id = ?1";
  static const char current[] = "select id, variant_id, is_trusted, time_ms, date, driver, nvrtc from best"
                                " where is_current and problem_id = (select problem_id from best where id = ?1)";
  struct rival ours = {.id = 0}, theirs = {.id = 0};
  const char *why = "";
  bool is_refuted = false;
  halotune_status status = find_rival(m, by_id, id, &theirs);
  if (status == HALOTUNE_OK) status = find_rival(m, current, id, &ours);
  if (status != HALOTUNE_OK || ours.id == id) return status;
  status = find_refuted(m, id, &is_refuted);
  if (status != HALOTUNE_OK) return status;
  if (is_refuted) why = "theirs is known to be wrong";
  m->counts.refuted += is_refuted;
  bool takes = !is_refuted && (ours.id == 0 || theirs_wins(&ours, &theirs, &why));
  if (ours.id != 0) status = tell(m, &ours, &theirs, takes, why);
  if (status == HALOTUNE_OK && takes && ours.id != 0)
    status = run_on(m, "update best set is_current = 0 where id = ?1", ours.id);
  if (status == HALOTUNE_OK && takes) status = run_on(m, "update best set is_current = 1 where id = ?1", id);
  return status;
}

static halotune_status merge_row(struct merge *m, int number) {
  const struct table *table = &m->tables->list[number];
  int64_t id = 0;
  halotune_status status = find_row(m, table, &id);
  bool is_new = id == 0;
  if (status == HALOTUNE_OK && is_new) status = insert_row(m, number, &id);
  if (status == HALOTUNE_OK && table->has_id)
    status = id_map_add(&m->ids, number, sqlite3_column_int64(m->select, 0), id);
  if (status == HALOTUNE_OK && !is_new && number == TABLE_RUN) status = end_run(m, id);
  if (status == HALOTUNE_OK && !is_new && m->options->trust && trust_statements[number])
    status = run_on(m, trust_statements[number], id);
  if (status != HALOTUNE_OK || number != TABLE_BEST) return status;
  bool is_current = sqlite3_column_int(m->select, table_column(table, "is_current") + 1) != 0;
  return status == HALOTUNE_OK && is_current ? decide(m, id) : status;
}

static halotune_status merge_table(struct merge *m, int number) {
  const struct table *table = &m->tables->list[number];
  struct text select = {0}, find = {0}, insert = {0};
  int code = SQLITE_DONE;
  table_select(table, &select);
  text_printf(&select, " order by rowid");
  table_find(table, &find);
  table_insert(table, &insert);
  bool ok = text_ok(&select) && text_ok(&find) && text_ok(&insert);
  halotune_status status = ok ? query_prepare(m->from, text_string(&select), &m->select) : fail_memory();
  if (status == HALOTUNE_OK) status = query_prepare(m->to, text_string(&find), &m->find);
  if (status == HALOTUNE_OK) status = query_prepare(m->to, text_string(&insert), &m->insert);
  while (status == HALOTUNE_OK && (code = sqlite3_step(m->select)) == SQLITE_ROW) status = merge_row(m, number);
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(m->from);
  sqlite3_finalize(m->select);
  sqlite3_finalize(m->find);
  sqlite3_finalize(m->insert);
  m->select = m->find = m->insert = NULL;
  text_free(&insert);
  text_free(&find);
  text_free(&select);
  return status;
}

halotune_status store_merge(struct store *to, struct store *from, const struct merge_options *options,
                            struct merge_counts *counts) {
  struct merge m = {.to = store_connection(to), .from = store_connection(from), .options = options};
  struct tables *tables = malloc(sizeof *tables);
  if (!tables) return fail_memory();
  m.tables = tables;
  halotune_status status = tables_read(m.to, tables);
  if (status == HALOTUNE_OK) status = query_script(m.from, "begin"); /* one state of it from end to end */
  if (status == HALOTUNE_OK) {
    status = query_script(m.to, "begin immediate");
    for (int i = 0; i < TABLE_COUNT && status == HALOTUNE_OK; i++) {
      if (i == TABLE_BEST) status = retire(&m); /* before ours meet theirs */
      if (status == HALOTUNE_OK) status = merge_table(&m, i);
    }
    status = query_finish(m.to, status);
    sqlite3_exec(m.from, "rollback", NULL, NULL, NULL);
  }
  if (status == HALOTUNE_OK && counts) *counts = m.counts;
  id_maps_free(&m.ids);
  free(tables);
  return status;
}
