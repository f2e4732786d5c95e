/* regenerate.c: reads the texts of a row and generates. */
#include "db/store/regenerate.h"

#include <stdlib.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "db/store/query.h"

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

/* Everything of a variant that is made of texts. */
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

static halotune_status subject_read(sqlite3_stmt *row, int at, struct subject *out) {
  const char *text = column_text(row, at + TEXT), *yaml = column_text(row, at + YAML);
  const struct source source = source_of("text", text, strlen(text));
  const struct source template = source_of(column_text(row, at + TEMPLATE), yaml, strlen(yaml));
  *out = (struct subject){NULL, NULL, NULL};
  halotune_status status = stencil_parse(&source, &out->stencil);
  if (status == HALOTUNE_OK) status = analysis_make(out->stencil, &out->analysis);
  return status == HALOTUNE_OK ? template_parse(&template, column_text(row, at + CUDA), &out->template) : status;
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

halotune_status regenerate(sqlite3_stmt *row, int at, struct generated *out) {
  struct subject s;
  struct variant_spec spec;
  struct grid grid;
  double coefficients[MAX_COEFFICIENTS];
  *out = (struct generated){.source = NULL};
  halotune_status status = subject_read(row, at, &s);
  for (int axis = 0; axis < MAX_DIMS; axis++) grid.n[axis] = (long)sqlite3_column_int64(row, at + NX + axis);
  if (status == HALOTUNE_OK) status = grid_check(s.stencil, &grid);
  if (status == HALOTUNE_OK) status = stencil_coefficients(s.stencil, &grid, coefficients);
  if (status == HALOTUNE_OK) {
    spec = (struct variant_spec){.stencil = s.stencil,
                                 .analysis = s.analysis,
                                 .template = s.template,
                                 .dtype = strcmp(column_text(row, at + DTYPE), "f64") == 0 ? DTYPE_F64 : DTYPE_F32,
                                 .domain = domain_dense(s.stencil, s.analysis, &grid),
                                 .coefficients = coefficients,
                                 .limits = limits_of(row, at + LIMITS),
                                 .reproducible = sqlite3_column_int(row, at + REPRODUCIBLE) != 0,
                                 .most_steps = sqlite3_column_int(row, at + STEPS)};
    status = configuration_read(s.template, column_text(row, at + PARAMETERS), &spec.configuration);
  }
  if (status == HALOTUNE_OK) status = generate(&spec, out);
  if (status == HALOTUNE_OK) source_strip_lines(out->source);
  subject_free(&s);
  return status;
}
