/* sql_parts.h: parts of SQL that statements of several folders have in common. */
#ifndef DB_STORE_SQL_PARTS_H
#define DB_STORE_SQL_PARTS_H

/* Whether a row of `finalist` lost by little, or would have won: a lookup may serve it on another grid.
 *   finalist  the table's name in the statement */
#define SQL_IS_RUNNER_UP(finalist) finalist ".rank in (2, 3) and " finalist ".ratio between 0.8 and 1.25"

/* A date as decisions compare it. Another machine may claim a date in the future of this machine's clock: such a date
 * counts as older than all others. */
#define SQL_DATE(date) "iif(" date " > strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), '0', " date ")"

/* The text of a stencil: the text of its newest current best; without one, the text that was stored last.
 *   stencil  the stencil's id, as SQL */
#define SQL_STENCIL_TEXT(stencil)                                                                       \
  "(select x.text from stencil_text x where x.stencil_id = " stencil " order by (select max(" SQL_DATE( \
      "y.date") ") from best y where y.text_id = x.id and y.is_current) desc, x.id desc limit 1)"

/* The origin of a row, for the user: "tuned" if it was measured here, else the file that it came from and who signed
 * that file. The last words are Halotune's, because a file can have any name.
 *   origin  the origin's id, as SQL */
#define SQL_ORIGIN(origin)                                                                                                                                                             \
  "(select iif(o.kind = 'measured', 'tuned', o.name || case when o.kind <> 'imported' then '' when o.signer = '' then ', not signed' else ', signed by ' || o.signer end) from origin" \
  " o where o.id = " origin ")"

/* The origin of what this user measures on this machine. The place :who is bound by store_bind. */
#define SQL_OWN_ORIGIN \
  "(select id from origin where kind = 'measured' and name = :who and signer = '' and document = '')"

/* Whether this user measured a row, in contrast to what came in a document or a database of others. GPUs of a team, and
 * processes that share a database, measure for this user.
 *   row  the name of a table with an origin in the statement */
#define SQL_IS_OWN(row) "exists (select 1 from origin own where own.id = " row ".origin_id and own.kind = 'measured')"

/* Whether a run says that it has other outcomes than its measurements. An export may keep a run without its
 * measurements, or with only the measurements of its finalists. */
#define SQL_HAS_OTHER_OUTCOMES(run)                                                                                    \
  run ".outcomes is not null and exists (select 1 from measurement m where m.run_id = " run                            \
      ".id and not exists (select 1 from finalist f where f.run_id = " run ".id and f.variant_id = m.variant_id)) and" \
      " iif(json_valid(" run ".outcomes), (select total(value) from json_each(" run ".outcomes)), -1) <> (select"      \
      " count(*) from measurement m where m.run_id = " run ".id)"

/* Whether results of the run `r` count in the run `now`: problem, driver and NVRTC are the same, and this user measured
 * them. What a document says must not decide what this user's searches measure. */
#define SQL_COUNTS_NOW \
  "r.problem_id = now.problem_id and r.driver = now.driver and r.nvrtc = now.nvrtc and " SQL_IS_OWN("r")

/* Times of variants that this user measured for the problem ?1. The place of a time of finals is behind each one of a
 * search. */
#define SQL_PLACE_OF_FINALS(date) "'final ' || " SQL_DATE(date) " as place"
#define SQL_FINAL_TIMES                                                                                \
  "select f.variant_id, r.driver, r.nvrtc, f.median_ms as time_ms, f.energy_mj, " SQL_PLACE_OF_FINALS( \
      "r.started") " from run r cross join finalist f on f.run_id = r.id where r.problem_id = ?1 and " SQL_IS_OWN("r")
#define SQL_WINNING_TIMES                                                                 \
  "select b.variant_id, b.driver, b.nvrtc, b.time_ms, b.energy_mj, " SQL_PLACE_OF_FINALS( \
      "b.date") " from best b where b.problem_id = ?1 and " SQL_IS_OWN("b")
#define SQL_SEARCH_TIMES(variants)                                                                                                     \
  "select m.variant_id, r.driver, r.nvrtc, m.median_ms, null, " SQL_DATE(                                                              \
      "r.started") " from (" variants                                                                                                  \
                   ") o cross join measurement m on m.variant_id = o.variant_id join run r on r.id = m.run_id where r.problem_id = ?1" \
                   " and m.median_ms is not null and " SQL_IS_OWN("r")

/* The newest time of each variant that this user measured for the problem ?1, by driver and NVRTC, as a statement. A
 * time of finals goes before one of a search. Columns: variant_id, driver, nvrtc, time_ms.
 *   variants  a statement with the variants whose times of searches are of interest */
#define SQL_OWN_TIMES(variants)                                                                                  \
  "select variant_id, driver, nvrtc, time_ms, max(place) from (" SQL_FINAL_TIMES " union all " SQL_WINNING_TIMES \
  " union all " SQL_SEARCH_TIMES(variants) ") group by variant_id, driver, nvrtc"

/* The same for energy. The newest finals need not have measured it. Columns: variant_id, driver, nvrtc, energy_mj. */
#define SQL_OWN_ENERGIES                                                                                           \
  "select variant_id, driver, nvrtc, energy_mj, max(place) from (" SQL_FINAL_TIMES " union all " SQL_WINNING_TIMES \
  ") where energy_mj is not null group by variant_id, driver, nvrtc"

/* The devices that are real GPUs. The column `first` is the id of the first device of the same model. */
#define SQL_REAL_DEVICES \
  "(select *, min(id) over (partition by name, capability, sm_count) as first from device where not is_emulation)"

/* The devices of the model of the device ?1. */
#define SQL_DEVICES_OF_MODEL                                                                    \
  "(select e.id from device e join device d on e.name = d.name and e.capability = d.capability" \
  " and e.sm_count = d.sm_count and e.is_emulation = d.is_emulation where d.id = ?1)"

/* The table `prediction` has two kinds of coefficients: those of predicted times, and weights of static costs, whose
 * names begin with this. */
#define STATIC_WEIGHT_PREFIX "static_"
#define SQL_IS_STATIC_WEIGHT(coefficient) "(" coefficient " glob '" STATIC_WEIGHT_PREFIX "*')"

/* Whether a row of `problem` has a grid, as GRID_MOST_AXIS_POINTS and GRID_MOST_POINTS allow it. Products of other
 * numbers overflow.
 *   problem  the table's name in the statement */
#define SQL_HAS_GRID(problem)                                                                                  \
  "(min(" problem ".nx, " problem ".ny, " problem ".nz) >= 1 and max(" problem ".nx, " problem ".ny, " problem \
  ".nz) <= 2147483648 and 1.0 * " problem ".nx * " problem ".ny * " problem ".nz <= 1099511627776)"

#endif
