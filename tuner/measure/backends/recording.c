/* recording.c: reads the results of a problem from a database, and finds that of a variant. */
#include "tuner/measure/backends/recording.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/check.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"

/* The device with the most results. SQLite takes driver, cuda and nvrtc from the row with the largest `started`. */
static const char device_sql[] =
    "select d.id, d.uuid, d.name, d.capability, d.sm_count, d.clock_khz, d.memory_clock_khz, d.bus_bits, d.l2_bytes, d.memory_bytes,"
    " d.max_threads, d.max_threads_sm, d.max_registers, d.registers_sm, d.max_shared_bytes, d.warp_size, d.is_emulation,"
    " r.driver, r.cuda, r.nvrtc, max(r.started)"
    " from device d join problem p on p.device_id = d.id join run r on r.problem_id = p.id join measurement m on m.run_id = r.id"
    " group by d.id order by count(*) desc limit 1";

static void read_device(sqlite3_stmt *query, struct recording *recording, struct backend_facts *facts) {
  struct device_facts *device = &facts->device;
  int column = 0;
  recording->device = sqlite3_column_int64(query, column++);
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

static halotune_status find_device(struct recording *recording, struct backend_facts *facts) {
  sqlite3_stmt *query;
  halotune_status status = query_prepare(store_connection(recording->store), device_sql, &query);
  if (status != HALOTUNE_OK) return status;
  const int code = sqlite3_step(query);
  if (code == SQLITE_ROW) read_device(query, recording, facts);
  else if (code == SQLITE_DONE)
    status = fail(HALOTUNE_NOT_FOUND, "%s has no results to replay", store_path(recording->store));
  else status = query_fail(store_connection(recording->store));
  sqlite3_finalize(query);
  if (status == HALOTUNE_OK && !facts->arch) {
    status = fail(HALOTUNE_ARGUMENT, "%s: nothing is known of sm_%d", store_path(recording->store),
                  facts->device.capability);
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

static void free_records(struct recording *recording) {
  for (long i = 0; i < recording->count; i++) {
    free(recording->records[i].samples);
    free(recording->records[i].reason);
    free(recording->records[i].template);
    free(recording->records[i].parameters);
  }
  free(recording->records);
  free(recording->by_key);
  recording->records = NULL;
  recording->by_key = NULL;
  recording->count = 0;
  recording->bound_count = 0;
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
  const bool has_time = out->median_ms >= FLT_MIN && out->median_ms <= FLT_MAX; /* samples are floats */
  if (outcome_has_time(out->outcome) && !has_time)
    return fail(HALOTUNE_DB, "a result of the recording has no time that a GPU can take");
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

static halotune_status read_records(struct recording *recording, sqlite3_stmt *query) {
  long capacity = 0;
  int code;
  while ((code = sqlite3_step(query)) == SQLITE_ROW) {
    if (!array_room(recording->records, recording->count, capacity)) return fail_memory();
    halotune_status status = read_record(query, &recording->records[recording->count]);
    recording->count++;
    if (status != HALOTUNE_OK) return status;
    double *const times[] = {&recording->copy_ms, &recording->memcpy_ms, &recording->empty_ms};
    for (int i = 0; i < 3; i++) {
      double time_ms = column_real(query, 10 + i);
      if (!isnan(time_ms)) *times[i] = time_ms;
    }
  }
  if (code != SQLITE_DONE) return query_fail(store_connection(recording->store));
  if (recording->count == 0)
    return fail(HALOTUNE_NOT_FOUND, "%s has no results of this problem with this --launch, --cache and --reproducible",
                store_path(recording->store));
  recording->by_key = calloc((size_t)recording->count, sizeof *recording->by_key);
  if (!recording->by_key) return fail_memory();
  for (long i = 0; i < recording->count; i++) recording->by_key[i] = &recording->records[i];
  return HALOTUNE_OK;
}

halotune_status recording_set_problem(struct recording *recording, const struct backend_problem *problem) {
  const struct scene_request *scene = &problem->scene->request;
  sqlite3_stmt *query;
  char hex[IDENTITY_HEX_BYTES];
  free_records(recording);
  recording->copy_ms = recording->memcpy_ms = recording->empty_ms = NAN;
  halotune_status status = query_prepare(store_connection(recording->store), records_sql, &query);
  if (status != HALOTUNE_OK) return status;
  identity_hex(scene->analysis->hash, hex);
  sqlite3_bind_int64(query, 1, recording->device);
  sqlite3_bind_text(query, 2, hex, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 3, dtype_names[scene->dtype], -1, SQLITE_STATIC);
  for (int axis = 0; axis < MAX_DIMS; axis++) sqlite3_bind_int64(query, 4 + axis, scene->domain.grid.n[axis]);
  sqlite3_bind_text(query, 7, cache_mode_names[problem->cache], -1, SQLITE_STATIC);
  sqlite3_bind_int(query, 8, problem->reproducible);
  sqlite3_bind_int(query, 9, scene->launch_steps > 1 ? scene->launch_steps : 1);
  sqlite3_bind_text(query, 10, launch_mode_names[problem->launch], -1, SQLITE_STATIC);
  status = read_records(recording, query);
  sqlite3_finalize(query);
  return status;
}

/* Make the keys of a template's records, as today's template writes parameters: parameters that it has gained since
 * have their defaults. */
static halotune_status bind_template(struct recording *recording, const struct template *template) {
  for (int i = 0; i < recording->bound_count; i++) {
    if (recording->bound[i] == template) return HALOTUNE_OK;
  }
  if (!array_room(recording->bound, recording->bound_count, recording->bound_capacity)) return fail_memory();
  for (long i = 0; i < recording->count; i++) {
    struct record *record = &recording->records[i];
    struct configuration configuration;
    if (strcmp(record->template, template->name) != 0) continue;
    if (configuration_read(template, record->parameters, &configuration) != HALOTUNE_OK) continue;
    const halotune_status status = key_of_configuration(template, &configuration, &record->key);
    if (status != HALOTUNE_OK) return status;
  }
  recording->bound[recording->bound_count++] = template;
  qsort(recording->by_key, (size_t)recording->count, sizeof *recording->by_key, compare_keys);
  return HALOTUNE_OK;
}

halotune_status recording_find(struct recording *recording, const struct candidate *candidate, struct record **out) {
  const struct template *template = candidate->spec->template;
  struct record wanted = {.samples = NULL}, *key = &wanted;
  halotune_status status = bind_template(recording, template);
  if (status == HALOTUNE_OK) status = key_of_configuration(template, &candidate->spec->configuration, &wanted.key);
  if (status != HALOTUNE_OK) return status;
  struct record **found =
      bsearch(&key, recording->by_key, (size_t)recording->count, sizeof *recording->by_key, compare_keys);
  *out = found ? *found : NULL;
  return HALOTUNE_OK;
}

/* A recording may come from others. What it says of its GPU, driver and compiler becomes part of the result, so that it
 * must be what an import would take. */
static halotune_status check_rows(struct store *store) {
  struct text first = {0};
  long found = 0;
  halotune_status status = store_check_first(store, &first, &found);
  if (status == HALOTUNE_OK && found > 0)
    status = fail(HALOTUNE_DB, "%s: %s; 'halotune db check --db FILE' names all that is wrong", store_path(store),
                  text_string(&first));
  text_free(&first);
  return status;
}

halotune_status recording_open(const char *path, struct backend_facts *facts, struct recording *out) {
  *out = (struct recording){.store = NULL};
  halotune_status status = store_open(path, STORE_READ, &out->store);
  if (status == HALOTUNE_NOT_FOUND)
    fail(status, "%s: there is no recording; it is a database that an earlier 'halotune tune --db' has filled", path);
  if (status == HALOTUNE_OK) status = check_rows(out->store);
  if (status == HALOTUNE_OK) status = find_device(out, facts);
  if (status != HALOTUNE_OK) recording_close(out);
  return status;
}

void recording_close(struct recording *recording) {
  free_records(recording);
  free(recording->bound);
  store_close(recording->store);
  *recording = (struct recording){.store = NULL};
}
