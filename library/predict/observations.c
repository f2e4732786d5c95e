/* observations.c: one pass over the measurements, in an order in which those of one variant are neighbours. Templates
 * and stencils are parsed once. */
#include "library/predict/observations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/device_row.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "stencil/template/template_read.h"

/* A text of the database, parsed. */
struct parsed {
  int64_t id;
  struct stencil *stencil; /* NULL for a template, and for a text that cannot be read */
  struct analysis *analysis;
  struct template *template;
};

struct parsed_list {
  struct parsed *list;
  int count, capacity;
};

struct reader {
  struct parsed_list texts, templates;
  struct observations *out;
  const struct predict_model *model;
  /* of the row before */
  char parameters[1024];
  int64_t device, text, template_id;
  int dtype;
  bool is_readable; /* `shape` is that of the row's variant */
  struct predict_shape shape;
};

static const struct parsed *parsed_find(const struct parsed_list *list, int64_t id) {
  for (int i = 0; i < list->count; i++) {
    if (list->list[i].id == id) return &list->list[i];
  }
  return NULL;
}

static void parsed_free(struct parsed_list *list) {
  for (int i = 0; i < list->count; i++) {
    analysis_free(list->list[i].analysis);
    stencil_free(list->list[i].stencil);
    template_free(list->list[i].template);
  }
  free(list->list);
}

static halotune_status take_text(void *context, sqlite3_stmt *row) {
  struct reader *r = context;
  const char *text = column_text(row, 1);
  struct source source = source_of("stencil", text, strlen(text));
  if (!array_room(r->texts.list, r->texts.count, r->texts.capacity)) return fail_memory();
  struct parsed *parsed = &r->texts.list[r->texts.count++];
  *parsed = (struct parsed){.id = sqlite3_column_int64(row, 0)};
  halotune_status status = stencil_parse(&source, &parsed->stencil);
  if (status == HALOTUNE_OK) status = analysis_make(parsed->stencil, &parsed->analysis);
  return status == HALOTUNE_PARSE ? HALOTUNE_OK : status;
}

static halotune_status take_template(void *context, sqlite3_stmt *row) {
  struct reader *r = context;
  const char *yaml = column_text(row, 1);
  struct source source = source_of("template", yaml, strlen(yaml));
  if (!array_room(r->templates.list, r->templates.count, r->templates.capacity)) return fail_memory();
  struct parsed *parsed = &r->templates.list[r->templates.count++];
  *parsed = (struct parsed){.id = sqlite3_column_int64(row, 0)};
  halotune_status status = template_parse(&source, column_text(row, 2), &parsed->template);
  return status == HALOTUNE_PARSE ? HALOTUNE_OK : status;
}

/* Columns of a measurement. */
enum {
  DEVICE,
  TEXT,
  TEMPLATE,
  PARAMETERS,
  DTYPE,
  NX,
  NY,
  NZ,
  LAUNCH,
  TIME,
  BEST,
  OCCUPANCY,
  SM_COUNT,
  MEMORY_KHZ,
  BUS_BITS,
  L2_BYTES,
  LIMITS
};
static const char sql_measurements[] =
    "with model as " SQL_REAL_DEVICES
    ", fastest as (select run_id, min(median_ms) as ms from measurement where median_ms > 0 group by run_id)"
    " select d.first, r.text_id, v.template_id, v.parameters, p.dtype, p.nx, p.ny, p.nz, p.launch, m.median_ms, f.ms,"
    " m.occupancy, d.sm_count, d.memory_clock_khz, d.bus_bits, d.l2_bytes, " SQL_DEVICE_LIMITS(
        "d") " from measurement m join run r on r.id = m.run_id join problem p on p.id = r.problem_id join variant v"
             " on v.id = m.variant_id join model d on d.id = p.device_id join fastest f on f.run_id = r.id"
             " where m.median_ms > 0 and m.outcome in ('measured', 'screened') and not m.is_marked and p.steps = 1"
             " and p.cache = 'steady' and " SQL_HAS_GRID("p") " order by 1, 2, 3, 4, 5, m.id";

/* Whether the variant is another one than that of the row before; then keep what names it. */
static bool is_new_variant(struct reader *r, sqlite3_stmt *row, int dtype) {
  const char *parameters = column_text(row, PARAMETERS);
  const int64_t device = sqlite3_column_int64(row, DEVICE), text = sqlite3_column_int64(row, TEXT),
                template_id = sqlite3_column_int64(row, TEMPLATE);
  const bool is_same = r->out->count > 0 && device == r->device && text == r->text && template_id == r->template_id &&
                       dtype == r->dtype && strcmp(parameters, r->parameters) == 0;
  r->device = device;
  r->text = text;
  r->template_id = template_id;
  r->dtype = dtype;
  snprintf(r->parameters, sizeof r->parameters, "%s", parameters);
  return !is_same;
}

static halotune_status find_shape(struct reader *r, sqlite3_stmt *row, const struct parsed *text,
                                  const struct template *template, const struct domain *domain) {
  const struct device_limits limits = device_row_limits(row, LIMITS);
  struct configuration configuration;
  struct bindings bindings;
  double facts[FACT_COUNT];
  halotune_status status = configuration_read(template, r->parameters, &configuration);
  if (status != HALOTUNE_OK) return status;
  facts_fill(text->stencil, text->analysis, (enum dtype)r->dtype, domain, &limits, false, facts);
  status = bindings_make(template, facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, &configuration);
  r->shape = predict_shape_of(&bindings, sqlite3_column_double(row, OCCUPANCY), limits.max_threads_sm);
  bindings_free(&bindings);
  return HALOTUNE_OK;
}

static halotune_status take_measurement(void *context, sqlite3_stmt *row) {
  struct reader *r = context;
  const struct parsed *text = parsed_find(&r->texts, sqlite3_column_int64(row, TEXT));
  const struct parsed *template = parsed_find(&r->templates, sqlite3_column_int64(row, TEMPLATE));
  const enum dtype dtype = strcmp(column_text(row, DTYPE), dtype_names[DTYPE_F64]) == 0 ? DTYPE_F64 : DTYPE_F32;
  if (!text || !text->analysis || !template || !template->template) return HALOTUNE_OK;
  const struct grid grid = {
      {(long)sqlite3_column_int64(row, NX), (long)sqlite3_column_int64(row, NY), (long)sqlite3_column_int64(row, NZ)}};
  const struct domain domain = domain_dense(text->stencil, text->analysis, &grid);
  const bool is_new = is_new_variant(r, row, dtype);
  if (is_new) {
    halotune_status status = find_shape(r, row, text, template->template, &domain);
    r->is_readable = status == HALOTUNE_OK;
    if (status != HALOTUNE_OK && status != HALOTUNE_PARSE) return status;
  }
  if (!r->is_readable) return HALOTUNE_OK;
  if (!array_room(r->out->list, r->out->count, r->out->capacity)) return fail_memory();
  struct observation *o = &r->out->list[r->out->count];
  const long last = r->out->count > 0 ? o[-1].variant : 0;
  *o = (struct observation){.device = r->device,
                            .variant = last + is_new,
                            .launch = strcmp(column_text(row, LAUNCH), "graph") == 0 ? LAUNCH_GRAPH : LAUNCH_STREAM,
                            .time_ms = sqlite3_column_double(row, TIME),
                            .best_ms = sqlite3_column_double(row, BEST)};
  const struct predict_gpu gpu = {
      .sm_count = sqlite3_column_int(row, SM_COUNT),
      .memory_gbs = device_memory_gbs(sqlite3_column_int(row, MEMORY_KHZ), sqlite3_column_int(row, BUS_BITS)),
      .l2_bytes = sqlite3_column_int(row, L2_BYTES)};
  const struct predict_work work = predict_work_of(text->stencil, text->analysis, dtype, &domain);
  predict_cost(r->model, &r->shape, &work, &gpu, &o->cost);
  r->out->count++;
  return HALOTUNE_OK;
}

halotune_status observations_read(struct store *store, const struct predict_model *model, struct observations *out) {
  struct reader r = {.out = out, .model = model};
  sqlite3 *connection = store_connection(store);
  struct fail_kept before;
  fail_keep(&before);
  *out = (struct observations){0};
  halotune_status status = query_rows(connection, "select id, text from stencil_text", take_text, &r);
  if (status == HALOTUNE_OK) status = query_rows(connection, "select id, yaml, cuda from template", take_template, &r);
  if (status == HALOTUNE_OK) status = query_rows(connection, sql_measurements, take_measurement, &r);
  parsed_free(&r.texts);
  parsed_free(&r.templates);
  if (status == HALOTUNE_OK) fail_put_back(&before); /* a text that cannot be read is not a failure here */
  return status;
}

void observations_free(struct observations *observations) {
  free(observations->list);
  *observations = (struct observations){0};
}
