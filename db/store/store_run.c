/* store_run.c: a run begins, gathers results one by one, and ends; store_final.c adds what its final rounds found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/store_parts.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are stored as they lie in memory");

int64_t store_run_begin(struct store *store, const struct run_start *start) {
  char date[DATE_BYTES];
  struct binder binder;
  if (store_bind(store, BEGIN_RUN, &binder) != HALOTUNE_OK) return 0;
  date_now(date);
  bind_integer(&binder, start->problem);
  bind_text(&binder, date);
  bind_text(&binder, start->command);
  bind_text(&binder, start->host);
  bind_text(&binder, HALOTUNE_VERSION);
  bind_text(&binder, start->driver);
  bind_integer(&binder, start->cuda);
  bind_text(&binder, start->nvrtc);
  bind_integer(&binder, (int64_t)start->seed);
  bind_text(&binder, start->strategy);
  bind_real(&binder, start->budget_s);
  bind_integer(&binder, start->space);
  bind_integer(&binder, start->bytes);
  return query_run(binder.query, NULL) == HALOTUNE_OK ? sqlite3_last_insert_rowid(store->connection) : 0;
}

halotune_status store_run_end(struct store *store, int64_t run, const struct run_end *end) {
  char date[DATE_BYTES];
  struct binder binder;
  halotune_status status = store_bind(store, END_RUN, &binder);
  if (status != HALOTUNE_OK) return status;
  date_now(date);
  bind_integer(&binder, run);
  bind_text(&binder, end->is_complete ? "complete" : "partial");
  bind_text(&binder, end->reason);
  bind_text(&binder, date);
  bind_real(&binder, end->empty_ms);
  bind_real(&binder, end->copy_ms);
  bind_real(&binder, end->memcpy_ms);
  bind_text(&binder, end->warnings);
  return query_run(binder.query, NULL);
}

void bind_samples(struct binder *binder, const struct timing *timing) {
  bind_bytes(binder, timing->samples, timing->samples ? (size_t)timing->sample_count * sizeof *timing->samples : 0);
}

/* The interval of a single value is not known (NaN); it is stored as that value, beside a count of 1. */
static double bound(double bound_ms, const struct timing *timing) {
  return timing->sample_count == 1 && isnan(bound_ms) ? timing->median_ms : bound_ms;
}

void bind_interval(struct binder *binder, const struct timing *timing) {
  bind_real(binder, bound(timing->low_ms, timing));
  bind_real(binder, bound(timing->high_ms, timing));
}

/* Without samples there is no time. */
static void bind_timing(struct binder *binder, const struct timing *given) {
  const struct timing none = {0, NAN, NAN, NAN, NAN, NULL}, *timing = given->sample_count > 0 ? given : &none;
  bind_integer(binder, timing->sample_count);
  bind_real(binder, timing->median_ms);
  bind_real(binder, timing->minimum_ms);
  bind_interval(binder, timing);
  bind_samples(binder, timing);
}

static void bind_readings(struct binder *binder, const struct measurement *m) {
  bind_reading(binder, m->before.sm_mhz);
  bind_reading(binder, m->after.sm_mhz);
  bind_reading(binder, m->after.memory_mhz);
  bind_reading(binder, m->after.temperature_c);
  bind_real(binder, m->after.power_w >= 0 ? m->after.power_w : NAN);
  bind_reading(binder, m->after.throttle);
  bind_integer(binder, m->attempts);
  bind_integer(binder, m->is_marked);
}

static void bind_measurement(struct binder *binder, int64_t run, int64_t variant, const struct measurement *m) {
  bind_integer(binder, run);
  bind_integer(binder, variant);
  bind_integer(binder, m->number);
  bind_real(binder, m->at_s);
  bind_text(binder, outcome_name(m->outcome));
  bind_text(binder, m->reason);
  bind_timing(binder, &m->timing);
  bind_real(binder, m->rms_error);
  bind_real(binder, m->max_error);
  bind_real(binder, m->max_error_units);
  bind_reading(binder, m->registers);
  bind_reading(binder, m->shared_bytes);
  bind_reading(binder, m->spill_bytes);
  bind_real(binder, m->occupancy >= 0 ? m->occupancy : NAN);
  bind_reading(binder, m->blocks_per_sm);
  bind_reading(binder, m->threads);
  bind_reading(binder, m->blocks);
  bind_real(binder, m->compile_ms >= 0 ? m->compile_ms : NAN);
  bind_readings(binder, m);
}

/* What computes something wrong is not to be served, whatever was known of it. */
static halotune_status retire_if_wrong(struct store *store, int64_t run, int64_t variant, enum outcome outcome) {
  struct binder binder;
  if (outcome != OUTCOME_WRONG && outcome != OUTCOME_OUT_OF_BOUNDS) return HALOTUNE_OK;
  halotune_status status = store_bind(store, RETIRE_VARIANT, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, run);
  bind_integer(&binder, variant);
  return query_run(binder.query, NULL);
}

halotune_status store_measurement(struct store *store, int64_t run, const struct variant_key *key,
                                  const struct measurement *measurement, int64_t *variant) {
  struct binder binder;
  int64_t id = 0;
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  status = store_variant(store, key, &id);
  if (status == HALOTUNE_OK) status = store_bind(store, PUT_MEASUREMENT, &binder);
  if (status == HALOTUNE_OK) {
    bind_measurement(&binder, run, id, measurement);
    status = query_run(binder.query, NULL);
  }
  if (status == HALOTUNE_OK) status = retire_if_wrong(store, run, id, measurement->outcome);
  status = query_finish(store->connection, status);
  if (status == HALOTUNE_OK && variant) *variant = id;
  return status;
}

/* A row of this run, where there is none yet. */
static halotune_status repeat(struct store *store, int64_t run, int64_t variant, double at_s) {
  struct binder binder;
  halotune_status status = store_bind(store, REPEAT_MEASUREMENT, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, run);
  bind_integer(&binder, variant);
  bind_real(&binder, at_s);
  return query_run(binder.query, NULL);
}

static halotune_status change(struct store *store, int64_t run, int64_t variant, const struct measurement *again) {
  struct binder binder;
  halotune_status status = store_bind(store, CHANGE_MEASUREMENT, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, run);
  bind_integer(&binder, variant);
  bind_text(&binder, outcome_name(again->outcome));
  bind_text(&binder, again->reason);
  bind_timing(&binder, &again->timing);
  bind_readings(&binder, again);
  return query_run(binder.query, NULL);
}

halotune_status store_measured_again(struct store *store, int64_t run, int64_t variant,
                                     const struct measurement *again) {
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  status = repeat(store, run, variant, again->at_s);
  if (status == HALOTUNE_OK) status = change(store, run, variant, again);
  if (status == HALOTUNE_OK) status = retire_if_wrong(store, run, variant, again->outcome);
  return query_finish(store->connection, status);
}

static halotune_status mark_one(struct store *store, int64_t run, int64_t variant) {
  struct binder binder;
  halotune_status status = store_bind(store, MARK_MEASUREMENT, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, run);
  bind_integer(&binder, variant);
  return query_run(binder.query, NULL);
}

halotune_status store_mark(struct store *store, int64_t run, const int64_t *variants, long count) {
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  for (long i = 0; i < count && status == HALOTUNE_OK; i++) status = mark_one(store, run, variants[i]);
  return query_finish(store->connection, status);
}

/* Samples of the present row, kept until the next call. A blob of another length than the count says is left alone. */
static const float *keep_samples(struct store *store, sqlite3_stmt *query, int column, int count) {
  size_t bytes = (size_t)sqlite3_column_bytes(query, column);
  free(store->samples);
  store->samples = NULL;
  if (count <= 0 || bytes != (size_t)count * sizeof *store->samples) return NULL;
  if ((store->samples = malloc(bytes))) memcpy(store->samples, sqlite3_column_blob(query, column), bytes);
  return store->samples;
}

/* Columns as FIND_MEASUREMENT lists them. */
static halotune_status read_measurement(struct store *store, sqlite3_stmt *query, struct measurement *out,
                                        int64_t *variant) {
  int at = 0;
  if (variant) *variant = sqlite3_column_int64(query, at);
  struct measurement m = {.number = (long)sqlite3_column_int64(query, ++at)};
  m.at_s = column_real(query, ++at);
  const char *outcome = column_text(query, ++at);
  if (!outcome_find(outcome, &m.outcome))
    return fail(HALOTUNE_DB, "%s: there is no outcome '%s'", store->path, outcome);
  free(store->reason);
  m.reason = store->reason = strdup(column_text(query, ++at));
  if (!m.reason) return fail_memory();
  m.timing.sample_count = (int)sqlite3_column_int64(query, ++at);
  m.timing.median_ms = column_real(query, ++at);
  m.timing.minimum_ms = column_real(query, ++at);
  m.timing.low_ms = column_real(query, ++at);
  m.timing.high_ms = column_real(query, ++at);
  m.timing.samples = keep_samples(store, query, ++at, m.timing.sample_count);
  m.rms_error = column_real(query, ++at);
  m.max_error = column_real(query, ++at);
  m.max_error_units = column_real(query, ++at);
  m.registers = (int)column_reading(query, ++at);
  m.shared_bytes = (int)column_reading(query, ++at);
  m.spill_bytes = (int)column_reading(query, ++at);
  m.occupancy = column_real(query, ++at);
  m.blocks_per_sm = (int)column_reading(query, ++at);
  m.threads = (long)column_reading(query, ++at);
  m.blocks = (long)column_reading(query, ++at);
  m.compile_ms = column_real(query, ++at);
  m.before = (struct gpu_reading){-1, -1, -1, -1, -1};
  m.before.sm_mhz = (int)column_reading(query, ++at);
  m.after.sm_mhz = (int)column_reading(query, ++at);
  m.after.memory_mhz = (int)column_reading(query, ++at);
  m.after.temperature_c = (int)column_reading(query, ++at);
  m.after.power_w = column_real(query, ++at);
  m.after.throttle = column_reading(query, ++at);
  m.attempts = (int)sqlite3_column_int64(query, ++at);
  m.is_marked = sqlite3_column_int(query, ++at) != 0;
  if (isnan(m.occupancy)) m.occupancy = -1; /* as they were given to store_measurement */
  if (isnan(m.compile_ms)) m.compile_ms = -1;
  if (isnan(m.after.power_w)) m.after.power_w = -1;
  *out = m;
  return HALOTUNE_OK;
}

halotune_status store_find_measurement(struct store *store, int64_t run, const struct variant_key *key,
                                       struct measurement *out, int64_t *variant) {
  char source[HASH_HEX_BYTES];
  struct binder binder;
  halotune_status status = store_bind(store, FIND_MEASUREMENT, &binder);
  if (status != HALOTUNE_OK) return status;
  hash_hex(key->source, source);
  bind_integer(&binder, run);
  bind_text(&binder, source);
  bind_integer(&binder, key->template_id);
  int code = sqlite3_step(binder.query);
  if (code == SQLITE_ROW) status = read_measurement(store, binder.query, out, variant);
  else if (code == SQLITE_DONE) status = fail(HALOTUNE_NOT_FOUND, "this variant was not measured yet");
  else status = query_fail(store->connection);
  sqlite3_reset(binder.query);
  sqlite3_clear_bindings(binder.query);
  return status;
}
