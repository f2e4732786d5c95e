/* solver.h: a solver of examples/solvers on a small grid, for tests that compare it with an exact solution. It runs on
 * the reference, or with SOLVERS=gpu on the GPU or on the driver that $HALOTUNE_LIBCUDA names (tests/solvers.sh).
 * SOLVERS_SCALE=8 makes grids 8 times as long along each axis, which is the most for 3D grids. Small grids tell the
 * same, but keep no GPU busy. */
#ifndef TESTS_UNIT_SOLVERS_SOLVER_H
#define TESTS_UNIT_SOLVERS_SOLVER_H

#include <math.h>
#include <stdlib.h>

#include "tests/unit/unit.h"
#include "tuner/cli/run/run_problem.h"

struct solver {
  struct run_problem problem;
  const struct run_backend *backend;
  void *state;
};

static inline long solver_scale(void) {
  const char *scale = getenv("SOLVERS_SCALE");
  return scale && atol(scale) > 0 ? atol(scale) : 1;
}

/* Of a 3D grid, whose halves exchange their fields through the host after each step. */
static inline long solver_scale_3d(void) { return solver_scale() < 8 ? solver_scale() : 8; }

/* Whether the driver emulates a GPU: a test makes few steps. */
static inline bool solver_slow_driver(void) {
  const char *backend = getenv("SOLVERS");
  return backend && strcmp(backend, "gpu") == 0 && getenv("HALOTUNE_LIBCUDA");
}

/* The value of a field at a point of a grid of n[0] x n[1] x n[2] points. */
typedef double field_value(const long n[3], long x, long y, long z);

/* Open examples/solvers/NAME.yaml in double precision.
 *   s    stays where it is until solver_close, because the backend points into it
 *   set  coefficients, as --set takes them; NULL: those of the file */
static inline void solver_open(struct solver *s, const char *name, const char *set, long nx, long ny, long nz) {
  const char *backend = getenv("SOLVERS");
  char path[128];
  struct invocation invocation = {.command = &command_run};
  *s = (struct solver){.problem = {.grid = {{nx, ny, nz}}, .points = nx * ny * nz, .dtype = DTYPE_F64, .steps = 1000}};
  s->backend = backend && strcmp(backend, "gpu") == 0 ? &run_backend_gpu : &run_backend_cpu;
  snprintf(path, sizeof path, "examples/solvers/%s.yaml", name);
  option_put(&invocation, "threads", "1");
  if (set) option_put(&invocation, "set", set);
  CHECK_OK(loaded_open(path, &s->problem.loaded));
  CHECK_OK(run_coefficients(&invocation, &s->problem));
  CHECK_OK(s->backend->open(&invocation, &s->problem, &s->state));
}

static inline void solver_close(struct solver *s) {
  s->backend->close(s->state);
  free(s->problem.coefficients);
  loaded_free(&s->problem.loaded);
}

static inline double *solver_field(const struct solver *s) {
  double *values = calloc((size_t)s->problem.points, sizeof *values);
  assert_non_null(values);
  return values;
}

/* The number of an input or an output. */
static inline int solver_number(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) return i;
  }
  CHECK(false, "there is no field %s", name);
  return -1;
}

static inline void solver_put(struct solver *s, const char *input, const double *values) {
  const struct stencil *stencil = s->problem.loaded.stencil;
  CHECK_OK(s->backend->put(s->state, solver_number(stencil->inputs, stencil->input_count, input), 0, s->problem.points,
                           values));
}

static inline void field_fill(const struct solver *s, field_value *value, double *values) {
  const long *n = s->problem.grid.n;
  for (long i = 0; i < s->problem.points; i++) values[i] = value(n, i % n[0], i / n[0] % n[1], i / n[0] / n[1]);
}

static inline void solver_fill(struct solver *s, const char *input, field_value *value) {
  double *values = solver_field(s);
  field_fill(s, value, values);
  solver_put(s, input, values);
  free(values);
}

/* All inputs have values: make so many steps. */
static inline void solver_start(struct solver *s) { CHECK_OK(s->backend->start(s->state)); }
static inline void solver_advance(struct solver *s, long steps) { CHECK_OK(s->backend->advance(s->state, steps)); }

static inline void solver_get(struct solver *s, const char *output, double *values) {
  const struct stencil *stencil = s->problem.loaded.stencil;
  CHECK_OK(s->backend->get(s->state, solver_number(stencil->outputs, stencil->output_count, output), 0,
                           s->problem.points, values));
}

/* The largest difference of an output from `factor` times a function. */
static inline double solver_error(struct solver *s, const char *output, field_value *value, double factor) {
  double *got = solver_field(s), *want = solver_field(s), error = 0;
  solver_get(s, output, got);
  field_fill(s, value, want);
  for (long i = 0; i < s->problem.points; i++) error = fmax(error, fabs(got[i] - factor * want[i]));
  free(got);
  free(want);
  return error;
}

static inline double solver_sum(struct solver *s, const char *output) {
  double *values = solver_field(s), sum = 0;
  solver_get(s, output, values);
  for (long i = 0; i < s->problem.points; i++) sum += values[i];
  free(values);
  return sum;
}

static inline double solver_coefficient(const struct solver *s, const char *name) {
  const struct stencil *stencil = s->problem.loaded.stencil;
  for (int i = 0; i < stencil->coefficient_count; i++) {
    if (strcmp(stencil->coefficients[i].name, name) == 0) return s->problem.coefficients[i];
  }
  CHECK(false, "there is no coefficient %s", name);
  return 0;
}

/* The order of convergence that two errors show, where the second spacing is half of the first. */
static inline double order_of(double coarse, double fine) { return log2(coarse / fine); }

#endif
