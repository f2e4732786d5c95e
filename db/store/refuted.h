/* refuted.h: the one place that says when a variant is known to be wrong, as SQL for the statements of others.
 *
 * A verdict is a run's finding about a variant: right (measured, screened) or wrong (wrong, out_of_bounds). It holds
 * for one source, element type, grid and model of GPU, in every launch mode and on every GPU of the model. A crash, a
 * hang or a refusal can be chance, and is not a verdict. The newest verdict counts. A verdict says nothing about a best
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

/* The tables of a statement about verdicts: measurement w, run wr, problem wp and device wd. */
#define SQL_VERDICTS                                                                       \
  "measurement w join run wr on wr.id = w.run_id join problem wp on wp.id = wr.problem_id" \
  " join device wd on wd.id = wp.device_id"

/* The date of the newest verdict of a kind (SQL_IS_WRONG or SQL_IS_RIGHT) about the variant of a row of `best`, where
 * that row would serve it; NULL if there is none. */
#define SQL_NEWEST_VERDICT(is_kind, best)                                                     \
  "(select max(" SQL_VERDICT_DATE(                                                            \
      "w", "wr") ") from " SQL_VERDICTS " join problem p on p.id = " best                     \
                 ".problem_id join device d on d.id = p.device_id where w.variant_id = " best \
                 ".variant_id and " SQL_SAME_PLACE("p", "d", "wp", "wd") " and " is_kind("w") ")"

/* Whether the variant of a row of `best` is known to be wrong where that row would serve it: the newest wrong verdict
 * is not older than the row, and no verdict of the other kind is newer. The newest of each kind decides, so that the
 * time grows with the number of verdicts, not with its square. */
#define SQL_IS_REFUTED(best)                                                                           \
  "iif(" SQL_NEWEST_VERDICT(SQL_IS_WRONG, best) " >= " SQL_DATE(best ".date") ", " SQL_NEWEST_VERDICT( \
      SQL_IS_WRONG, best) " >= coalesce(" SQL_NEWEST_VERDICT(SQL_IS_RIGHT, best) ", ''), 0)"

/* All variants that are known to be wrong, as a statement. Columns: date of the verdict, a device of the model,
 * stencil, dtype, nx, ny, nz, variant. */
#define SQL_MODEL_OF(device) device ".name, " device ".capability, " device ".sm_count, " device ".is_emulation"
#define SQL_REFUTED_VARIANTS                                                                                                                                               \
  "with wrong as materialized (select w.variant_id, wp.stencil_id, wp.dtype, wp.nx, wp.ny, wp.nz, " SQL_MODEL_OF("wd") ", min(wd.id) as device_id, max(" SQL_VERDICT_DATE( \
      "w",                                                                                                                                                                 \
      "wr") ") as date from " SQL_VERDICTS                                                                                                                                 \
            " where " SQL_IS_WRONG(                                                                                                                                        \
                "w") " group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"                                                                                                            \
                     ", correct as materialized (select w.variant_id, wp.dtype, wp.nx, wp.ny, wp.nz, " SQL_MODEL_OF("wd") ", max(" SQL_VERDICT_DATE(                       \
                         "w",                                                                                                                                              \
                         "wr") ") as date from (select distinct variant_id from wrong) x"                                                                                  \
                               " cross join " SQL_VERDICTS " where w.variant_id = x.variant_id and " SQL_IS_RIGHT(                                                         \
                                   "w") " group by 1, 2, 3, 4, 5, 6, 7, 8, 9)"                                                                                             \
                                        " select a.date, a.device_id, a.stencil_id, a.dtype, a.nx, a.ny, a.nz, a.variant_id from wrong a left join"                        \
                                        " correct b on b.variant_id = a.variant_id and b.dtype = a.dtype and b.nx = a.nx and b.ny = a.ny and b.nz ="                       \
                                        " a.nz and b.name = a.name and b.capability = a.capability and b.sm_count = a.sm_count and b.is_emulation ="                       \
                                        " a.is_emulation where b.date is null or b.date <= a.date"

#endif
