/* columns.h: the columns that a run stores, each described once: X(column of schema.sql, kind, member).
 *
 * The statements of store_sql.c, and the code that binds and reads their values, are made from these lists. A new
 * column is a line in schema.sql, with a default for the rows of older versions, a line here, and a member of the
 * struct in store.h. The first such column after a release begins a version: a step in migrate.c. Export, import, merge
 * and migration take their columns from the database itself.
 *
 * Kinds:
 *   INTEGER  a whole number or a bool
 *   READING  a whole number; NULL where it is -1: it could not be read
 *   REAL     NULL where it is not finite
 *   AMOUNT   a real number; NULL where it is -1
 *   TEXT     a NULL pointer is stored as ""
 *   NAME     text; NULL where it is ""
 *   OUTCOME  an enum outcome by its name
 *   SAMPLES  the samples of the struct's member `timing` */
#ifndef DB_STORE_COLUMNS_H
#define DB_STORE_COLUMNS_H

/* clang-format off */

/* measurement, without id, run_id and variant_id. Where in the run, and why: */
#define MEASUREMENT_PLACE_COLUMNS(X)                          \
  X(number,          INTEGER, number)                         \
  X(at_s,            REAL,    at_s)                           \
  X(why,             NAME,    why)

/* What came of the variant: */
#define MEASUREMENT_VERDICT_COLUMNS(X)                        \
  X(outcome,         OUTCOME, outcome)                        \
  X(reason,          TEXT,    reason)

/* What each new timing changes: */
#define MEASUREMENT_TIME_COLUMNS(X)                           \
  X(sample_count,    INTEGER, timing.sample_count)            \
  X(median_ms,       REAL,    timing.median_ms)               \
  X(minimum_ms,      REAL,    timing.minimum_ms)              \
  X(low_ms,          REAL,    timing.low_ms)                  \
  X(high_ms,         REAL,    timing.high_ms)                 \
  X(samples,         SAMPLES, timing.samples)                 \
  X(sm_mhz_before,   READING, before.sm_mhz)                  \
  X(sm_mhz_after,    READING, after.sm_mhz)                   \
  X(memory_mhz,      READING, after.memory_mhz)               \
  X(temperature_c,   READING, after.temperature_c)            \
  X(power_w,         AMOUNT,  after.power_w)                  \
  X(throttle,        READING, after.throttle)                 \
  X(gpu,             NAME,    gpu)                            \
  X(is_marked,       INTEGER, is_marked)

/* What each new timing adds to: */
#define MEASUREMENT_COUNT_COLUMNS(X)                          \
  X(attempts,        INTEGER, attempts)

/* What is the same whenever this source runs with one driver and NVRTC: */
#define MEASUREMENT_SOURCE_COLUMNS(X)                         \
  X(rms_error,       REAL,    rms_error)                      \
  X(max_error,       REAL,    max_error)                      \
  X(max_error_units, REAL,    max_error_units)                \
  X(registers,       READING, registers)                      \
  X(shared_bytes,    READING, shared_bytes)                   \
  X(spill_bytes,     READING, spill_bytes)                    \
  X(occupancy,       AMOUNT,  occupancy)                      \
  X(blocks_per_sm,   READING, blocks_per_sm)                  \
  X(threads,         READING, threads)                        \
  X(blocks,          READING, blocks)                         \
  X(compile_ms,      AMOUNT,  compile_ms)

#define MEASUREMENT_COLUMNS(X)                                \
  MEASUREMENT_PLACE_COLUMNS(X)                                \
  MEASUREMENT_VERDICT_COLUMNS(X)                              \
  MEASUREMENT_TIME_COLUMNS(X)                                 \
  MEASUREMENT_COUNT_COLUMNS(X)                                \
  MEASUREMENT_SOURCE_COLUMNS(X)

/* finalist, without run_id. */
#define FINALIST_COLUMNS(X)                                   \
  X(variant_id,      INTEGER, variant)                        \
  X(rank,            INTEGER, rank)                           \
  X(sample_count,    INTEGER, timing.sample_count)            \
  X(median_ms,       REAL,    timing.median_ms)               \
  X(minimum_ms,      REAL,    timing.minimum_ms)              \
  X(low_ms,          REAL,    timing.low_ms)                  \
  X(high_ms,         REAL,    timing.high_ms)                 \
  X(ratio,           REAL,    ratio)                          \
  X(ratio_low,       REAL,    ratio_low)                      \
  X(ratio_high,      REAL,    ratio_high)                     \
  X(samples,         SAMPLES, timing.samples)                 \
  X(is_default,      INTEGER, is_default)                     \
  X(is_tie,          INTEGER, is_tie)                         \
  X(energy_mj,       REAL,    energy_mj)                      \
  X(energy_low_mj,   REAL,    energy_low_mj)                  \
  X(energy_high_mj,  REAL,    energy_high_mj)

/* best, without id, text_id, is_current, date, launch, coefficients, cubin and origin_id. */
#define BEST_COLUMNS(X)                                       \
  X(problem_id,      INTEGER, problem)                        \
  X(variant_id,      INTEGER, variant)                        \
  X(run_id,          READING, run)                            \
  X(time_ms,         REAL,    timing.median_ms)               \
  X(low_ms,          REAL,    timing.low_ms)                  \
  X(high_ms,         REAL,    timing.high_ms)                 \
  X(sample_count,    INTEGER, timing.sample_count)            \
  X(default_ms,      REAL,    default_ms)                     \
  X(roof_ms,         REAL,    roof_ms)                        \
  X(roof_ratio,      REAL,    roof_ratio)                     \
  X(roof_ratio_low,  REAL,    roof_ratio_low)                 \
  X(roof_ratio_high, REAL,    roof_ratio_high)                \
  X(empty_ms,        REAL,    empty_ms)                       \
  X(bytes,           INTEGER, bytes)                          \
  X(rms_error,       REAL,    rms_error)                      \
  X(max_error,       REAL,    max_error)                      \
  X(max_error_units, REAL,    max_error_units)                \
  X(second_grid,     TEXT,    second_grid)                    \
  X(registers,       INTEGER, registers)                      \
  X(steps,           INTEGER, steps)                          \
  X(shared_bytes,    INTEGER, shared_bytes)                   \
  X(occupancy,       REAL,    occupancy)                      \
  X(driver,          TEXT,    driver)                         \
  X(nvrtc,           TEXT,    nvrtc)                          \
  X(arch,            TEXT,    arch)                           \
  X(source,          TEXT,    source)                         \
  X(objective,       NAME,    objective)                      \
  X(energy_mj,       REAL,    energy_mj)

/* What a run gets at its end, without state, ended and outcomes. */
#define RUN_END_COLUMNS(X)                                    \
  X(reason,          TEXT,    reason)                         \
  X(empty_ms,        REAL,    empty_ms)                       \
  X(copy_ms,         REAL,    copy_ms)                        \
  X(memcpy_ms,       REAL,    memcpy_ms)                      \
  X(warnings,        TEXT,    warnings)                       \
  X(idle_w,          REAL,    idle_w)
/* clang-format on */

/* The columns as SQL. Places come without a number: SQLite counts them from the left, as struct binder does. */
#define COLUMN_NAME(column, kind, member) ", " #column
#define COLUMN_OF_M(column, kind, member) ", m." #column
#define COLUMN_PLACE(column, kind, member) ", ?"
#define COLUMN_AS_TEXT(column, kind, member) #column,
#define COLUMN_SET(column, kind, member) ", " #column " = ?"

/* Bind a column's value, out of the struct that `row` points to, with the struct binder that `binder` points to. */
#define COLUMN_BIND(column, kind, member) COLUMN_BIND_##kind(member);
#define COLUMN_BIND_INTEGER(member) bind_integer(binder, row->member)
#define COLUMN_BIND_READING(member) bind_reading(binder, row->member)
#define COLUMN_BIND_REAL(member) bind_real(binder, row->member)
#define COLUMN_BIND_AMOUNT(member) bind_amount(binder, row->member)
#define COLUMN_BIND_TEXT(member) bind_text(binder, row->member)
#define COLUMN_BIND_NAME(member) bind_name(binder, row->member)
#define COLUMN_BIND_OUTCOME(member) bind_text(binder, outcome_name(row->member))
#define COLUMN_BIND_SAMPLES(member) \
  bind_bytes(binder, row->member, row->member ? (size_t)row->timing.sample_count * sizeof *row->member : 0)

#endif
