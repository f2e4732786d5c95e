/* merge_best.c: compares the best before a merge with the one after it, and says why in words. */
#include "db/exchange/merge_best.h"

#include <string.h>

#include "db/store/current_best.h"
#include "db/store/query.h"
#include "db/store/refuted.h"

/* A best in a decision. */
struct rival {
  int64_t id, variant;
  bool is_refuted, is_partial; /* is_partial: of a run that was cut short */
  double time_ms, energy_mj;
  char date[32], driver[64], nvrtc[64], objective[16], host[256], giver[128]; /* giver: '' for this user */
};

/* A best, and whether it is known to be wrong.
 *   problem    its problem, as SQL
 *   condition  what `best o` must be. It names no table of the statement, so that all variants are read only if that
 *              best is alike a wrong one */
#define SQL_RIVAL(problem, condition)                                                                                                                                                           \
  "select b.id, b.variant_id, b.time_ms, b.date, b.driver, b.nvrtc, " SQL_IS_REFUTED_BY(                                                                                                        \
      "b",                                                                                                                                                                                      \
      SQL_WRONG_FOR(                                                                                                                                                                            \
          problem,                                                                                                                                                                              \
          "select o.variant_id as variant_id from best o where " condition)) ", coalesce(b.objective, 'time'),"                                                                                 \
                                                                             " coalesce(r.state = 'partial', 0), b.energy_mj, r.host, " SQL_GIVER_OF(                                           \
                                                                                 "b") " from best b left join run r on r.id = b.run_id where b.id in (select o.id from best o where " condition \
                                                                                      ")"

halotune_status best_queries_open(struct best_queries *queries, struct store *to) {
  sqlite3 *connection = store_connection(to);
  *queries = (struct best_queries){NULL, NULL};
  const halotune_status status =
      query_prepare(connection, SQL_RIVAL("?1", "o.problem_id = ?1 and o.is_current"), &queries->current);
  return status == HALOTUNE_OK
             ? query_prepare(connection, SQL_RIVAL("(select o.problem_id from best o where o.id = ?1)", "o.id = ?1"),
                             &queries->named)
             : status;
}

void best_queries_free(struct best_queries *queries) {
  sqlite3_finalize(queries->current);
  sqlite3_finalize(queries->named);
}

/* Read the best that a statement with place ?1 names. If there is none, its id is 0. */
static halotune_status rival_read(sqlite3_stmt *query, int64_t place, struct rival *out) {
  halotune_status status = HALOTUNE_OK;
  *out = (struct rival){.id = 0};
  sqlite3_bind_int64(query, 1, place);
  int code = sqlite3_step(query);
  if (code == SQLITE_ROW) {
    out->id = sqlite3_column_int64(query, 0);
    out->variant = sqlite3_column_int64(query, 1);
    out->time_ms = sqlite3_column_double(query, 2);
    sqlite3_snprintf((int)sizeof out->date, out->date, "%s", column_text(query, 3));
    sqlite3_snprintf((int)sizeof out->driver, out->driver, "%s", column_text(query, 4));
    sqlite3_snprintf((int)sizeof out->nvrtc, out->nvrtc, "%s", column_text(query, 5));
    out->is_refuted = sqlite3_column_int(query, 6) != 0;
    sqlite3_snprintf((int)sizeof out->objective, out->objective, "%s", column_text(query, 7));
    out->is_partial = sqlite3_column_int(query, 8) != 0;
    out->energy_mj = sqlite3_column_double(query, 9);
    sqlite3_snprintf((int)sizeof out->host, out->host, "%s", column_text(query, 10));
    sqlite3_snprintf((int)sizeof out->giver, out->giver, "%s", column_text(query, 11));
  } else if (code != SQLITE_DONE) {
    status = query_fail(sqlite3_db_handle(query));
  }
  sqlite3_reset(query);
  return status;
}

/* The number by which rows of one objective are ranked, the lowest first. */
static double score_of(const struct rival *row) {
  if (strcmp(row->objective, "energy") == 0) return row->energy_mj;
  return strcmp(row->objective, "edp") == 0 ? row->energy_mj * row->time_ms : row->time_ms;
}

/* What a winner with the lower score is. */
static const char *ranked_better(const char *objective) {
  if (strcmp(objective, "energy") == 0) return "uses less energy";
  return strcmp(objective, "edp") == 0 ? "its product of energy and time is smaller" : "faster";
}

/* Why one best is current and not the other. */
static const char *reason_for(const struct rival *winner, const struct rival *loser) {
  const bool same_environment = strcmp(winner->driver, loser->driver) == 0 && strcmp(winner->nvrtc, loser->nvrtc) == 0;
  const bool same_objective = strcmp(winner->objective, loser->objective) == 0;
  const bool has_word = winner->giver[0] == '\0' || strcmp(winner->giver, loser->giver) == 0;
  const bool is_own_alone = winner->giver[0] == '\0' && loser->giver[0] != '\0';
  const bool same_variant = same_environment && winner->variant == loser->variant;
  const bool is_newest_own = winner->giver[0] == '\0' && strcmp(winner->date, loser->date) > 0;
  const bool is_newer_here =
      has_word && winner->host[0] && strcmp(winner->host, loser->host) == 0 && strcmp(winner->date, loser->date) > 0;
  if (loser->is_refuted) return "the other is known to be wrong";
  if (has_word && same_environment && loser->is_partial && !winner->is_partial)
    return "the other is of a run that was cut short";
  if (!same_objective && is_newer_here) return "newer, with the objective that this host has had since";
  if (!same_objective)
    return strcmp(winner->objective, "time") == 0 ? "ranked by time" : "ranked by the objective that counts here";
  if (is_own_alone && same_variant) return "this user measured the same variant with the same driver and NVRTC";
  if (score_of(winner) < score_of(loser)) return ranked_better(winner->objective);
  if (same_variant) return "newer, the same variant with the same driver and NVRTC";
  if (!same_environment && is_newer_here) return "newer, with the driver and NVRTC that this host has had since";
  if (!same_environment && is_newest_own) return "newer, with the driver and NVRTC of this user's newest winner";
  if (score_of(winner) == score_of(loser)) return is_own_alone ? "this user measured it" : "newer";
  return strcmp(winner->objective, "time") == 0 ? "faster where this user measured it"
                                                : "better where this user measured it";
}

static halotune_status conflict_tell(sqlite3 *to, const struct merge_options *options, const struct rival *ours,
                                     const struct rival *theirs, bool is_taken) {
  sqlite3_stmt *query = NULL;
  if (!options->conflict) return HALOTUNE_OK;
  halotune_status status = query_prepare(
      to,
      "select s.name, p.dtype, d.name, p.launch,"
      " p.cache || iif(p.is_reproducible, ', reproducible', ''), p.nx, p.ny, p.nz, p.steps from best b join problem p"
      " on p.id = b.problem_id join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id"
      " where b.id = ?1",
      &query);
  if (status == HALOTUNE_OK) sqlite3_bind_int64(query, 1, theirs->id);
  if (status == HALOTUNE_OK && sqlite3_step(query) != SQLITE_ROW) status = query_fail(to);
  if (status == HALOTUNE_OK) {
    struct merge_conflict conflict = {.stencil = column_text(query, 0),
                                      .dtype = column_text(query, 1),
                                      .device = column_text(query, 2),
                                      .launch = column_text(query, 3),
                                      .cache = column_text(query, 4),
                                      .steps = sqlite3_column_int(query, 8),
                                      .ours_ms = ours->time_ms,
                                      .theirs_ms = theirs->time_ms,
                                      .is_taken = is_taken,
                                      .why = is_taken ? reason_for(theirs, ours) : reason_for(ours, theirs)};
    for (int axis = 0; axis < MAX_DIMS; axis++) conflict.grid.n[axis] = (long)sqlite3_column_int64(query, 5 + axis);
    options->conflict(options->context, &conflict);
  }
  sqlite3_finalize(query);
  return status;
}

halotune_status merge_best(struct store *to, const struct best_queries *queries, int64_t problem, int64_t theirs_id,
                           const struct merge_options *options, struct merge_counts *counts) {
  struct rival ours, theirs;
  int64_t winner = 0;
  halotune_status status = rival_read(queries->current, problem, &ours);
  if (status == HALOTUNE_OK) status = rival_read(queries->named, theirs_id, &theirs);
  if (status == HALOTUNE_OK) status = best_choose(to, problem, &winner);
  if (status != HALOTUNE_OK) return status;
  counts->retired += ours.is_refuted;
  counts->refuted += theirs.is_refuted && theirs.id != ours.id;
  if (!ours.id || !theirs.id || ours.id == theirs.id || ours.is_refuted) return HALOTUNE_OK;
  /* A third best can become current: one that the other database brought along, or one that its results made right
   * again. */
  const bool is_taken = winner != ours.id;
  if (is_taken) counts->taken++;
  else counts->kept++;
  if (is_taken && winner != theirs.id) status = rival_read(queries->named, winner, &theirs);
  return status == HALOTUNE_OK ? conflict_tell(store_connection(to), options, &ours, &theirs, is_taken) : status;
}
