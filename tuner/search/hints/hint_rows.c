/* hint_rows.c: reads and sorts rows of `best`. */
#include "tuner/search/hints/hint_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/query.h"
#include "db/store/regenerate.h"
#include "db/store/sql_parts.h"

/* ?1: how many of a problem; ?2: whether emulations count. A variant that won several times counts once. SQLite keeps
 * all columns of all rows until they are sorted, so the long ones come from a statement of their own. */
static const char rows_sql[] =
    "select s.id, s.hash, d.name, d.capability, d.sm_count, p.nx, p.ny, p.nz, p.dtype, p.launch, p.cache, p.steps,"
    " w.nth, w.date, w.variant_id"
    " from (select problem_id, variant_id, max(date) date, row_number() over (partition by problem_id"
    " order by max(is_current) desc, max(date) desc, variant_id) nth from best group by problem_id, variant_id) w"
    " join problem p on p.id = w.problem_id join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id"
    " where w.nth <= ?1 and (?2 or not d.is_emulation) and " SQL_HAS_GRID("p") " order by s.id, p.id, w.nth";

enum column {
  STENCIL_ID,
  STENCIL_HASH,
  DEVICE_NAME,
  CAPABILITY,
  SM_COUNT,
  NX,
  NY,
  NZ,
  DTYPE,
  LAUNCH,
  CACHE,
  STEPS,
  NTH,
  DATE,
  VARIANT_ID,
};

static const char variant_sql[] =
    "select t.name, v.parameters from variant v join template t on t.id = v.template_id where v.id = ?1";

/* What is read together. */
struct reader {
  sqlite3_stmt *rows, *texts, *variant;
};

/* How much two stencils differ; INFINITY if winners of one are not hints for the other. */
static double shape_distance(const struct task *task, const struct stencil *other, const struct analysis *analysis) {
  const struct stencil *own = task->stencil;
  if (other->kind != own->kind || other->dims != own->dims || analysis->shape != task->analysis->shape ||
      analysis->pencil_axis != task->analysis->pencil_axis)
    return INFINITY;
  return 1 + abs(analysis->max_radius - task->analysis->max_radius);
}

double hint_stencil_distance(const struct task *task, const struct stencil *other, const struct analysis *analysis) {
  return identity_compare(analysis->hash, task->analysis->hash) == 0 ? 0 : shape_distance(task, other, analysis);
}

bool hint_is_over(const struct hint_end *end) { return end->is_over && end->is_over(end->context); }

halotune_status hint_texts_prepare(struct store *store, sqlite3_stmt **out) {
  return query_prepare(store_connection(store), "select " SQL_STENCIL_TEXT("?1"), out);
}

static halotune_status read_text(const char *text, struct stencil **stencil, struct analysis **analysis) {
  const struct source source = source_of("stencil", text, strlen(text));
  halotune_status status = stencil_parse(&source, stencil);
  if (status == HALOTUNE_OK) status = analysis_make(*stencil, analysis);
  if (status == HALOTUNE_OK) return HALOTUNE_OK;
  stencil_free(*stencil);
  *stencil = NULL;
  return row_is_refused(status) ? HALOTUNE_OK : status;
}

halotune_status hint_stencil_read(sqlite3_stmt *texts, int64_t stencil_id, struct stencil **stencil,
                                  struct analysis **analysis) {
  halotune_status status = HALOTUNE_OK;
  *stencil = NULL;
  *analysis = NULL;
  sqlite3_bind_int64(texts, 1, stencil_id);
  if (sqlite3_step(texts) != SQLITE_ROW) status = query_fail(sqlite3_db_handle(texts));
  else status = read_text(column_text(texts, 0), stencil, analysis);
  sqlite3_reset(texts);
  return status;
}

/* How much the row's stencil differs from the target's; INFINITY if this version cannot read its text. */
static halotune_status stencil_distance(const struct hint_target *target, sqlite3_stmt *query, sqlite3_stmt *texts,
                                        double *out) {
  const struct task *task = target->task;
  char own[IDENTITY_HEX_BYTES];
  struct stencil *stencil;
  struct analysis *analysis;
  *out = 0;
  identity_hex(task->analysis->hash, own);
  if (strcmp(column_text(query, STENCIL_HASH), own) == 0) return HALOTUNE_OK;
  *out = INFINITY;
  if (target->is_alone) return HALOTUNE_OK;
  const halotune_status status = hint_stencil_read(texts, sqlite3_column_int64(query, STENCIL_ID), &stencil, &analysis);
  if (stencil) *out = shape_distance(task, stencil, analysis);
  analysis_free(analysis);
  stencil_free(stencil);
  return status;
}

static double device_distance(const struct device_facts *own, sqlite3_stmt *query) {
  int capability = sqlite3_column_int(query, CAPABILITY);
  if (capability / 10 != own->capability / 10) return 3;
  if (capability != own->capability) return 2;
  return strcmp(column_text(query, DEVICE_NAME), own->name) != 0 ||
         sqlite3_column_int(query, SM_COUNT) != own->sm_count;
}

static double grid_distance(const struct grid *own, sqlite3_stmt *query) {
  double distance = 0;
  for (int axis = 0; axis < MAX_DIMS; axis++)
    distance += fabs(log2(sqlite3_column_double(query, NX + axis) / (double)own->n[axis]));
  return distance;
}

static double steps_distance(const struct task *task, sqlite3_stmt *query) {
  const int own = task->launch_steps > 1 ? task->launch_steps : 1;
  return fabs(log2(sqlite3_column_double(query, STEPS) / own));
}

static bool column_differs(sqlite3_stmt *query, enum column column, const char *own) {
  return strcmp(column_text(query, (int)column), own) != 0;
}

static void set_distances(struct hint_row *row, const struct hint_target *target, double of_stencil,
                          sqlite3_stmt *query) {
  row->distance[HINT_STENCIL] = of_stencil;
  row->distance[HINT_DEVICE] = device_distance(target->device, query);
  row->distance[HINT_STEPS] = steps_distance(target->task, query);
  row->distance[HINT_GRID] = grid_distance(&target->task->grid, query);
  row->distance[HINT_DTYPE] = column_differs(query, DTYPE, dtype_names[target->task->dtype]);
  row->distance[HINT_MODE] = column_differs(query, LAUNCH, launch_mode_names[target->launch]) +
                             column_differs(query, CACHE, cache_mode_names[target->cache]);
  row->distance[HINT_HISTORY] = sqlite3_column_int(query, NTH) - 1;
}

/* Read the template and the parameters of a row's variant, and keep them with the row. */
static halotune_status read_variant(struct hint_rows *rows, const struct reader *reader, struct hint_row *row) {
  sqlite3_bind_int64(reader->variant, 1, sqlite3_column_int64(reader->rows, VARIANT_ID));
  halotune_status status = HALOTUNE_OK;
  if (sqlite3_step(reader->variant) != SQLITE_ROW) status = query_fail(sqlite3_db_handle(reader->variant));
  if (status == HALOTUNE_OK) {
    row->template_name = texts_keep(&rows->texts, column_text(reader->variant, 0));
    row->parameters = texts_keep(&rows->texts, column_text(reader->variant, 1));
    if (!row->template_name || !row->parameters) status = fail_memory();
  }
  sqlite3_reset(reader->variant);
  return status;
}

static halotune_status add_row(struct hint_rows *rows, const struct hint_target *target, double of_stencil,
                               const struct reader *reader) {
  struct hint_row *list = array_grow(rows->list, rows->count, &rows->capacity, sizeof *list);
  if (!list) return fail_memory();
  rows->list = list;
  struct hint_row *row = &list[rows->count];
  *row = (struct hint_row){.date = texts_keep(&rows->texts, column_text(reader->rows, DATE)), .place = rows->count};
  const halotune_status status = row->date ? read_variant(rows, reader, row) : fail_memory();
  if (status != HALOTUNE_OK) return status;
  set_distances(row, target, of_stencil, reader->rows);
  rows->count++;
  return HALOTUNE_OK;
}

static halotune_status read_rows(struct hint_rows *rows, const struct hint_target *target, const struct hint_end *end,
                                 const struct reader *reader) {
  sqlite3_stmt *query = reader->rows;
  halotune_status status = HALOTUNE_OK;
  int64_t stencil = 0; /* the stencil of the row before, and its distance */
  double of_stencil = INFINITY;
  int code = SQLITE_DONE;
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    if (sqlite3_column_int64(query, STENCIL_ID) != stencil) {
      if (hint_is_over(end)) return HALOTUNE_OK; /* the guard of another database asks between rows, too */
      status = stencil_distance(target, query, reader->texts, &of_stencil);
    }
    stencil = sqlite3_column_int64(query, STENCIL_ID);
    if (status == HALOTUNE_OK && isfinite(of_stencil)) status = add_row(rows, target, of_stencil, reader);
  }
  if (status != HALOTUNE_OK || code == SQLITE_DONE) return status;
  return query_fail(sqlite3_db_handle(query));
}

halotune_status hint_rows_read(struct hint_rows *rows, struct store *store, const struct hint_target *target,
                               const struct hint_end *end) {
  struct reader reader = {NULL, NULL, NULL};
  halotune_status status = query_prepare(store_connection(store), rows_sql, &reader.rows);
  if (status == HALOTUNE_OK) status = hint_texts_prepare(store, &reader.texts);
  if (status == HALOTUNE_OK) status = query_prepare(store_connection(store), variant_sql, &reader.variant);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int(reader.rows, 1, HINTS_OF_A_PROBLEM);
    sqlite3_bind_int(reader.rows, 2, target->is_emulation);
    status = read_rows(rows, target, end, &reader);
  }
  sqlite3_finalize(reader.variant);
  sqlite3_finalize(reader.texts);
  sqlite3_finalize(reader.rows);
  return status;
}

static int compare_rows(const void *left, const void *right) {
  const struct hint_row *a = left, *b = right;
  for (int i = 0; i < HINT_DISTANCES; i++) {
    if (a->distance[i] != b->distance[i]) return a->distance[i] < b->distance[i] ? -1 : 1;
  }
  int newest = strcmp(b->date, a->date);
  return newest != 0 ? newest : a->place - b->place;
}

void hint_rows_sort(struct hint_rows *rows) {
  if (rows->count > 1) qsort(rows->list, (size_t)rows->count, sizeof *rows->list, compare_rows);
}

void hint_rows_free(struct hint_rows *rows) {
  free(rows->list);
  texts_free(&rows->texts);
  *rows = (struct hint_rows){.count = 0};
}
