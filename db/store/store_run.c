/* store_run.c: begins a run, stores its results one by one, and ends it. store_final.c stores the results of its final
 * rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/date.h"
#include "db/store/columns.h"
#include "db/store/current_best.h"
#include "db/store/launch_text.h"
#include "db/store/store_parts.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are stored as they lie in memory");

static halotune_status keep_text(void *context, sqlite3_stmt *row) {
  char **text = context;
  return (*text = strdup(column_text(row, 0))) ? HALOTUNE_OK : fail_memory();
}

/* Note what tells the run from all others. */
static halotune_status begun_add(struct store *store, int64_t id) {
  struct binder binder;
  char *key = NULL;
  if (!array_room(store->begun, store->begun_count, store->begun_room)) return fail_memory();
  halotune_status status = store_bind(store, FIND_RUN_KEY, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, id);
  status = query_each(binder.query, keep_text, &key);
  sqlite3_reset(binder.query);
  if (status == HALOTUNE_OK && key) store->begun[store->begun_count++] = (struct begun_run){id, key};
  else free(key);
  return status;
}

/* Bind what tells this run from all others. The newest run with the id counts. */
static void bind_run_key(const struct store *store, sqlite3_stmt *query, int64_t run) {
  const char *key = "";
  for (int i = store->begun_count - 1; i >= 0 && !*key; i--) {
    if (store->begun[i].id == run) key = store->begun[i].key;
  }
  sqlite3_bind_text(query, sqlite3_bind_parameter_index(query, ":key"), key, -1, SQLITE_STATIC);
}

int64_t store_run_begin(struct store *store, const struct run_start *start) {
  char date[DATE_TEXT_BYTES];
  struct binder binder;
  int64_t id = 0;
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return 0;
  if ((status = store_bind(store, BEGIN_RUN, &binder)) != HALOTUNE_OK) goto done;
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
  bind_integer(&binder, start->text);
  bind_text(&binder, objective_names[start->objective]);
  bind_real(&binder, start->power_limit_w);
  status = query_run(binder.query, NULL);
  id = sqlite3_last_insert_rowid(store->connection);
  if (status == HALOTUNE_OK) status = begun_add(store, id);
done:
  return store_end(store, status) == HALOTUNE_OK ? id : 0;
}

/* Find the row of a run. `found` receives 0 if there is none, also if another run has the id now. */
static halotune_status find_run(struct store *store, enum store_query query, int64_t run, int64_t *found) {
  struct binder binder;
  *found = 0;
  halotune_status status = store_bind(store, query, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, run);
  bind_run_key(store, binder.query, run);
  return query_run(binder.query, found);
}

/* A process that was stopped for so long that others took it for lost must store nothing more: they go on with its
 * task. Nor may a process whose run was removed: its id may be that of another run now. */
static halotune_status fail_ended(struct store *store, int64_t run) {
  int64_t found;
  const halotune_status status = find_run(store, FIND_OWN_RUN, run, &found);
  if (status != HALOTUNE_OK) return status;
  if (found == 0)
    return fail(HALOTUNE_DB,
                "%s: run %lld and its results are gone: another process has removed them, as"
                " 'halotune db forget' does",
                store->path, (long long)run);
  return fail(HALOTUNE_DB, "%s: another process has ended run %lld, because it took this process for dead", store->path,
              (long long)run);
}

halotune_status store_require_open(struct store *store, int64_t run) {
  int64_t found;
  const halotune_status status = find_run(store, FIND_OPEN_RUN, run, &found);
  return status == HALOTUNE_OK && found == 0 ? fail_ended(store, run) : status;
}

halotune_status store_run_close(struct store *store, int64_t run, const struct run_end *end, bool *was_open) {
  char date[DATE_TEXT_BYTES];
  struct run_end stored = *end, *row = &stored;
  struct binder places, *binder = &places;
  halotune_status status = store_bind(store, END_RUN, binder);
  *was_open = false;
  if (status != HALOTUNE_OK) return status;
  date_now(date);
  if (!(stored.idle_w > 0)) stored.idle_w = NAN;
  bind_integer(binder, run);
  bind_text(binder, row->is_complete ? "complete" : "partial");
  bind_text(binder, date);
  RUN_END_COLUMNS(COLUMN_BIND)
  bind_run_key(store, places.query, run);
  status = query_run(places.query, NULL);
  *was_open = sqlite3_changes(store->connection) > 0;
  return status;
}

halotune_status store_run_end(struct store *store, int64_t run, const struct run_end *end) {
  bool was_open;
  const halotune_status status = store_run_close(store, run, end, &was_open);
  return status == HALOTUNE_OK && !was_open ? fail_ended(store, run) : status;
}

/* The interval of a single value is not known (NaN). It is stored as that value, with the count 1. */
static double stored_bound(double bound_ms, const struct timing *timing) {
  return timing->sample_count == 1 && isnan(bound_ms) ? timing->median_ms : bound_ms;
}

struct timing timing_to_store(const struct timing *timing) {
  struct timing stored = *timing;
  stored.low_ms = stored_bound(timing->low_ms, timing);
  stored.high_ms = stored_bound(timing->high_ms, timing);
  return stored;
}

/* Ids of problems. */
struct problems {
  int64_t *list;
  int count, room;
};

static halotune_status take_problem(void *context, sqlite3_stmt *row) {
  struct problems *problems = context;
  if (!array_room(problems->list, problems->count, problems->room)) return fail_memory();
  problems->list[problems->count++] = sqlite3_column_int64(row, 0);
  return HALOTUNE_OK;
}

/* Choose the current best of each problem that a new result of a variant decides about: those for which the variant has
 * won, on this grid, in every mode and on every GPU of the model. Few variants have. */
static halotune_status choose_served(struct store *store, int64_t run, int64_t variant) {
  struct problems problems = {.count = 0};
  struct binder binder;
  int64_t winner;
  halotune_status status = store_bind(store, FIND_SERVED, &binder);
  if (status == HALOTUNE_OK) {
    bind_integer(&binder, run);
    bind_integer(&binder, variant);
    status = query_each(binder.query, take_problem, &problems);
    sqlite3_reset(binder.query);
  }
  for (int i = 0; i < problems.count && status == HALOTUNE_OK; i++)
    status = best_choose(store, problems.list[i], &winner);
  free(problems.list);
  return status;
}

/* Without samples there is no time. */
static struct measurement measurement_to_store(const struct measurement *measurement) {
  struct measurement stored = *measurement;
  if (measurement->timing.sample_count > 0) stored.timing = timing_to_store(&measurement->timing);
  else stored.timing = (struct timing){0, NAN, NAN, NAN, NAN, NULL};
  return stored;
}

static void measurement_bind(struct binder *binder, int64_t run, int64_t variant,
                             const struct measurement *measurement) {
  const struct measurement stored = measurement_to_store(measurement), *row = &stored;
  bind_integer(binder, run);
  bind_integer(binder, variant);
  MEASUREMENT_COLUMNS(COLUMN_BIND)
}

halotune_status store_measurement(struct store *store, int64_t run, const struct variant_key *key,
                                  const struct measurement *measurement, int64_t *variant) {
  struct binder binder;
  int64_t id = 0;
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  status = store_require_open(store, run);
  if (status == HALOTUNE_OK) status = store_variant(store, key, &id);
  if (status == HALOTUNE_OK) status = store_bind(store, PUT_MEASUREMENT, &binder);
  if (status == HALOTUNE_OK) {
    measurement_bind(&binder, run, id, measurement);
    status = query_run(binder.query, NULL);
  }
  if (status == HALOTUNE_OK) status = choose_served(store, run, id);
  status = store_end(store, status);
  if (status == HALOTUNE_OK && variant) *variant = id;
  return status;
}

/* Add a row for this run, if there is none yet. */
static halotune_status measurement_repeat(struct store *store, int64_t run, int64_t variant, double at_s) {
  struct binder binder;
  halotune_status status = store_bind(store, REPEAT_MEASUREMENT, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, run);
  bind_integer(&binder, variant);
  bind_real(&binder, at_s);
  return query_run(binder.query, NULL);
}

static halotune_status measurement_change(struct store *store, int64_t run, int64_t variant,
                                          const struct measurement *again) {
  const struct measurement stored = measurement_to_store(again), *row = &stored;
  struct binder places, *binder = &places;
  halotune_status status = store_bind(store, CHANGE_MEASUREMENT, binder);
  if (status != HALOTUNE_OK) return status;
  MEASUREMENT_COUNT_COLUMNS(COLUMN_BIND)
  MEASUREMENT_VERDICT_COLUMNS(COLUMN_BIND)
  MEASUREMENT_TIME_COLUMNS(COLUMN_BIND)
  bind_real(binder, outcome_is_wrong(again->outcome) ? again->at_s : (double)NAN); /* the date of the verdict */
  bind_integer(binder, run);
  bind_integer(binder, variant);
  return query_run(places.query, NULL);
}

halotune_status store_measured_again(struct store *store, int64_t run, int64_t variant,
                                     const struct measurement *again) {
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  status = store_require_open(store, run);
  if (status == HALOTUNE_OK) status = measurement_repeat(store, run, variant, again->at_s);
  if (status == HALOTUNE_OK) status = measurement_change(store, run, variant, again);
  if (status == HALOTUNE_OK) status = choose_served(store, run, variant);
  return store_end(store, status);
}

static halotune_status measurement_mark(struct store *store, int64_t run, int64_t variant) {
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
  status = store_require_open(store, run);
  for (long i = 0; i < count && status == HALOTUNE_OK; i++) status = measurement_mark(store, run, variants[i]);
  return store_end(store, status);
}

/* Keep the samples of the present row until the next call. A blob whose length does not fit the count is not read.
 */
static const float *samples_keep(struct store *store, sqlite3_stmt *query, int column, int count) {
  size_t bytes = (size_t)sqlite3_column_bytes(query, column);
  free(store->samples);
  store->samples = NULL;
  if (count <= 0 || bytes != (size_t)count * sizeof *store->samples) return NULL;
  if ((store->samples = malloc(bytes))) memcpy(store->samples, sqlite3_column_blob(query, column), bytes);
  return store->samples;
}

/* Keep the text of the present row until the next call; NULL when memory is out. */
static const char *reason_keep(struct store *store, sqlite3_stmt *query, int column) {
  free(store->reason);
  return store->reason = strdup(column_text(query, column));
}

/* An outcome that this program does not know becomes OUTCOME_COUNT. */
static enum outcome column_outcome(sqlite3_stmt *query, int column) {
  enum outcome outcome = OUTCOME_COUNT;
  return outcome_find(column_text(query, column), &outcome) ? outcome : OUTCOME_COUNT;
}

#define COLUMN_READ(column, kind, member) COLUMN_READ_##kind(m.member, ++at);
#define COLUMN_READ_INTEGER(member, at) member = sqlite3_column_int64(query, at)
#define COLUMN_READ_READING(member, at) member = column_reading(query, at)
#define COLUMN_READ_REAL(member, at) member = column_real(query, at)
#define COLUMN_READ_AMOUNT(member, at) member = column_amount(query, at)
#define COLUMN_READ_TEXT(member, at) member = reason_keep(store, query, at)
#define COLUMN_READ_NAME(member, at) snprintf(member, sizeof(member), "%s", column_text(query, at))
#define COLUMN_READ_OUTCOME(member, at) member = column_outcome(query, at)
#define COLUMN_READ_SAMPLES(member, at) member = samples_keep(store, query, at, m.timing.sample_count)

/* Read a row of FIND_MEASUREMENT. */
static halotune_status measurement_read(struct store *store, sqlite3_stmt *query, struct measurement *out,
                                        int64_t *variant) {
  struct measurement m = {.before = {-1, -1, -1, -1, -1}};
  int at = 0;
  if (variant) *variant = sqlite3_column_int64(query, at);
  MEASUREMENT_COLUMNS(COLUMN_READ)
  if (m.outcome == OUTCOME_COUNT)
    return fail(HALOTUNE_DB, "%s: measurement %ld of a run has an outcome that this Halotune does not know",
                store->path, m.number);
  if (!m.reason) return fail_memory();
  *out = m;
  return HALOTUNE_OK;
}

/* Read the newest result of a variant for the problem of a run, as bound. */
static halotune_status measurement_find(struct store *store, sqlite3_stmt *query, struct measurement *out,
                                        int64_t *variant) {
  const int code = sqlite3_step(query);
  halotune_status status;
  if (code == SQLITE_ROW) status = measurement_read(store, query, out, variant);
  else if (code == SQLITE_DONE) status = fail(HALOTUNE_NOT_FOUND, "this variant was not measured yet");
  else status = query_fail(store->connection);
  sqlite3_reset(query);
  sqlite3_clear_bindings(query);
  return status;
}

halotune_status store_find_measurement(struct store *store, int64_t run, const struct variant_key *key,
                                       struct measurement *out, int64_t *variant) {
  char source[IDENTITY_HEX_BYTES];
  struct text parameters = {0};
  struct binder binder;
  halotune_status status = store_bind(store, FIND_MEASUREMENT, &binder);
  if (status != HALOTUNE_OK) return status;
  identity_hex(key->source, source);
  configuration_write(key->template, key->configuration, &parameters);
  bind_integer(&binder, run);
  bind_text(&binder, source);
  bind_integer(&binder, key->template_id);
  bind_integer(&binder, key->stencil);
  bind_text(&binder, text_string(&parameters));
  status = text_ok(&parameters) ? measurement_find(store, binder.query, out, variant) : fail_memory();
  text_free(&parameters);
  return status;
}
