/* winner_json.c: writes the winner of a problem, and its finalists. */
#include "reports/document/winner_json.h"

#include <math.h>
#include <string.h>

#include "db/store/refuted.h"
#include "db/store/sql_parts.h"
#include "gpu/architecture/occupancy.h"
#include "reports/document/device_json.h"
#include "reports/figures/step_roof.h"
#include "reports/figures/variant_columns.h"
#include "reports/rows/rows.h"

/* A recording without samples gives one value for each variant. Its row repeats the value for both ends of the
 * interval, which is unknown. */
static const char best_sql[] = "select b.id, b.variant_id as variant, b.run_id as run, " SQL_ORIGIN(
    "b.origin_id") " as origin, b.date, b.time_ms,"
                   " case when b.sample_count > 1 then b.low_ms end as low_ms, case when b.sample_count > 1 then b.high_ms end as high_ms,"
                   " b.sample_count, b.default_ms, b.roof_ms, b.roof_ratio, b.roof_ratio_low, b.roof_ratio_high, b.empty_ms, b.bytes,"
                   " b.rms_error, b.max_error, b.max_error_units, b.second_grid,"
                   " coalesce(b.objective, 'time') as objective, b.energy_mj, b.registers, b.shared_bytes, b.occupancy, b.launch,"
                   " b.steps, b.driver, b.nvrtc, b.arch, b.source, v.source_hash, v.template_id as template, v.parameters"
                   " from best b join variant v on v.id = b.variant_id where b.problem_id = ?1 and b.is_current";

/* The finalists of the run that found the current best. Without a current best, those of the newest run with final
 * rounds. */
static const char finalists_sql[] =
    "with best_run as (select run_id from best where problem_id = ?1 and is_current),"
    " newest_run as (select max(run_id) as run_id from finalist where run_id in (select id from run where problem_id = ?1))"
    " select f.run_id as run, f.variant_id as variant, f.rank, f.sample_count, f.median_ms, f.minimum_ms,"
    " case when f.sample_count > 1 then f.low_ms end as low_ms, case when f.sample_count > 1 then f.high_ms end as high_ms,"
    " f.ratio, case when f.sample_count > 1 then f.ratio_low end as ratio_low,"
    " case when f.sample_count > 1 then f.ratio_high end as ratio_high, f.is_default, f.is_tie,"
    " f.energy_mj, f.energy_low_mj, f.energy_high_mj, case when f.energy_mj > 0 then not exists (select 1 from finalist o"
    " where o.run_id = f.run_id and o.energy_mj <= f.energy_mj and o.median_ms <= f.median_ms"
    " and (o.energy_mj < f.energy_mj or o.median_ms < f.median_ms)) end as is_pareto, t.name as template,"
    " v.parameters, v.template_id, v.source_hash,"
    " (select m.why from measurement m join run r on r.id = m.run_id where m.variant_id = f.variant_id and r.problem_id = ?1"
    " and r.id <= f.run_id and m.why is not null and " SQL_GIVER_OF("r") " = " SQL_GIVER_OF(
        "fr") " order by m.id desc limit 1) as why, f.samples"
              " from finalist f join run fr on fr.id = f.run_id join variant v on v.id = f.variant_id join template t on"
              " t.id = v.template_id"
              " where f.run_id = (select run_id from best_run)"
              " or (not exists (select 1 from best_run) and f.run_id = (select run_id from newest_run)) order by f.rank";

enum { ROOF_DIGITS = 7 };

static json_t *limits_json(const struct occupancy *occupancy) {
#define AS_NAME(name, text) text,
  static const char *const names[] = {OCCUPANCY_LIST(AS_NAME)};
#undef AS_NAME
  json_t *list = json_array();
  for (int i = 0; i < OCCUPANCY_RESOURCES; i++) {
    if (occupancy->limits & (1u << i)) json_add(&list, text_json(names[i]));
  }
  return list;
}

/* Read from the row what a block needs. Returns false for numbers that no GPU has ever had, because their occupancy
 * would overflow. */
static bool read_needs(const json_t *winner, const long block[MAX_DIMS], struct block_needs *out) {
  enum { MOST_THREADS = 1 << 12, MOST_REGISTERS = 1 << 12, MOST_SHARED_BYTES = 1 << 28 };
  const int64_t registers = member_whole(winner, "registers"), shared_bytes = member_whole(winner, "shared_bytes");
  long threads = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (block[axis] < 1 || block[axis] > MOST_THREADS) return false;
    threads *= block[axis];
  }
  if (threads > MOST_THREADS || registers < -1 || registers > MOST_REGISTERS || shared_bytes < -1 ||
      shared_bytes > MOST_SHARED_BYTES)
    return false;
  *out = (struct block_needs){(int)threads, (int)registers, (int)shared_bytes, 1};
  return true;
}

/* Add what limits the occupancy, with the calculation. The number of a kernel's barriers is not stored; it never limits
 * with so few threads. */
static void put_limits(json_t **json, const struct setting *setting, const long block[MAX_DIMS], int *blocks_per_sm) {
  struct block_needs needs;
  struct text text = {0};
  *blocks_per_sm = -1;
  if (!setting->arch || !read_needs(*json, block, &needs)) return;
  struct occupancy occupancy = occupancy_of(&setting->arch->limits, &needs);
  *blocks_per_sm = occupancy.blocks;
  occupancy_explain(&setting->arch->limits, &needs, &text);
  json_put(json, "blocks_per_sm", json_integer(occupancy.blocks));
  json_put(json, "limited_by", limits_json(&occupancy));
  json_put(json, "occupancy_text", text_json(text_string(&text)));
  text_free(&text);
}

static void read_axes(const json_t *launch, const char *key, long out[MAX_DIMS]) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out[axis] = (long)json_integer_value(json_array_get(json_object_get(launch, key), (size_t)axis));
  }
}

/* Replace a member that is JSON text by the value of the text; null if the text is not JSON.
 * Returns a borrowed reference to the value. */
static json_t *unpack_member(json_t **json, const char *key) {
  json_t *value = NULL;
  const char *text = json_string_value(json_object_get(*json, key));
  halotune_status status = text ? json_read(text, strlen(text), key, &value) : HALOTUNE_OK;
  if (!value && status != HALOTUNE_MEMORY) value = json_null();
  json_put(json, key, value);
  return *json ? value : NULL;
}

/* Split parameters into [["block_x","32"],["storage","planes"]], as in columns. */
static void split_parameters(json_t **json) {
  struct json_member member;
  json_t *list = json_array();
  const char *text = json_string_value(json_object_get(*json, "parameters"));
  while (text && json_member_next(&text, &member)) {
    json_t *pair = json_array();
    json_add(&pair, json_stringn(member.name, member.name_length));
    json_add(&pair, json_stringn(member.value, member.value_length));
    json_add(&list, pair);
  }
  json_put(json, "parameters", list);
}

const char *pair_value(const json_t *pairs, const char *name) {
  size_t i;
  json_t *pair;
  json_array_foreach(pairs, i, pair) {
    const char *key = json_string_value(json_array_get(pair, 0)), *value = json_string_value(json_array_get(pair, 1));
    if (key && value && strcmp(key, name) == 0) return value;
  }
  return "";
}

/* template_key: name of the member with the template's row id */
static struct figures_subject subject_of(const json_t *row, const char *template_key) {
  return (struct figures_subject){.variant = json_integer_value(json_object_get(row, "variant")),
                                  .template = json_integer_value(json_object_get(row, template_key)),
                                  .parameters = json_string_value(json_object_get(row, "parameters")),
                                  .source_hash = json_string_value(json_object_get(row, "source_hash"))};
}

static const char peak_sql[] = "select capability, sm_count, clock_khz from device where id = ?1";

/* The arithmetic roof of the problem's GPU in GFLOP/s, and its passes to shared memory in a millisecond. */
static halotune_status read_peak(sqlite3 *db, const struct setting *setting, double *out, double *passes_per_ms) {
  json_t *device = NULL;
  halotune_status status = row_json(db, peak_sql, &setting->device, 1, &device);
  *out = peak_gflops((int)json_integer_value(json_object_get(device, "capability")),
                     (int)json_integer_value(json_object_get(device, "sm_count")),
                     (long)json_integer_value(json_object_get(device, "clock_khz")), setting->dtype);
  *passes_per_ms = member_number(device, "sm_count") * member_number(device, "clock_khz");
  json_decref(device);
  return status;
}

bool groups_weights(const json_t *winner) {
  return strcmp(pair_value(json_object_get(winner, "parameters"), "weights"), "grouped") == 0;
}

/* Add the roofs of a step, and the share of the binding roof that the winner reaches. They are null if a launch makes
 * one step, or if no copy was measured, as on an emulation. */
static void put_step_roof(json_t **winner, const struct setting *setting, double peak, double passes_per_ms) {
  const json_t *figures = json_object_get(*winner, "figures");
  const struct fused_launch launch = {.steps = (int)json_integer_value(json_object_get(*winner, "steps")),
                                      .dtype = setting->dtype,
                                      .points = setting->points,
                                      .copy_ms = member_number(*winner, "roof_ms"),
                                      .over_read = member_number(figures, "over_read"),
                                      .peak_gflops = peak,
                                      .shared_wavefronts = member_number(figures, "shared_wavefronts"),
                                      .passes_per_ms = passes_per_ms,
                                      .groups_weights = groups_weights(*winner)};
  json_t *json = json_null();
  if (launch.steps > 1 && isfinite(launch.copy_ms) && setting->subject && setting->subject->analysis) {
    const struct step_roof roof = step_roof(setting->subject->analysis, &launch);
    const char *binding = step_roof_binding(&roof);
    const double step_ms = member_number(*winner, "time_ms") / launch.steps;
    json = json_object();
    json_put(&json, "memory_ms", rounded_json(roof.memory_ms, ROOF_DIGITS));
    json_put(&json, "arithmetic_ms", rounded_json(roof.arithmetic_ms, ROOF_DIGITS));
    json_put(&json, "shared_ms", rounded_json(roof.shared_ms, ROOF_DIGITS));
    json_put(&json, "binds", binding ? text_json(binding) : json_null());
    json_put(&json, "share", rounded_json(step_roof_ms(&roof) / step_ms, ROOF_DIGITS));
  }
  json_put(winner, "step_roof", json);
}

static void complete_winner(json_t **winner, struct setting *setting) {
  long block[MAX_DIMS], grid[MAX_DIMS];
  int blocks_per_sm = -1;
  if (!json_is_object(*winner)) return;
  int64_t template = json_integer_value(json_object_get(*winner, "template"));
  const struct known_template *known = definitions_template(setting->definitions, template);
  json_t *launch = unpack_member(winner, "launch");
  read_axes(launch, "block", block);
  read_axes(launch, "grid", grid);
  put_limits(winner, setting, block, &blocks_per_sm);
  const struct figures_subject subject = subject_of(*winner, "template");
  json_t *figures = figures_json(setting, &subject, grid, blocks_per_sm);
  json_put(winner, "figures", figures);
  split_parameters(winner);
  json_put(winner, "template_name", text_json(known ? known->name : ""));
}

/* Read 32-bit floats, little-endian, as the database stores them. */
static json_t *samples_json(const unsigned char *bytes, int length) {
  json_t *list = json_array();
  for (int i = 0; i + 4 <= length; i += 4) {
    uint32_t bits =
        bytes[i] | (uint32_t)bytes[i + 1] << 8 | (uint32_t)bytes[i + 2] << 16 | (uint32_t)bytes[i + 3] << 24;
    float sample;
    memcpy(&sample, &bits, sizeof sample);
    json_add(&list, rounded_json(sample, 7));
  }
  return list;
}

/* The figures of a finalist. Its launch is not stored, so its waves are unknown. */
static json_t *finalist_figures_json(struct setting *setting, const json_t *entry) {
  static const long no_grid[MAX_DIMS];
  const struct figures_subject subject = subject_of(entry, "template_id");
  return figures_json(setting, &subject, no_grid, -1);
}

/* Complete a row of finalists_sql, whose last column is the samples. */
static halotune_status complete_finalist(void *context, sqlite3_stmt *query, json_t **finalist) {
  int samples = sqlite3_column_count(query) - 1;
  json_t *figures = finalist_figures_json(context, *finalist);
  json_put(finalist, "samples",
           samples_json(sqlite3_column_blob(query, samples), sqlite3_column_bytes(query, samples)));
  json_put(finalist, "figures", figures);
  json_object_del(*finalist, "template_id");
  json_object_del(*finalist, "source_hash");
  split_parameters(finalist);
  return HALOTUNE_OK;
}

halotune_status winner_json(sqlite3 *db, struct setting *setting, json_t **out) {
  halotune_status status = row_json(db, best_sql, &setting->problem, 1, out);
  if (status == HALOTUNE_OK) complete_winner(out, setting);
  if (status == HALOTUNE_OK && json_is_object(*out)) {
    double peak, passes_per_ms;
    status = read_peak(db, setting, &peak, &passes_per_ms);
    if (status == HALOTUNE_OK) put_step_roof(out, setting, peak, passes_per_ms);
  }
  return status;
}

halotune_status finalists_json(sqlite3 *db, struct setting *setting, json_t **out) {
  return rows_json_completed(db, finalists_sql, &setting->problem, 1, complete_finalist, setting, out);
}
