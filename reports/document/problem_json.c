/* problem_json.c: one problem of a database. */
#include "reports/document/problem_json.h"

#include <math.h>
#include <string.h>

#include "gpu/architecture/occupancy.h"
#include "reports/figures/figures.h"
#include "reports/figures/rivals.h"
#include "reports/rows/rows.h"

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

/* Of the run that found the current best. Without a current best, of the newest run that had final rounds. */
static const char finalists_sql[] =
    "select f.run_id as run, f.variant_id as variant, f.rank, f.sample_count, f.median_ms, f.minimum_ms, " LOW_MS(
        "f") ","
             " " HIGH_MS(
                 "f") ", f.ratio, case when f.sample_count > 1 then f.ratio_low end as ratio_low,"
                      " case when f.sample_count > 1 then f.ratio_high end as ratio_high, f.is_default, f.is_tie, t.name as template, v.parameters, v.template_id,"
                      " f.samples"
                      " from finalist f join variant v on v.id = f.variant_id join template t on t.id = v.template_id"
                      " where f.run_id = case when exists (select 1 from best where problem_id = ?1 and is_current)"
                      " then (select run_id from best where problem_id = ?1 and is_current)"
                      " else (select max(run_id) from finalist where run_id in (select id from run where problem_id = ?1)) end"
                      " order by f.rank";

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

/* Of the row of finalists_sql, whose last column is the samples. */
static halotune_status complete_finalist(void *context, sqlite3_stmt *query, json_t **finalist) {
  int samples = sqlite3_column_count(query) - 1;
  json_t *figures = finalist_figures_json(context, *finalist);
  json_put(finalist, "samples",
           samples_json(sqlite3_column_blob(query, samples), sqlite3_column_bytes(query, samples)));
  json_put(finalist, "figures", figures);
  json_object_del(*finalist, "template_id");
  split_parameters(finalist);
  return HALOTUNE_OK;
}

static json_t *runs_json(const struct variant_table *table) {
  json_t *list = json_array();
  for (int i = 0; i < table->searches.count; i++) {
    const struct search *search = &table->searches.list[i];
    long tried = search_tried(search);
    json_t *entry = json_object();
    json_put(&entry, "id", json_integer(search->run));
    json_put(&entry, "has_search", json_boolean(search->is_whole));
    json_put(&entry, "tried", tried < 0 ? json_null() : json_integer(tried));
    json_add(&list, entry);
  }
  return list;
}

/* Statistics of a search that is not here would be those of its finalists. */
static void put_statistics(json_t **json, const struct variant_table *table) {
  bool has_search = searches_have_any(&table->searches);
  json_put(json, "has_search", json_boolean(has_search));
  json_put(json, "outcomes", outcomes_json(table));
  json_put(json, "failures", has_search ? failures_json(table) : json_null());
  json_put(json, "distribution", has_search ? distribution_json(table) : json_null());
  json_put(json, "convergence", has_search ? convergence_json(table) : json_null());
  json_put(json, "effects", has_search ? effects_json(table) : json_null());
}

static void put_variants(json_t **json, struct setting *setting, struct variant_table *table, int most) {
  variants_choose(table, most);
  json_put(json, "variant_count", json_integer(table->order_count));
  json_put(json, "shown_count", json_integer(table->shown_count));
  put_statistics(json, table);
  json_put(json, "templates", variant_templates_json(setting, table));
  json_t *reasons = json_array();
  for (int i = 0; i < table->reasons.count; i++) json_add(&reasons, text_json(table->reasons.list[i]));
  json_put(json, "reasons", reasons);
  json_put(json, "variants", chosen_columns_json(setting, table));
}

/* Keep the variants that a list of objects names, whatever else is left out. */
static void keep_variants(struct variant_table *table, const json_t *list) {
  size_t i;
  json_t *entry;
  json_array_foreach(list, i, entry) variants_keep(table, json_integer_value(json_object_get(entry, "variant")));
}

halotune_status problem_json(sqlite3 *db, const struct library *library, int64_t problem, int most, json_t **out) {
  struct setting setting = {0};
  struct variant_table table = {0};
  json_t *json = NULL, *roof = NULL, *winner = NULL, *finalists = NULL, *history = NULL;
  halotune_status status = setting_open(db, library, problem, &setting);
  if (status == HALOTUNE_OK) status = variants_read(db, problem, &table);
  if (status == HALOTUNE_OK) status = row_json(db, problem_sql, &problem, 1, &json);
  if (status == HALOTUNE_OK) status = row_json(db, roof_sql, &problem, 1, &roof);
  if (status == HALOTUNE_OK) status = row_json(db, best_sql, &problem, 1, &winner);
  if (status == HALOTUNE_OK)
    status = rows_json_completed(db, finalists_sql, &problem, 1, complete_finalist, &setting, &finalists);
  if (status == HALOTUNE_OK) status = rows_json(db, history_sql, &problem, 1, &history);
  complete_winner(&winner, &setting);
  json_t *rivals = rivals_json(&table, library, winner, finalists);
  keep_variants(&table, finalists);
  keep_variants(&table, rivals);
  json_put(&json, "points", number_json(setting.points));
  json_put(&json, "runs", runs_json(&table));
  json_put(&json, "roof", roof);
  json_put(&json, "winner", winner);
  json_put(&json, "rivals", rivals);
  json_put(&json, "finalists", finalists);
  json_put(&json, "history", history);
  put_variants(&json, &setting, &table, most);
  if (status == HALOTUNE_OK && !json) status = fail_memory();
  if (status != HALOTUNE_OK) json_decref(json), json = NULL;
  variants_free(&table);
  setting_close(&setting);
  *out = json;
  return status;
}
