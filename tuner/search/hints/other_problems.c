/* other_problems.c: reads measurements, problem after problem, and joins what they say of one variant. */
#include "tuner/search/hints/other_problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/utf8.h"
#include "db/store/launch_text.h"
#include "db/store/outcome.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "library/predict/predict.h"
#include "stencil/file/grid_text.h"

enum {
  MOST_ROWS = 50000, /* rows of a database; a row takes some microseconds */
  ROWS_BETWEEN_QUESTIONS = 256
};

/* ?1: whether emulations count; ?2: time steps of a launch. */
static const char problems_sql[] =
    "select p.id, s.id, s.name, d.name, d.capability, d.sm_count, d.memory_clock_khz, d.bus_bits,"
    " d.l2_bytes, p.nx, p.ny, p.nz, p.dtype, p.launch from problem p"
    " join stencil s on s.id = p.stencil_id"
    " join device d on d.id = p.device_id"
    " where (?1 or not d.is_emulation) and p.steps = ?2 and " SQL_HAS_GRID("p") " order by p.id desc";

enum problem_column {
  PROBLEM,
  STENCIL_ID,
  STENCIL_NAME,
  DEVICE_NAME,
  CAPABILITY,
  SM_COUNT,
  MEMORY_KHZ,
  BUS_BITS,
  L2_BYTES,
  NX,
  NY,
  NZ,
  DTYPE,
  LAUNCH,
};

/* ?1: the problem; ?2: how many rows. A variant has a row for each version of its template. */
static const char rows_sql[] =
    "select t.name, v.parameters, m.outcome, m.median_ms, m.occupancy from run r cross join measurement m"
    " on m.run_id = r.id join variant v on v.id = m.variant_id join template t on t.id = v.template_id"
    " where r.problem_id = ?1 and m.outcome <> 'pruned' order by m.id desc limit ?2";

enum row_column { TEMPLATE_NAME, PARAMETERS, OUTCOME, TIME, OCCUPANCY };

/* The stencil of the problem that was read last, which often is that of the next one, too. */
struct kin {
  int64_t id; /* in the database; 0: none */
  struct stencil *stencil;
  struct analysis *analysis;
  int64_t *strangers; /* stencils that tell nothing, or cannot be read */
  int stranger_count, stranger_room;
  struct set by_stranger;
};

/* The problem whose rows are read. */
struct reading {
  const struct hint_target *target;
  const struct search_space *space;
  const struct hint_end *end;
  sqlite3_stmt *texts;
  struct kin kin;
  struct known *out;
  struct predict_model model;
  struct predict_work asked_work, work;
  struct predict_gpu asked_gpu, gpu;
  enum launch_mode launch;
  double kin_error;     /* error of a prediction, because the problem is another */
  bool is_left_out;     /* the problem's rows tell nothing */
  int source;           /* in out->sources */
  struct visited taken; /* variants of the problem */
  struct known_variant *list;
  double *errors;
  int count, capacity, error_capacity;
};

/* Add what the problem says to what others say: the mean of the logarithms, weighted by 1 / error^2. A failure counts
 * only where no problem has a time. */
static halotune_status join_variant(struct known *out, const struct search_space *space,
                                    const struct known_variant *variant, double weight) {
  const int number = visited_number(&out->places, space, &variant->proposal);
  if (number < 0) {
    if (!array_room(out->list, out->variants.count, out->capacity)) return fail_memory();
    if (!array_room(out->weights, out->variants.count, out->weight_capacity)) return fail_memory();
    out->list[out->variants.count] = *variant;
    out->weights[out->variants.count++] = weight;
    return visited_add(&out->places, space, &variant->proposal, NULL);
  }
  struct known_variant *known = &out->list[number];
  double *sum = &out->weights[number];
  if (!isfinite(variant->log_time)) return HALOTUNE_OK;
  const bool has_time = isfinite(known->log_time);
  if (!has_time || weight > *sum) known->source = variant->source;
  known->log_time =
      has_time ? (known->log_time * *sum + variant->log_time * weight) / (*sum + weight) : variant->log_time;
  *sum = has_time ? *sum + weight : weight;
  return HALOTUNE_OK;
}

/* Finish a problem after its last row. */
static halotune_status end_problem(struct reading *r) {
  double best = INFINITY;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < r->count; i++) best = fmin(best, r->list[i].log_time);
  for (int i = 0; i < r->count && status == HALOTUNE_OK && isfinite(best); i++) {
    r->list[i].log_time -= best;
    status = join_variant(r->out, r->space, &r->list[i], 1 / (r->errors[i] * r->errors[i]));
  }
  r->count = 0;
  visited_free(&r->taken);
  return status;
}

static struct predict_gpu gpu_of_row(sqlite3_stmt *row) {
  return (struct predict_gpu){
      .sm_count = sqlite3_column_int(row, SM_COUNT),
      .capability = sqlite3_column_int(row, CAPABILITY),
      .memory_gbs = device_memory_gbs(sqlite3_column_int(row, MEMORY_KHZ), sqlite3_column_int(row, BUS_BITS)),
      .l2_bytes = sqlite3_column_int(row, L2_BYTES)};
}

/* How much a prediction errs because stencil, GPU and element type are others; INFINITY where it tells nothing. */
static double kin_error_of(const struct hint_target *target, double stencil_distance, sqlite3_stmt *row) {
  static const double of_stencil = 0.1, of_gpu = 0.1, of_dtype = 0.1;
  const struct device_facts *own = target->device;
  const bool is_own_gpu = strcmp(column_text(row, DEVICE_NAME), own->name) == 0 &&
                          sqlite3_column_int(row, SM_COUNT) == own->sm_count &&
                          sqlite3_column_int(row, CAPABILITY) == own->capability;
  const bool is_own_dtype = strcmp(column_text(row, DTYPE), dtype_names[target->task->dtype]) == 0;
  return of_stencil * stencil_distance + of_gpu * !is_own_gpu + of_dtype * !is_own_dtype;
}

static bool is_own_grid(const struct grid *own, sqlite3_stmt *row) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (sqlite3_column_int64(row, NX + axis) != own->n[axis]) return false;
  }
  return true;
}

static halotune_status name_source(struct reading *r, const struct grid *grid, int dims, sqlite3_stmt *row) {
  struct known *out = r->out;
  struct text name = {0};
  char stencil[128],
      device[128]; /* a file of others may have any characters in them, and the user's database keeps the name */
  printable_name(stencil, sizeof stencil, column_text(row, STENCIL_NAME));
  printable_name(device, sizeof device, column_text(row, DEVICE_NAME));
  text_printf(&name, "%s %s ", stencil, column_text(row, DTYPE));
  grid_text(grid, dims, &name);
  text_printf(&name, " on %s", device);
  const char *kept = arena_text(&out->arena, text_string(&name), strlen(text_string(&name)));
  text_free(&name);
  if (!kept || !array_room(out->sources, out->source_count, out->source_capacity)) return fail_memory();
  r->source = out->source_count;
  out->sources[out->source_count++] = kept;
  return HALOTUNE_OK;
}

/* Forget the stencil that was read last. */
static void kin_drop(struct kin *kin) {
  analysis_free(kin->analysis);
  stencil_free(kin->stencil);
  kin->analysis = NULL;
  kin->stencil = NULL;
  kin->id = 0;
}

static void kin_free(struct kin *kin) {
  kin_drop(kin);
  free(kin->strangers);
  set_free(&kin->by_stranger);
  *kin = (struct kin){.id = 0};
}

static bool is_stranger(const struct kin *kin, int64_t id) {
  int number;
  for (struct set_walk at = set_walk(&kin->by_stranger, set_hash(&id, sizeof id)); set_next(&at, &number);) {
    if (kin->strangers[number] == id) return true;
  }
  return false;
}

/* Read the stencil of a problem, unless it is that of the problem before, or known to tell nothing.
 *   distance  receives how much it differs from the task's; INFINITY: it tells nothing */
static halotune_status kin_read(struct reading *r, int64_t id, double *distance) {
  struct kin *kin = &r->kin;
  halotune_status status = HALOTUNE_OK;
  *distance = INFINITY;
  if (is_stranger(kin, id)) return HALOTUNE_OK;
  if (kin->id != id) {
    kin_drop(kin);
    status = hint_stencil_read(r->texts, id, &kin->stencil, &kin->analysis);
    if (status == HALOTUNE_OK) kin->id = id;
  }
  if (status == HALOTUNE_OK && kin->stencil)
    *distance = hint_stencil_distance(r->target->task, kin->stencil, kin->analysis);
  if (status != HALOTUNE_OK || isfinite(*distance)) return status;
  if (!array_room(kin->strangers, kin->stranger_count, kin->stranger_room)) return fail_memory();
  kin->strangers[kin->stranger_count] = id;
  return set_add(&kin->by_stranger, set_hash(&id, sizeof id), kin->stranger_count++) ? HALOTUNE_OK : fail_memory();
}

/* Read what the rows of a problem have in common. */
static halotune_status begin_problem(struct reading *r, sqlite3_stmt *row) {
  const struct task *task = r->target->task;
  double distance;
  r->is_left_out = true;
  halotune_status status = kin_read(r, sqlite3_column_int64(row, STENCIL_ID), &distance);
  if (status != HALOTUNE_OK || !isfinite(distance)) return status;
  r->kin_error = kin_error_of(r->target, distance, row);
  if (!isfinite(r->kin_error) || (r->kin_error == 0 && is_own_grid(&task->grid, row))) return HALOTUNE_OK;
  const enum dtype dtype = strcmp(column_text(row, DTYPE), dtype_names[DTYPE_F64]) == 0 ? DTYPE_F64 : DTYPE_F32;
  const struct grid grid = {
      {(long)sqlite3_column_int64(row, NX), (long)sqlite3_column_int64(row, NY), (long)sqlite3_column_int64(row, NZ)}};
  const struct domain domain = domain_dense(r->kin.stencil, r->kin.analysis, &grid);
  r->work = predict_work_of(r->kin.stencil, r->kin.analysis, dtype, &domain);
  r->gpu = gpu_of_row(row);
  r->launch = strcmp(column_text(row, LAUNCH), "graph") == 0 ? LAUNCH_GRAPH : LAUNCH_STREAM;
  r->is_left_out = false;
  return name_source(r, &grid, r->kin.stencil->dims, row);
}

/* The logarithm of the time that is expected of a variant here. Where a number of the GPUs is not known, times of both
 * problems count as equal. */
static double predict_log_time(struct reading *r, const struct proposal *proposal, sqlite3_stmt *row, double *error) {
  static const double unknown_error = 0.2;
  struct bindings *bindings = &r->space->bindings[proposal->template_index];
  const double time_ms = sqlite3_column_double(row, TIME);
  struct predict_cost measured, asked;
  bindings_configure(bindings, &proposal->configuration);
  const struct predict_shape shape =
      predict_shape_of(bindings, sqlite3_column_double(row, OCCUPANCY), r->target->task->limits.max_threads_sm);
  predict_cost(&r->model, &shape, &r->work, &r->gpu, &measured);
  predict_cost(&r->model, &shape, &r->asked_work, &r->asked_gpu, &asked);
  const struct prediction prediction =
      predict(&r->model, time_ms, &measured, r->launch, &asked, r->target->launch, 0, r->kin_error);
  const bool is_known = isfinite(prediction.time_ms) && prediction.time_ms > 0 && prediction.error > 0;
  *error = is_known ? prediction.error : unknown_error + r->kin_error;
  return log(is_known ? prediction.time_ms : time_ms);
}

static halotune_status add_row(struct reading *r, sqlite3_stmt *row) {
  const struct hint_row winner = {.template_name = column_text(row, TEMPLATE_NAME),
                                  .parameters = column_text(row, PARAMETERS)};
  struct known_variant variant = {.source = r->source, .log_time = INFINITY};
  enum outcome outcome;
  bool is_new;
  if (!outcome_find(column_text(row, OUTCOME), &outcome) || !hints_same(r->space, &winner, &variant.proposal))
    return HALOTUNE_OK;
  halotune_status status = visited_add(&r->taken, r->space, &variant.proposal, &is_new);
  if (status != HALOTUNE_OK || !is_new) return status; /* a newer row gave the variant's time */
  if (!array_room(r->list, r->count, r->capacity)) return fail_memory();
  if (!array_room(r->errors, r->count, r->error_capacity)) return fail_memory();
  r->errors[r->count] = 1;
  if (outcome_has_time(outcome) && sqlite3_column_double(row, TIME) > 0)
    variant.log_time = predict_log_time(r, &variant.proposal, row, &r->errors[r->count]);
  r->list[r->count++] = variant;
  return HALOTUNE_OK;
}

/* Read the rows of a problem, the newest first.
 *   left  how many rows may be read */
static halotune_status read_rows(struct reading *r, sqlite3_stmt *rows, int64_t problem, int *left) {
  halotune_status status = HALOTUNE_OK;
  int code = SQLITE_DONE;
  sqlite3_reset(rows);
  sqlite3_bind_int64(rows, 1, problem);
  sqlite3_bind_int(rows, 2, *left);
  while (status == HALOTUNE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
    status = add_row(r, rows);
    if (--*left % ROWS_BETWEEN_QUESTIONS == 0 && hint_is_over(r->end)) break;
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE && code != SQLITE_ROW) return query_fail(sqlite3_db_handle(rows));
  return status == HALOTUNE_OK ? end_problem(r) : status;
}

static halotune_status read_problems(struct reading *r, sqlite3_stmt *problems, sqlite3_stmt *rows) {
  halotune_status status = HALOTUNE_OK;
  int code = SQLITE_DONE, left = MOST_ROWS;
  while (status == HALOTUNE_OK && left > 0 && (code = sqlite3_step(problems)) == SQLITE_ROW) {
    if (hint_is_over(r->end)) return HALOTUNE_OK;
    status = begin_problem(r, problems);
    if (status == HALOTUNE_OK && !r->is_left_out)
      status = read_rows(r, rows, sqlite3_column_int64(problems, PROBLEM), &left);
  }
  const bool has_failed = code != SQLITE_DONE && code != SQLITE_ROW;
  return status == HALOTUNE_OK && has_failed ? query_fail(sqlite3_db_handle(problems)) : status;
}

static halotune_status read_store(struct reading *r, struct store *store) {
  const int steps = r->target->task->launch_steps;
  sqlite3_stmt *problems = NULL, *rows = NULL;
  halotune_status status = query_prepare(store_connection(store), problems_sql, &problems);
  if (status == HALOTUNE_OK) status = query_prepare(store_connection(store), rows_sql, &rows);
  if (status == HALOTUNE_OK) status = hint_texts_prepare(store, &r->texts);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_int(problems, 1, r->target->is_emulation);
    sqlite3_bind_int(problems, 2, steps > 1 ? steps : 1);
    status = read_problems(r, problems, rows);
  }
  kin_free(&r->kin);
  sqlite3_finalize(r->texts);
  r->texts = NULL;
  sqlite3_finalize(rows);
  sqlite3_finalize(problems);
  return status;
}

halotune_status known_find(const struct hint_sources *sources, const struct hint_target *target,
                           const struct search_space *space, const struct hint_end *end, struct known *out) {
  const struct task *task = target->task;
  const struct device_facts *device = target->device;
  const struct domain domain = domain_dense(task->stencil, task->analysis, &task->grid);
  struct fail_kept before;
  *out = (struct known){.capacity = 0};
  fail_keep(&before);
  struct reading r = {.target = target,
                      .space = space,
                      .end = end,
                      .out = out,
                      .model = predict_default(),
                      .asked_work = predict_work_of(task->stencil, task->analysis, task->dtype, &domain),
                      .asked_gpu = {.sm_count = device->sm_count,
                                    .capability = device->capability,
                                    .memory_gbs = device_memory_gbs(device->memory_clock_khz, device->bus_bits),
                                    .l2_bytes = device->l2_bytes}};
  halotune_status status = read_store(&r, sources->own);
  for (int i = 0; i < sources->other_count && status == HALOTUNE_OK; i++)
    status = hint_source_end(sources, i, read_store(&r, sources->others[i]));
  free(r.list);
  free(r.errors);
  visited_free(&r.taken);
  visited_free(&out->places);
  out->variants.list = out->list;
  out->variants.sources = out->sources;
  if (status == HALOTUNE_OK) fail_put_back(&before); /* a text that cannot be read is not a failure here */
  return status;
}

void known_free(struct known *known) {
  free(known->list);
  free(known->weights);
  visited_free(&known->places);
  free(known->sources);
  arena_free(&known->arena);
  *known = (struct known){.capacity = 0};
}
