/* merge.c: table by table, row by row. The columns are data (table.h); runs and bests alone have rules of their own. */
#include "db/exchange/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "db/exchange/id_map.h"
#include "db/exchange/merge_best.h"
#include "db/store/columns.h"
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
            : fail(HALOTUNE_DB,
                   "a row of %s refers to a row of %s that does not exist; run 'halotune db check' for details",
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
  static const char *const columns[] = {"state", "ended", "outcomes", RUN_END_COLUMNS(COLUMN_AS_TEXT)};
  static const char sql[] = "update run set state = ?, ended = ?, outcomes = ?" RUN_END_COLUMNS(
      COLUMN_SET) " where id = ? and state = 'running'";
  const int count = (int)COUNT(columns);
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(m->to, sql, &query);
  if (status == HALOTUNE_OK) {
    for (int i = 0; i < count; i++) {
      int column = table_column(&m->tables->list[TABLE_RUN], columns[i]);
      sqlite3_bind_value(query, i + 1, sqlite3_column_value(m->select, column + 1));
    }
    sqlite3_bind_int64(query, count + 1, id);
    status = query_run(query, NULL);
  }
  sqlite3_finalize(query);
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
    status = query_with(m->to, trust_statements[number], id, NULL);
  return status;
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

/* Call `decide` for each row of a problem and a best, of which the second may be 0. */
static halotune_status each_best(struct merge *m, sqlite3 *connection, const char *sql,
                                 halotune_status (*decide)(struct merge *m, int64_t problem, int64_t best)) {
  struct id_pair *pairs = NULL;
  int count = 0, capacity = 0, code = SQLITE_DONE;
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(connection, sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    if (!array_room(pairs, count, capacity)) status = fail_memory();
    else pairs[count++] = (struct id_pair){sqlite3_column_int64(query, 0), sqlite3_column_int64(query, 1)};
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
  sqlite3_finalize(query); /* a decision changes rows that it would read */
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = decide(m, pairs[i].from, pairs[i].to);
  free(pairs);
  return status;
}

static halotune_status decide_theirs(struct merge *m, int64_t problem, int64_t best) {
  return merge_best(m->to, id_map_find(&m->ids, TABLE_PROBLEM, problem), id_map_find(&m->ids, TABLE_BEST, best),
                    m->options, &m->counts);
}

static halotune_status decide_ours(struct merge *m, int64_t problem, int64_t best) {
  return merge_best(m->to, problem, best, m->options, &m->counts);
}

/* Decide about all problems of which the other database has bests or knows one to be wrong. */
static halotune_status decide_bests(struct merge *m) {
  halotune_status status = each_best(
      m, m->from, "select problem_id, max(iif(is_current, id, 0)) from best group by problem_id", decide_theirs);
  if (status != HALOTUNE_OK) return status;
  return each_best(m, m->to, "select b.problem_id, 0 from best b where " SQL_IS_REFUTED("b") " group by b.problem_id",
                   decide_ours);
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
    for (int i = 0; i < TABLE_COUNT && status == HALOTUNE_OK; i++) status = merge_table(&m, i);
    if (status == HALOTUNE_OK) status = decide_bests(&m);
    status = query_finish(m.to, status);
    sqlite3_exec(m.from, "rollback", NULL, NULL, NULL);
  }
  if (status == HALOTUNE_OK && counts) *counts = m.counts;
  id_maps_free(&m.ids);
  free(tables);
  return status;
}
