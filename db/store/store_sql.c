/* store_sql.c: the SQL of the store, each statement once; current_best.c has that of its rule. */
#include "db/store/columns.h"
#include "db/store/refuted.h"
#include "db/store/sql_parts.h"
#include "db/store/store_parts.h"

/* What tells a run from all others, and whether the row is that of the run with this text. The text is '' for a run
 * that another process began. */
#define SQL_RUN_KEY "started || ' ' || host || ' ' || seed || ' ' || command"
#define SQL_IS_THE_RUN "id = ?1 and (:key = '' or " SQL_RUN_KEY " = :key)"

/* Problems `p` that are the problem `q` on another GPU of the model. */
#define SQL_OTHER_GPUS                                                                                              \
  " join device e on e.id = q.device_id join problem p on p.stencil_id = q.stencil_id and p.id <> q.id and"         \
  " p.launch = q.launch and p.cache = q.cache and p.is_reproducible = q.is_reproducible and p.steps = q.steps join" \
  " device d on d.id = p.device_id and " SQL_SAME_PLACE("q", "e", "p", "d")

/* Lost runs of the problem ?1 on other GPUs of the model, as this user measured them. */
#define SQL_LOST_RUNS                                                                                                \
  "(select r.id from problem q" SQL_OTHER_GPUS " join run r on r.problem_id = p.id where q.id = ?1 and " SQL_IS_LOST \
  " and not exists (select 1 from best b where b.run_id = r.id))"

/* The condition that a variant `v` of a source and a template has the parameters that generated the source. Different
 * parameters can generate the same source. So a variant that this user measured may have any. A document can claim this
 * for any parameters, since it may omit the source of a variant that is not a best. So an imported variant must have
 * the parameters themselves. */
#define SQL_SAME_VARIANT(stencil, parameters) \
  " and v.stencil_id = " stencil " and (v.parameters = " parameters " or " SQL_IS_OWN("v") ")"

/* Whether a row of `best` of the problem `p` has a variant about which a verdict about the variant ?2 is, too. */
#define SQL_HAS_ALIKE                                                                                             \
  SQL_IS_ANY_WRONG " and exists (select 1 from variant v cross join best b join variant o on o.id = b.variant_id" \
                   " where v.id = ?2 and b.problem_id = p.id and " SQL_IS_ALIKE ")"

/* The columns that a repeated measurement has in common with the earlier one. */
#define REPEATED_NAMES MEASUREMENT_VERDICT_COLUMNS(COLUMN_NAME) MEASUREMENT_SOURCE_COLUMNS(COLUMN_NAME)
#define REPEATED_VALUES MEASUREMENT_VERDICT_COLUMNS(COLUMN_OF_M) MEASUREMENT_SOURCE_COLUMNS(COLUMN_OF_M)

/* Whether a row of `device` is another model than the GPU of ADD_DEVICE. */
#define IS_OF_OTHER_MODEL "name <> ?2 or capability <> ?3 or sm_count <> ?4 or is_emulation <> ?16"

const char *const store_sql[STORE_QUERY_COUNT] = {
    [ADD_ORIGIN] = "insert or ignore into origin (kind, name, date) values ('measured', :who, ?)",
    [FIND_ORIGIN] = "select * from " SQL_OWN_ORIGIN,
    [FIND_DEVICE] = "select id from device where uuid = ?1",
    [ADD_DEVICE] =
        "insert into device (uuid, name, capability, sm_count, clock_khz, memory_clock_khz, bus_bits, l2_bytes, memory_bytes,"
        " max_threads, max_threads_sm, max_registers, registers_sm, max_shared_bytes, warp_size, is_emulation, origin_id)"
        " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, " SQL_OWN_ORIGIN ")",
    /* A document can give results of another model under the UUID of this user's GPU, or with other limits of launches.
     * They stay what they are: that row gets another UUID, which nobody can guess. */
    [PART_DEVICE] =
        "update device set uuid = uuid || ' claimed ' || lower(hex(randomblob(8))) where uuid = ?1 and not " SQL_IS_OWN(
            "device") " and (" IS_OF_OTHER_MODEL
                      " or max_threads <> ?10 or max_threads_sm <> ?11 or max_registers <> ?12"
                      " or registers_sm <> ?13 or max_shared_bytes <> ?14 or warp_size <> ?15)",
    [FIND_OTHER_DEVICE] = "select id from device where uuid = ?1 and (" IS_OF_OTHER_MODEL ")",
    /* What the driver says of a GPU of this user replaces what a document said of it. */
    [OWN_DEVICE] =
        "update device set name = ?2, capability = ?3, sm_count = ?4, clock_khz = ?5, memory_clock_khz = ?6, bus_bits = ?7,"
        " l2_bytes = ?8, memory_bytes = ?9, max_threads = ?10, max_threads_sm = ?11, max_registers = ?12, registers_sm = ?13,"
        " max_shared_bytes = ?14, warp_size = ?15, is_emulation = ?16, origin_id = " SQL_OWN_ORIGIN
        " where uuid = ?1 and not " SQL_IS_OWN("device"),
    [FIND_STENCIL] = "select id from stencil where hash = ?1 and name = ?2",
    [ADD_STENCIL] = "insert into stencil (hash, name, origin_id) values (?1, ?2, " SQL_OWN_ORIGIN ")",
    [FIND_TEXT] = "select id from stencil_text where stencil_id = ?1 and hash = ?2",
    [ADD_TEXT] = "insert into stencil_text (stencil_id, hash, text, origin_id) values (?1, ?2, ?3, " SQL_OWN_ORIGIN ")",
    [FIND_TEMPLATE] = "select id from template where hash = ?1",
    [ADD_TEMPLATE] = "insert into template (hash, common_hash, name, yaml, cuda, origin_id)"
                     " values (?1, ?2, ?3, ?4, ?5, " SQL_OWN_ORIGIN ")",
    /* The texts of this user's files replace others of the same identity. They may say `sums: update` where those say
     * nothing. */
    [OWN_TEMPLATE] = "update template set yaml = ?4, cuda = ?5 where hash = ?1 and (yaml <> ?4 or cuda <> ?5)",
    /* If the same variant is there in both words, this one stays, and `db check` names it. */
    [REWORD_VARIANT] = "update or ignore variant set parameters = ?2 where id = ?1 and parameters <> ?2",
    [FIND_PROBLEM] =
        "select id from problem where stencil_id = ?1 and device_id = ?2 and dtype = ?3 and nx = ?4 and ny = ?5"
        " and nz = ?6 and launch = ?7 and cache = ?8 and is_reproducible = ?9 and steps = ?10",
    [ADD_PROBLEM] = "insert into problem (stencil_id, device_id, dtype, nx, ny, nz, launch, cache, is_reproducible,"
                    " steps, origin_id) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, " SQL_OWN_ORIGIN ")",
    [FIND_VARIANT] = "select v.id from variant v where v.source_hash = ?1 and v.template_id = ?2" SQL_SAME_VARIANT(
        "?3", "?4") " order by v.parameters <> ?4, v.id limit 1",
    [ADD_VARIANT] = "insert into variant (source_hash, template_id, stencil_id, parameters, origin_id)"
                    " values (?1, ?2, ?3, ?4, " SQL_OWN_ORIGIN ")",
    [BEGIN_RUN] =
        "insert into run (state, problem_id, started, command, host, version, driver, cuda, nvrtc, seed, strategy, budget_s,"
        " space, bytes, text_id, objective, power_limit_w, origin_id)"
        " values ('running', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, nullif(?15, 'time'), nullif(?16, 0), " SQL_OWN_ORIGIN
        ")",
    [FIND_RUN_KEY] = "select " SQL_RUN_KEY " from run where id = ?1",
    [FIND_OPEN_RUN] = "select id from run where " SQL_IS_THE_RUN " and state = 'running'",
    [FIND_OWN_RUN] = "select id from run where " SQL_IS_THE_RUN,
    [END_RUN] = "update run set state = ?2, ended = ?3" RUN_END_COLUMNS(
        COLUMN_SET) ","
                    " outcomes = (select json_group_object(outcome, n) from (select outcome, count(*) as n from measurement"
                    " where run_id = ?1 group by outcome order by outcome)) where " SQL_IS_THE_RUN
                    " and state = 'running'",
    [PUT_MEASUREMENT] = "insert or replace into measurement (run_id, variant_id" MEASUREMENT_COLUMNS(
        COLUMN_NAME) ") values (?, ?" MEASUREMENT_COLUMNS(COLUMN_PLACE) ")",
    /* Copy what the newest run with the same driver and NVRTC found. at_s and attempts are those of this run. */
    [REPEAT_MEASUREMENT] =
        "insert or ignore into measurement (run_id, variant_id, number, at_s, attempts" REPEATED_NAMES ") select"
        " now.id, m.variant_id, (select count(*) + 1 from measurement where run_id = now.id), ?3, 0" REPEATED_VALUES
        " from run now join run r on " SQL_COUNTS_NOW " join measurement m on m.run_id = r.id"
        " where now.id = ?1 and m.variant_id = ?2 order by m.id desc limit 1",
    [CHANGE_MEASUREMENT] = "update measurement set attempts = attempts + ?" MEASUREMENT_VERDICT_COLUMNS(COLUMN_SET)
        MEASUREMENT_TIME_COLUMNS(COLUMN_SET) ", at_s = coalesce(?, at_s) where run_id = ? and variant_id = ?",
    [MARK_MEASUREMENT] = "update measurement set is_marked = 1 where run_id = ?1 and variant_id = ?2",
    [FIND_MEASUREMENT] = "select m.variant_id" MEASUREMENT_COLUMNS(
        COLUMN_OF_M) " from variant v join measurement m on m.variant_id = v.id join run r on r.id = m.run_id"
                     " join run now on now.id = ?1 and " SQL_COUNTS_NOW
                     " where v.source_hash = ?2 and v.template_id = ?3" SQL_SAME_VARIANT(
                         "?4", "?5") " order by m.id desc limit 1",
    [PUT_FINALIST] = "insert or replace into finalist (run_id" FINALIST_COLUMNS(
        COLUMN_NAME) ") values (?" FINALIST_COLUMNS(COLUMN_PLACE) ")",
    /* In every mode, on every GPU of the model, and whatever the name of the stencil is. It begins with the problems of
     * the stencil: a document can name very many GPUs. */
    [FIND_SERVED] =
        "select p.id from run wr join problem wp on wp.id = wr.problem_id join device wd on wd.id = wp.device_id join"
        " stencil ws on ws.id = wp.stencil_id join stencil s on s.hash = ws.hash cross join problem p on p.stencil_id ="
        " s.id cross join device d on d.id = p.device_id and " SQL_SAME_PLACE(
            "wp", "wd", "p",
            "d") " where wr.id = ?1 and (exists (select 1 from best b where b.problem_id = p.id and b.variant_id = ?2) or " SQL_HAS_ALIKE
                 ") order by p.id",
    /* best_choose says later which one is current. */
    [ADD_BEST] = "insert into best (is_current, date, launch, coefficients, cubin" BEST_COLUMNS(
        COLUMN_NAME) ", text_id, origin_id) values (0, ?, ?, ?, ?" BEST_COLUMNS(COLUMN_PLACE) ", (select text_id from run where id = :run), " SQL_OWN_ORIGIN
                                                                                              ")",
    [ASK_ANY_WRONG] = "select " SQL_IS_ANY_WRONG,
    [CHOOSE_BEST] = choose_best_sql,
    [CHOOSE_NOT_WRONG] = choose_not_wrong_sql,
    [FIND_CURRENT] = "select id from best where problem_id = ?1 and is_current",
    [RETIRE_CURRENT] = "update best set is_current = 0 where problem_id = ?1 and is_current",
    [MAKE_CURRENT] = "update best set is_current = 1 where id = ?1",
    [CARRY_CODE] = carry_code_sql,
    [ADOPT_MEASUREMENTS] =
        "update measurement set gpu = (select d.uuid from run r join problem p on p.id = r.problem_id"
        " join device d on d.id = p.device_id where r.id = run_id) where gpu is null and run_id in " SQL_LOST_RUNS,
    [ADOPT_RUNS] = "update run set problem_id = ?1 where id in " SQL_LOST_RUNS,
};
