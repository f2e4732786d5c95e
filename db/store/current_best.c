/* current_best.c: the rule as one SQL statement. */
#include "db/store/current_best.h"

#include "base/text/text.h"
#include "db/store/refuted.h"
#include "db/store/store_parts.h"

/* The best that the rule of current_best.h chooses for problem ?1. Hashes decide last: ids would differ from file to
 * file. No two rows are compared with each other, since a document may bring many for one problem. Rows that are
 * refuted are left out first. SQL_IS_REFUTED would read all verdicts about a variant again for each of its bests.
 *   fair     the rows that are left, with the newest time and energy that this user measured of their variants
 *   rival    without rows of partial runs where a complete one counts
 *   newest   the two newest kinds of each giver and host. One of them at least is not the kind of a given row
 *   latest   the newest rival of this user
 *   entrant  rivals, with the dates of the newest rows of their variant
 * The giver '' is this user. */
#define SQL_OWN_VARIANTS "select distinct variant_id from own"
#define SQL_GIVER_OF_BEST SQL_GIVER_OF("best")
#define SQL_HERE SQL_OWN_TIMES(SQL_OWN_VARIANTS)
#define SQL_HOLDING SQL_WRONG_FOR("?1", SQL_OWN_VARIANTS)
#define SQL_NO_VERDICTS "select null as variant_id, '' as giver, '' as wrong, 0 as is_of_name where 0"
#define SQL_DATE_OF_B SQL_DATE("b.date")
#define SQL_AGAINST_B SQL_IS_AGAINST("x", SQL_DATE_OF_B, "b.giver")
/* A claimed energy does not count for a variant of which this user measured the time alone. */
#define OBJECTIVE_OF_B \
  "iif(b.giver <> '' and h.time_ms is not null and e.energy_mj is null, 'time', coalesce(b.objective, 'time'))"
#define SQL_WINNER(verdicts)                                                                                              \
  "with own as materialized (select id, variant_id, date, time_ms, driver, nvrtc, objective, energy_mj, run_id,"          \
  " " SQL_GIVER_OF_BEST " as giver from best where problem_id = ?1),"                                                     \
  " here as materialized (" SQL_HERE "), energy as materialized (" SQL_OWN_ENERGIES "),"                                  \
  " verdict as materialized (" verdicts "),"                                                                              \
  " fair as materialized (select b.id, b.variant_id, b.giver, " SQL_DATE_OF_B                                             \
  " as date, coalesce(h.time_ms, b.time_ms) as time_ms,"                                                                  \
  " b.driver, b.nvrtc, " OBJECTIVE_OF_B " as objective, coalesce(e.energy_mj, b.energy_mj) as energy_mj,"                 \
  " coalesce(r.host, '') as host, coalesce(r.state = 'partial', 0) as is_partial from own b left join here h on"          \
  " h.variant_id = b.variant_id and h.driver = b.driver and h.nvrtc = b.nvrtc left join energy e on"                      \
  " e.variant_id = b.variant_id and e.driver = b.driver and e.nvrtc = b.nvrtc left join run r on r.id = b.run_id"         \
  " where not exists (select 1 from verdict x where x.variant_id = b.variant_id and " SQL_AGAINST_B ")),"                 \
  " rival as materialized (select * from (select f.*, min(is_partial) over (partition by giver, driver, nvrtc) as least," \
  " min(iif(giver = '', is_partial, null)) over (partition by driver, nvrtc) as own_least from fair f)"                   \
  " where is_partial = 0 or least = 1 and coalesce(own_least, 1) = 1),"                                                   \
  " kind as (select giver, host, driver, nvrtc, objective, max(date) as date from rival where host <> ''"                 \
  " group by 1, 2, 3, 4, 5),"                                                                                             \
  " newest as materialized (select * from (select k.*, row_number() over (partition by giver, host order by date desc)"   \
  " as place from kind k) where place <= 2),"                                                                             \
  " latest as materialized (select date, driver, nvrtc, objective from rival where giver = '' order by date desc,"        \
  " objective = 'time' desc, objective, driver, nvrtc limit 1),"                                                          \
  " entrant as (select r.*, max(date) over (partition by giver, variant_id, driver, nvrtc) as newest_date,"               \
  " max(iif(giver = '', date, '')) over (partition by variant_id, driver, nvrtc) as own_date from rival r)"               \
  " select a.id from entrant a join variant v on v.id = a.variant_id join template t on t.id = v.template_id"             \
  " where a.date = a.newest_date and a.date >= a.own_date and not exists (select 1 from newest n where"                   \
  " n.giver in ('', a.giver) and n.host = a.host and n.date > a.date"                                                     \
  " and (n.driver <> a.driver or n.nvrtc <> a.nvrtc or n.objective <> a.objective))"                                      \
  " and not exists (select 1 from latest l where l.date > a.date and (l.driver <> a.driver or l.nvrtc <> a.nvrtc))"       \
  " order by a.objective = (select objective from latest) desc, a.objective = 'time' desc, a.objective,"                  \
  " case a.objective when 'energy' then a.energy_mj when 'edp' then a.energy_mj * a.time_ms else a.time_ms end,"          \
  " a.giver = '' desc, a.date desc, v.source_hash, t.hash, v.parameters limit 1"

const char choose_best_sql[] = SQL_WINNER(SQL_NO_VERDICTS);
const char choose_not_wrong_sql[] = SQL_WINNER(SQL_HOLDING);

/* Give a best without source or machine code those of an earlier best of its problem, if both have one source and are
 * for one architecture and NVRTC. Only what this user or the signer of the best gave is taken, since the best keeps
 * its origin. */
const char carry_code_sql[] =
    "update best set source = e.source, cubin = iif(length(best.cubin) > 0, best.cubin, e.cubin) from"
    " (select b.source, b.cubin from best n join variant nv on nv.id = n.variant_id join origin no on no.id = n.origin_id"
    " join best b on b.problem_id = n.problem_id and b.id <> n.id and b.arch = n.arch and b.nvrtc = n.nvrtc join variant v"
    " on v.id = b.variant_id and v.source_hash = nv.source_hash join origin o on o.id = b.origin_id where n.id = ?1 and"
    " b.source <> '' and (o.kind = 'measured' or o.id = no.id or (o.kind = no.kind and o.signer_key = no.signer_key and"
    " o.signer_key <> '')) order by length(b.cubin) > 0 desc, b.date desc limit 1) e"
    " where best.id = ?1 and (best.source = '' or (length(best.cubin) = 0 and length(e.cubin) > 0))";

/* Run a statement of the rule with one place.
 *   found  receives the number that it gives, or 0; may be NULL */
static halotune_status rule_step(struct store *store, enum store_query query, int64_t place, int64_t *found) {
  struct binder binder;
  const halotune_status status = store_bind(store, query, &binder);
  if (status != HALOTUNE_OK) return status;
  if (sqlite3_bind_parameter_count(binder.query) > 0) bind_integer(&binder, place);
  return query_run(binder.query, found);
}

/* Make a best the current one of its problem. */
static halotune_status make_current(struct store *store, int64_t problem, int64_t best) {
  halotune_status status = rule_step(store, RETIRE_CURRENT, problem, NULL);
  if (status == HALOTUNE_OK) status = rule_step(store, MAKE_CURRENT, best, NULL);
  return status == HALOTUNE_OK ? rule_step(store, CARRY_CODE, best, NULL) : status;
}

halotune_status best_choose(struct store *store, int64_t problem, int64_t *winner) {
  int64_t current = 0, is_any_wrong = 0;
  halotune_status status = rule_step(store, ASK_ANY_WRONG, 0, &is_any_wrong);
  /* Mostly no variant is wrong. */
  if (status == HALOTUNE_OK) status = rule_step(store, is_any_wrong ? CHOOSE_NOT_WRONG : CHOOSE_BEST, problem, winner);
  if (status == HALOTUNE_OK) status = rule_step(store, FIND_CURRENT, problem, &current);
  if (status != HALOTUNE_OK) return status;
  if (*winner != current) return make_current(store, problem, *winner);
  /* a best that came before may have left out its source */
  return current ? rule_step(store, CARRY_CODE, current, NULL) : HALOTUNE_OK;
}

halotune_status bests_choose(struct store *store, const char *problems) {
  struct text next = {0};
  int64_t problem = 0, winner;
  text_printf(&next, "select coalesce(min(id), 0) from %s where id > ?1", problems);
  halotune_status status = text_ok(&next) ? HALOTUNE_OK : fail_memory();
  while (status == HALOTUNE_OK &&
         (status = query_with(store->connection, text_string(&next), problem, &problem)) == HALOTUNE_OK && problem > 0)
    status = best_choose(store, problem, &winner);
  text_free(&next);
  return status;
}
