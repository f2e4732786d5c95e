/* refuted.h: the one place that says when a variant is known to be wrong, as SQL for the statements of others.
 *
 * A verdict is a run's finding about a variant: right (measured, screened) or wrong (wrong, out_of_bounds). It holds
 * for one element type, grid and model of GPU, in every launch mode and on every GPU of the model. It is about the
 * variant's source, and about its configuration: template and parameters. A document can claim another source for a
 * configuration, or bring a source with another version of the template. So a variant is known to be wrong if either
 * is. Each of the two is judged by itself: a made-up variant with the source of one and the configuration of another
 * passes nothing from one to the other. A wrong verdict holds for all names of a stencil. Lookups, which serve
 * configurations, know those that are wrong. A crash, a hang or a refusal can be chance, and is not a verdict.
 *
 * A wrong verdict holds until whoever gave it finds the variant to be right later, under the same name of the stencil:
 * another file of the same meaning has a tolerance, values and coefficients of its own, with which each variant may be
 * right. For the same reason a verdict of this user is not against this user's best of another name, which answers for
 * its own name alone then (library/lookup/catalog_stencils.c). A wrong verdict of others also holds only until this
 * user measured the variant here and found it to be right, under any name. Others cannot take it back: neither by a
 * right verdict nor by a newer best. */
#ifndef DB_STORE_REFUTED_H
#define DB_STORE_REFUTED_H

#include "db/store/sql_parts.h"

/* Conditions on tables by the names that they have in the statement: measurement, run, problem, device. */
#define SQL_IS_WRONG(measurement) measurement ".outcome in ('wrong', 'out_of_bounds')"
#define SQL_IS_RIGHT(measurement) measurement ".outcome in ('measured', 'screened')"

/* When a run measured a variant. Without a measurement, it is the time when the run began. */
#define SQL_MEASURED_DATE(measurement, run) "date_later(" run ".started, " measurement ".at_s)"

/* When a verdict was given, as decisions compare dates: not after the end of its run, and not later than now while the
 * run goes on. at_s also counts the set-up before the run began, and in a replay it is the recording's time. */
#define SQL_RUN_END(run) "max(" run ".started, coalesce(" run ".ended, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))"
#define SQL_VERDICT_DATE(measurement, run) \
  SQL_DATE("min(" SQL_MEASURED_DATE(measurement, run) ", " SQL_RUN_END(run) ")")

/* The same without this machine's clock, to compare what two databases say: the end of a run that goes on is not known,
 * and bounds nothing. */
#define SQL_CLAIMED_DATE(measurement, run) \
  "min(" SQL_MEASURED_DATE(measurement, run) ", max(" run ".started, coalesce(" run ".ended, '9')))"

/* Whether two problems have the same element type and grid, and their devices are of one model. */
#define SQL_SAME_PLACE(p, d, other_p, other_d)                                                                       \
  other_p ".dtype = " p ".dtype and " other_p ".nx = " p ".nx and " other_p ".ny = " p ".ny and " other_p ".nz = " p \
          ".nz and " other_d ".name = " d ".name and " other_d ".capability = " d ".capability"                      \
          " and " other_d ".sm_count = " d ".sm_count and " other_d ".is_emulation = " d ".is_emulation"

/* Who gave rows of an origin: '' for this user, else the kind of the origin and the signer's key. As in a merge, all
 * documents without a signature count as one giver.
 *   origin  the table's name in the statement */
#define SQL_GIVER(origin) "iif(" origin ".kind = 'measured', '', " origin ".kind || ' ' || " origin ".signer_key)"
#define SQL_GIVER_OF(row) "(select " SQL_GIVER("giving") " from origin giving where giving.id = " row ".origin_id)"

/* The same text, printed: of a kind that is not `measured`, and a key. */
#define GIVER_FORMAT "%s %s"

/* The tables of a statement about verdicts: measurement w, run wr, its origin wo, problem wp and device wd. */
#define SQL_VERDICTS                                                                                        \
  "measurement w join run wr on wr.id = w.run_id join origin wo on wo.id = wr.origin_id join problem wp on" \
  " wp.id = wr.problem_id join device wd on wd.id = wp.device_id"

/* The date of the newest verdict of a kind (SQL_IS_WRONG or SQL_IS_RIGHT) in a group; NULL if there is none. */
#define SQL_NEWEST(is_kind) "max(iif(" is_kind("w") ", " SQL_VERDICT_DATE("w", "wr") ", null))"

/* The wrong verdicts that hold among the newest ones of each giver and name, as a statement. The newest verdict of each
 * kind, giver and name decides, so that the time grows with the number of verdicts, not with its square.
 *   place     the columns that tell keys (SQL_ALIKE) and places apart
 *   verdicts  a statement with these columns, giver, stencil_id, and the dates of the newest verdicts: wrong and
 *             correct */
#define SQL_THAT_HOLD(place, verdicts)                                                                       \
  "select * from (select *, max(correct) over (partition by " place ", stencil_id, giver) as giver_correct," \
  " max(iif(giver = '', correct, null)) over (partition by " place ") as own_correct from (" verdicts        \
  ")) where wrong >= coalesce(giver_correct, '') and (giver = '' or wrong >= coalesce(own_correct, ''))"
#define SQL_GIVER_DATES \
  SQL_GIVER("wo") " as giver, " SQL_NEWEST(SQL_IS_WRONG) " as wrong, " SQL_NEWEST(SQL_IS_RIGHT) " as correct"

/* Whether a wrong verdict that holds is against a best. A best that this user gave is refuted by a verdict that is not
 * older; by one of this user only under the same name. A best of others is refuted by each verdict, except by an older
 * one of the same giver under the same name.
 *   date, giver  of the best */
#define SQL_IS_AGAINST(verdict, date, giver)                                                  \
  "iif(" giver " = '', " verdict ".wrong >= " date " and (" verdict ".is_of_name or " verdict \
  ".giver <> ''), " verdict ".wrong >= " date " or " giver " <> " verdict ".giver or not " verdict ".is_of_name)"

/* The variants with a wrong verdict of anybody. Mostly there are none: a statement begins here. */
#define SQL_EVER_WRONG "select distinct w.variant_id from measurement w where " SQL_IS_WRONG("w")
#define SQL_IS_ANY_WRONG "exists (select 1 from measurement w where " SQL_IS_WRONG("w") ")"

/* What the stencil of the variant `v`, or `o`, means, whatever its name is. */
#define SQL_V_MEANS "(select hash from stencil where id = v.stencil_id)"
#define SQL_O_MEANS "(select hash from stencil where id = o.stencil_id)"

/* Whether the variants `v` and `o` are alike: they have the same source, or the same template and parameters. */
#define SQL_IS_ALIKE                                                                                   \
  SQL_O_MEANS " = " SQL_V_MEANS " and (o.source_hash = v.source_hash or o.template_id = v.template_id" \
              " and o.parameters = v.parameters)"

/* The table `alike` for a statement that begins with it: variants that are alike one that is ever wrong. A verdict is
 * about two keys: a source (negative) and a configuration (positive). The table has a row for each key that a variant
 * shares with one that is ever wrong. No index has parameters, so that all variants are read where one is wrong. Each
 * variant looks for its keys, because many stencils may claim one source.
 *   is_asked  a condition on the wrong variant `v`: only those alike it are of interest */
#define SQL_ALIKE(is_asked)                                                                                          \
  "with bad as materialized (select " SQL_V_MEANS                                                                    \
  " as meaning, v.source_hash, v.template_id, v.parameters from variant v where v.id in (" SQL_EVER_WRONG            \
  ") and " is_asked "), source as materialized (select -row_number() over () as key, * from (select distinct"        \
  " meaning, source_hash from bad)), configuration as materialized (select row_number() over () as key, * from"      \
  " (select distinct meaning, template_id, parameters from bad)), alike as materialized (select v.id as variant_id," \
  " s.key from (select distinct source_hash from bad) h cross join variant v on v.source_hash = h.source_hash"       \
  " cross join source s on s.source_hash = v.source_hash and s.meaning = " SQL_V_MEANS                               \
  " union all select v.id, c.key from (select 1 from bad limit 1) cross join variant v cross join configuration c"   \
  " on c.parameters = v.parameters and c.template_id = v.template_id and c.meaning = " SQL_V_MEANS ")"

/* All variants that are alike one that is ever wrong: what a verdict can decide. */
#define SQL_ALIKE_WRONG SQL_ALIKE("1") " select variant_id from alike"

/* The wrong verdicts that hold for a problem, as a statement with the columns variant_id (of the variant in question),
 * giver, wrong, and is_of_name: whether the verdict was given under the name of the problem's stencil.
 *   problem   the problem's id
 *   variants  a statement with the column variant_id: the variants in question
 *   is_asked  as for SQL_ALIKE */
#define SQL_WRONG_AMONG(problem, variants, is_asked)                                                               \
  SQL_ALIKE(is_asked)                                                                                              \
  ", asked as materialized (select a.variant_id, k.key from (" variants ") a cross join alike k on k.variant_id =" \
  " a.variant_id), held as materialized (" SQL_THAT_HOLD(                                                          \
      "key",                                                                                                       \
      "select k.key, wp.stencil_id, p.stencil_id = wp.stencil_id as is_of_name, " SQL_GIVER_DATES                  \
      " from (select distinct key from asked) a cross join alike k on k.key = a.key cross join " SQL_VERDICTS      \
      " join problem p on p.id = " problem                                                                         \
      " join device d on d.id = p.device_id where w.variant_id = k.variant_id and " SQL_SAME_PLACE(                \
          "p", "d", "wp",                                                                                          \
          "wd") " group by 1, 2, 3, 4") ") select a.variant_id, h.giver, h.wrong, h.is_of_name from asked a join held h on h.key = a.key"

/* The same where `variants` names no table of a statement around it: all variants are read only if one of those in
 * question is alike a wrong one. */
#define SQL_WRONG_FOR(problem, variants)                                                                        \
  SQL_WRONG_AMONG(problem, variants,                                                                            \
                  "((" SQL_V_MEANS ", v.source_hash) in (select " SQL_O_MEANS ", o.source_hash from variant o"  \
                  " where o.id in (" variants ")) or (" SQL_V_MEANS ", v.template_id, v.parameters) in (select" \
                  " " SQL_O_MEANS ", o.template_id, o.parameters from variant o where o.id in (" variants ")))")

/* Whether wrong verdicts are against a row of `best`.
 *   verdicts  a statement about the row's variant, such as SQL_WRONG_AMONG */
#define SQL_IS_REFUTED_BY(best, verdicts)                      \
  "iif(" SQL_IS_ANY_WRONG ", exists (select 1 from (" verdicts \
  ") x where " SQL_IS_AGAINST("x", SQL_DATE(best ".date"), SQL_GIVER_OF(best)) "), 0)"

/* Whether the variant of a row of `best` is known to be wrong where that row would serve it. */
#define SQL_VARIANT_OF(best) "select " best ".variant_id as variant_id"
#define SQL_IS_REFUTED(best) SQL_IS_REFUTED_BY(best, SQL_WRONG_AMONG(best ".problem_id", SQL_VARIANT_OF(best), "1"))

/* The wrong verdicts that hold, for a statement after SQL_ALIKE: a row for each variant with one, each of its keys,
 * each place and each giver.
 *   is_asked  a condition on the row `k` of `alike` */
#define SQL_MODEL_OF_WD "wd.name, wd.capability, wd.sm_count, wd.is_emulation"
#define SQL_ALL_THAT_HOLD(is_asked)                                                                          \
  SQL_THAT_HOLD("key, dtype, nx, ny, nz, name, capability, sm_count, is_emulation",                          \
                "select k.variant_id, k.key, wp.stencil_id, wp.dtype, wp.nx, wp.ny, wp.nz, " SQL_MODEL_OF_WD \
                ", " SQL_GIVER_DATES ", min(wd.id) as device_id from alike k cross join " SQL_VERDICTS       \
                " where w.variant_id = k.variant_id and " is_asked " group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12")

/* All variants with a wrong verdict that holds for their source or their configuration, as a statement. A variant has a
 * row for each of these two, each name of the stencil and each giver of a verdict. Columns: wrong (the date of the
 * verdict), giver, device_id (a device of the model), stencil_id, dtype, nx, ny, nz, variant_id, key. */
#define SQL_REFUTED_VARIANTS SQL_ALIKE("1") " " SQL_ALL_THAT_HOLD("1")

/* The same for verdicts that hold for a configuration. */
#define SQL_REFUTED_CONFIGURATIONS SQL_ALIKE("1") " " SQL_ALL_THAT_HOLD("k.key > 0")

/* All variants that are known to be wrong somewhere, also those without a verdict of their own, as a statement with the
 * column variant_id. */
#define SQL_REFUTED_ALIKE \
  SQL_ALIKE("1") " select variant_id from alike where key in (select key from (" SQL_ALL_THAT_HOLD("1") "))"

#endif
