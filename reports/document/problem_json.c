/* problem_json.c: writes one problem of a database. */
#include "reports/document/problem_json.h"

#include "db/store/sql_parts.h"
#include "reports/document/winner_json.h"
#include "reports/figures/rivals.h"
#include "reports/figures/search_statistics.h"
#include "reports/figures/variant_columns.h"
#include "reports/rows/rows.h"

static const char problem_sql[] =
    "select id, device_id as device, stencil_id as stencil, dtype, nx, ny, nz, launch, cache, is_reproducible, steps"
    " from problem where id = ?1";

/* The roof from the newest run that measured a copy, of this user if there is one. */
static const char roof_sql[] =
    "select id as run, bytes, empty_ms, copy_ms, memcpy_ms,"
    " min(coalesce(copy_ms, memcpy_ms), coalesce(memcpy_ms, copy_ms)) as roof_ms"
    " from run where problem_id = ?1 order by copy_ms is null and memcpy_ms is null, " SQL_IS_OWN(
        "run") " desc, id desc"
               " limit 1";

static const char history_sql[] =
    "select b.id, b.date, b.time_ms, case when b.sample_count > 1 then b.low_ms end as low_ms,"
    " case when b.sample_count > 1 then b.high_ms end as high_ms, b.driver, b.nvrtc, " SQL_ORIGIN(
        "b.origin_id") " as origin,"
                       " t.name as template, v.parameters from best b join variant v on v.id = b.variant_id"
                       " join template t on t.id = v.template_id where b.problem_id = ?1 and not b.is_current order by b.id desc limit 50";

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

/* Add statistics of the search. They are null if the search's results are not in the database, since statistics of its
 * finalists alone would mislead. */
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
  json_put(json, "variants", columns_json(setting, table));
}

/* Keep the variants that a list of objects names, even if others are left out. */
static void keep_variants(struct variant_table *table, const json_t *list) {
  size_t i;
  json_t *entry;
  json_array_foreach(list, i, entry) variants_keep(table, json_integer_value(json_object_get(entry, "variant")));
}

halotune_status problem_json(sqlite3 *db, const struct definitions *definitions, int64_t problem,
                             const struct report_request *request, int most, json_t **out) {
  struct setting setting = {0};
  struct variant_table table = {0};
  json_t *json = NULL, *roof = NULL, *winner = NULL, *finalists = NULL, *history = NULL;
  halotune_status status = setting_open(db, definitions, problem, request->counter, &setting);
  if (status == HALOTUNE_OK) status = variants_read(db, problem, &table);
  if (status == HALOTUNE_OK) status = row_json(db, problem_sql, &problem, 1, &json);
  if (status == HALOTUNE_OK) status = row_json(db, roof_sql, &problem, 1, &roof);
  if (status == HALOTUNE_OK) status = winner_json(db, &setting, &winner);
  if (status == HALOTUNE_OK) status = finalists_json(db, &setting, &finalists);
  if (status == HALOTUNE_OK) status = rows_json(db, history_sql, &problem, 1, &history);
  json_t *rivals = rivals_json(&table, definitions, winner, finalists);
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
