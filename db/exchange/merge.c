/* merge.c: merges table by table and row by row. The columns are data (table.h). Only runs and bests have rules of
 * their own. */
#include "db/exchange/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "db/exchange/id_map.h"
#include "db/exchange/merge_best.h"
#include "db/exchange/merge_words.h"
#include "db/exchange/row_conflict.h"
#include "db/exchange/varying_rows.h"
#include "db/store/columns.h"
#include "db/store/outcome.h"
#include "db/store/query.h"
#include "db/store/refuted.h"
#include "stencil/template/template_read.h"

struct id_list {
  int64_t *ids;
  int count, room;
};

/* Rows that were there before, by their origin; as in struct merge_met. */
struct met_rows {
  int64_t origin;
  long rows, varying;
};

struct merge {
  struct store *store; /* which takes the rows */
  sqlite3 *to, *from;  /* its connection, and that of the other database */
  const struct tables *tables;
  const struct merge_options *options;
  struct merge_counts counts;
  struct id_maps ids;
  struct merge_words words;
  const char *parameters; /* of the present row, if it is a variant: in the words of this database */
  struct found_templates found;
  const struct template *installed; /* with the identity of the present row, if it is a new template; or NULL */
  int64_t origin;
  int64_t last_run, last_variant; /* the highest ids before the merge */
  bool has_twins;                 /* two runs or variants of the other database have the same key */
  /* Runs whose measurements here may differ from those in the other database, by their ids here: in one of the two
   * databases the run was still running. */
  struct id_list behind, ahead; /* runs that were still running here; runs that were still running there */
  /* Runs that were still running here. own: not from the giver, and whose rows are taken. left: whose rows are not,
   * because they are not from the giver, or end before a verdict of theirs */
  struct id_list own, left;
  struct id_list grown; /* runs that were there before and get results or an end; one may be listed several times */
  struct id_list alike_wrong; /* variants that are alike one that is ever wrong, in order, once they are needed */
  bool has_alike_wrong;
  int64_t asked_run;    /* the run for which run_is_from_giver was called last; 0: none */
  bool was_from_giver;  /* what it returned then */
  struct met_rows *met; /* a row for each origin */
  int met_count, met_room;
  struct id_list doubled;               /* new variants with a result that this database has under another variant */
  struct id_list future;                /* rows of the present table and the other database that lie in the future */
  int future_at;                        /* the first of them that is not before the present row */
  sqlite3_stmt *select, *find, *insert; /* statements of the present table */
  struct best_queries bests;
};

/* Bind a value of the present row without a copy. The value stays until the next row, and every statement is bound
 * again for each row. */
static void bind_present(sqlite3_stmt *to, int place, sqlite3_stmt *from, int column) {
  switch (sqlite3_column_type(from, column)) {
  case SQLITE_INTEGER: sqlite3_bind_int64(to, place, sqlite3_column_int64(from, column)); return;
  case SQLITE_FLOAT: sqlite3_bind_double(to, place, sqlite3_column_double(from, column)); return;
  case SQLITE_TEXT: {
    const char *text = (const char *)sqlite3_column_text(from, column);
    sqlite3_bind_text(to, place, text, sqlite3_column_bytes(from, column), SQLITE_STATIC);
    return;
  }
  case SQLITE_BLOB: {
    const void *bytes = sqlite3_column_blob(from, column);
    const int count = sqlite3_column_bytes(from, column);
    if (count == 0) sqlite3_bind_zeroblob(to, place, 0); /* a NULL pointer would bind the value NULL */
    else sqlite3_bind_blob(to, place, bytes, count, SQLITE_STATIC);
    return;
  }
  default: sqlite3_bind_null(to, place);
  }
}

/* Bind the present row's value in column `i` to the same place of `insert` and `find`. */
static halotune_status carry_value(struct merge *m, const struct table *table, sqlite3_stmt *to, int i) {
  const struct column *column = &table->columns[i];
  int place = i + 2;
  if (table == &m->tables->list[TABLE_VARIANT] && strcmp(column->name, "parameters") == 0) {
    sqlite3_bind_text(to, place, m->parameters, -1, SQLITE_STATIC);
    return HALOTUNE_OK;
  }
  if (m->installed && (strcmp(column->name, "yaml") == 0 || strcmp(column->name, "cuda") == 0)) {
    sqlite3_bind_text(to, place, *column->name == 'y' ? m->installed->yaml : m->installed->cuda, -1, SQLITE_STATIC);
    return HALOTUNE_OK;
  }
  if (column->refers_to < 0 || sqlite3_column_type(m->select, i + 1) == SQLITE_NULL) {
    bind_present(to, place, m->select, i + 1);
    return HALOTUNE_OK;
  }
  int64_t id = id_map_find(&m->ids, column->refers_to, sqlite3_column_int64(m->select, i + 1));
  sqlite3_bind_int64(to, place, id);
  return id ? HALOTUNE_OK : table_refer_fail(table, column);
}

/* A text that is not UTF-8, such as a template's with a comment in another encoding, is another one in an export. */
static bool is_same_text(sqlite3_value *a, sqlite3_value *b) {
  const char *left = (const char *)sqlite3_value_text(a), *right = (const char *)sqlite3_value_text(b);
  return left && right &&
         text_is_same_in_json(left, (size_t)sqlite3_value_bytes(a), right, (size_t)sqlite3_value_bytes(b));
}

static bool is_same_value(sqlite3_value *a, sqlite3_value *b) {
  const int type = sqlite3_value_type(a);
  if (type != sqlite3_value_type(b)) return false;
  if (type == SQLITE_NULL) return true;
  if (type == SQLITE_INTEGER) return sqlite3_value_int64(a) == sqlite3_value_int64(b);
  if (type == SQLITE_FLOAT) return sqlite3_value_double(a) == sqlite3_value_double(b);
  if (type == SQLITE_TEXT) return is_same_text(a, b);
  const int bytes = sqlite3_value_bytes(a);
  if (bytes != sqlite3_value_bytes(b)) return false;
  return bytes == 0 || memcmp(sqlite3_value_blob(a), sqlite3_value_blob(b), (size_t)bytes) == 0;
}

/* Whether two texts are the same JSON: an export writes no blanks. */
static bool is_same_json(const char *a, const char *b) {
  struct fail_kept before;
  json_t *one = NULL, *other = NULL;
  fail_keep(&before);
  const bool is_read = json_read(a, strlen(a), "a text", &one) == HALOTUNE_OK &&
                       json_read(b, strlen(b), "a text", &other) == HALOTUNE_OK;
  fail_put_back(&before);
  const bool is_same = is_read && json_equal(one, other);
  json_decref(one);
  json_decref(other);
  return is_same;
}

/* Whether the present row of the other database and the row that `find` found are equal in column `i`. */
static bool is_same_column(const struct merge *m, const struct table *table, int i) {
  sqlite3_value *theirs = sqlite3_column_value(m->select, i + 1), *ours = sqlite3_column_value(m->find, i + 1);
  const int refers_to = table->columns[i].refers_to;
  if (refers_to >= 0 && sqlite3_value_type(theirs) != SQLITE_NULL)
    return id_map_find(&m->ids, refers_to, sqlite3_value_int64(theirs)) == sqlite3_value_int64(ours);
  if (is_same_value(theirs, ours)) return true;
  return table->columns[i].kind == COLUMN_JSON &&
         is_same_json(column_text(m->select, i + 1), column_text(m->find, i + 1));
}

/* Whether both databases have a value in a column that exports may leave out, and the values differ. */
static bool is_in_conflict(const struct merge *m, const struct table *table, int column) {
  const int ours = sqlite3_column_bytes(m->find, column + 1), theirs = sqlite3_column_bytes(m->select, column + 1);
  return ours > 0 && theirs > 0 && !is_same_column(m, table, column);
}

/* Fail with the name of the row in conflict. */
static halotune_status conflict_fail(const struct merge *m, const struct table *table, int column) {
  const struct row_conflict conflict = {
      m->to, table, (enum table_name)(table - m->tables->list), column, m->select, m->find, m->options->origin.name};
  return row_conflict_fail(&conflict);
}

/* Find the row with this key. It stays in `find` until the next call. */
static halotune_status find_row(struct merge *m, const struct table *table, int64_t *id) {
  halotune_status status = HALOTUNE_OK;
  *id = 0;
  sqlite3_reset(m->find);
  for (int i = 0; i < table->column_count && status == HALOTUNE_OK; i++) {
    if (table->columns[i].is_key) status = carry_value(m, table, m->find, i);
  }
  if (status != HALOTUNE_OK) return status;
  int code = sqlite3_step(m->find);
  if (code == SQLITE_ROW) *id = sqlite3_column_int64(m->find, 0);
  return code == SQLITE_ROW || code == SQLITE_DONE ? HALOTUNE_OK : query_fail(m->to);
}

static halotune_status compare_row(struct merge *m, const struct table *table) {
  for (int i = 0; i < table->column_count; i++) {
    if (table->columns[i].is_compared && !is_same_column(m, table, i)) return conflict_fail(m, table, i);
  }
  return HALOTUNE_OK;
}

/* A new best is not current. decide_bests() decides later. */
static void bind_own(struct merge *m, int number) {
  const struct table *table = &m->tables->list[number];
  const int origin = table_column(table, "origin_id");
  if (origin >= 0) sqlite3_bind_int64(m->insert, origin + 2, m->origin);
  if (number != TABLE_BEST) return;
  sqlite3_bind_int(m->insert, table_column(table, "is_current") + 2, 0);
  if (m->options->without_code) sqlite3_bind_zeroblob(m->insert, table_column(table, "cubin") + 2, 0);
}

static halotune_status insert_row(struct merge *m, int number, int64_t *id) {
  const struct table *table = &m->tables->list[number];
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < table->column_count && status == HALOTUNE_OK; i++) status = carry_value(m, table, m->insert, i);
  if (status == HALOTUNE_OK) bind_own(m, number);
  if (status == HALOTUNE_OK) status = query_run(m->insert, NULL);
  else sqlite3_reset(m->insert);
  if (status == HALOTUNE_OK) *id = sqlite3_last_insert_rowid(m->to);
  m->counts.runs += number == TABLE_RUN;
  m->counts.measurements += number == TABLE_MEASUREMENT;
  m->counts.bests += number == TABLE_BEST;
  return status;
}

/* The columns that a run gets at its end. */
static const char *const end_columns[] = {"state", "ended", "outcomes", RUN_END_COLUMNS(COLUMN_AS_TEXT)};

/* A run that was running at an earlier merge may have ended since. Copy its end. */
static halotune_status end_run(struct merge *m, int64_t id) {
  static const char sql[] = "update run set state = ?, ended = ?, outcomes = ?" RUN_END_COLUMNS(
      COLUMN_SET) " where id = ? and state = 'running'";
  const int count = (int)COUNT(end_columns);
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(m->to, sql, &query);
  if (status == HALOTUNE_OK) {
    for (int i = 0; i < count; i++) {
      int column = table_column(&m->tables->list[TABLE_RUN], end_columns[i]);
      sqlite3_bind_value(query, i + 1, sqlite3_column_value(m->select, column + 1));
    }
    sqlite3_bind_int64(query, count + 1, id);
    status = query_run(query, NULL);
  }
  sqlite3_finalize(query);
  return status;
}

static halotune_status list_add(struct id_list *runs, int64_t id) {
  if (!array_room(runs->ids, runs->count, runs->room)) return fail_memory();
  runs->ids[runs->count++] = id;
  return HALOTUNE_OK;
}

static int compare_ids(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static bool list_has(const struct id_list *runs, int64_t id) {
  for (int i = 0; i < runs->count; i++) {
    if (runs->ids[i] == id) return true;
  }
  return false;
}

/* Note a row of the other database that was there before.
 *   is_varying  with other content */
static halotune_status note_met(struct merge *m, int64_t origin, bool is_varying) {
  int i = 0;
  while (i < m->met_count && m->met[i].origin != origin) i++;
  if (i == m->met_count) {
    if (!array_room(m->met, m->met_count, m->met_room)) return fail_memory();
    m->met[m->met_count++] = (struct met_rows){origin, 0, 0};
  }
  if (is_varying) m->met[i].varying++;
  else m->met[i].rows++;
  return HALOTUNE_OK;
}

/* Whether a row that was there before has the kind of origin and the signer of this document. No other document adds to
 * such a row: the row keeps its origin, so that `db forget` would not find the addition.
 *   sql  answers for row ?3, kind ?1 and key ?2 */
static halotune_status is_from_giver(const struct merge *m, const char *sql, int64_t row, bool *out) {
  sqlite3_stmt *query = NULL;
  int64_t found = 0;
  halotune_status status = query_prepare(m->to, sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_text(query, 1, m->options->origin.kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(query, 2, m->options->origin.key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(query, 3, row);
    status = query_run(query, &found);
  }
  sqlite3_finalize(query);
  *out = found != 0;
  return status;
}

/* The same for a run. The answer is kept, because many rows in turn belong to one run. */
static halotune_status run_is_from_giver(struct merge *m, int64_t run, bool *out) {
  static const char sql[] =
      "select o.kind = ?1 and o.signer_key = ?2 from run r join origin o on o.id = r.origin_id where r.id = ?3";
  halotune_status status = HALOTUNE_OK;
  if (m->asked_run != run) status = is_from_giver(m, sql, run, &m->was_from_giver);
  m->asked_run = run;
  *out = m->was_from_giver;
  return status;
}

/* Whether the other database says of the present run what this one says of its run: that the same user measured it on
 * the same machine. A document cannot say so. */
static halotune_status is_own_run(const struct merge *m, int64_t id, bool *out) {
  const struct table *table = &m->tables->list[TABLE_RUN];
  sqlite3_stmt *theirs = NULL, *ours = NULL;
  int64_t found = 0;
  int code = SQLITE_DONE;
  halotune_status status =
      query_prepare(m->from, "select name from origin where id = ?1 and kind = 'measured'", &theirs);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_value(theirs, 1, sqlite3_column_value(m->select, table_column(table, "origin_id") + 1));
    code = sqlite3_step(theirs);
    if (code != SQLITE_ROW && code != SQLITE_DONE) status = query_fail(m->from);
  }
  if (code == SQLITE_ROW)
    status = query_prepare(m->to,
                           "select count(*) from run r join origin o on o.id = r.origin_id where r.id = ?1"
                           " and o.kind = 'measured' and o.name = ?2",
                           &ours);
  if (ours) {
    sqlite3_bind_int64(ours, 1, id);
    sqlite3_bind_value(ours, 2, sqlite3_column_value(theirs, 0));
    status = query_run(ours, &found);
  }
  sqlite3_finalize(ours);
  sqlite3_finalize(theirs);
  *out = found != 0;
  return status;
}

/* Whether the end that the other database gives to a run lies before a verdict that decides something. A verdict is not
 * later than the end of its run, so this one would count as older than it is: a wrong one as older than a best,
 * perhaps, and a right one as older than a wrong one that it takes back. */
static halotune_status is_end_before_verdict(const struct merge *m, int64_t run, bool *out) {
#define SQL_END "max((select started from run where id = ?1), ?2)"
#define SQL_LATE(kind) kind("w") " and " SQL_VERDICT_DATE("w", "wr") " > " SQL_END
  static const char sql[] =
      "select iif(" SQL_IS_ANY_WRONG
      ", exists (select 1 from measurement w join run wr on wr.id = w.run_id where wr.id = ?1 and " SQL_LATE(SQL_IS_WRONG) ") or exists (" SQL_ALIKE(
          "1") " select 1 from alike k cross join measurement w on"
               " w.run_id = ?1 and w.variant_id = k.variant_id join run wr on wr.id = w.run_id where " SQL_LATE(
                   SQL_IS_RIGHT) " and k.key in (select k.key from measurement w join run wr on wr.id = w.run_id join alike k on"
                                 " k.variant_id = w.variant_id where " SQL_LATE(SQL_IS_WRONG) ")), 0)";
  const int ended = table_column(&m->tables->list[TABLE_RUN], "ended");
  sqlite3_stmt *query = NULL;
  int64_t found = 0;
  halotune_status status = query_prepare(m->to, sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int64(query, 1, run);
    sqlite3_bind_value(query, 2, sqlite3_column_value(m->select, ended + 1));
    status = query_run(query, &found);
  }
  sqlite3_finalize(query);
  *out = found != 0;
  return status;
}

/* Merge a run that both databases have. Its measurements may differ if one database was copied before the run ended. */
static halotune_status meet_run(struct merge *m, int64_t id) {
  const struct table *table = &m->tables->list[TABLE_RUN];
  const int state = table_column(table, "state");
  const bool is_ours_running = strcmp(column_text(m->find, state + 1), "running") == 0;
  const bool is_theirs_running = strcmp(column_text(m->select, state + 1), "running") == 0;
  bool is_taken = false, is_early = false;
  halotune_status status = is_ours_running ? run_is_from_giver(m, id, &is_taken) : HALOTUNE_OK;
  if (status == HALOTUNE_OK && is_taken && !is_theirs_running) status = is_end_before_verdict(m, id, &is_early);
  if (status == HALOTUNE_OK && is_ours_running && (!is_taken || is_early)) {
    is_taken = false;
    if (!is_early) status = is_own_run(m, id, &is_taken);
    if (status == HALOTUNE_OK) status = list_add(is_taken ? &m->own : &m->left, id);
  }
  if (status != HALOTUNE_OK) return status;
  if (is_theirs_running || (is_ours_running && !is_taken)) return list_add(&m->ahead, id);
  if (is_ours_running) {
    status = list_add(&m->behind, id);
    if (status == HALOTUNE_OK) status = list_add(&m->grown, id);
    return status == HALOTUNE_OK ? end_run(m, id) : status;
  }
  for (size_t i = 0; i < COUNT(end_columns); i++) {
    const int column = table_column(table, end_columns[i]);
    const bool may_lack = strcmp(end_columns[i], "outcomes") == 0; /* see drop_other_outcomes */
    if (may_lack ? is_in_conflict(m, table, column) : !is_same_column(m, table, column))
      return conflict_fail(m, table, column);
  }
  return HALOTUNE_OK;
}

/* What a database says of a variant in a run. */
struct said {
  bool is_wrong, is_right;
  double at_s;
};

static struct said said_of(const struct table *table, sqlite3_stmt *row) {
  enum outcome outcome;
  if (!outcome_find(column_text(row, table_column(table, "outcome") + 1), &outcome))
    return (struct said){false, false, 0};
  return (struct said){outcome_is_wrong(outcome), outcome_has_time(outcome),
                       sqlite3_column_double(row, table_column(table, "at_s") + 1)};
}

/* The column in which the present measurement says what no Halotune says after the one that is here: no verdict about a
 * variant that was wrong, or an earlier verdict in place of a verdict. Within a run no Halotune measures a wrong
 * variant again, and no later result is earlier. NULL if there is none. */
static const char *impossible_column(const struct said *ours, const struct said *theirs) {
  const bool is_verdict = theirs->is_wrong || theirs->is_right;
  if (ours->is_wrong && !is_verdict) return "outcome";
  return (ours->is_wrong || ours->is_right) && is_verdict && theirs->at_s < ours->at_s ? "at_s" : NULL;
}

static halotune_status take_alike(void *context, sqlite3_stmt *row) {
  return list_add(context, sqlite3_column_int64(row, 0));
}

/* Whether a variant is alike one that is ever wrong here. */
static halotune_status is_alike_wrong(struct merge *m, int64_t variant, bool *out) {
  static const char sql[] =
      "select distinct variant_id from (" SQL_ALIKE_WRONG ") where " SQL_IS_ANY_WRONG " order by 1";
  halotune_status status = HALOTUNE_OK;
  if (!m->has_alike_wrong) status = query_rows(m->to, sql, take_alike, &m->alike_wrong);
  m->has_alike_wrong = status == HALOTUNE_OK;
  const struct id_list *wrong = &m->alike_wrong;
  *out = wrong->count > 0 && bsearch(&variant, wrong->ids, (size_t)wrong->count, sizeof variant, compare_ids) != NULL;
  return status;
}

/* Whether a right result stays that takes back a wrong verdict here: in its place would come one that is no verdict, as
 * of a finalist that crashed. The wrong verdict would hold again. The row may stay for years, and meets the other one
 * again in each import. */
static halotune_status is_right_kept(struct merge *m, const struct said *ours, const struct said *theirs, bool *out) {
  const int variant = table_column(&m->tables->list[TABLE_MEASUREMENT], "variant_id");
  halotune_status status = HALOTUNE_OK;
  *out = false;
  if (ours->is_right && !theirs->is_right && !theirs->is_wrong)
    status = is_alike_wrong(m, sqlite3_column_int64(m->find, variant + 1), out);
  m->counts.foreign += *out;
  return status;
}

/* Merge a result that both databases have, of a run that may have been running. */
static halotune_status meet_result(struct merge *m, int number, int64_t id) {
  const struct table *table = &m->tables->list[number];
  const int64_t run = sqlite3_column_int64(m->find, table_column(table, "run_id") + 1);
  const bool is_behind = list_has(&m->behind, run);
  if (list_has(&m->ahead, run)) return HALOTUNE_OK;
  if (number == TABLE_MEASUREMENT) {
    const struct said ours = said_of(table, m->find), theirs = said_of(table, m->select);
    const char *impossible = impossible_column(&ours, &theirs);
    bool is_kept = false;
    if (impossible) return conflict_fail(m, table, table_column(table, impossible));
    const halotune_status status = is_right_kept(m, &ours, &theirs, &is_kept);
    if (status != HALOTUNE_OK || is_kept) return status;
  }
  if (!is_behind || number == TABLE_FINALIST) return compare_row(m, table); /* finalists come with the end of a run */
  const long before = m->counts.measurements;
  sqlite3_reset(m->find);
  halotune_status status = query_with(m->to, "delete from measurement where rowid = ?1", id, NULL);
  if (status == HALOTUNE_OK) status = insert_row(m, number, &id);
  m->counts.measurements = before;
  return status;
}

/* Put the present row's source into a best that lacks it, or its machine code, which never comes without the source.
 *   with_cubin  also the machine code */
static halotune_status take_code(struct merge *m, int64_t id, bool with_cubin) {
  static const char sql[] = "update best set source = ?1, cubin = iif(?4, ?2, cubin) where id = ?3";
  const struct table *table = &m->tables->list[TABLE_BEST];
  sqlite3_stmt *query = NULL;
  sqlite3_reset(m->find);
  halotune_status status = query_prepare(m->to, sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_value(query, 1, sqlite3_column_value(m->select, table_column(table, "source") + 1));
    sqlite3_bind_value(query, 2, sqlite3_column_value(m->select, table_column(table, "cubin") + 1));
    sqlite3_bind_int64(query, 3, id);
    sqlite3_bind_int(query, 4, with_cubin);
    status = query_run(query, NULL);
  }
  sqlite3_finalize(query);
  return status;
}

/* Merge a best that both databases have. An export may have left out its machine code, and then its source, too. */
static halotune_status meet_best(struct merge *m, int64_t id) {
  static const char sql[] =
      "select o.kind = ?1 and o.signer_key = ?2 from best b join origin o on o.id = b.origin_id where b.id = ?3";
  const struct table *table = &m->tables->list[TABLE_BEST];
  const int source = table_column(table, "source"), cubin = table_column(table, "cubin");
  const bool wants_cubin = !m->options->without_code;
  halotune_status status = compare_row(m, table);
  if (status != HALOTUNE_OK) return status;
  if (is_in_conflict(m, table, source)) return conflict_fail(m, table, source);
  if (wants_cubin && is_in_conflict(m, table, cubin)) return conflict_fail(m, table, cubin);
  const bool lacks_source = sqlite3_column_bytes(m->find, source + 1) == 0;
  const bool lacks_cubin = sqlite3_column_bytes(m->find, cubin + 1) == 0;
  const bool has_source = sqlite3_column_bytes(m->select, source + 1) > 0;
  const bool takes_cubin = wants_cubin && lacks_cubin && sqlite3_column_bytes(m->select, cubin + 1) > 0;
  if (!has_source || (!lacks_source && !takes_cubin)) return HALOTUNE_OK;
  bool is_taken;
  status = is_from_giver(m, sql, id, &is_taken);
  return status == HALOTUNE_OK && is_taken ? take_code(m, id, takes_cubin) : status;
}

/* Whether the row of another database takes the place of this one, which has other content. If it does not, the row is
 * told unless it is this user's. */
static halotune_status meet_varying(struct merge *m, int number, int64_t id, bool *is_taken) {
  const int origin = table_column(&m->tables->list[number], "origin_id");
  enum varying_word word = VARYING_OWN;
  const halotune_status status =
      varying_decide(m->to, id, m->from, sqlite3_column_int64(m->select, 0), (enum table_name)number, &word);
  *is_taken = word == VARYING_YIELDS;
  if (status != HALOTUNE_OK || word != VARYING_STAYS) return status;
  return note_met(m, sqlite3_column_int64(m->find, origin + 1), true);
}

/* Merge a GPU that both databases have. */
static halotune_status meet_device(struct merge *m, int64_t id) {
  static const char sql[] = "update device set clock_khz = ?2, memory_clock_khz = ?3, memory_bytes = ?4, origin_id = ?5"
                            " where id = ?1";
  static const char *const facts[] = {"clock_khz", "memory_clock_khz", "memory_bytes"};
  const struct table *table = &m->tables->list[TABLE_DEVICE];
  sqlite3_stmt *query = NULL;
  bool is_same = true, is_taken = false;
  halotune_status status = compare_row(m, table);
  for (size_t i = 0; i < COUNT(facts); i++)
    is_same = is_same && is_same_column(m, table, table_column(table, facts[i]));
  if (status == HALOTUNE_OK && !is_same) status = meet_varying(m, TABLE_DEVICE, id, &is_taken);
  if (status != HALOTUNE_OK || !is_taken) return status;
  sqlite3_reset(m->find);
  status = query_prepare(m->to, sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int64(query, 1, id);
    for (int i = 0; i < (int)COUNT(facts); i++)
      sqlite3_bind_value(query, i + 2, sqlite3_column_value(m->select, table_column(table, facts[i]) + 1));
    sqlite3_bind_int64(query, 5, m->origin);
    status = query_run(query, NULL);
  }
  sqlite3_finalize(query);
  return status;
}

/* Find the installed template with the identity of the present row, for m->installed. */
static halotune_status find_installed(struct merge *m) {
  const struct table *table = &m->tables->list[TABLE_TEMPLATE];
  const int hash = table_column(table, "hash"), name = table_column(table, "name");
  int place;
  m->installed = NULL;
  if (!m->found.find) return HALOTUNE_OK;
  const halotune_status status = found_templates_get(&m->found, column_text(m->select, name + 1), &place);
  if (status == HALOTUNE_OK && strcmp(m->found.list[place].hash, column_text(m->select, hash + 1)) == 0)
    m->installed = m->found.list[place].template;
  return status;
}

/* Put the text of the present row in the place of the one that this database has. */
static halotune_status take_template(struct merge *m, int64_t id) {
  const struct table *table = &m->tables->list[TABLE_TEMPLATE];
  const char *yaml = column_text(m->select, table_column(table, "yaml") + 1);
  const struct source source = source_of(column_text(m->select, table_column(table, "name") + 1), yaml, strlen(yaml));
  struct template *theirs = NULL;
  sqlite3_stmt *query = NULL;
  sqlite3_reset(m->find);
  halotune_status status = template_parse(&source, column_text(m->select, table_column(table, "cuda") + 1), &theirs);
  if (status == HALOTUNE_OK) status = store_template_replace(m->store, theirs);
  if (status == HALOTUNE_OK) status = query_prepare(m->to, "update template set origin_id = ?2 where id = ?1", &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int64(query, 1, id);
    sqlite3_bind_int64(query, 2, m->origin);
    status = query_run(query, NULL);
  }
  sqlite3_finalize(query);
  template_free(theirs);
  return status;
}

/* Merge a template that both databases have. Their texts may differ in what the identity does not cover. Of an
 * installed template, only the installed text counts. */
static halotune_status meet_template(struct merge *m, int64_t id) {
  const struct table *table = &m->tables->list[TABLE_TEMPLATE];
  const int name = table_column(table, "name"), yaml = table_column(table, "yaml"), cuda = table_column(table, "cuda");
  bool is_taken = false;
  halotune_status status = compare_row(m, table);
  if (status != HALOTUNE_OK || is_same_column(m, table, yaml)) return status;
  status = find_installed(m);
  if (status == HALOTUNE_OK && !m->installed) status = meet_varying(m, TABLE_TEMPLATE, id, &is_taken);
  m->installed = NULL;
  if (status != HALOTUNE_OK) return status;
  if (is_taken) return take_template(m, id);
  return merge_words_add(&m->words, sqlite3_column_int64(m->select, 0), column_text(m->find, name + 1),
                         column_text(m->find, yaml + 1), column_text(m->find, cuda + 1));
}

/* Add a template. If the installed one has the same identity, its text is taken: so no document says in which order the
 * parameters of installed templates stand. */
static halotune_status insert_template(struct merge *m, int64_t *id) {
  const int yaml = table_column(&m->tables->list[TABLE_TEMPLATE], "yaml");
  halotune_status status = find_installed(m);
  if (status == HALOTUNE_OK) status = insert_row(m, TABLE_TEMPLATE, id);
  if (status == HALOTUNE_OK && m->installed && strcmp(m->installed->yaml, column_text(m->select, yaml + 1)) != 0)
    status = merge_words_add(&m->words, sqlite3_column_int64(m->select, 0), m->installed->name, m->installed->yaml,
                             m->installed->cuda);
  m->installed = NULL;
  return status;
}

/* Write the present variant's parameters in the words of this database. */
static halotune_status reword_variant(struct merge *m) {
  const struct table *table = &m->tables->list[TABLE_VARIANT];
  const int template = table_column(table, "template_id"), parameters = table_column(table, "parameters");
  return merge_words_write(&m->words, sqlite3_column_int64(m->select, template + 1),
                           column_text(m->select, parameters + 1), &m->parameters);
}

static halotune_status meet_row(struct merge *m, int number, int64_t id) {
  const struct table *table = &m->tables->list[number];
  m->has_twins |= (number == TABLE_RUN && id > m->last_run) || (number == TABLE_VARIANT && id > m->last_variant);
  if (number == TABLE_MEASUREMENT || number == TABLE_FINALIST) return meet_result(m, number, id);
  const int origin = table_column(table, "origin_id");
  if (number == TABLE_RUN || number == TABLE_BEST) {
    const halotune_status noted = note_met(m, sqlite3_column_int64(m->find, origin + 1), false);
    if (noted != HALOTUNE_OK) return noted;
  }
  if (number == TABLE_BEST) return meet_best(m, id);
  if (number == TABLE_TEMPLATE) return meet_template(m, id);
  if (number == TABLE_DEVICE) return meet_device(m, id);
  halotune_status status = compare_row(m, table);
  return status == HALOTUNE_OK && number == TABLE_RUN ? meet_run(m, id) : status;
}

/* Coefficients hold for all devices of a model. The two kinds of coefficients are fits of their own. Places: device,
 * origin of the merge, coefficient, value. */
#define SQL_OF_MODEL \
  "device_id in " SQL_DEVICES_OF_MODEL " and " SQL_IS_STATIC_WEIGHT("coefficient") " = " SQL_IS_STATIC_WEIGHT("?3")
/* Coefficients that a model has from other fits. Those of another device in the same document count, too. */
static const char other_fits_sql[] =
    "select count(*) from prediction where " SQL_OF_MODEL " and (origin_id <> ?2 or device_id <> ?1)";
/* Coefficients that stay: they have another signer or none, or come from a document that was merged after this one. */
static const char staying_fits_sql[] =
    "select count(*) from prediction c join origin o on o.id = c.origin_id, origin n on n.id = ?2 where c." SQL_OF_MODEL
    " and iif(o.id = n.id, c.device_id <> ?1, n.signer_key = '' or o.signer_key <> n.signer_key or o.id > n.id)";
/* The origin of the same coefficient. */
static const char same_value_sql[] =
    "select origin_id from prediction where " SQL_OF_MODEL " and coefficient = ?3 and value = ?4";
static const char drop_fits_sql[] = "delete from prediction where " SQL_OF_MODEL " and origin_id <> ?2";

/* Run a statement on the coefficients of the present row's device. */
static halotune_status run_on_fit(struct merge *m, const char *sql, int64_t *out) {
  const struct table *table = &m->tables->list[TABLE_PREDICTION];
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(m->to, sql, &query);
  if (status == HALOTUNE_OK) {
    const int device = table_column(table, "device_id");
    sqlite3_bind_int64(query, 1, id_map_find(&m->ids, TABLE_DEVICE, sqlite3_column_int64(m->select, device + 1)));
    sqlite3_bind_int64(query, 2, m->origin);
    sqlite3_bind_value(query, 3, sqlite3_column_value(m->select, table_column(table, "coefficient") + 1));
    sqlite3_bind_value(query, 4, sqlite3_column_value(m->select, table_column(table, "value") + 1));
    status = query_run(query, out);
  }
  sqlite3_finalize(query);
  return status;
}

/* Whether the present row is a coefficient of a model whose present coefficients stay: coefficients of two fits must
 * not be mixed. Earlier coefficients of the same signer are all removed at once. */
static halotune_status is_of_other_fit(struct merge *m, int number, bool *out) {
  int64_t others = 0, staying = 0, same = 0;
  *out = false;
  if (number != TABLE_PREDICTION) return HALOTUNE_OK;
  halotune_status status = run_on_fit(m, other_fits_sql, &others);
  if (status != HALOTUNE_OK || others == 0) return status;
  status = run_on_fit(m, staying_fits_sql, &staying);
  if (status != HALOTUNE_OK) return status;
  if (staying == 0) return run_on_fit(m, drop_fits_sql, NULL);
  status = run_on_fit(m, same_value_sql, &same);
  *out = true;
  m->counts.left += same == 0;
  return status == HALOTUNE_OK && same != 0 ? note_met(m, same, false) : status;
}

/* The run here of the present row, which has one; 0: the run was not taken. */
static int64_t run_of_row(const struct merge *m, int number) {
  const int column = table_column(&m->tables->list[number], "run_id");
  return id_map_find(&m->ids, TABLE_RUN, sqlite3_column_int64(m->select, column + 1));
}

/* Whether the present row is a result of a run that this merge added. Then no row has its key, unless two rows of the
 * other database became one. */
static bool is_of_new_run(const struct merge *m, int number) {
  if (m->has_twins || (number != TABLE_MEASUREMENT && number != TABLE_FINALIST)) return false;
  return run_of_row(m, number) > m->last_run;
}

/* Note a run that was there before and gets the present row. */
static halotune_status note_grown(struct merge *m, int number) {
  if (number != TABLE_MEASUREMENT && number != TABLE_FINALIST) return HALOTUNE_OK;
  const int64_t run = run_of_row(m, number);
  const bool is_noted = m->grown.count > 0 && m->grown.ids[m->grown.count - 1] == run;
  return run > m->last_run || is_noted ? HALOTUNE_OK : list_add(&m->grown, run);
}

/* Whether the present row is a new result of a run that another document or this user gave. */
static halotune_status is_of_foreign_run(struct merge *m, int number, bool *out) {
  *out = false;
  if (number != TABLE_MEASUREMENT && number != TABLE_FINALIST && number != TABLE_BEST) return HALOTUNE_OK;
  const int64_t run = run_of_row(m, number);
  *out = list_has(&m->left, run);
  if (*out || run == 0 || run > m->last_run || list_has(&m->own, run)) return HALOTUNE_OK;
  bool is_taken;
  halotune_status status = run_is_from_giver(m, run, &is_taken);
  *out = !is_taken;
  return status;
}

/* Results of a run that both databases have, under another variant: where the giver's variant became one of another
 * version of its template (refresh.h). A rank belongs to one finalist. A measurement is the same if it has the same
 * number and the same source. Places: run, variant, and rank or number. */
static const char same_finalist_sql[] = "select count(*) from finalist where run_id = ?1 and variant_id <> ?2"
                                        " and rank = ?3";
static const char same_measurement_sql[] =
    "select count(*) from variant v join variant w on w.source_hash = v.source_hash and w.stencil_id = v.stencil_id and"
    " w.id <> v.id join measurement m on m.run_id = ?1 and m.variant_id = w.id and m.number = ?3 where v.id = ?2";

/* Whether this database has the present row, a new result of a run that was there before, under another variant. */
static halotune_status is_of_other_variant(struct merge *m, int number, bool *out) {
  *out = false;
  if (number != TABLE_MEASUREMENT && number != TABLE_FINALIST) return HALOTUNE_OK;
  const struct table *table = &m->tables->list[number];
  const bool is_finalist = number == TABLE_FINALIST;
  const int variant = table_column(table, "variant_id");
  const int place = table_column(table, is_finalist ? "rank" : "number");
  const int64_t run_id = run_of_row(m, number);
  const int64_t variant_id = id_map_find(&m->ids, TABLE_VARIANT, sqlite3_column_int64(m->select, variant + 1));
  sqlite3_stmt *query = NULL;
  int64_t found = 0;
  if (run_id > m->last_run) return HALOTUNE_OK;
  halotune_status status = query_prepare(m->to, is_finalist ? same_finalist_sql : same_measurement_sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int64(query, 1, run_id);
    sqlite3_bind_int64(query, 2, variant_id);
    sqlite3_bind_int64(query, 3, sqlite3_column_int64(m->select, place + 1));
    status = query_run(query, &found);
  }
  sqlite3_finalize(query);
  *out = found != 0;
  if (status == HALOTUNE_OK && *out && variant_id > m->last_variant) status = list_add(&m->doubled, variant_id);
  return status;
}

/* Remove the variants that came for results which were not taken, unless other results came with them. */
static halotune_status drop_doubled(struct merge *m) {
  if (m->doubled.count == 0) return HALOTUNE_OK;
  halotune_status status = query_script(m->to, "create temp table if not exists doubled (id integer primary key);"
                                               " delete from doubled");
  for (int i = 0; i < m->doubled.count && status == HALOTUNE_OK; i++)
    status = query_with(m->to, "insert or ignore into doubled values (?1)", m->doubled.ids[i], NULL);
  if (status != HALOTUNE_OK) return status;
  return query_script(m->to, "delete from variant where id in (select id from doubled) and id not in (select variant_id"
                             " from measurement where variant_id in (select id from doubled)) and id not in (select"
                             " variant_id from finalist) and id not in (select variant_id from best)");
}

/* Forget the outcomes of runs that have other results now: where several rows became one run, or results were not
 * taken. A database with such a run could be imported nowhere. */
static halotune_status drop_other_outcomes(struct merge *m) {
  static const char new_sql[] = "update run set outcomes = null where id > ?1 and " SQL_HAS_OTHER_OUTCOMES("run");
  static const char grown_sql[] = "update run set outcomes = null where id = ?1 and " SQL_HAS_OTHER_OUTCOMES("run");
  const struct id_list *grown = &m->grown;
  halotune_status status = query_with(m->to, new_sql, m->last_run, NULL);
  if (grown->count > 1) qsort(grown->ids, (size_t)grown->count, sizeof *grown->ids, compare_ids);
  for (int i = 0; i < grown->count && status == HALOTUNE_OK; i++) {
    if (i > 0 && grown->ids[i] == grown->ids[i - 1]) continue; /* results of several runs come in turn */
    status = query_with(m->to, grown_sql, grown->ids[i], NULL);
  }
  return status;
}

/* The ids of rows whose date lies in the future of this machine's clock. They are not taken: such a date would decide
 * from the moment on when it has passed, against all that this user measures until then. */
#define SQL_NOW "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
static const char future_runs_sql[] =
    "select id from run where started > " SQL_NOW " or ended > " SQL_NOW " order by id";
static const char future_bests_sql[] = "select id from best where date > " SQL_NOW " order by id";
/* A measurement of a run that has ended is not later than its end (SQL_VERDICT_DATE), which has passed. Few
 * measurements took longer than the time since the start of their run, so that few dates are computed. */
static const char future_measurements_sql[] =
    "select m.id from (select id, started, ended, (julianday('now') - julianday(started)) * 86400 - 1 as most_s from run) r"
    " cross join measurement m on m.run_id = r.id where m.at_s > r.most_s and r.ended is null and " SQL_MEASURED_DATE(
        "m", "r") " > " SQL_NOW " order by m.id";

static halotune_status note_future(void *context, sqlite3_stmt *row) {
  struct merge *m = context;
  return list_add(&m->future, sqlite3_column_int64(row, 0));
}

static halotune_status future_read(struct merge *m, int number) {
  const char *sql = number == TABLE_RUN           ? future_runs_sql
                    : number == TABLE_BEST        ? future_bests_sql
                    : number == TABLE_MEASUREMENT ? future_measurements_sql
                                                  : NULL;
  m->future.count = m->future_at = 0;
  /* Whoever made this Halotune may have built it on a machine whose clock is behind. */
  if (!sql || strcmp(m->options->origin.kind, "imported") != 0) return HALOTUNE_OK;
  return query_rows(m->from, sql, note_future, m);
}

/* Whether the present row lies in the future, or belongs to a run that does. Rows come in the order of their ids. */
static bool is_of_future(struct merge *m, int number) {
  const int64_t id = sqlite3_column_int64(m->select, 0);
  const int run = table_column(&m->tables->list[number], "run_id");
  while (m->future_at < m->future.count && m->future.ids[m->future_at] < id) m->future_at++;
  if (m->future_at < m->future.count && m->future.ids[m->future_at] == id) return true;
  return run >= 0 && m->counts.future > 0 && sqlite3_column_type(m->select, run + 1) != SQLITE_NULL &&
         id_map_find(&m->ids, TABLE_RUN, sqlite3_column_int64(m->select, run + 1)) == 0;
}

static halotune_status merge_row(struct merge *m, int number) {
  const struct table *table = &m->tables->list[number];
  bool is_left;
  int64_t id = 0;
  if (is_of_future(m, number)) {
    m->counts.future++;
    return HALOTUNE_OK;
  }
  halotune_status left_status = is_of_other_fit(m, number, &is_left);
  if (left_status != HALOTUNE_OK || is_left) return left_status;
  bool is_foreign = false;
  halotune_status status = number == TABLE_VARIANT ? reword_variant(m) : HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  status = is_of_new_run(m, number) ? HALOTUNE_OK : find_row(m, table, &id);
  if (status == HALOTUNE_OK && id == 0) status = is_of_foreign_run(m, number, &is_foreign);
  m->counts.foreign += is_foreign;
  bool is_other = false;
  if (status == HALOTUNE_OK && id == 0 && !is_foreign) status = is_of_other_variant(m, number, &is_other);
  if (status != HALOTUNE_OK || is_foreign || is_other) return status;
  if (id == 0) status = note_grown(m, number);
  if (status != HALOTUNE_OK) return status;
  if (id != 0) status = meet_row(m, number, id);
  else status = number == TABLE_TEMPLATE ? insert_template(m, &id) : insert_row(m, number, &id);
  if (status == HALOTUNE_OK && table->has_id)
    status = id_map_add(&m->ids, number, sqlite3_column_int64(m->select, 0), id);
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
  if (status == HALOTUNE_OK) status = future_read(m, number);
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

/* Call `decide` for each row, which names a problem and a best. The best may be 0. */
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
  sqlite3_finalize(query); /* a decision changes rows that this statement would read */
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = decide(m, pairs[i].from, pairs[i].to);
  free(pairs);
  return status;
}

static halotune_status decide_theirs(struct merge *m, int64_t problem, int64_t best) {
  return merge_best(m->store, &m->bests, id_map_find(&m->ids, TABLE_PROBLEM, problem),
                    id_map_find(&m->ids, TABLE_BEST, best), m->options, &m->counts);
}

static halotune_status decide_ours(struct merge *m, int64_t problem, int64_t best) {
  return merge_best(m->store, &m->bests, problem, best, m->options, &m->counts);
}

/* The problems of the other database, each with its current best or 0. A problem without a best may bring results. */
static const char theirs_sql[] = "select p.id, max(coalesce(iif(b.is_current, b.id, 0), 0)) from problem p left join"
                                 " best b on b.problem_id = p.id group by p.id";

/* The problems with a best whose variant anybody has called wrong. A verdict about one problem also holds for others,
 * and a later one may have taken it back. */
static const char called_wrong_sql[] =
    "select problem_id, 0 from best where variant_id in (" SQL_ALIKE_WRONG ") group by problem_id";

/* Decide about all problems whose current best the rows of the other database may change. */
static halotune_status decide_bests(struct merge *m) {
  halotune_status status = best_queries_open(&m->bests, m->store);
  if (status == HALOTUNE_OK) status = each_best(m, m->from, theirs_sql, decide_theirs);
  if (status == HALOTUNE_OK) status = each_best(m, m->to, called_wrong_sql, decide_ours);
  best_queries_free(&m->bests);
  return status;
}

/* Tell which rows were there before, from other signers. */
static halotune_status tell_met(const struct merge *m) {
  static const char sql[] =
      "select printable(o.signer), sum(e.value ->> 1), sum(e.value ->> 2) from json_each(?1) e join origin o on o.id = e.value ->> 0"
      " where o.kind in ('imported', 'shipped') and o.signer_key <> ?2 group by o.signer_key order by o.signer";
  struct text met = {0};
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  if (m->met_count == 0 || !m->options->met) return HALOTUNE_OK;
  for (int i = 0; i < m->met_count; i++)
    text_printf(&met, "%s[%lld, %ld, %ld]", i ? ", " : "[", (long long)m->met[i].origin, m->met[i].rows,
                m->met[i].varying);
  text_printf(&met, "]");
  halotune_status status = text_ok(&met) ? query_prepare(m->to, sql, &query) : fail_memory();
  if (status == HALOTUNE_OK) {
    sqlite3_bind_text(query, 1, text_string(&met), -1, SQLITE_STATIC);
    sqlite3_bind_text(query, 2, m->options->origin.key, -1, SQLITE_STATIC);
    while ((code = sqlite3_step(query)) == SQLITE_ROW) {
      const struct merge_met told = {column_text(query, 0), (long)sqlite3_column_int64(query, 1),
                                     (long)sqlite3_column_int64(query, 2)};
      m->options->met(m->options->context, &told);
    }
    if (code != SQLITE_DONE) status = query_fail(m->to);
  }
  sqlite3_finalize(query);
  text_free(&met);
  return status;
}

/* Find the origin of the rows that are new, or add it. */
static halotune_status origin_put(struct merge *m) {
  static const char *const statements[] = {
      "insert or ignore into origin (kind, name, signer, document, signer_key, date) values (?1, ?2, ?3, ?4, ?5,"
      " strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
      "select id from origin where kind = ?1 and name = ?2 and signer = ?3 and document = ?4"};
  const struct origin *origin = &m->options->origin;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < 2 && status == HALOTUNE_OK; i++) {
    sqlite3_stmt *query = NULL;
    struct binder binder = {.at = 0};
    status = query_prepare(m->to, statements[i], &query);
    binder.query = query;
    if (status == HALOTUNE_OK) {
      bind_text(&binder, origin->kind);
      bind_text(&binder, origin->name);
      bind_text(&binder, origin->signer);
      bind_text(&binder, origin->document);
      if (i == 0) bind_text(&binder, origin->key);
      status = query_run(query, &m->origin);
    }
    sqlite3_finalize(query);
  }
  return status;
}

/* Set how many pages a connection keeps in memory, and get the old number. A negative number is in KiB. */
static halotune_status pages_keep(sqlite3 *connection, int64_t pages, int64_t *before) {
  char sql[64];
  halotune_status status = query_number(connection, "pragma cache_size", before);
  snprintf(sql, sizeof sql, "pragma cache_size = %lld", (long long)pages);
  return status == HALOTUNE_OK ? query_script(connection, sql) : status;
}

halotune_status store_merge(struct store *to, struct store *from, const struct merge_options *options,
                            struct merge_counts *counts) {
  const int64_t merge_pages = -131072; /* 128 MB: indices of a fleet's results are read and written at random places */
  struct merge m = {.store = to,
                    .to = store_connection(to),
                    .from = store_connection(from),
                    .options = options,
                    .found = {.find = options->find}};
  int64_t pages = 0;
  const bool is_part = !sqlite3_get_autocommit(m.to); /* the merge is part of the caller's transaction */
  struct tables *tables = malloc(sizeof *tables);
  if (!tables) return fail_memory();
  m.tables = tables;
  halotune_status status = tables_read(m.to, tables);
  if (status == HALOTUNE_OK) status = pages_keep(m.to, merge_pages, &pages);
  if (status == HALOTUNE_OK) status = query_script(m.from, "begin"); /* all tables are of one moment */
  if (status == HALOTUNE_OK) {
    if (!is_part) status = query_script(m.to, "begin immediate");
    if (status == HALOTUNE_OK) status = origin_put(&m);
    if (status == HALOTUNE_OK) status = query_number(m.to, "select coalesce(max(id), 0) from run", &m.last_run);
    if (status == HALOTUNE_OK) status = query_number(m.to, "select coalesce(max(id), 0) from variant", &m.last_variant);
    for (int i = 0; i < TABLE_COUNT && status == HALOTUNE_OK; i++) status = merge_table(&m, i);
    if (status == HALOTUNE_OK) status = drop_doubled(&m);
    if (status == HALOTUNE_OK) status = drop_other_outcomes(&m);
    if (status == HALOTUNE_OK) status = decide_bests(&m);
    if (status == HALOTUNE_OK) status = tell_met(&m);
    if (!is_part) status = query_finish(m.to, status);
    sqlite3_exec(m.from, "rollback", NULL, NULL, NULL);
  }
  if (pages != 0) (void)pages_keep(m.to, pages, &(int64_t){0});
  if (status == HALOTUNE_OK && counts) *counts = m.counts;
  id_maps_free(&m.ids);
  merge_words_free(&m.words);
  found_templates_free(&m.found);
  free(m.behind.ids);
  free(m.ahead.ids);
  free(m.own.ids);
  free(m.left.ids);
  free(m.grown.ids);
  free(m.alike_wrong.ids);
  free(m.met);
  free(m.doubled.ids);
  free(m.future.ids);
  free(tables);
  return status;
}
