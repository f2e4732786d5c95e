/* reference_case.h: a stencil with fields on a small grid, for tests of the CPU reference. */
#ifndef VERIFY_REFERENCE_CASE_H
#define VERIFY_REFERENCE_CASE_H

#include <stdlib.h>

#include "tests/unit/stencils.h"
#include "tuner/verify/box.h"
#include "tuner/verify/inputs.h"
#include "tuner/verify/reference.h"

struct reference_case {
  struct stencil *stencil;
  struct analysis *analysis;
  struct grid grid;
  long points;
  double *coefficients;
  double *inputs[MAX_FIELDS], *outputs[MAX_FIELDS], *magnitudes[MAX_FIELDS];
};

/* The value of outputs and magnitudes before anything is computed. */
#define REFERENCE_UNTOUCHED (-7.0)

static inline double *reference_field(long points, double value) {
  double *field = malloc((size_t)points * sizeof *field);
  assert_non_null(field);
  for (long i = 0; i < points; i++) field[i] = value;
  return field;
}

/* Make analysis, coefficients and fields for a stencil. The case owns the stencil from then on. Inputs are 0. */
static inline struct reference_case reference_case_of(struct stencil *stencil, struct grid grid) {
  struct reference_case c = {.stencil = stencil, .grid = grid, .points = grid.n[0] * grid.n[1] * grid.n[2]};
  CHECK_OK(analysis_make(stencil, &c.analysis));
  c.coefficients = reference_field(stencil->coefficient_count + 1, 0);
  CHECK_OK(stencil_coefficients(stencil, &grid, c.coefficients));
  for (int i = 0; i < stencil->input_count; i++) c.inputs[i] = reference_field(c.points, 0);
  for (int i = 0; i < stencil->output_count; i++) {
    c.outputs[i] = reference_field(c.points, REFERENCE_UNTOUCHED);
    c.magnitudes[i] = reference_field(c.points, REFERENCE_UNTOUCHED);
  }
  return c;
}

/* Like reference_case_of, for a stencil given by some lines of its file. */
static inline struct reference_case reference_case_open(int dims, const char *lines, struct grid grid) {
  static const char *const grids[] = {"[9]", "[9, 8]", "[9, 8, 7]"};
  struct text text = {0};
  struct stencil *stencil = NULL;
  text_printf(&text, "name: test\ndims: %d\ndtypes: [f32, f64]\ngrids: [%s]\n%s\n", dims, grids[dims - 1], lines);
  halotune_status status = stencil_parse(&(struct source){"test.yaml", text_string(&text), text.length}, &stencil);
  text_free(&text);
  CHECK_OK(status);
  return reference_case_of(stencil, grid);
}

static inline struct reference_case reference_case_kernel(const char *name, struct grid grid) {
  struct stencil *stencil = NULL;
  CHECK_OK(stencil_of_kernels(name, &stencil));
  return reference_case_of(stencil, grid);
}

static inline void reference_case_fill(struct reference_case *c, enum input_kind kind, uint64_t seed) {
  for (int i = 0; i < c->stencil->input_count; i++) {
    CHECK_OK(inputs_fill(&(struct inputs){.kind = kind, .seed = seed, .dtype = DTYPE_F64, .threads = 1}, i, c->stencil,
                         &c->grid, &(const struct ending){0}, c->inputs[i]));
  }
}

static inline halotune_status reference_case_run(struct reference_case *c, int steps, int threads, bool magnitudes) {
  const double *inputs[MAX_FIELDS];
  for (int i = 0; i < c->stencil->input_count; i++) inputs[i] = c->inputs[i];
  return reference_run(&(struct reference){.stencil = c->stencil,
                                           .analysis = c->analysis,
                                           .grid = c->grid,
                                           .coefficients = c->coefficients,
                                           .steps = steps,
                                           .threads = threads,
                                           .dtype = DTYPE_F64},
                       inputs, c->outputs, magnitudes ? c->magnitudes : NULL);
}

static inline void reference_case_share_skipped(struct reference_case *c) {
  struct box box = box_computed(c->stencil, c->analysis, &c->grid);
  inputs_share_skipped(c->stencil, c->analysis, &box, &c->grid, c->inputs, c->outputs);
}

static inline void reference_case_close(struct reference_case *c) {
  for (int i = 0; i < MAX_FIELDS; i++) {
    free(c->inputs[i]);
    free(c->outputs[i]);
    free(c->magnitudes[i]);
  }
  free(c->coefficients);
  analysis_free(c->analysis);
  stencil_free(c->stencil);
}

/* All points of a grid. */
static inline struct box box_whole(const struct grid *grid) {
  return (struct box){.high = {grid->n[0], grid->n[1], grid->n[2]}};
}

#endif
