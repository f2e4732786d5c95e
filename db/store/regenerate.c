/* regenerate.c: reads the texts of a row and generates. */
#include "db/store/regenerate.h"

#include <stdlib.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "stencil/template/template_read.h"

/* Places of the columns, from the first one on. */
enum { TEXT, TEMPLATE, TEMPLATE_NAME, PARAMETERS, DTYPE, NX, REPRODUCIBLE = NX + MAX_DIMS, STEPS, LIMITS };

bool row_is_refused(halotune_status status) { return status == HALOTUNE_PARSE || status == HALOTUNE_ARGUMENT; }

static void stencil_drop(struct subject *subject) {
  analysis_free(subject->analysis);
  stencil_free(subject->stencil);
  subject->analysis = NULL;
  subject->stencil = NULL;
}

static void template_drop(struct subject *subject) {
  template_free(subject->template);
  subject->template = NULL;
}

void subject_free(struct subject *subject) {
  template_drop(subject);
  stencil_drop(subject);
}

/* Whether a text is known to be refused. Fails as its parse did. */
static halotune_status refused_check(const struct refused_text *refused, int64_t id) {
  if (refused->id == id && refused->status != HALOTUNE_OK) fail_put_back(&refused->detail);
  return refused->id == id ? refused->status : HALOTUNE_OK;
}

/* Remember a text if its parse has failed. Returns `status`. */
static halotune_status refused_note(struct refused_text *refused, int64_t id, halotune_status status) {
  if (!row_is_refused(status)) return status;
  refused->id = id;
  refused->status = status;
  fail_keep(&refused->detail);
  return status;
}

/* Prepare a query for the texts of one row, and read it. `query` must be finalized in any case. */
static halotune_status find_texts(sqlite3 *connection, const char *sql, int64_t id, sqlite3_stmt **query) {
  halotune_status status = query_prepare(connection, sql, query);
  if (status != HALOTUNE_OK) return status;
  sqlite3_bind_int64(*query, 1, id);
  const int code = sqlite3_step(*query);
  if (code == SQLITE_DONE) return fail(HALOTUNE_DB, "a row names a text that does not exist");
  return code == SQLITE_ROW ? HALOTUNE_OK : query_fail(connection);
}

/* The work of generating besides what is generated: both texts are walked through, also where the source needs little
 * of them. The CUDA that is first written of a stencil is some four times as long as its text. */
static int64_t work_of_generating(const struct subject *subject, const struct template *template) {
  return 4 * subject->stencil_bytes + (int64_t)strlen(template->cuda);
}

halotune_status subject_stencil(struct subject *subject, sqlite3 *connection, int64_t text_id) {
  sqlite3_stmt *query = NULL;
  if (subject->stencil && subject->text_id == text_id) return HALOTUNE_OK;
  halotune_status status = refused_check(&subject->refused_stencil, text_id);
  if (status != HALOTUNE_OK) return status;
  stencil_drop(subject);
  status = find_texts(connection, "select text from stencil_text where id = ?1", text_id, &query);
  if (status == HALOTUNE_OK) {
    const char *text = column_text(query, 0);
    const struct source source = source_of("text", text, strlen(text));
    subject->stencil_bytes = sqlite3_column_bytes(query, 0);
    subject->work += subject->stencil_bytes;
    status = stencil_parse(&source, &subject->stencil);
  }
  if (status == HALOTUNE_OK) status = analysis_make(subject->stencil, &subject->analysis);
  sqlite3_finalize(query);
  if (status == HALOTUNE_OK) subject->text_id = text_id;
  else stencil_drop(subject);
  return refused_note(&subject->refused_stencil, text_id, status);
}

static halotune_status subject_template(struct subject *subject, sqlite3 *connection, int64_t template_id) {
  sqlite3_stmt *query = NULL;
  if (subject->template && subject->template_id == template_id) return HALOTUNE_OK;
  halotune_status status = refused_check(&subject->refused_template, template_id);
  if (status != HALOTUNE_OK) return status;
  template_drop(subject);
  status = find_texts(connection, "select name, yaml, cuda from template where id = ?1", template_id, &query);
  if (status == HALOTUNE_OK) {
    const char *yaml = column_text(query, 1);
    const struct source source = source_of(column_text(query, 0), yaml, strlen(yaml));
    subject->work += sqlite3_column_bytes(query, 1) + sqlite3_column_bytes(query, 2);
    status = template_parse(&source, column_text(query, 2), &subject->template);
  }
  sqlite3_finalize(query);
  if (status == HALOTUNE_OK) subject->template_id = template_id;
  return refused_note(&subject->refused_template, template_id, status);
}

static halotune_status grid_check(const struct stencil *stencil, const struct grid *grid) {
  double points = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long n = grid->n[axis];
    points *= (double)n;
    if (n < 1 || (axis >= stencil->dims && n != 1) || points > 0x1p53)
      return fail(HALOTUNE_ARGUMENT, "its grid is not a grid of its stencil");
  }
  return HALOTUNE_OK;
}

/* Generate a configuration of a template, with everything else from the row. */
static halotune_status generate_row(sqlite3_stmt *row, int at, struct subject *s, const struct template *template,
                                    const struct configuration *configuration, struct generated *out) {
  struct grid grid;
  double coefficients[MAX_COEFFICIENTS];
  for (int axis = 0; axis < MAX_DIMS; axis++) grid.n[axis] = (long)sqlite3_column_int64(row, at + NX + axis);
  halotune_status status = grid_check(s->stencil, &grid);
  if (status == HALOTUNE_OK) status = stencil_coefficients(s->stencil, &grid, coefficients);
  if (status != HALOTUNE_OK) return status;
  const struct variant_spec spec = {.stencil = s->stencil,
                                    .analysis = s->analysis,
                                    .template = template,
                                    .configuration = *configuration,
                                    .dtype = strcmp(column_text(row, at + DTYPE), "f64") == 0 ? DTYPE_F64 : DTYPE_F32,
                                    .domain = domain_dense(s->stencil, s->analysis, &grid),
                                    .coefficients = coefficients,
                                    .limits = device_row_limits(row, at + LIMITS),
                                    .reproducible = sqlite3_column_int(row, at + REPRODUCIBLE) != 0,
                                    .most_steps = sqlite3_column_int(row, at + STEPS)};
  s->work += work_of_generating(s, template);
  status = generate(&spec, out);
  if (status != HALOTUNE_OK) return status;
  s->work += (int64_t)strlen(out->source);
  source_strip_lines(out->source);
  return status;
}

halotune_status regenerate(sqlite3_stmt *row, int at, struct subject *subject, const struct template *template,
                           struct generated *out) {
  sqlite3 *connection = sqlite3_db_handle(row);
  struct configuration configuration;
  *out = (struct generated){.source = NULL};
  halotune_status status = subject_stencil(subject, connection, sqlite3_column_int64(row, at + TEXT));
  if (status == HALOTUNE_OK && !template) {
    status = subject_template(subject, connection, sqlite3_column_int64(row, at + TEMPLATE));
    template = subject->template;
  }
  if (status == HALOTUNE_OK) status = configuration_read(template, column_text(row, at + PARAMETERS), &configuration);
  return status == HALOTUNE_OK ? generate_row(row, at, subject, template, &configuration, out) : status;
}

halotune_status regenerate_with(sqlite3_stmt *row, int at, struct subject *subject, const struct template *template,
                                struct configuration *configuration, struct generated *out) {
  *out = (struct generated){.source = NULL};
  halotune_status status = subject_stencil(subject, sqlite3_db_handle(row), sqlite3_column_int64(row, at + TEXT));
  if (status == HALOTUNE_OK)
    status = configuration_read_older(template, column_text(row, at + PARAMETERS), configuration);
  return status == HALOTUNE_OK ? generate_row(row, at, subject, template, configuration, out) : status;
}
