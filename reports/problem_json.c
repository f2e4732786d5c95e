/* problem_json.c: one problem of a database. */
#include "reports/problem_json.h"

#include <math.h>
#include <string.h>

#include "gpu/architecture/occupancy.h"
#include "reports/rows.h"
#include "reports/variants_json.h"

static const char problem_sql[] = "select id, device_id as device, stencil_id as stencil, dtype, nx, ny, nz, launch, "
                                  "cache, is_reproducible from problem where id = ?1";

/* Of the newest run that measured it: copy and traffic. */
static const char roof_sql[] =
    "select id as run, bytes, empty_ms, copy_ms, memcpy_ms,"
    " min(coalesce(copy_ms, memcpy_ms), coalesce(memcpy_ms, copy_ms)) as roof_ms"
    " from run where problem_id = ?1 order by copy_ms is null and memcpy_ms is null, id desc limit 1";

/* A recording without samples gives one value a variant, and no interval, though the row has that value for its ends. */
#define LOW_MS(row) "case when " row ".sample_count > 1 then " row ".low_ms end as low_ms"
#define HIGH_MS(row) "case when " row ".sample_count > 1 then " row ".high_ms end as high_ms"

static const char best_sql[] =
    "select b.id, b.variant_id as variant, b.run_id as run, b.is_trusted, b.origin, b.date, b.time_ms, " LOW_MS(
        "b") ","
             " " HIGH_MS(
                 "b") ","
                      " b.sample_count, b.default_ms, b.roof_ms, b.roof_ratio, b.roof_ratio_low, b.roof_ratio_high, b.empty_ms, b.bytes,"
                      " b.rms_error, b.max_error, b.max_error_units, b.second_grid, b.registers, b.shared_bytes, b.occupancy, b.launch, "
                      "b.steps,"
                      " b.driver, b.nvrtc, b.arch, b.source, v.source_hash, v.template_id as template, v.parameters"
                      " from best b join variant v on v.id = b.variant_id where b.problem_id = ?1 and b.is_current";

static const char history_sql[] = "select b.id, b.date, b.time_ms, " LOW_MS("b") ", " HIGH_MS(
    "b") ", b.driver, b.nvrtc, b.origin, b.is_trusted, t.name as "
         "template, v.parameters"
         " from best b join variant v on v.id = b.variant_id join template t on t.id = v.template_id"
         " where b.problem_id = ?1 and not b.is_current order by b.id desc limit 50";

/* Of the run that the current best came from; where there is none, of the newest run that had final rounds. */
static const char finalists_sql[] =
    "select f.run_id as run, f.variant_id as variant, f.rank, f.sample_count, f.median_ms, f.minimum_ms, " LOW_MS(
        "f") ","
             " " HIGH_MS(
                 "f") ", f.ratio, case when f.sample_count > 1 then f.ratio_low end as ratio_low,"
                      " case when f.sample_count > 1 then f.ratio_high end as ratio_high, f.is_default, f.is_tie, t.name as template, v.parameters, v.template_id,"
                      " f.samples"
                      " from finalist f join variant v on v.id = f.variant_id join template t on t.id = v.template_id"
                      " where f.run_id = coalesce((select run_id from best where problem_id = ?1 and is_current),"
                      " (select max(run_id) from finalist where run_id in (select id from run where problem_id = ?1))) order by f.rank";

static const char runs_sql[] = "select id from run where problem_id = ?1 order by id";

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

/* What limits its occupancy, with the arithmetic. Barriers of the kernel are not stored, and never limit so few
 * threads. */
static void put_limits(json_t **json, const struct setting *setting, const long block[MAX_DIMS], int registers,
                       int shared_bytes, int *blocks_per_sm) {
  struct block_needs needs = {(int)(block[0] * block[1] * block[2]), registers, shared_bytes, 1};
  struct text text = {0};
  *blocks_per_sm = -1;
  if (!setting->arch || needs.threads < 1) return;
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

/* Replace a member that is JSON in a text by what the text says; null where it says nothing. */
static json_t *unpack_member(json_t **json, const char *key) {
  const char *text = json_string_value(json_object_get(*json, key));
  json_t *value = text ? json_loads(text, 0, NULL) : NULL;
  if (!value) value = json_null();
  json_put(json, key, value);
  return *json ? value : NULL;
}

/* [["block_x","32"],["storage","planes"]]: as columns have them. */
static bool add_pair(void *context, const char *name, size_t name_length, const char *value, size_t value_length) {
  json_t **list = context, *pair = json_array();
  json_add(&pair, json_stringn(name, name_length));
  json_add(&pair, json_stringn(value, value_length));
  json_add(list, pair);
  return *list != NULL;
}

static void split_parameters(json_t **json) {
  json_t *list = json_array();
  const char *text = json_string_value(json_object_get(*json, "parameters"));
  if (text) parameters_each(text, add_pair, &list);
  json_put(json, "parameters", list);
}

static void complete_winner(json_t **winner, struct setting *setting) {
  long block[MAX_DIMS], grid[MAX_DIMS];
  int blocks_per_sm = -1;
  if (!json_is_object(*winner)) return;
  int64_t template = json_integer_value(json_object_get(*winner, "template"));
  const struct library_template *known = library_template(setting->library, template);
  json_t *launch = unpack_member(winner, "launch");
  read_axes(launch, "block", block);
  read_axes(launch, "grid", grid);
  put_limits(winner, setting, block, (int)json_integer_value(json_object_get(*winner, "registers")),
             (int)json_integer_value(json_object_get(*winner, "shared_bytes")), &blocks_per_sm);
  const char *parameters = json_string_value(json_object_get(*winner, "parameters"));
  json_t *figures = figures_json(setting, template, parameters ? parameters : "", grid, blocks_per_sm);
  json_put(winner, "figures", figures);
  split_parameters(winner);
  json_put(winner, "template_name", text_json(known ? known->name : ""));
}

/* 32-bit floats, little-endian, as the database has them. */
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

/* The launch of a finalist is not stored, so that its waves are not known. */
static json_t *finalist_figures_json(struct setting *setting, const json_t *entry) {
  static const long no_grid[MAX_DIMS];
  const char *parameters = json_string_value(json_object_get(entry, "parameters"));
  int64_t template = json_integer_value(json_object_get(entry, "template_id"));
  return figures_json(setting, template, parameters ? parameters : "", no_grid, -1);
}

static halotune_status finalists_json(sqlite3 *db, struct setting *setting, struct variant_table *table, json_t **out) {
  sqlite3_stmt *query;
  size_t i = 0;
  bool has_row = false;
  halotune_status status = rows_json(db, finalists_sql, &setting->problem, 1, out);
  if (status != HALOTUNE_OK) return status;
  status = rows_open(db, finalists_sql, &setting->problem, 1, &query);
  while (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK && has_row) {
    int column = sqlite3_column_count(query) - 1;
    json_t *entry = json_array_get(*out, i++);
    variants_keep(table, sqlite3_column_int64(query, 1));
    if (!entry) continue;
    json_t *samples = samples_json(sqlite3_column_blob(query, column), sqlite3_column_bytes(query, column));
    if (!samples || json_object_set_new(entry, "samples", samples) != 0) break;
    json_put(&entry, "figures", finalist_figures_json(setting, entry));
    json_object_del(entry, "template_id");
    split_parameters(&entry);
  }
  sqlite3_finalize(query);
  return status;
}

static void put_variants(json_t **json, struct setting *setting, struct variant_table *table, int most) {
  variants_choose(table, most);
  json_put(json, "variant_count", json_integer(table->order_count));
  json_put(json, "shown_count", json_integer(table->shown_count));
  json_put(json, "outcomes", outcomes_json(table));
  json_put(json, "failures", failures_json(table));
  json_put(json, "distribution", distribution_json(table));
  json_put(json, "convergence", convergence_json(table));
  json_put(json, "effects", effects_json(table));
  json_put(json, "templates", variant_templates_json(setting, table));
  json_t *reasons = json_array();
  for (int i = 0; i < table->reasons.count; i++) json_add(&reasons, text_json(table->reasons.list[i]));
  json_put(json, "reasons", reasons);
  json_put(json, "variants", chosen_columns_json(setting, table));
}

/* Put one query's answer. */
static halotune_status put_answer(json_t **json, sqlite3 *db, const char *key, bool is_list, const char *sql,
                                  int64_t id) {
  json_t *answer;
  halotune_status status = is_list ? rows_json(db, sql, &id, 1, &answer) : row_json(db, sql, &id, 1, &answer);
  if (status == HALOTUNE_OK) json_put(json, key, answer);
  return status;
}

halotune_status problem_json(sqlite3 *db, const struct library *library, int64_t problem, int most, json_t **out) {
  struct setting setting = {0};
  struct variant_table table = {0};
  json_t *json = NULL, *winner = NULL, *finalists = NULL;
  *out = NULL;
  halotune_status status = setting_open(db, library, problem, &setting);
  if (status == HALOTUNE_OK) status = variants_read(db, problem, &table);
  if (status == HALOTUNE_OK) status = row_json(db, problem_sql, &problem, 1, &json);
  json_put(&json, "points", number_json(setting.points));
  if (status == HALOTUNE_OK) status = put_answer(&json, db, "runs", true, runs_sql, problem);
  if (status == HALOTUNE_OK) status = put_answer(&json, db, "roof", false, roof_sql, problem);
  if (status == HALOTUNE_OK) status = row_json(db, best_sql, &problem, 1, &winner);
  if (status == HALOTUNE_OK) {
    complete_winner(&winner, &setting);
    if (json_is_object(winner)) variants_keep(&table, json_integer_value(json_object_get(winner, "variant")));
    json_put(&json, "winner", winner);
    status = finalists_json(db, &setting, &table, &finalists);
  }
  if (status == HALOTUNE_OK) {
    json_put(&json, "finalists", finalists);
    status = put_answer(&json, db, "history", true, history_sql, problem);
  }
  if (status == HALOTUNE_OK) put_variants(&json, &setting, &table, most);
  if (status == HALOTUNE_OK && !json) status = fail_memory();
  variants_free(&table);
  setting_close(&setting);
  if (status == HALOTUNE_OK) *out = json;
  else json_decref(json);
  return status;
}
