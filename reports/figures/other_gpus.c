/* other_gpus.c: computes how well the winner of one GPU does on another. */
#include "reports/figures/other_gpus.h"

#include "db/store/sql_parts.h"
#include "reports/rows/report_scope.h"
#include "reports/rows/rows.h"

/* winner: the winner of every problem, without emulations. pair: two winners whose problems differ only in the GPU.
 * same: the configuration of the first, in the problem of the second, with any version of its template. known: what is
 * known about it there, the most reliable first:
 *
 *   1. it is the winner there, too;
 *   2. it ran in the rounds of the winner there, so that the share and its interval come from the same rounds;
 *   3. it ran in other final rounds;
 *   4. it was measured in the search, and so was the winner there, in the same run if possible. If that winner was
 *   imported without its search, the fastest variant of the search takes its place.
 *
 * Of 3 and 4, runs of this user count first. */
#define IS_OWN SQL_IS_OWN("r")
#define IS_OF_SAME_GIVER SQL_IS_OWN("q") " = " SQL_IS_OWN("r")
static const char transfer_sql[] =
    "with winner as (select b.problem_id, b.variant_id, b.run_id, b.time_ms, p.device_id, p.stencil_id, p.dtype,"
    "   p.nx, p.ny, p.nz, p.launch, p.cache, p.is_reproducible, p.steps, t.name as template, v.parameters"
    "  from best b join problem p on p.id = b.problem_id join device d on d.id = p.device_id"
    "  join variant v on v.id = b.variant_id join template t on t.id = v.template_id"
    "  where b.is_current and not d.is_emulation and p.id in " CHOSEN_PROBLEMS "),"
    " pair as (select a.problem_id as source, z.problem_id as target, a.stencil_id, a.template, a.parameters,"
    "   z.variant_id as best_variant, z.run_id as best_run, z.time_ms as best_ms"
    "  from winner a join winner z using (stencil_id, dtype, nx, ny, nz, launch, cache, is_reproducible, steps)"
    "  where a.device_id <> z.device_id),"
    " same as materialized (select pair.*, v.id as variant from pair join variant v using (stencil_id, parameters)"
    "  join template t on t.id = v.template_id and t.name = pair.template),"
    " known as (select source, target, 1 as place, 0 as newest, 'final' as phase, best_ms as time_ms, best_ms,"
    "   1.0 as share, 1.0 as share_low, 1.0 as share_high, best_run as run, 1 as is_own"
    "   from same where variant = best_variant"
    "  union all select source, target, 2, 0, 'final', f.median_ms, best_ms,"
    "   1 / f.ratio, 1 / f.ratio_high, 1 / f.ratio_low, f.run_id, 1"
    "   from same join finalist f on f.run_id = best_run and f.variant_id = variant"
    "  union all select source, target, 3, r.id, 'final', f.median_ms, best_ms, null, null, null, r.id, " IS_OWN
    "   from same join run r on r.problem_id = target join finalist f on f.run_id = r.id and f.variant_id = variant"
    "  union all select source, target, 4, m.id, 'search', m.median_ms, coalesce("
    "    (select n.median_ms from measurement n where n.run_id = r.id and n.variant_id = best_variant),"
    "    (select n.median_ms from measurement n join run q on q.id = n.run_id where n.variant_id = best_variant"
    "     and q.problem_id = target and n.median_ms is not null and " IS_OF_SAME_GIVER " order by n.id desc limit 1),"
    "    (select min(n.median_ms) from measurement n join run q on q.id = n.run_id where q.problem_id = target"
    "     and " IS_OF_SAME_GIVER ")), null, null, null, r.id, " IS_OWN
    "   from same join run r on r.problem_id = target join measurement m on m.run_id = r.id and m.variant_id = variant"
    "   where m.median_ms is not null),"
    " ranked as (select *, row_number() over (partition by source, target order by is_own desc, place, newest desc)"
    "   as number from known)"
    " select source as \"from\", target as \"to\", phase, time_ms, best_ms,"
    "  coalesce(share, best_ms / time_ms) as share, share_low, share_high, run"
    " from ranked where number = 1 order by source, target";

halotune_status transfer_json(sqlite3 *db, json_t **out) {
  halotune_status status = rows_json(db, transfer_sql, NULL, 0, out);
  return status == HALOTUNE_OK && !*out ? fail_memory() : status;
}
