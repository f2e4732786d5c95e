/* reference_order_test.c: the derivatives of kernels/, computed by the reference, have the accuracy of their order. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/reference_case.h"
#include "tuner/verify/exact.h"

static struct reference_case derivative_case(int axis, long n, bool skip) {
  static const char *const names[] = {"derivative_x", "derivative_y", "derivative_z"};
  struct grid grid = {{3, 3, 3}};
  struct stencil *stencil;
  grid.n[axis] = n;
  CHECK_OK(stencil_of_kernels(names[axis], &stencil));
  /* A polynomial is not periodic, so its derivative is checked only where no tap reads an image. */
  for (int k = 0; skip && k < MAX_DIMS; k++) memset(stencil->boundary[k], 0, sizeof stencil->boundary[k]);
  return reference_case_of(stencil, grid);
}

static double coordinate(const struct grid *grid, int axis, long point) {
  const long p[] = {point % grid->n[0], point / grid->n[0] % grid->n[1], point / grid->n[0] / grid->n[1]};
  return (double)p[axis] / (double)(grid->n[axis] - 1);
}

TEST(derivatives_are_exact_on_polynomials_up_to_degree_8) {
  enum { POINTS = 24, DEGREE = 8 };
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    for (int degree = 0; degree <= DEGREE + 1; degree++) {
      struct reference_case c = derivative_case(axis, POINTS, true);
      double worst = 0;
      int computed = 0;
      for (long i = 0; i < c.points; i++) c.inputs[0][i] = pow(coordinate(&c.grid, axis, i), degree);
      CHECK_OK(reference_case_run(&c, 1, 1, false));
      for (long i = 0; i < c.points; i++) {
        double x = coordinate(&c.grid, axis, i), error = fabs(c.outputs[0][i] - degree * pow(x, degree - 1));
        if (degree == 0) error = fabs(c.outputs[0][i]);
        if (c.outputs[0][i] == REFERENCE_UNTOUCHED) continue;
        worst = fmax(worst, error);
        computed++;
      }
      CHECK_EQ((POINTS - 8) * 9, computed, "axis %d", axis);
      /* Rounding is about 23*1e-16. The error of the ninth degree itself is 9!/630/23^8 = 7e-9. */
      if (degree <= DEGREE) CHECK(worst < 2e-14, "axis %d, degree %d: %g", axis, degree, worst);
      else CHECK_NEAR(7.36e-9, worst, 1e-10, "axis %d, degree %d", axis, degree);
      reference_case_close(&c);
    }
  }
}

static double sine_error(int axis, long n) {
  static const long strides[] = {1, 3, 9};
  struct reference_case c = derivative_case(axis, n, false);
  double worst = 0;
  for (long i = 0; i < c.points; i++) {
    double x = coordinate(&c.grid, axis, i);
    /* The end point repeats the first one bit for bit. */
    c.inputs[0][i] = x == 1 ? c.inputs[0][i - strides[axis] * (n - 1)] : sin(2 * M_PI * x + 1);
  }
  CHECK_OK(reference_case_run(&c, 1, 1, false));
  for (long i = 0; i < c.points; i++) {
    worst = fmax(worst, fabs(c.outputs[0][i] - 2 * M_PI * cos(2 * M_PI * coordinate(&c.grid, axis, i) + 1)));
  }
  reference_case_close(&c);
  return worst;
}

TEST(derivatives_converge_at_order_8_on_a_sine) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    /* From 24 to 48 intervals. Finer grids are limited by rounding, coarser ones by the next order. */
    double slope = log2(sine_error(axis, 25) / sine_error(axis, 49));
    CHECK_NEAR(8, slope, 0.1, "axis %d", axis);
  }
}

/* The formulas of the files, on grids whose axes have different lengths. */
TEST(shipped_stencils_come_near_their_formulas) {
  static const struct {
    const char *name;
    struct grid grid;
    double most; /* the largest error over the largest value */
  } rows[] = {
      {"derivative_x", {{65, 5, 4}}, 1e-10}, {"derivative_y", {{5, 65, 4}}, 1e-10},
      {"derivative_z", {{5, 4, 65}}, 1e-10}, {"gradient", {{64, 48, 80}}, 1e-4},
      {"scan_x", {{30, 20, 10}}, 1e-14},     {"scan_y", {{30, 20, 10}}, 1e-14},
      {"scan_z", {{30, 20, 10}}, 1e-14},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct reference_case c = reference_case_kernel(rows[i].name, rows[i].grid);
    struct box box = box_computed(c.stencil, c.analysis, &c.grid);
    double *want = reference_field(c.points, 0);
    CHECK_OK(exact_fill(c.stencil, exact_find(c.stencil, false, 0), &c.grid, c.coefficients, 0, 2, NULL, c.inputs[0]));
    CHECK_OK(reference_case_run(&c, 1, 2, false));
    for (int output = 0; output < c.stencil->output_count; output++) {
      CHECK_OK(exact_fill(c.stencil, exact_find(c.stencil, true, output), &c.grid, c.coefficients, 1, 1, NULL, want));
      struct exact_error error = exact_compare(&c.grid, &box, want, c.outputs[output]);
      CHECK(error.scale > 1, "%s, output %d: scale %g", rows[i].name, output, error.scale);
      CHECK(error.max < rows[i].most * error.scale, "%s, output %d: %g of %g", rows[i].name, output, error.max,
            error.scale);
      CHECK(error.rms <= error.max && (error.rms > 0 || error.max == 0), "%s: rms %g", rows[i].name, error.rms);
      c.outputs[output][7] = NAN;
      CHECK(isinf(exact_compare(&c.grid, &box, want, c.outputs[output]).max), "%s", rows[i].name);
    }
    free(want);
    reference_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact_on_polynomials_up_to_degree_8),
      cmocka_unit_test(derivatives_converge_at_order_8_on_a_sine),
      cmocka_unit_test(shipped_stencils_come_near_their_formulas),
  };
  return cmocka_run_group_tests_name("reference_order", tests, NULL, NULL);
}
