/* forget.c: deletes chosen rows: first rows that refer to others, then rows that nothing refers to any more. */
#include "db/exchange/forget.h"

#include "base/memory/array.h"
#include "db/store/current_best.h"
#include "db/store/query.h"
#include "db/store/refuted.h"

static halotune_status count_rows(struct store *store, const char *sql, long *out) {
  int64_t number = 0;
  halotune_status status = query_number(store_connection(store), sql, &number);
  *out = (long)number;
  return status;
}

/* Coefficients go with their signer, or with the last problem of their GPU. */
static const char signed_predictions_sql[] = "select count(*) from chosen_prediction";
static const char lonely_predictions_sql[] =
    "select count(*) from prediction c join chosen_prediction using (id) where not exists (select 1 from problem p"
    " where p.device_id = c.device_id and (p.id not in (select id from chosen_problem) or exists (select 1 from run r"
    " where r.problem_id = p.id and r.id not in (select id from chosen_run)) or exists (select 1 from best b"
    " where b.problem_id = p.id and b.id not in (select id from chosen_best))))";

static const char fitted_sql[] =
    "select count(*) from prediction c where " SQL_IS_OWN("c") " and exists (select 1 from chosen_measurement)";

static const char wrong_sql[] =
    "select count(*) from measurement where rowid in (select id from chosen_measurement) and " SQL_IS_WRONG(
        "measurement");

/* The problems whose current best the removed rows may have decided: as bests, as times or as verdicts, which hold for
 * other problems, too. */
static const char touched_sql[] =
    SQL_MAKE_TOUCHED " insert into touched select problem_id from best where id in (select id from chosen_best) union"
                     " select problem_id from run where id in (select id from chosen_run) union"
                     " select problem_id from best where variant_id in (select id from chosen_variant) union"
                     " select problem_id from best where variant_id in (" SQL_ALIKE_WRONG ")";

/* Bests go first. A best that stays can refer to a run that is removed. */
#define SQL_LOOSEN                                                                                          \
  "update best set run_id = null where run_id in (select id from chosen_run) and id not in (select id from" \
  " chosen_best)"
static const char *const result_removals[] = {
    SQL_LOOSEN,
    "delete from best where id in (select id from chosen_best)",
    "delete from finalist where rowid in (select id from chosen_finalist)",
    "delete from measurement where rowid in (select id from chosen_measurement)",
    "delete from run where id in (select id from chosen_run)",
};

/* The chosen rows of a table that nothing refers to any more. With a signer, ?1, only those of the signer: what others
 * brought without a result stays.
 *   unused  the condition that nothing refers to a row */
#define SQL_LONELY(table, unused)                                             \
  " from " table " where id in (select id from chosen_" table ") and " unused \
  " and (?1 is null or origin_id in (select id from origin where ?1 in (signer, signer_key)))"
#define LONELY(table, unused) \
  { "delete" SQL_LONELY(table, unused), "select count(*)" SQL_LONELY(table, unused) }

/* A table stands behind those that refer to it. `removal` removes rows that nothing refers to any more, and `count`
 * counts those to which nothing refers now. A row of a signer that another row uses is not counted, because the other
 * row is. */
static const struct {
  const char *removal, *count;
} lonely[] = {
    LONELY("problem", "id not in (select problem_id from run) and id not in (select problem_id from best)"),
    LONELY("variant", "id not in (select variant_id from measurement) and id not in (select variant_id from finalist)"
                      " and id not in (select variant_id from best)"),
    LONELY("stencil_text", "id not in (select text_id from run) and id not in (select text_id from best)"),
    LONELY("template", "id not in (select template_id from variant)"),
    LONELY("stencil", "id not in (select stencil_id from variant) and id not in (select stencil_id from stencil_text)"
                      " and id not in (select stencil_id from problem)"),
    {"delete from prediction where id in (select id from chosen_prediction) and device_id not in (select device_id"
     " from problem)",
     NULL},
    LONELY("device", "id not in (select device_id from problem) and id not in (select device_id from prediction)"),
    {"delete from origin where id not in (select origin_id from device union select origin_id from stencil"
     " union select origin_id from stencil_text union select origin_id from template union select origin_id from"
     " problem union select origin_id from variant union select origin_id from run union select origin_id from best"
     " union select origin_id from prediction)",
     NULL},
};

/* Run a statement with the signer of a choice as ?1, or NULL. */
static halotune_status run_for(struct store *store, const char *sql, const char *signer, int64_t *found) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(store_connection(store), sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_text(query, 1, signer, -1, SQLITE_STATIC);
    status = query_run(query, found);
  }
  sqlite3_finalize(query);
  return status;
}

/* Add up what a signer brought without a result. */
static halotune_status count_alone(struct store *store, const char *signer, long *out) {
  halotune_status status = HALOTUNE_OK;
  *out = 0;
  for (size_t i = 0; i < COUNT(lonely) && signer && status == HALOTUNE_OK; i++) {
    int64_t number = 0;
    if (lonely[i].count) status = run_for(store, lonely[i].count, signer, &number);
    *out += (long)number;
  }
  return status;
}

/* Runs that go on are not chosen. */
static const char left_sql[] = "select count(*) from chosen_run where id in (select id from going_run)";
static const char leave_going_sql[] =
    "delete from chosen_measurement where id in (select rowid from measurement where run_id in (select id from"
    " going_run)); delete from chosen_finalist where id in (select rowid from finalist where run_id in (select id from"
    " going_run)); delete from chosen_run where id in (select id from going_run)";

/* Choose the rows, within a transaction.
 *   left, going  receive how many chosen runs stay because they go on, and how many runs go on */
static halotune_status choose_ended(struct store *store, const struct choice *choice, is_tuning *asks, long *left,
                                    long *going) {
  halotune_status status = store_choose(store, choice);
  if (status == HALOTUNE_OK) status = going_runs_note(store, asks, going);
  if (status == HALOTUNE_OK) status = count_rows(store, left_sql, left);
  return status == HALOTUNE_OK ? query_script(store_connection(store), leave_going_sql) : status;
}

halotune_status store_forget_count(struct store *store, const struct choice *choice, is_tuning *asks,
                                   struct forget_counts *out) {
  long going = 0;
  halotune_status status = choose_ended(store, choice, asks, &out->left, &going);
  out->is_tuned = going > 0;
  if (status == HALOTUNE_OK) status = count_rows(store, "select count(*) from chosen_run", &out->runs);
  if (status == HALOTUNE_OK) status = count_rows(store, "select count(*) from chosen_measurement", &out->measurements);
  if (status == HALOTUNE_OK) status = count_rows(store, wrong_sql, &out->wrong);
  if (status == HALOTUNE_OK) status = count_rows(store, "select count(*) from chosen_best", &out->bests);
  if (status == HALOTUNE_OK)
    status = count_rows(store, choice->signer ? signed_predictions_sql : lonely_predictions_sql, &out->predictions);
  out->fitted = 0;
  if (status == HALOTUNE_OK && choice->signer) status = count_rows(store, fitted_sql, &out->fitted);
  if (status == HALOTUNE_OK) status = count_alone(store, choice->signer, &out->alone);
  if (out->is_tuned) out->alone = 0;
  if (out->is_tuned && !choice->signer) out->predictions = 0; /* the problems of their GPU stay */
  return status;
}

halotune_status store_forget(struct store *store, const struct choice *choice, is_tuning *asks) {
  long left, going = 0;
  sqlite3 *connection = store_connection(store);
  halotune_status status = query_script(connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = choose_ended(store, choice, asks, &left, &going);
  /* Remove the coefficients of this signer. Others stay as long as their GPU has a problem. */
  if (status == HALOTUNE_OK && choice->signer)
    status = query_script(connection, "delete from prediction where id in (select id from chosen_prediction)");
  if (status == HALOTUNE_OK) status = query_script(connection, touched_sql);
  for (size_t i = 0; i < COUNT(result_removals) && status == HALOTUNE_OK; i++)
    status = query_script(connection, result_removals[i]);
  if (status == HALOTUNE_OK) status = bests_choose(store, "touched");
  for (size_t i = 0; i < COUNT(lonely) && going == 0 && status == HALOTUNE_OK; i++)
    status = run_for(store, lonely[i].removal, choice->signer, NULL);
  status = query_finish(connection, status);
  /* Make the file smaller. If the disk has no room for the copy that this needs, the file keeps its size. */
  if (status == HALOTUNE_OK) sqlite3_exec(connection, "vacuum", NULL, NULL, NULL);
  return status;
}
