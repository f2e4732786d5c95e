/* searches.c: counts how many variants each run of a problem tried. */
#include "reports/rows/searches.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/json.h"
#include "reports/rows/rows.h"

/* Read {"measured": 310, "wrong": 2}. Wrong counts are treated like missing ones.
 *   is_recorded  receives whether the text has counts */
static halotune_status counts_read(const char *text, long out[OUTCOME_COUNT], bool *is_recorded) {
  json_t *json, *value;
  const char *key;
  halotune_status status = json_read(text, strlen(text), "run.outcomes", &json);
  *is_recorded = json_is_object(json);
  json_object_foreach(json, key, value) {
    enum outcome outcome;
    json_int_t count = json_is_integer(value) ? json_integer_value(value) : -1;
    *is_recorded = *is_recorded && outcome_find(key, &outcome) && count >= 0 && count <= INT32_MAX;
    if (*is_recorded) out[outcome] = (long)count;
  }
  json_decref(json);
  return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK;
}

static halotune_status searches_add(struct searches *searches, sqlite3_stmt *query) {
  if (!array_room(searches->list, searches->count, searches->capacity)) return fail_memory();
  struct search *search = &searches->list[searches->count++];
  *search = (struct search){.run = sqlite3_column_int64(query, 0), .is_running = sqlite3_column_int(query, 1) != 0};
  return counts_read(column_text(query, 2), search->recorded, &search->is_recorded);
}

halotune_status searches_read(sqlite3 *db, int64_t problem, struct searches *out) {
  static const char sql[] = "select id, state = 'running', outcomes from run where problem_id = ?1 order by id";
  sqlite3_stmt *query;
  bool has_row = false;
  halotune_status status = rows_open(db, sql, &problem, 1, &query);
  while (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK && has_row) {
    status = searches_add(out, query);
  }
  sqlite3_finalize(query);
  return status;
}

void searches_free(struct searches *searches) {
  free(searches->list);
  *searches = (struct searches){0};
}

static struct search *search_find(const struct searches *searches, int64_t run) {
  for (int i = 0; i < searches->count; i++) {
    if (searches->list[i].run == run) return &searches->list[i];
  }
  return NULL;
}

void searches_count(struct searches *searches, int64_t run, long number) {
  struct search *search = search_find(searches, run);
  if (!search) return;
  search->found++;
  if (number > search->most) search->most = number;
}

static long recorded_total(const struct search *search) {
  long total = 0;
  for (int i = 0; i < OUTCOME_COUNT; i++) total += search->recorded[i];
  return total;
}

/* Whether all results of a run are here. A run numbers its results 1, 2, 3, ..., so a gap means that results were left
 * out. A run that ended without a record and without results comes from an older version, and may have had results. */
static bool is_whole(const struct search *search) {
  if (search->found != search->most) return false;
  if (search->is_recorded) return search->found == recorded_total(search);
  return search->found > 0 || search->is_running;
}

void searches_judge(struct searches *searches) {
  for (int i = 0; i < searches->count; i++) searches->list[i].is_whole = is_whole(&searches->list[i]);
}

bool searches_have(const struct searches *searches, int64_t run) {
  const struct search *search = search_find(searches, run);
  return search && search->is_whole;
}

bool searches_have_any(const struct searches *searches) {
  int whole_count = 0;
  for (int i = 0; i < searches->count; i++) {
    const struct search *search = &searches->list[i];
    if (search->is_whole && search->found > 0) return true;
    whole_count += search->is_whole;
  }
  return searches->count > 0 && whole_count == searches->count;
}

long search_tried(const struct search *search) {
  if (search->is_recorded) return recorded_total(search);
  return search->is_whole ? search->found : -1;
}

bool searches_recorded(const struct searches *searches, long out[OUTCOME_COUNT]) {
  memset(out, 0, OUTCOME_COUNT * sizeof *out);
  for (int i = 0; i < searches->count; i++) {
    const struct search *search = &searches->list[i];
    if (!search->is_recorded) return false;
    for (int k = 0; k < OUTCOME_COUNT; k++) out[k] += search->recorded[k];
  }
  return searches->count > 0;
}
