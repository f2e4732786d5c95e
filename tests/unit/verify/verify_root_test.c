/* verify_root_test.c: square roots of values that cancel. A correct kernel may compute a value that differs by one
 * rounding from the reference's 0. Its root then differs by the root of that rounding. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/reference_case.h"
#include "tuner/verify/compare.h"

/* v = sqrt(u*u - w*w), where u*u - w*w = (u-w)*(u+w) has the magnitude u*u + w*w. */
static const struct {
  double u, w;
  double error; /* of the result, in units of sqrt(2^-53*(u*u + w*w)) */
  bool passed;
} rows[] = {
    {0, 0, 0, true}, {3, 3, 0, true},     {3, 3, 1, true},           {3, -3, 2, true},        {3, 3, 1e3, false},
    {3, 0, 0, true}, {3, 0, 1e-3, false}, {1e-150, 1e-150, 1, true}, {1e150, 1e150, 1, true},
};

TEST(the_root_of_a_cancelled_zero_has_a_magnitude) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct reference_case c =
        reference_case_open(1, "inputs: [u, w]\noutputs: [v]\nboundary: skip\nupdate: v = sqrt(u[0]*u[0] - w[0]*w[0])",
                            (struct grid){{1, 1, 1}});
    double u = c.inputs[0][0] = rows[i].u, w = c.inputs[1][0] = rows[i].w;
    CHECK_OK(reference_case_run(&c, 1, 1, true));
    CHECK(isfinite(c.magnitudes[0][0]), "row %zu: %g", i, c.magnitudes[0][0]);
    double got = c.outputs[0][0] + rows[i].error * sqrt(0x1p-53 * (u * u + w * w));
    double allowed = compare_allowed_units(c.stencil, c.analysis, &c.grid, 1);
    struct box box = box_whole(&c.grid);
    struct comparison result = compare_fields(&c.grid, &box, c.outputs[0], c.magnitudes[0], &got, DTYPE_F64, allowed);
    CHECK_EQ(rows[i].passed, result.passed, "row %zu: %g units of %g", i, result.max_error_units, allowed);
    reference_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_root_of_a_cancelled_zero_has_a_magnitude)};
  return cmocka_run_group_tests_name("verify_root", tests, NULL, NULL);
}
