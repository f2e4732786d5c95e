/* finite_steps_test.c: how long values stay finite follows from the weights of the grid and the coefficients that are
 * tuned. */
#include "tuner/device/finite_steps.h"

#include <limits.h>
#include <math.h>

#include "tests/unit/stencils.h"
#include "tests/unit/unit.h"

/* A stencil in x with the coefficient c.
 *   fields  further lines of its file */
static void open_stencil(const char *coefficient, const char *fields, const char *update, struct stencil **out) {
  struct text text = {0};
  text_printf(&text,
              "name: test\ndims: 1\ninputs: [u, w]\noutputs: [v, r]\ncoefficients: {c: %s}\n%s\n"
              "iterate: {v: u, r: w}\ndtypes: [f32, f64]\ngrids: [[64]]\nupdate: |\n  %s\n",
              coefficient, fields, update);
  CHECK_OK(stencil_parse(&(struct source){"test.yaml", text_string(&text), text.length}, out));
  text_free(&text);
}

static long steps_of(const struct stencil *stencil, enum dtype dtype, enum input_kind input, long nx, double factor) {
  const struct grid grid = {{nx, stencil->dims > 1 ? 40 : 1, stencil->dims > 2 ? 30 : 1}};
  double coefficients[MAX_COEFFICIENTS];
  struct analysis *analysis;
  long steps = -1;
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(stencil_coefficients(stencil, &grid, coefficients));
  for (int i = 0; i < stencil->coefficient_count; i++) coefficients[i] *= factor;
  const struct scene_request request = {.stencil = stencil,
                                        .analysis = analysis,
                                        .dtype = dtype,
                                        .domain = domain_dense(stencil, analysis, &grid),
                                        .coefficients = coefficients,
                                        .input = input};
  CHECK_OK(finite_steps(&request, &steps));
  analysis_free(analysis);
  return steps;
}

TEST(kernels) {
  static const struct {
    const char *stencil;
    enum dtype dtype;
    double factor;
    long least, most;
  } rows[] = {{"star7", DTYPE_F32, 1, LONG_MAX, LONG_MAX},
              {"heat2d", DTYPE_F64, 1, LONG_MAX, LONG_MAX},
              {"star7", DTYPE_F32, 2, 120, 127},
              {"star7", DTYPE_F64, 2, 1000, 1023},
              {"box27", DTYPE_F32, 1, LONG_MAX, LONG_MAX},
              {"scan_z", DTYPE_F32, 1, 0, 0},
              {"wave25", DTYPE_F32, 1, 0, 0},
              {"diffusion2d", DTYPE_F64, 1, 0, 0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct stencil *stencil;
    CHECK_OK(stencil_of_kernels(rows[i].stencil, &stencil));
    const long steps = steps_of(stencil, rows[i].dtype, INPUT_RANDOM, 50, rows[i].factor);
    CHECK(steps >= rows[i].least && steps <= rows[i].most, "row %zu: %ld", i, steps);
    stencil_free(stencil);
  }
}

/* Of f32 a value has 126 bits until it overflows. */
TEST(the_tuned_grid_and_coefficients_count) {
  static const struct {
    const char *coefficient, *update;
    long nx;
    double factor;
    long want;
  } rows[] = {
      {"0.25", "v = c*u[-1] + (1 - c)*w[0]\n  r = w[0]", 64, 1, LONG_MAX},
      {"0.25", "v = c*u[-1] + (1 - c)*w[0]\n  r = w[0]", 64, 6, 126}, /* 1.5 + 0.5 */
      {"nx/64", "v = 0.5*c*u[-1] + 0.5*c*u[1]\n  r = w[0]", 64, 1, LONG_MAX},
      {"nx/64", "v = 0.5*c*u[-1] + 0.5*c*u[1]\n  r = w[0]", 1024, 1, 31}, /* 16 */
      {"64/nx", "v = u[0]\n  r = w[0]/c", 1024, 1, 31},
      {"nx/64", "v = u[1] - c*u[1]\n  r = w[0]", 192, 1, 126},       /* the weights of equal taps are added: -2 */
      {"nx/64", "v = u[0]\n  r = c*c*c*w[0] - c*u[-1]", 128, 1, 37}, /* 8 + 2 */
      {"nx/64", "v = u[0] + c*x*w[0]\n  r = w[0]", 64, 1, 0},
      {"nx", "v = u[0]\n  r = c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*c*w[0]",
       1L << 30, 1, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct stencil *stencil;
    open_stencil(rows[i].coefficient, "boundary: skip", rows[i].update, &stencil);
    CHECK_EQ(rows[i].want, steps_of(stencil, DTYPE_F32, INPUT_RANDOM, rows[i].nx, rows[i].factor), "row %zu", i);
    stencil_free(stencil);
  }
}

TEST(large_values_overflow_earlier) {
  static const struct {
    const char *fields;
    enum input_kind input;
    long want;
  } rows[] = {
      {"boundary: skip", INPUT_RANDOM, 126},
      {"boundary: skip\nvalues: {u: [-0.5, 0.5]}", INPUT_RANDOM, 126}, /* an output may start with 1 */
      {"boundary: skip\nvalues: {w: [1, 1024]}", INPUT_RANDOM, 116},
      {"boundary: skip\nvalues: {u: [-4096, 1]}", INPUT_RANDOM, 114},
      {"boundary: skip", INPUT_WIDE, 96},
      {"boundary: {x: [zero, -256]}", INPUT_RANDOM, 118},
      {"boundary: {x: c}", INPUT_RANDOM, 117},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct stencil *stencil;
    open_stencil("512", rows[i].fields, "v = c/256*u[1]\n  r = w[0]", &stencil);
    CHECK_EQ(rows[i].want, steps_of(stencil, DTYPE_F32, rows[i].input, 64, 1), "row %zu", i);
    stencil_free(stencil);
  }
}

/* A row of the program has ROW_POINTS points, and this stencil has more taps. */
TEST(many_taps) {
  enum { REACH = 8, TAPS = (2 * REACH + 1) * (2 * REACH + 1) };
  struct text text = {0};
  struct stencil *stencil;
  text_printf(&text, "name: test\ndims: 2\ninputs: [u]\noutputs: [v]\nboundary: skip\niterate: {v: u}\n"
                     "dtypes: [f32, f64]\ngrids: [[64, 64]]\nupdate: |\n  v = 0*u[0,0]");
  for (int t = 0; t < TAPS; t++)
    text_printf(&text, "%s- u[%d,%d]", t % 20 ? " " : "\n    ", t % (2 * REACH + 1) - REACH,
                t / (2 * REACH + 1) - REACH);
  text_printf(&text, "\n");
  CHECK_OK(stencil_parse(&(struct source){"test.yaml", text_string(&text), text.length}, &stencil));
  CHECK_EQ((long)(126 / log2(TAPS)), steps_of(stencil, DTYPE_F32, INPUT_RANDOM, 64, 1), "the sum of all taps");
  stencil_free(stencil);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels),
      cmocka_unit_test(the_tuned_grid_and_coefficients_count),
      cmocka_unit_test(large_values_overflow_earlier),
      cmocka_unit_test(many_taps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
