/* refresh_write.c: the statements that change one variant. */
#include "db/exchange/refresh_write.h"

#include <stdlib.h>

#include "base/memory/array.h"
#include "db/exchange/table.h"
#include "db/store/current_best.h"
#include "db/store/query.h"
#include "db/store/refuted.h"

/* Places of all statements: ?1 the variant, ?2 its twin (the same variant of the installed template), ?3 the installed
 * template's row, ?4 its parameters, ?5 the old template's row, ?6 the installed template's identity, ?7 what the
 * variant was. */
struct places {
  int64_t variant, twin, to, from;
  const char *parameters, *was;
  char hash[IDENTITY_HEX_BYTES];
};

static halotune_status run_query(sqlite3 *connection, const char *sql, const struct places *places, int64_t *found) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(connection, sql, &query);
  if (status != HALOTUNE_OK) return status;
  sqlite3_bind_int64(query, 1, places->variant);
  sqlite3_bind_int64(query, 2, places->twin);
  sqlite3_bind_int64(query, 3, places->to);
  sqlite3_bind_text(query, 4, places->parameters, -1, SQLITE_STATIC);
  sqlite3_bind_int64(query, 5, places->from);
  sqlite3_bind_text(query, 6, places->hash, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 7, places->was, -1, SQLITE_STATIC);
  status = query_run(query, found);
  sqlite3_finalize(query);
  return status;
}

/* Whether the variant is still the one that was compared: another program may have changed or removed it. */
static const char unchanged_sql[] = "select count(*) from variant v join template t on t.id = v.template_id where"
                                    " v.id = ?1 and t.id = ?5 and " SQL_REFRESHED("v", "t") " = ?7";

static const char twin_sql[] = "select w.id from variant v join variant w on w.source_hash = v.source_hash and"
                               " w.stencil_id = v.stencil_id join template t on t.id = w.template_id"
                               " where v.id = ?1 and w.id <> v.id and t.hash = ?6 and w.parameters = ?4";

/* Results of one run that the variant and its twin both have, and that differ. */
static const char differing_sql[] =
    "select (select count(*) from measurement a join measurement b on b.run_id = a.run_id and b.variant_id = ?2"
    " where a.variant_id = ?1 and (a.outcome <> b.outcome or a.median_ms is not b.median_ms or a.samples is not"
    " b.samples)) + (select count(*) from finalist a join finalist b on b.run_id = a.run_id and b.variant_id = ?2"
    " where a.variant_id = ?1 and (a.median_ms <> b.median_ms or a.samples <> b.samples))";

/* Begins a query for the pairs of bests with one key that the variant and its twin would be as one variant: the
 * variant's row `a` and the twin's row `b`. */
#define SQL_FROM_PAIRS \
  " from best a join best b on b.variant_id = ?2 and b.problem_id = a.problem_id and b.date = a.date where a.variant_id = ?1"

/* Of two rows the one that came first stays, as in a merge, so that a user's result keeps its origin. */
static const char note_pairs_sql[] = "insert into pairs select max(a.id, b.id)" SQL_FROM_PAIRS;

/* The problems whose current best can change: those with a best of the variant or its twin, or of one about which a
 * verdict is about these, too. */
static const char *const touched_sql[] = {
    "insert or ignore into touched select problem_id from best where variant_id in (?1, ?2)",
    "insert or ignore into touched select b.problem_id from best b join variant o on o.id = b.variant_id join variant v"
    " on v.id in (?1, ?2) and " SQL_IS_ALIKE " where " SQL_IS_ANY_WRONG,
};

static const char *const fold_sql[] = {
    "create temp table if not exists pairs (dropped integer)",
    "delete from pairs",
    note_pairs_sql,
    "delete from best where id in (select dropped from pairs)",
    "update best set variant_id = ?2 where variant_id = ?1",
    "update run set outcomes = null where id in (select a.run_id from measurement a join measurement b on b.run_id ="
    " a.run_id and b.variant_id = ?2 where a.variant_id = ?1)",
    "delete from measurement where variant_id = ?1 and run_id in (select run_id from measurement where variant_id = ?2)",
    "update measurement set variant_id = ?2 where variant_id = ?1",
    "delete from finalist where variant_id = ?1 and run_id in (select run_id from finalist where variant_id = ?2)",
    "update finalist set variant_id = ?2 where variant_id = ?1",
    "delete from variant where id = ?1",
};

static const char move_sql[] = "update variant set template_id = ?3, parameters = ?4 where id = ?1";
static const char unused_sql[] =
    "delete from template where id = ?5 and not exists (select 1 from variant where template_id = ?5)";

/* Count the pairs of bests that differ. As in a merge, a row may lack its source or its machine code. */
static halotune_status count_differing_bests(sqlite3 *connection, const struct places *places, int64_t *out) {
  struct tables *tables = malloc(sizeof *tables);
  struct text sql = {0};
  halotune_status status = tables ? tables_read(connection, tables) : fail_memory();
  if (status == HALOTUNE_OK) {
    text_printf(&sql, "select count(*)" SQL_FROM_PAIRS
                      " and (min(length(a.source), length(b.source)) > 0 and a.source <> b.source"
                      " or min(length(a.cubin), length(b.cubin)) > 0 and a.cubin <> b.cubin");
    const struct table *best = &tables->list[TABLE_BEST];
    for (int i = 0; i < best->column_count; i++) {
      const char *name = best->columns[i].name;
      if (best->columns[i].is_compared) text_printf(&sql, " or a.\"%s\" is not b.\"%s\"", name, name);
    }
    text_printf(&sql, ")");
    status = text_ok(&sql) ? run_query(connection, text_string(&sql), places, out) : fail_memory();
  }
  text_free(&sql);
  free(tables);
  return status;
}

static halotune_status find_twin(sqlite3 *connection, struct places *places, struct refresh_change *change) {
  int64_t differing = 0;
  halotune_status status = run_query(connection, twin_sql, places, &places->twin);
  if (status == HALOTUNE_OK && places->twin > 0) status = run_query(connection, differing_sql, places, &differing);
  if (status == HALOTUNE_OK && places->twin > 0 && differing == 0)
    status = count_differing_bests(connection, places, &differing);
  if (differing > 0) change->outcome = REFRESH_TWICE;
  return status;
}

/* Find what a change of the variant would meet: its twin, and runs that go on.
 *   going  receives the number of these runs, if the variant can be changed otherwise */
static halotune_status find_outcome(struct store *store, struct places *places, struct refresh_change *change,
                                    is_tuning *asks, long *going) {
  halotune_status status = find_twin(store_connection(store), places, change);
  *going = 0;
  if (status == HALOTUNE_OK && change->outcome == REFRESH_SAME) status = going_runs_note(store, asks, going);
  if (*going > 0 && places->twin > 0) change->outcome = REFRESH_TUNED;
  return status;
}

static halotune_status run_each(sqlite3 *connection, const char *const list[], size_t count,
                                const struct places *places) {
  halotune_status status = HALOTUNE_OK;
  for (size_t i = 0; i < count && status == HALOTUNE_OK; i++) status = run_query(connection, list[i], places, NULL);
  return status;
}

/* Make two variants one, or give a variant its new template. Times of both variants and verdicts about either hold for
 * the one that is left. */
static halotune_status write_rows(struct store *store, const struct places *places, bool is_tuned) {
  sqlite3 *connection = store_connection(store);
  halotune_status status = query_script(connection, SQL_MAKE_TOUCHED);
  if (status == HALOTUNE_OK) status = run_each(connection, touched_sql, COUNT(touched_sql), places);
  if (status == HALOTUNE_OK)
    status = places->twin > 0 ? run_each(connection, fold_sql, COUNT(fold_sql), places)
                              : run_query(connection, move_sql, places, NULL);
  if (status == HALOTUNE_OK) status = run_each(connection, touched_sql, COUNT(touched_sql), places);
  if (status == HALOTUNE_OK) status = bests_choose(store, "touched");
  return status == HALOTUNE_OK && !is_tuned ? run_query(connection, unused_sql, places, NULL) : status;
}

halotune_status refresh_write(struct store *store, struct refresh_change *change, is_tuning *asks, bool is_dry) {
  sqlite3 *connection = store_connection(store);
  struct places places = {
      .variant = change->variant, .from = change->from, .parameters = change->parameters, .was = change->was};
  int64_t unchanged = 0;
  long going = 0;
  identity_hex(change->to->hash, places.hash);
  if (is_dry) return find_outcome(store, &places, change, asks, &going);
  if ((places.to = store_template(store, change->to)) == 0) return HALOTUNE_DB;
  halotune_status status = query_script(connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = run_query(connection, unchanged_sql, &places, &unchanged);
  if (status == HALOTUNE_OK && unchanged == 0) change->outcome = REFRESH_CHANGED;
  if (status == HALOTUNE_OK && unchanged > 0) status = find_outcome(store, &places, change, asks, &going);
  if (status == HALOTUNE_OK && change->outcome == REFRESH_SAME) status = write_rows(store, &places, going > 0);
  return query_finish(connection, status);
}
