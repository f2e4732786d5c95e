/* variants.c: reads the newest result of every variant of a problem. */
#include "reports/rows/variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "db/store/sql_parts.h"
#include "reports/rows/rows.h"

enum column {
  RUN,
  VARIANT,
  NUMBER,
  AT,
  OUTCOME,
  REASON,
  SAMPLES,
  MEDIAN,
  MINIMUM,
  LOW,
  HIGH,
  RMS,
  UNITS,
  REGISTERS,
  SHARED,
  SPILL,
  OCCUPANCY,
  BLOCKS_SM,
  THREADS,
  BLOCKS,
  COMPILE,
  ATTEMPTS,
  MARKED,
  TEMPLATE,
  PARAMETERS,
  OWN
};

/* The columns are in the order of `column`. Rows are sorted by run, so that they are read almost in the order in which
 * they were written. */
static const char rows_sql[] =
    "select m.run_id, m.variant_id, m.number, m.at_s, m.outcome, m.reason, m.sample_count, m.median_ms, m.minimum_ms, "
    "m.low_ms,"
    " m.high_ms, m.rms_error, m.max_error_units, m.registers, m.shared_bytes, m.spill_bytes, m.occupancy, "
    "m.blocks_per_sm,"
    " m.threads, m.blocks, m.compile_ms, m.attempts, m.is_marked, v.template_id, v.parameters, " SQL_IS_OWN(
        "r") " from run r cross join measurement m on m.run_id = r.id join variant v on v.id = m.variant_id"
             " where r.problem_id = ?1";

static int whole_column(sqlite3_stmt *query, int column) {
  return sqlite3_column_type(query, column) == SQLITE_NULL ? -1 : sqlite3_column_int(query, column);
}

static int template_place(struct variant_table *table, int64_t id) {
  for (int i = 0; i < table->template_count; i++) {
    if (table->templates[i].id == id) return i;
  }
  if (!array_room(table->templates, table->template_count, table->template_capacity)) return -1;
  table->templates[table->template_count] = (struct variant_template){.id = id};
  return table->template_count++;
}

/* The number of a text in a list of at most `most` texts; `most` for one that comes when the list is full; -1 when
 * memory is out. */
static int place_within(struct texts *texts, int most, const char *text, size_t length) {
  if (texts->count < most) return texts_add(texts, text, length);
  const int known = texts_find(texts, text, length);
  return known < 0 ? most : known;
}

/* Number the parameters of a configuration and their values. Members after one that cannot be read are left out.
 * Returns false when memory is out. */
static bool add_values(struct variant_template *template, const char *parameters,
                       unsigned short values[MAX_PARAMETERS]) {
  struct json_member member;
  for (int i = 0; i < MAX_PARAMETERS; i++) values[i] = VALUE_NONE;
  while (json_member_next(&parameters, &member)) {
    const int parameter = place_within(&template->parameters, MAX_PARAMETERS, member.name, member.name_length);
    if (parameter == MAX_PARAMETERS) continue;
    if (parameter < 0) return false;
    const int place = place_within(&template->values[parameter], VALUE_NONE, member.value, member.value_length);
    if (place < 0) return false;
    values[parameter] = (unsigned short)place;
  }
  return true;
}

/* The length of a reason, cut to a limit, because compilers can print long ones. No character is cut in two. */
static size_t reason_length(const char *reason) {
  enum { MOST = 300 };
  size_t length = strlen(reason);
  if (length <= MOST) return length;
  for (length = MOST; length > 0 && !begins_character(reason[length]);) length--;
  return length;
}

static halotune_status row_fill(struct variant_table *table, sqlite3_stmt *query, struct variant_row *row) {
  const char *reason = column_text(query, REASON);
  const bool has_interval = whole_column(query, SAMPLES) > 1; /* a recording without samples gives one value */
  searches_count(&table->searches, sqlite3_column_int64(query, RUN), (long)sqlite3_column_int64(query, NUMBER));
  *row = (struct variant_row){
      .variant = sqlite3_column_int64(query, VARIANT),
      .run = sqlite3_column_int64(query, RUN),
      .number = (long)sqlite3_column_int64(query, NUMBER),
      .at_s = column_real(query, AT),
      .median_ms = column_real(query, MEDIAN),
      .minimum_ms = column_real(query, MINIMUM),
      .low_ms = has_interval ? column_real(query, LOW) : NAN,
      .high_ms = has_interval ? column_real(query, HIGH) : NAN,
      .occupancy = column_real(query, OCCUPANCY),
      .rms_error = column_real(query, RMS),
      .max_error_units = column_real(query, UNITS),
      .compile_ms = column_real(query, COMPILE),
      .threads = whole_column(query, THREADS),
      .blocks = sqlite3_column_type(query, BLOCKS) == SQLITE_NULL ? -1 : (long)sqlite3_column_int64(query, BLOCKS),
      .reason = -1,
      .sample_count = whole_column(query, SAMPLES),
      .registers = whole_column(query, REGISTERS),
      .shared_bytes = whole_column(query, SHARED),
      .spill_bytes = whole_column(query, SPILL),
      .blocks_per_sm = whole_column(query, BLOCKS_SM),
      .attempts = whole_column(query, ATTEMPTS),
      .is_marked = sqlite3_column_int(query, MARKED) != 0,
      .is_own = sqlite3_column_int(query, OWN) != 0,
  };
  if (!outcome_find(column_text(query, OUTCOME), &row->outcome)) {
    return fail(HALOTUNE_DB, "the database has an outcome that this version does not know: '%s'",
                column_text(query, OUTCOME));
  }
  if (!outcome_has_time(row->outcome)) row->median_ms = NAN;
  if (!(row->median_ms > 0)) row->median_ms = NAN;
  if (*reason && (row->reason = texts_add(&table->reasons, reason, reason_length(reason))) < 0) return fail_memory();
  if ((row->template = template_place(table, sqlite3_column_int64(query, TEMPLATE))) < 0) return fail_memory();
  bool ok = add_values(&table->templates[row->template], column_text(query, PARAMETERS), row->values);
  return ok ? HALOTUNE_OK : fail_memory();
}

static int compare_ids(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

static int by_run(const void *a, const void *b) {
  const struct variant_row *x = *(struct variant_row *const *)a, *y = *(struct variant_row *const *)b;
  int order = compare_ids(x->run, y->run);
  return order ? order : compare_ids(x->number, y->number);
}

static int by_variant(const void *a, const void *b) {
  const struct variant_row *x = *(struct variant_row *const *)a, *y = *(struct variant_row *const *)b;
  int order = compare_ids(x->variant, y->variant);
  if (order == 0) order = (int)x->is_own - (int)y->is_own;
  return order ? order : by_run(a, b);
}

static halotune_status add_improvement(struct variant_table *table, const struct variant_row *row, double best_ms) {
  if (!array_room(table->improvements, table->improvement_count, table->improvement_capacity)) return fail_memory();
  table->improvements[table->improvement_count++] = (struct improvement){row->run, row->number, row->at_s, best_ms};
  return HALOTUNE_OK;
}

/* Find where each run's best time improved, and where the run ended. Rows are sorted by run. */
static halotune_status find_improvements(struct variant_table *table) {
  double best_ms = INFINITY;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < table->order_count && status == HALOTUNE_OK; i++) {
    const struct variant_row *row = table->order[i];
    if (!searches_have(&table->searches, row->run)) continue;
    bool is_first = i == 0 || table->order[i - 1]->run != row->run;
    bool is_last = i == table->order_count - 1 || table->order[i + 1]->run != row->run;
    if (is_first) best_ms = INFINITY;
    bool improves = row->median_ms < best_ms;
    if (improves) best_ms = row->median_ms;
    if (improves || (is_last && isfinite(best_ms))) status = add_improvement(table, row, best_ms);
  }
  return status;
}

/* Keep only the newest row of each variant, by run and number. Rows of this user count before those of others. */
static void variants_drop_old(struct variant_table *table) {
  int count = 0;
  qsort(table->order, (size_t)table->order_count, sizeof(struct variant_row *), by_variant);
  for (int i = 0; i < table->order_count; i++) {
    bool is_newest = i + 1 == table->order_count || table->order[i + 1]->variant != table->order[i]->variant;
    if (is_newest) table->order[count++] = table->order[i];
  }
  table->order_count = count;
  qsort(table->order, (size_t)count, sizeof(struct variant_row *), by_run);
}

static halotune_status variants_arrange(struct variant_table *table) {
  table->order = malloc(((size_t)table->count + 1) * sizeof(struct variant_row *));
  table->searched = malloc(((size_t)table->count + 1) * sizeof(struct variant_row *));
  if (!table->order || !table->searched) return fail_memory();
  for (int i = 0; i < table->count; i++) table->order[i] = &table->rows[i];
  table->order_count = table->count;
  qsort(table->order, (size_t)table->count, sizeof(struct variant_row *), by_run);
  searches_judge(&table->searches);
  halotune_status status = find_improvements(table);
  variants_drop_old(table);
  for (int i = 0; i < table->order_count; i++) {
    if (searches_have(&table->searches, table->order[i]->run))
      table->searched[table->searched_count++] = table->order[i];
  }
  return status;
}

halotune_status variants_read(sqlite3 *db, int64_t problem, struct variant_table *out) {
  sqlite3_stmt *query;
  bool has_row = false;
  halotune_status status = searches_read(db, problem, &out->searches);
  if (status != HALOTUNE_OK) return status;
  status = rows_open(db, rows_sql, &problem, 1, &query);
  while (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK && has_row) {
    bool has_room = array_room(out->rows, out->count, out->capacity);
    status = has_room ? row_fill(out, query, &out->rows[out->count++]) : fail_memory();
  }
  sqlite3_finalize(query);
  return status == HALOTUNE_OK ? variants_arrange(out) : status;
}

void variants_free(struct variant_table *table) {
  for (int i = 0; i < table->template_count; i++) {
    texts_free(&table->templates[i].parameters);
    for (int p = 0; p < MAX_PARAMETERS; p++) texts_free(&table->templates[i].values[p]);
  }
  texts_free(&table->reasons);
  free(table->rows);
  searches_free(&table->searches);
  free(table->order);
  free(table->searched);
  free(table->templates);
  free(table->improvements);
  *table = (struct variant_table){0};
}
