/* regenerate.c: reads the texts of a row and generates. */
#include "db/store/regenerate.h"

#include <stdlib.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "stencil/template/template_read.h"

/* Places of the columns, from the first one on. */
enum { TEXT, YAML, CUDA, TEMPLATE, PARAMETERS, DTYPE, NX, REPRODUCIBLE = NX + MAX_DIMS, STEPS, LIMITS };

static struct device_limits limits_of(sqlite3_stmt *row, int at) {
  return (struct device_limits){.capability = sqlite3_column_int(row, at),
                                .max_threads = sqlite3_column_int(row, at + 1),
                                .max_threads_sm = sqlite3_column_int(row, at + 2),
                                .max_registers = sqlite3_column_int(row, at + 3),
                                .registers_sm = sqlite3_column_int(row, at + 4),
                                .max_shared_bytes = sqlite3_column_int(row, at + 5),
                                .warp_size = sqlite3_column_int(row, at + 6),
                                .multiprocessors = sqlite3_column_int(row, at + 7)};
}

/* What is parsed from the texts of a variant. */
struct subject {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
};

static void subject_free(struct subject *subject) {
  template_free(subject->template);
  analysis_free(subject->analysis);
  stencil_free(subject->stencil);
}

/*   with_template  whether to read the template of the row */
static halotune_status subject_read(sqlite3_stmt *row, int at, bool with_template, struct subject *out) {
  const char *text = column_text(row, at + TEXT), *yaml = column_text(row, at + YAML);
  const struct source source = source_of("text", text, strlen(text));
  const struct source template = source_of(column_text(row, at + TEMPLATE), yaml, strlen(yaml));
  *out = (struct subject){NULL, NULL, NULL};
  halotune_status status = stencil_parse(&source, &out->stencil);
  if (status == HALOTUNE_OK) status = analysis_make(out->stencil, &out->analysis);
  if (status != HALOTUNE_OK || !with_template) return status;
  return template_parse(&template, column_text(row, at + CUDA), &out->template);
}

static halotune_status grid_check(const struct stencil *stencil, const struct grid *grid) {
  double points = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long n = grid->n[axis];
    points *= (double)n;
    if (n < 1 || (axis >= stencil->dims && n != 1) || points > 0x1p53)
      return fail(HALOTUNE_ARGUMENT, "its grid is no grid of its stencil");
  }
  return HALOTUNE_OK;
}

/* Generate a configuration of a template, with everything else from the row. */
static halotune_status generate_row(sqlite3_stmt *row, int at, const struct subject *s, const struct template *template,
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
                                    .limits = limits_of(row, at + LIMITS),
                                    .reproducible = sqlite3_column_int(row, at + REPRODUCIBLE) != 0,
                                    .most_steps = sqlite3_column_int(row, at + STEPS)};
  status = generate(&spec, out);
  if (status == HALOTUNE_OK) source_strip_lines(out->source);
  return status;
}

halotune_status regenerate(sqlite3_stmt *row, int at, const struct template *template, struct generated *out) {
  struct subject s;
  struct configuration configuration;
  *out = (struct generated){.source = NULL};
  halotune_status status = subject_read(row, at, !template, &s);
  if (!template) template = s.template;
  if (status == HALOTUNE_OK) status = configuration_read(template, column_text(row, at + PARAMETERS), &configuration);
  if (status == HALOTUNE_OK) status = generate_row(row, at, &s, template, &configuration, out);
  subject_free(&s);
  return status;
}

halotune_status regenerate_with(sqlite3_stmt *row, int at, const struct template *template,
                                struct configuration *configuration, struct generated *out) {
  struct subject s;
  *out = (struct generated){.source = NULL};
  halotune_status status = subject_read(row, at, false, &s);
  if (status == HALOTUNE_OK)
    status = configuration_read_older(template, column_text(row, at + PARAMETERS), configuration);
  if (status == HALOTUNE_OK) status = generate_row(row, at, &s, template, configuration, out);
  subject_free(&s);
  return status;
}
