/* refuted.h: the one place that says when a variant is known to be wrong, as SQL for the statements of others.
 *
 * A verdict is a run's finding about a variant: right (measured, screened) or wrong (wrong, out_of_bounds). It holds
 * for one source, element type, grid and model of GPU, in every launch mode and on every GPU of the model. A crash, a
 * hang or a refusal can be chance, and is no verdict. The newest verdict counts. A verdict says nothing about a best
 * that was measured after it. */
#ifndef DB_STORE_REFUTED_H
#define DB_STORE_REFUTED_H

#include "db/store/sql_parts.h"

/* Conditions on tables by the names that they have in the statement: measurement, run, problem, device. */
#define SQL_IS_WRONG(measurement) measurement ".outcome in ('wrong', 'out_of_bounds')"
#define SQL_IS_RIGHT(measurement) measurement ".outcome in ('measured', 'screened')"

/* When a run measured a variant. Without a measurement, it is the time when the run began. */
#define SQL_MEASURED_DATE(measurement, run)                                                                      \
  "coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', " run ".started, printf('%.3f seconds', " measurement ".at_s)), " run \
  ".started)"

/* When a verdict was given, as decisions compare dates. */
#define SQL_VERDICT_DATE(measurement, run) SQL_DATE(SQL_MEASURED_DATE(measurement, run))

/* Whether two problems have the same element type and grid, and their devices are of one model. */
#define SQL_SAME_PLACE(p, d, other_p, other_d)                                                                       \
  other_p ".dtype = " p ".dtype and " other_p ".nx = " p ".nx and " other_p ".ny = " p ".ny and " other_p ".nz = " p \
          ".nz and " other_d ".name = " d ".name and " other_d ".capability = " d ".capability"                      \
          " and " other_d ".sm_count = " d ".sm_count and " other_d ".is_emulation = " d ".is_emulation"

/* The tables of a statement about wrong verdicts: measurement w, run wr, problem wp and device wd. */
#define SQL_WRONG_VERDICTS                                                                 \
  "measurement w join run wr on wr.id = w.run_id join problem wp on wp.id = wr.problem_id" \
  " join device wd on wd.id = wp.device_id"

/* Whether the wrong verdict w holds: no newer verdict says that the variant is right. */
#define SQL_STANDS                                                                                               \
  SQL_IS_WRONG("w")                                                                                              \
  " and not exists (select 1 from measurement m join run r on r.id = m.run_id"                                   \
  " join problem q on q.id = r.problem_id join device e on e.id = q.device_id where m.variant_id = w.variant_id" \
  " and " SQL_IS_RIGHT("m") " and " SQL_SAME_PLACE("wp", "wd", "q", "e") " and " SQL_VERDICT_DATE(               \
      "m", "r") " > " SQL_VERDICT_DATE("w", "wr") ")"

/* Whether the variant of a row of `best` is known to be wrong where that row would serve it. */
#define SQL_IS_REFUTED(best)                                                                        \
  "exists (select 1 from " SQL_WRONG_VERDICTS " join problem p on p.id = " best ".problem_id"       \
  " join device d on d.id = p.device_id where w.variant_id = " best ".variant_id"                   \
  " and " SQL_SAME_PLACE("p", "d", "wp", "wd") " and " SQL_VERDICT_DATE("w", "wr") " >= " SQL_DATE( \
      best ".date") " and " SQL_STANDS ")"

#endif
