/* store_sql.c: the SQL of the store, each statement once. Order of places is order of columns. */
#include "db/store/refuted.h"
#include "db/store/store_parts.h"

const char *const store_sql[STORE_QUERY_COUNT] = {
    [FIND_DEVICE] = "select id from device where uuid = ?1",
    [ADD_DEVICE] =
        "insert into device (uuid, name, capability, sm_count, clock_khz, memory_clock_khz, bus_bits, l2_bytes, memory_bytes,"
        " max_threads, max_threads_sm, max_registers, registers_sm, max_shared_bytes, warp_size, is_emulation)"
        " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    [FIND_STENCIL] = "select id from stencil where hash = ?1 and name = ?2",
    [ADD_STENCIL] = "insert into stencil (hash, name, text) values (?1, ?2, ?3)",
    [FIND_TEMPLATE] = "select id from template where hash = ?1",
    [ADD_TEMPLATE] = "insert into template (hash, name, yaml, cuda) values (?1, ?2, ?3, ?4)",
    [FIND_PROBLEM] =
        "select id from problem where stencil_id = ?1 and device_id = ?2 and dtype = ?3 and nx = ?4 and ny = ?5"
        " and nz = ?6 and launch = ?7 and cache = ?8 and is_reproducible = ?9",
    [ADD_PROBLEM] = "insert into problem (stencil_id, device_id, dtype, nx, ny, nz, launch, cache, is_reproducible)"
                    " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [FIND_VARIANT] = "select id from variant where source_hash = ?1 and template_id = ?2",
    [ADD_VARIANT] = "insert into variant (source_hash, template_id, stencil_id, parameters) values (?1, ?2, ?3, ?4)",
    [BEGIN_RUN] =
        "insert into run (state, problem_id, started, command, host, version, driver, cuda, nvrtc, seed, strategy, budget_s,"
        " space, bytes) values ('running', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    [END_RUN] =
        "update run set state = ?2, reason = ?3, ended = ?4, empty_ms = ?5, copy_ms = ?6, memcpy_ms = ?7, warnings = ?8,"
        " outcomes = (select json_group_object(outcome, n) from (select outcome, count(*) as n from measurement"
        " where run_id = ?1 group by outcome order by outcome)) where id = ?1",
    [PUT_MEASUREMENT] =
        "insert or replace into measurement (run_id, variant_id, number, at_s, outcome, reason, sample_count, median_ms,"
        " minimum_ms, low_ms, high_ms, samples, rms_error, max_error, max_error_units, registers, shared_bytes, spill_bytes,"
        " occupancy, blocks_per_sm, threads, blocks, compile_ms, sm_mhz_before, sm_mhz_after, memory_mhz, temperature_c,"
        " power_w, throttle, attempts, is_marked)"
        " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,"
        " ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)",
    /* What the newest trusted run with the same driver and NVRTC found. at_s and attempts are this run's. */
    [REPEAT_MEASUREMENT] =
        "insert or ignore into measurement (run_id, variant_id, number, at_s, outcome, reason, rms_error, max_error,"
        " max_error_units, registers, shared_bytes, spill_bytes, occupancy, blocks_per_sm, threads, blocks, compile_ms, attempts)"
        " select now.id, m.variant_id, (select ifnull(max(number), 0) + 1 from measurement where run_id = now.id), ?3, m.outcome,"
        " m.reason, m.rms_error, m.max_error, m.max_error_units, m.registers, m.shared_bytes, m.spill_bytes, m.occupancy,"
        " m.blocks_per_sm, m.threads, m.blocks, m.compile_ms, 0"
        " from run now join run r on r.problem_id = now.problem_id and r.driver = now.driver and r.nvrtc = now.nvrtc"
        " and r.is_trusted join measurement m on m.run_id = r.id where now.id = ?1 and m.variant_id = ?2 order by m.id desc limit 1",
    [CHANGE_MEASUREMENT] =
        "update measurement set outcome = ?3, reason = ?4, sample_count = ?5, median_ms = ?6, minimum_ms = ?7, low_ms = ?8,"
        " high_ms = ?9, samples = ?10, sm_mhz_before = ?11, sm_mhz_after = ?12, memory_mhz = ?13, temperature_c = ?14, power_w = ?15,"
        " throttle = ?16, attempts = attempts + ?17, is_marked = ?18 where run_id = ?1 and variant_id = ?2",
    [MARK_MEASUREMENT] = "update measurement set is_marked = 1 where run_id = ?1 and variant_id = ?2",
    [FIND_MEASUREMENT] =
        "select m.variant_id, m.number, m.at_s, m.outcome, m.reason, m.sample_count, m.median_ms, m.minimum_ms, m.low_ms,"
        " m.high_ms, m.samples, m.rms_error, m.max_error, m.max_error_units, m.registers, m.shared_bytes, m.spill_bytes,"
        " m.occupancy, m.blocks_per_sm, m.threads, m.blocks, m.compile_ms, m.sm_mhz_before, m.sm_mhz_after, m.memory_mhz,"
        " m.temperature_c, m.power_w, m.throttle, m.attempts, m.is_marked"
        " from variant v join measurement m on m.variant_id = v.id join run r on r.id = m.run_id"
        " join run now on now.id = ?1 and now.problem_id = r.problem_id and now.driver = r.driver and now.nvrtc = r.nvrtc"
        " and r.is_trusted where v.source_hash = ?2 and v.template_id = ?3 order by m.id desc limit 1",
    [PUT_FINALIST] =
        "insert or replace into finalist (run_id, variant_id, rank, sample_count, median_ms, minimum_ms, low_ms, high_ms, ratio,"
        " ratio_low, ratio_high, samples, is_default, is_tie)"
        " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    [FIND_CURRENT] = "select id, variant_id, driver, nvrtc, time_ms, is_trusted,"
                     " coalesce((select state <> 'partial' from run where run.id = run_id), 1)"
                     " from best where problem_id = ?1 and is_current",
    [RETIRE_CURRENT] = "update best set is_current = 0 where problem_id = ?1 and is_current",
    /* In every mode, and on every GPU of the model. */
    [RETIRE_VARIANT] =
        "update best set is_current = 0 where is_current and variant_id = ?2 and problem_id in (select p.id"
        " from run wr join problem wp on wp.id = wr.problem_id join device wd on wd.id = wp.device_id"
        " join problem p join device d on d.id = p.device_id where wr.id = ?1"
        " and " SQL_SAME_PLACE("wp", "wd", "p", "d") ")",
    [ADD_BEST] =
        "insert into best (is_trusted, problem_id, variant_id, run_id, is_current, origin, date, time_ms, low_ms, high_ms,"
        " sample_count, default_ms, roof_ms, roof_ratio, roof_ratio_low, roof_ratio_high, empty_ms, bytes, rms_error,"
        " max_error, max_error_units, second_grid, registers, shared_bytes, occupancy, launch, coefficients, driver, nvrtc,"
        " arch, source, cubin)"
        " values (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,"
        " ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)",
};
