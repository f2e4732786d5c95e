/* reference_update_test.c: every operator and function of an update, alone and combined, with its magnitude. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/reference_case.h"

/* u is 0.5, w is -4, c is 3. */
static const struct {
  const char *update;
  double value, magnitude;
} rows[] = {
    {"v = u[0]", 0.5, 0.5},
    {"v = w[0]\nv2 = u[0]", -4, 4},
    {"v2 = u[0]\nv = -7", -7, 7},
    {"v2 = u[0]\nv = -c", -3, 3},
    {"v = c*c - 1/c\nv2 = u[0]", 9 - 1.0 / 3, 9 + 1.0 / 3},
    {"v = -u[0]", -0.5, 0.5},
    {"v = u[0] + w[0]", -3.5, 4.5},
    {"v = u[0] - w[0]", 4.5, 4.5},
    {"v = w[0] - u[0]", -4.5, 4.5},
    {"v = u[0]*w[0]", -2, 2},
    {"v = u[0]/w[0]", -0.125, 0.125},
    {"v = w[0]/u[0]", -8, 8},
    {"v = (u[0] - w[0])/(u[0] + w[0])", 4.5 / -3.5, 4.5 * 4.5 / (3.5 * 3.5)},
    {"v = (u[0] + w[0])*(u[0] + w[0])", 12.25, 4.5 * 3.5 + 3.5 * (4.5 - 3.5)},
    {"v2 = u[0]\nv = fabs(w[0])", 4, 4},
    {"v = fabs(u[0] + w[0])", 3.5, 4.5},
    {"v2 = u[0]\nv = sqrt(fabs(w[0]))", 2, 2},
    {"v = sqrt(0.25*(u[0] - w[0] + w[0]) + 0.125)", 0.5, (0.25 * 8.5 + 0.125) / 0.5},
    {"v = sqrt(0*u[0])", 0, 0},
    {"v = exp(2*u[0])", M_E, 2 * M_E},
    {"v = sin(u[0])", 0.479425538604203, 0.979425538604203},
    {"v = cos(-u[0])", 0.8775825618903728, 1.3775825618903728},
    {"v = fmin(u[0], w[0])", -4, 4},
    {"v = fmax(u[0], w[0])", 0.5, 4},
    {"v = fma(u[0], w[0], c)", 1, 5},
    {"v = fma(c, u[0], w[0])", -2.5, 5.5},
    {"v = 2*u[0] + c*w[0] - 1.5", -12.5, 14.5},
    {"t = u[0] + c\nv = t*t - t", 12.25 - 3.5, 12.25 + 3.5},
    {"t = c*2\nv = t*u[0] + t", 9, 9},
    {"t = w[0]\nv = t - t*u[0]", -2, 6},
    /* a temporary that is one output or several */
    {"t = u[0]*w[0]\nv = t\nv2 = t*t", -2, 2},
    {"t = u[0]*w[0]\nv2 = t\nv = t", -2, 2},
    {"t = u[0] + w[0]\nv2 = t\nv = t*t", 12.25, 4.5 * 3.5 + 3.5 * (4.5 - 3.5)},
    /* many values are alive at once, some of them for long */
    {"p = u[0] + 1\nq = w[0] + 2\nr = p*q\ns = p - q\nv = ((p*r - q*s) - (p + r)*(q - s)) + p*q*r*s", 25.75, 305.75},
};

/* The update is computed at each point of a row that is longer than its pieces, and at a single point. */
TEST(updates_have_their_value_and_magnitude) {
  static const long lengths[] = {1, 517};
  for (size_t i = 0; i < COUNT(rows) * COUNT(lengths); i++) {
    struct stencil *stencil;
    const char *update = rows[i / 2].update;
    CHECK_OK(stencil_of_update(1, update, &stencil));
    struct reference_case c = reference_case_of(stencil, (struct grid){{lengths[i % 2], 1, 1}});
    for (long k = 0; k < c.points; k++) {
      c.inputs[0][k] = 0.5;
      if (c.inputs[1]) c.inputs[1][k] = -4;
    }
    CHECK_OK(reference_case_run(&c, 1, 1, i % 3 > 0));
    for (long k = 0; k < c.points; k++) {
      CHECK_NEAR(rows[i / 2].value, c.outputs[0][k], 1e-15 * fabs(rows[i / 2].value), "\"%s\", point %ld", update, k);
      if (i % 3 == 0) continue;
      CHECK_NEAR(rows[i / 2].magnitude, c.magnitudes[0][k], 1e-15 * rows[i / 2].magnitude, "\"%s\", point %ld", update,
                 k);
    }
    reference_case_close(&c);
  }
}

TEST(coefficients_are_those_that_are_given) {
  struct stencil *stencil;
  CHECK_OK(stencil_of_update(1, "v = a*u[0] + b", &stencil));
  struct reference_case c = reference_case_of(stencil, (struct grid){{1, 1, 1}});
  c.inputs[0][0] = 10;
  c.coefficients[0] = -3;
  c.coefficients[1] = 2;
  CHECK_OK(reference_case_run(&c, 1, 1, true));
  CHECK_NEAR(-28, c.outputs[0][0], 0, "value");
  CHECK_NEAR(32, c.magnitudes[0][0], 0, "magnitude");
  reference_case_close(&c);
}

/* A very long update: a thousand temporaries, all of which are needed up to the end. */
TEST(long_updates_are_computed) {
  enum { TERMS = 1000 };
  struct text update = {0};
  struct stencil *stencil;
  for (int i = 0; i < TERMS; i++) text_printf(&update, "t%d = u[0]*%d\n", i, i);
  text_printf(&update, "v = 0");
  for (int i = 0; i < TERMS; i++) text_printf(&update, " + t%d*u[0]", i);
  CHECK_OK(stencil_of_update(1, text_string(&update), &stencil));
  struct reference_case c = reference_case_of(stencil, (struct grid){{300, 1, 1}});
  for (long k = 0; k < c.points; k++) c.inputs[0][k] = (double)k;
  CHECK_OK(reference_case_run(&c, 1, 2, false));
  for (long k = 0; k < c.points; k++) CHECK_NEAR(499500.0 * (double)(k * k), c.outputs[0][k], 0, "point %ld", k);
  text_free(&update);
  reference_case_close(&c);
}

/* The magnitude of a step is computed from the magnitudes of the step before. Here it grows by a factor of |0.5| + |-2|
 * per step, although the values cancel. */
TEST(magnitudes_go_on_from_step_to_step) {
  struct reference_case c = reference_case_open(
      1, "inputs: [u]\noutputs: [v]\nboundary: periodic\niterate: {v: u}\nupdate: v = 0.5*u[0] - 2*u[1]",
      (struct grid){{4, 1, 1}});
  for (long k = 0; k < c.points; k++) c.inputs[0][k] = k % 2 ? -1 : 1;
  CHECK_OK(reference_case_run(&c, 3, 1, true));
  for (long k = 0; k < c.points; k++) {
    CHECK_NEAR(k % 2 ? -15.625 : 15.625, c.outputs[0][k], 0, "point %ld", k);
    CHECK_NEAR(15.625, c.magnitudes[0][k], 0, "point %ld", k);
    c.inputs[0][k] = 1;
  }
  CHECK_OK(reference_case_run(&c, 3, 1, true));
  for (long k = 0; k < c.points; k++) {
    CHECK_NEAR(-3.375, c.outputs[0][k], 0, "point %ld", k);
    CHECK_NEAR(15.625, c.magnitudes[0][k], 0, "point %ld", k);
  }
  reference_case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(updates_have_their_value_and_magnitude),
      cmocka_unit_test(coefficients_are_those_that_are_given),
      cmocka_unit_test(long_updates_are_computed),
      cmocka_unit_test(magnitudes_go_on_from_step_to_step),
  };
  return cmocka_run_group_tests_name("reference_update", tests, NULL, NULL);
}
