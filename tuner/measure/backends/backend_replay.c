/* backend_replay.c: answers from the results of a database. */
#include "tuner/measure/backends/backend_replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/identity/hash.h"
#include "base/memory/array.h"
#include "base/numbers/random.h"
#include "base/system/clock.h"
#include "db/store/check.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"

/* The newest result of one variant. */
struct record {
  struct hash key; /* hash of template and parameters, as today's template writes them */
  enum outcome outcome;
  double median_ms, rms_error, max_error, max_error_units, compile_ms; /* compile_ms: 0 if not recorded */
  bool is_compiled;                                                    /* its compile has ended in this replay */
  float *samples;                                                      /* NULL: none were stored */
  int sample_count;
  char *reason, *template, *parameters;
  struct recorded_kernel kernel;
};

/* The clock of a replay. It advances by the recorded times of compilers and GPU. */
struct replay_clock {
  double now_ms;
  int in_flight;                          /* variants that compile at a time */
  double ended_ms[REPLAY_MOST_IN_FLIGHT]; /* when each of the last `in_flight` variants had its result: a ring */
  long ended;
};

struct replay {
  struct store *store;
  struct replay_clock clock;
  int64_t device;
  struct record *records; /* records of the problem */
  struct record **by_key; /* the records in the order of their keys */
  long count;
  const struct template **bound; /* templates whose records have their keys */
  int bound_count, bound_capacity;
  const struct record *slots[BACKEND_SLOTS];
  bool is_roof[BACKEND_SLOTS];
  double copy_ms, memcpy_ms, empty_ms;
  uint64_t drawn; /* samples so far */
};

/* The device with the most results. SQLite takes driver, cuda and nvrtc from the row with the largest `started`. */
static const char device_sql[] =
    "select d.id, d.uuid, d.name, d.capability, d.sm_count, d.clock_khz, d.memory_clock_khz, d.bus_bits, d.l2_bytes, d.memory_bytes,"
    " d.max_threads, d.max_threads_sm, d.max_registers, d.registers_sm, d.max_shared_bytes, d.warp_size, d.is_emulation,"
    " r.driver, r.cuda, r.nvrtc, max(r.started)"
    " from device d join problem p on p.device_id = d.id join run r on r.problem_id = p.id join measurement m on m.run_id = r.id"
    " group by d.id order by count(*) desc limit 1";

static void read_device(sqlite3_stmt *query, struct replay *replay, struct backend_facts *facts) {
  struct device_facts *device = &facts->device;
  int column = 0;
  replay->device = sqlite3_column_int64(query, column++);
  snprintf(device->uuid, sizeof device->uuid, "%s", column_text(query, column++));
  snprintf(device->name, sizeof device->name, "%s", column_text(query, column++));
  int *const numbers[] = {&device->capability,       &device->sm_count, &device->clock_khz,
                          &device->memory_clock_khz, &device->bus_bits, &device->l2_bytes};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = sqlite3_column_int(query, column++);
  device->memory_bytes = (size_t)sqlite3_column_int64(query, column++);
  int *const limits[] = {&device->limits.max_threads,  &device->limits.max_threads_sm,   &device->limits.max_registers,
                         &device->limits.registers_sm, &device->limits.max_shared_bytes, &device->limits.warp_size};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) *limits[i] = sqlite3_column_int(query, column++);
  device->limits.capability = device->capability;
  device->limits.multiprocessors = device->sm_count;
  facts->is_emulation = sqlite3_column_int(query, column++) != 0;
  snprintf(facts->driver, sizeof facts->driver, "%s", column_text(query, column++));
  facts->cuda = sqlite3_column_int(query, column++);
  snprintf(facts->nvrtc, sizeof facts->nvrtc, "%s", column_text(query, column));
  facts->arch = arch_find(device->capability / 10, device->capability % 10);
  facts->is_recording = true;
}

static halotune_status find_device(struct replay *replay, struct backend_facts *facts) {
  sqlite3_stmt *query;
  halotune_status status = query_prepare(store_connection(replay->store), device_sql, &query);
  if (status != HALOTUNE_OK) return status;
  const int code = sqlite3_step(query);
  if (code == SQLITE_ROW) read_device(query, replay, facts);
  else if (code == SQLITE_DONE)
    status = fail(HALOTUNE_NOT_FOUND, "%s has no results to replay", store_path(replay->store));
  else status = query_fail(store_connection(replay->store));
  sqlite3_finalize(query);
  if (status == HALOTUNE_OK && !facts->arch) {
    status =
        fail(HALOTUNE_ARGUMENT, "%s: nothing is known of sm_%d", store_path(replay->store), facts->device.capability);
  }
  return status;
}

/* Find the key of a variant. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
static halotune_status key_of(const char *template, const char *parameters, struct hash *out) {
  struct text text = {0};
  text_printf(&text, "%s %s", template, parameters);
  const bool is_complete = text_ok(&text);
  *out = hash_bytes(text_string(&text), text.length);
  text_free(&text);
  return is_complete ? HALOTUNE_OK : fail_memory();
}

/* The same for a configuration, as today's template writes it. */
static halotune_status key_of_configuration(const struct template *template, const struct configuration *configuration,
                                            struct hash *out) {
  struct text parameters = {0};
  configuration_write(template, configuration, &parameters);
  const halotune_status status =
      text_ok(&parameters) ? key_of(template->name, text_string(&parameters), out) : fail_memory();
  text_free(&parameters);
  return status;
}

static int compare_keys(const void *left, const void *right) {
  return hash_compare((*(struct record *const *)left)->key, (*(struct record *const *)right)->key);
}

static void free_records(struct replay *replay) {
  for (long i = 0; i < replay->count; i++) {
    free(replay->records[i].samples);
    free(replay->records[i].reason);
    free(replay->records[i].template);
    free(replay->records[i].parameters);
  }
  free(replay->records);
  free(replay->by_key);
  replay->records = NULL;
  replay->by_key = NULL;
  replay->count = 0;
  replay->bound_count = 0;
  memset(replay->slots, 0, sizeof replay->slots);
  memset(replay->is_roof, 0, sizeof replay->is_roof);
}

/* A copy of a column's text. Every stored row has it, so that NULL means that memory is out. */
static char *text_copy(sqlite3_stmt *query, int column) {
  const char *text = (const char *)sqlite3_column_text(query, column);
  return text ? strdup(text) : NULL;
}

static bool has_all_texts(sqlite3_stmt *query) {
  static const int texts[] = {0, 1, 2, 4};
  for (size_t i = 0; i < COUNT(texts); i++) {
    if (sqlite3_column_type(query, texts[i]) != SQLITE_TEXT) return false;
  }
  return true;
}

static halotune_status read_record(sqlite3_stmt *query, struct record *out) {
  *out = (struct record){.samples = NULL};
  if (!has_all_texts(query))
    return fail(HALOTUNE_DB, "a result of the recording has no template, parameters, outcome or reason");
  const char *outcome = column_text(query, 2);
  const void *samples = sqlite3_column_blob(query, 5);
  size_t bytes = (size_t)sqlite3_column_bytes(query, 5);
  *out = (struct record){.median_ms = column_real(query, 3),
                         .reason = text_copy(query, 4),
                         .template = text_copy(query, 0),
                         .parameters = text_copy(query, 1),
                         .rms_error = column_real(query, 6),
                         .max_error = column_real(query, 7),
                         .max_error_units = column_real(query, 8),
                         .compile_ms = fmax(column_real(query, 18), 0)};
  out->kernel = (struct recorded_kernel){.is_known = true,
                                         .registers = (int)column_reading(query, 13),
                                         .shared_bytes = (int)column_reading(query, 14),
                                         .spill_bytes = (int)column_reading(query, 15),
                                         .blocks_per_sm = (int)column_reading(query, 16),
                                         .occupancy = column_real(query, 17)};
  if (!out->reason || !out->template || !out->parameters) return fail_memory();
  const halotune_status status = key_of(out->template, out->parameters, &out->key);
  if (status != HALOTUNE_OK) return status;
  if (!outcome_find(outcome, &out->outcome)) return fail(HALOTUNE_DB, "the recording has an outcome '%s'", outcome);
  if (outcome_has_time(out->outcome) && isnan(out->median_ms))
    return fail(HALOTUNE_DB, "a result of the recording has no time");
  out->sample_count = (int)(bytes / sizeof(float));
  if (out->sample_count == 0) return HALOTUNE_OK;
  out->samples = malloc(bytes);
  if (!out->samples) return fail_memory();
  memcpy(out->samples, samples, bytes);
  return HALOTUNE_OK;
}

/* The newest result of each variant. */
static const char records_sql[] =
    "select t.name, v.parameters, m.outcome, m.median_ms, m.reason, m.samples, m.rms_error, m.max_error, m.max_error_units,"
    " max(m.id), r.copy_ms, r.memcpy_ms, r.empty_ms, m.registers, m.shared_bytes, m.spill_bytes, m.blocks_per_sm, m.occupancy,"
    " m.compile_ms"
    " from measurement m join run r on r.id = m.run_id join problem p on p.id = r.problem_id join stencil s on s.id = p.stencil_id"
    " join variant v on v.id = m.variant_id join template t on t.id = v.template_id"
    " where p.device_id = ?1 and s.hash = ?2 and p.dtype = ?3 and p.nx = ?4 and p.ny = ?5 and p.nz = ?6 and p.cache = ?7"
    " and p.is_reproducible = ?8 and p.steps = ?9 and p.launch = ?10"
    " group by t.name, v.parameters";

static halotune_status read_records(struct replay *replay, sqlite3_stmt *query) {
  long capacity = 0;
  int code;
  while ((code = sqlite3_step(query)) == SQLITE_ROW) {
    if (!array_room(replay->records, replay->count, capacity)) return fail_memory();
    halotune_status status = read_record(query, &replay->records[replay->count]);
    replay->count++;
    if (status != HALOTUNE_OK) return status;
    double *const times[] = {&replay->copy_ms, &replay->memcpy_ms, &replay->empty_ms};
    for (int i = 0; i < 3; i++) {
      double time_ms = column_real(query, 10 + i);
      if (!isnan(time_ms)) *times[i] = time_ms;
    }
  }
  if (code != SQLITE_DONE) return query_fail(store_connection(replay->store));
  if (replay->count == 0)
    return fail(HALOTUNE_NOT_FOUND, "%s has no results of this problem with this --launch, --cache and --reproducible",
                store_path(replay->store));
  replay->by_key = calloc((size_t)replay->count, sizeof *replay->by_key);
  if (!replay->by_key) return fail_memory();
  for (long i = 0; i < replay->count; i++) replay->by_key[i] = &replay->records[i];
  return HALOTUNE_OK;
}

static halotune_status replay_set_problem(void *state, const struct backend_problem *problem) {
  struct replay *replay = state;
  const struct scene_request *scene = &problem->scene->request;
  sqlite3_stmt *query;
  char hex[IDENTITY_HEX_BYTES];
  free_records(replay);
  replay->copy_ms = replay->memcpy_ms = replay->empty_ms = NAN;
  halotune_status status = query_prepare(store_connection(replay->store), records_sql, &query);
  if (status != HALOTUNE_OK) return status;
  identity_hex(scene->analysis->hash, hex);
  sqlite3_bind_int64(query, 1, replay->device);
  sqlite3_bind_text(query, 2, hex, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 3, dtype_names[scene->dtype], -1, SQLITE_STATIC);
  for (int axis = 0; axis < MAX_DIMS; axis++) sqlite3_bind_int64(query, 4 + axis, scene->domain.grid.n[axis]);
  sqlite3_bind_text(query, 7, cache_mode_names[problem->cache], -1, SQLITE_STATIC);
  sqlite3_bind_int(query, 8, problem->reproducible);
  sqlite3_bind_int(query, 9, scene->launch_steps > 1 ? scene->launch_steps : 1);
  sqlite3_bind_text(query, 10, launch_mode_names[problem->launch], -1, SQLITE_STATIC);
  status = read_records(replay, query);
  sqlite3_finalize(query);
  return status;
}

/* Make the keys of a template's records, as today's template writes parameters: parameters that it has gained since
 * have their defaults. */
static halotune_status bind_template(struct replay *replay, const struct template *template) {
  for (int i = 0; i < replay->bound_count; i++) {
    if (replay->bound[i] == template) return HALOTUNE_OK;
  }
  if (!array_room(replay->bound, replay->bound_count, replay->bound_capacity)) return fail_memory();
  for (long i = 0; i < replay->count; i++) {
    struct record *record = &replay->records[i];
    struct configuration configuration;
    if (strcmp(record->template, template->name) != 0) continue;
    if (configuration_read(template, record->parameters, &configuration) != HALOTUNE_OK) continue;
    const halotune_status status = key_of_configuration(template, &configuration, &record->key);
    if (status != HALOTUNE_OK) return status;
  }
  replay->bound[replay->bound_count++] = template;
  qsort(replay->by_key, (size_t)replay->count, sizeof *replay->by_key, compare_keys);
  return HALOTUNE_OK;
}

/* Find a candidate's record.
 *   out  receives NULL if the variant was not recorded */
static halotune_status find_record(struct replay *replay, const struct candidate *candidate, struct record **out) {
  const struct template *template = candidate->spec->template;
  struct record wanted = {.samples = NULL}, *key = &wanted;
  halotune_status status = bind_template(replay, template);
  if (status == HALOTUNE_OK) status = key_of_configuration(template, &candidate->spec->configuration, &wanted.key);
  if (status != HALOTUNE_OK) return status;
  struct record **found = bsearch(&key, replay->by_key, (size_t)replay->count, sizeof *replay->by_key, compare_keys);
  *out = found ? *found : NULL;
  return HALOTUNE_OK;
}

/* When a variant is wanted for the first time, wait for the end of its compile, but not beyond a time. The search
 * proposed it, and its compile began, when the variant that was proposed `in_flight` places before it had its result.
 * Returns whether it is compiled. */
static bool clock_compile(struct replay_clock *clock, struct record *record, double until_ms) {
  const double begin_ms = clock->ended_ms[clock->ended % clock->in_flight], end_ms = begin_ms + record->compile_ms;
  if (record->is_compiled) return true;
  record->is_compiled = end_ms <= fmax(until_ms, clock->now_ms);
  clock->now_ms = fmax(clock->now_ms, fmin(end_ms, until_ms));
  return record->is_compiled;
}

static void clock_end(struct replay_clock *clock) {
  clock->ended_ms[clock->ended++ % clock->in_flight] = clock->now_ms;
}

static double replay_now_ms(void *state) { return ((const struct replay *)state)->clock.now_ms; }

static halotune_status replay_await(void *state, const struct candidate *candidate, double until_ms,
                                    bool *is_compiled) {
  struct replay *replay = state;
  struct record *record;
  halotune_status status = find_record(replay, candidate, &record);
  *is_compiled = status != HALOTUNE_OK || !record || clock_compile(&replay->clock, record, until_ms);
  return status;
}

static halotune_status replay_load(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct replay *replay = state;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  replay->slots[slot] = NULL;
  replay->is_roof[slot] = candidate->is_roof && !isnan(replay->copy_ms);
  if (replay->is_roof[slot]) return HALOTUNE_OK;
  struct record *record = NULL;
  halotune_status status = candidate->is_roof ? HALOTUNE_OK : find_record(replay, candidate, &record);
  if (status != HALOTUNE_OK) return status;
  if (!record) {
    verdict->outcome = OUTCOME_PRUNED;
    snprintf(verdict->reason, sizeof verdict->reason, "not in the recording");
    return HALOTUNE_OK;
  }
  verdict->recorded = record->kernel;
  clock_compile(&replay->clock, record, INFINITY);
  if (!outcome_has_time(record->outcome)) {
    verdict->outcome = record->outcome;
    snprintf(verdict->reason, sizeof verdict->reason, "%s", record->reason);
    clock_end(&replay->clock);
    return HALOTUNE_OK;
  }
  replay->clock.now_ms += record->median_ms; /* the time of the run that is verified */
  verdict->worst = (struct comparison){.passed = true,
                                       .points = 1,
                                       .rms_error = record->rms_error,
                                       .max_error = record->max_error,
                                       .max_error_units = record->max_error_units};
  replay->slots[slot] = record;
  return HALOTUNE_OK;
}

static halotune_status replay_unload(void *state, int slot) {
  struct replay *replay = state;
  if (replay->slots[slot]) clock_end(&replay->clock);
  replay->slots[slot] = NULL;
  replay->is_roof[slot] = false;
  return HALOTUNE_OK;
}

/* Draw a sample of a slot. NaN for an empty slot, and for a time that the recording does not have. */
static double draw_sample(struct replay *replay, int slot) {
  if (slot == SLOT_EMPTY) return replay->empty_ms;
  if (slot == SLOT_MEMCPY) return replay->memcpy_ms;
  if (replay->is_roof[slot]) return replay->copy_ms;
  const struct record *record = replay->slots[slot];
  if (!record) return NAN;
  if (record->sample_count == 0) return record->median_ms;
  return (double)record->samples[random_bits(record->key.low, replay->drawn++) % (uint64_t)record->sample_count];
}

static halotune_status replay_sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                                     struct verdict *verdict) {
  struct replay *replay = state;
  const int count = plan->rounds * plan->slot_count;
  *failed = -1;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  for (int i = 0; i < count; i++) {
    times_ms[i] = draw_sample(replay, plan->slots[i % plan->slot_count]);
    if (!isnan(times_ms[i])) {
      replay->clock.now_ms += times_ms[i] * (plan->batches[i % plan->slot_count] + plan->warm);
      continue;
    }
    for (int rest = i; rest < count; rest++) times_ms[rest] = 0;
    *failed = plan->slots[i % plan->slot_count];
    verdict->outcome = OUTCOME_LAUNCH_FAILED;
    snprintf(verdict->reason, sizeof verdict->reason, "not in the recording");
    return HALOTUNE_OK;
  }
  return HALOTUNE_OK;
}

/* Only one time of the driver's copy is recorded. */
static bool is_constant(void *state, int slot) {
  const struct replay *replay = state;
  return slot >= BACKEND_SLOTS || !replay->slots[slot] || replay->slots[slot]->sample_count == 0;
}

static halotune_status replay_recheck(void *state, int slot, struct verdict *verdict) {
  struct replay *replay = state;
  if (replay->slots[slot]) replay->clock.now_ms += replay->slots[slot]->median_ms;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  return HALOTUNE_OK;
}

static halotune_status keep_warm(void *state, double time_ms) {
  ((struct replay *)state)->clock.now_ms += time_ms;
  return HALOTUNE_OK;
}

static halotune_status
replay_list(void *state, halotune_status (*visit)(void *context, const char *template, const char *parameters),
            void *context) {
  const struct replay *replay = state;
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < replay->count && status == HALOTUNE_OK; i++) {
    status = visit(context, replay->records[i].template, replay->records[i].parameters);
  }
  return status;
}

static void close_replay(void *state) {
  struct replay *replay = state;
  free_records(replay);
  free(replay->bound);
  store_close(replay->store);
  free(replay);
}

static const struct backend backend_replay = {.name = "replay",
                                              .set_problem = replay_set_problem,
                                              .await_compile = replay_await,
                                              .load = replay_load,
                                              .unload = replay_unload,
                                              .sample = replay_sample,
                                              .recheck = replay_recheck,
                                              .is_constant = is_constant,
                                              .read = backend_read_nothing,
                                              .keep_warm = keep_warm,
                                              .now_ms = replay_now_ms,
                                              .list = replay_list,
                                              .close = close_replay};

/* A recording may come from others. What it says of its GPU, driver and compiler becomes part of the result, so that it
 * must be what an import would take. */
static halotune_status check_recording(struct store *store) {
  struct text first = {0};
  long found = 0;
  halotune_status status = store_check_first(store, &first, &found);
  if (status == HALOTUNE_OK && found > 0)
    status = fail(HALOTUNE_DB, "%s: %s; 'halotune db check --db FILE' names all that is wrong", store_path(store),
                  text_string(&first));
  text_free(&first);
  return status;
}

halotune_status backend_replay_open(const char *path, int in_flight, struct backend_handle *out) {
  *out = (struct backend_handle){.table = NULL};
  struct replay *replay = calloc(1, sizeof *replay);
  if (!replay) return fail_memory();
  replay->clock = (struct replay_clock){.now_ms = clock_ms(), .in_flight = in_flight};
  for (int i = 0; i < in_flight; i++) replay->clock.ended_ms[i] = replay->clock.now_ms;
  halotune_status status = store_open(path, STORE_READ, &replay->store);
  if (status == HALOTUNE_NOT_FOUND)
    fail(status, "%s: there is no recording; it is a database that an earlier 'halotune tune --db' has filled", path);
  if (status == HALOTUNE_OK) status = check_recording(replay->store);
  if (status == HALOTUNE_OK) status = find_device(replay, &out->facts);
  if (status == HALOTUNE_OK) {
    out->table = &backend_replay;
    out->state = replay;
    return HALOTUNE_OK;
  }
  store_close(replay->store);
  free(replay);
  return status;
}
