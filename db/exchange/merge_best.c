/* merge_best.c: the rule as one SQL statement, and the reasons in words. */
#include "db/exchange/merge_best.h"

#include <string.h>

#include "db/store/query.h"
#include "db/store/refuted.h"

/* The best that the rule of merge_best.h chooses for problem ?1. Hashes decide last: ids would differ from file to
 * file. No two rows are compared with each other, since a document may bring many for one problem. Rows that are
 * refuted are left out first. SQL_IS_REFUTED would read all verdicts about a variant again for each of its bests.
 *   fair     the rows that are left, with the newest time and energy that this user measured of their variants
 *   rival    without rows of partial runs where a complete one counts
 *   newest   the two newest kinds of each giver and host. One of them at least is not the kind of a given row
 *   entrant  rivals, with the dates of the newest rows of their variant
 * The giver '' is this user. */
#define SQL_OWN_VARIANTS "select distinct variant_id from own"
#define SQL_GIVER_OF_BEST SQL_GIVER_OF("best")
#define SQL_HERE SQL_OWN_TIMES(SQL_OWN_VARIANTS)
#define SQL_HOLDING SQL_WRONG_FOR("?1", SQL_OWN_VARIANTS)
#define SQL_DATE_OF_B SQL_DATE("b.date")
#define SQL_AGAINST_B SQL_IS_AGAINST("x", SQL_DATE_OF_B, "b.giver")
static const char winner_sql[] =
    "with own as materialized (select id, variant_id, date, time_ms, driver, nvrtc, objective, energy_mj, run_id,"
    " " SQL_GIVER_OF_BEST " as giver from best where problem_id = ?1),"
    " here as materialized (" SQL_HERE "), energy as materialized (" SQL_OWN_ENERGIES "),"
    " verdict as materialized (" SQL_HOLDING "),"
    " fair as materialized (select b.id, b.variant_id, b.giver, " SQL_DATE_OF_B
    " as date, coalesce(h.time_ms, b.time_ms) as time_ms,"
    " b.driver, b.nvrtc, coalesce(b.objective, 'time') as objective, coalesce(e.energy_mj, b.energy_mj) as energy_mj,"
    " coalesce(r.host, '') as host, coalesce(r.state = 'partial', 0) as is_partial from own b left join here h on"
    " h.variant_id = b.variant_id and h.driver = b.driver and h.nvrtc = b.nvrtc left join energy e on"
    " e.variant_id = b.variant_id and e.driver = b.driver and e.nvrtc = b.nvrtc left join run r on r.id = b.run_id"
    " where not exists (select 1 from verdict x where x.variant_id = b.variant_id and " SQL_AGAINST_B ")),"
    " rival as materialized (select * from (select f.*, min(is_partial) over (partition by giver, driver, nvrtc) as least,"
    " min(iif(giver = '', is_partial, null)) over (partition by driver, nvrtc) as own_least from fair f)"
    " where is_partial = 0 or least = 1 and coalesce(own_least, 1) = 1),"
    " kind as (select giver, host, driver, nvrtc, objective, max(date) as date from rival where host <> ''"
    " group by 1, 2, 3, 4, 5),"
    " newest as materialized (select * from (select k.*, row_number() over (partition by giver, host order by date desc)"
    " as place from kind k) where place <= 2),"
    " entrant as (select r.*, max(date) over (partition by giver, variant_id, driver, nvrtc) as newest_date,"
    " max(iif(giver = '', date, '')) over (partition by variant_id, driver, nvrtc) as own_date from rival r)"
    " select a.id from entrant a join variant v on v.id = a.variant_id join template t on t.id = v.template_id"
    " where a.date = a.newest_date and a.date >= a.own_date and not exists (select 1 from newest n where"
    " n.giver in ('', a.giver) and n.host = a.host and n.date > a.date"
    " and (n.driver <> a.driver or n.nvrtc <> a.nvrtc or n.objective <> a.objective))"
    " order by a.objective = (select objective from rival where giver = '' order by date desc, objective = 'time' desc,"
    " objective limit 1) desc, a.objective = 'time' desc, a.objective, case a.objective when 'energy' then a.energy_mj"
    " when 'edp' then a.energy_mj * a.time_ms else a.time_ms end, a.date desc, v.source_hash, t.hash, v.parameters"
    " limit 1";

/* A best in a decision. */
struct rival {
  int64_t id, variant;
  bool is_refuted, is_partial; /* is_partial: of a run that was cut short */
  double time_ms, energy_mj;
  char date[32], driver[64], nvrtc[64], objective[16], host[256], giver[128]; /* giver: '' for this user */
};

/* Read the best that a condition on `b` with place ?1 names. If there is none, its id is 0. */
static halotune_status rival_read(sqlite3 *to, const char *sql, int64_t place, struct rival *out) {
  sqlite3_stmt *query = NULL;
  *out = (struct rival){.id = 0};
  halotune_status status = query_prepare(to, sql, &query);
  if (status != HALOTUNE_OK) return status;
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
    status = query_fail(to);
  }
  sqlite3_finalize(query);
  return status;
}

#define SQL_RIVAL                                                                     \
  "select b.id, b.variant_id, b.time_ms, b.date, b.driver, b.nvrtc, " SQL_IS_REFUTED( \
      "b") ", coalesce(b.objective, 'time'), coalesce(r.state = 'partial', 0), b.energy_mj, r.host, " SQL_GIVER_OF("b") " from best b left join run r on r.id = b.run_id where "

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
  const bool is_newer_here =
      has_word && winner->host[0] && strcmp(winner->host, loser->host) == 0 && strcmp(winner->date, loser->date) > 0;
  if (loser->is_refuted) return "the other is known to be wrong";
  if (has_word && same_environment && loser->is_partial && !winner->is_partial)
    return "the other is of a run that was cut short";
  if (!same_objective && is_newer_here) return "newer, with the objective that this host has had since";
  if (!same_objective)
    return strcmp(winner->objective, "time") == 0 ? "ranked by time" : "ranked by the objective that counts here";
  if (score_of(winner) < score_of(loser)) return ranked_better(winner->objective);
  if (same_environment && winner->variant == loser->variant)
    return "newer, the same variant with the same driver and NVRTC";
  if (!same_environment && is_newer_here) return "newer, with the driver and NVRTC that this host has had since";
  if (score_of(winner) == score_of(loser)) return "newer";
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

/* Give a best without source or machine code those of an earlier best of its problem, if both have one source and are
 * for one architecture and NVRTC. Only what this user or the signer of the best gave is taken, since the best keeps
 * its origin. */
static const char carry_sql[] =
    "update best set source = e.source, cubin = iif(length(best.cubin) > 0, best.cubin, e.cubin) from"
    " (select b.source, b.cubin from best n join variant nv on nv.id = n.variant_id join origin no on no.id = n.origin_id"
    " join best b on b.problem_id = n.problem_id and b.id <> n.id and b.arch = n.arch and b.nvrtc = n.nvrtc join variant v"
    " on v.id = b.variant_id and v.source_hash = nv.source_hash join origin o on o.id = b.origin_id where n.id = ?1 and"
    " b.source <> '' and (o.kind = 'measured' or o.id = no.id or (o.kind = no.kind and o.signer_key = no.signer_key and"
    " o.signer_key <> '')) order by length(b.cubin) > 0 desc, b.date desc limit 1) e"
    " where best.id = ?1 and (best.source = '' or (length(best.cubin) = 0 and length(e.cubin) > 0))";

/* Make a best the current one of its problem. */
static halotune_status make_current(sqlite3 *to, int64_t problem, int64_t best) {
  halotune_status status =
      query_with(to, "update best set is_current = 0 where problem_id = ?1 and is_current", problem, NULL);
  if (status == HALOTUNE_OK) status = query_with(to, "update best set is_current = 1 where id = ?1", best, NULL);
  return status == HALOTUNE_OK ? query_with(to, carry_sql, best, NULL) : status;
}

halotune_status merge_best(sqlite3 *to, int64_t problem, int64_t theirs_id, const struct merge_options *options,
                           struct merge_counts *counts) {
  struct rival ours, theirs;
  int64_t winner = 0;
  halotune_status status = rival_read(to, SQL_RIVAL "b.problem_id = ?1 and b.is_current", problem, &ours);
  if (status == HALOTUNE_OK) status = rival_read(to, SQL_RIVAL "b.id = ?1", theirs_id, &theirs);
  if (status == HALOTUNE_OK) status = query_with(to, winner_sql, problem, &winner);
  if (status != HALOTUNE_OK) return status;
  counts->retired += ours.is_refuted;
  counts->refuted += theirs.is_refuted && theirs.id != ours.id;
  if (ours.id && theirs.id && ours.id != theirs.id && !ours.is_refuted) {
    /* A third best can become current: one that the other database brought along, or one that its results made right
     * again. */
    const bool is_taken = winner != ours.id;
    if (is_taken) counts->taken++;
    else counts->kept++;
    if (winner != ours.id && winner != theirs.id) status = rival_read(to, SQL_RIVAL "b.id = ?1", winner, &theirs);
    if (status == HALOTUNE_OK) status = conflict_tell(to, options, &ours, &theirs, is_taken);
  }
  return status != HALOTUNE_OK || winner == ours.id ? status : make_current(to, problem, winner);
}

halotune_status best_choose(sqlite3 *to, int64_t problem) {
  int64_t winner = 0;
  const halotune_status status = query_with(to, winner_sql, problem, &winner);
  return status == HALOTUNE_OK ? make_current(to, problem, winner) : status;
}
