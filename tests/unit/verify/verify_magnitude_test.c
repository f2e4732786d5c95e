/* verify_magnitude_test.c: cases that few updates reach: buffers that could be freed twice, constants that agree in
 * value or in magnitude only, and the sign of skipped points. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/reference_case.h"

/* One point, u = 2 and w = -3. */
static const struct {
  const char *update;
  double value, magnitude;
} rows[] = {
    /* an operand that is named twice frees its buffer once: p and q are alive at the same time */
    {"t = u[0] + 1\n  s = t*t\n  v = s + (u[0] + 2)*(u[0] + 4)", 33, 33},
    {"t = u[0] + 1\n  s = t*t\n  p = u[0] + 2\n  q = w[0] + 4\n  v = s + p*q", 13, 9 + 4 * 7},
    {"t = u[0] + 1\n  s = t + t\n  v = s*((w[0] - 2)*(u[0] - 4) - (w[0] - 5)*(u[0] + 7))", 6 * (10 + 72),
     6 * (5 * 6 + 8 * 9)},
    {"t = w[0] + 1\n  s = fma(t, t, t)\n  v = s + (u[0] + 2)*((w[0] + 4) - (u[0] + 5))", 2 + 4 * (1 - 7),
     20 + 4 * (7 + 7)},
    {"t = u[0] + 1\n  r = t*t\n  s = r*t\n  v = s + (u[0] + 2)*(w[0] + 4)", 31, 27 + 28},
};

TEST(values_and_magnitudes_are_as_computed_by_hand) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    char lines[512];
    bool second = strstr(rows[i].update, "w[") != NULL;
    snprintf(lines, sizeof lines, "inputs: [u%s]\noutputs: [v]\nboundary: skip\nupdate: |\n  %s", second ? ", w" : "",
             rows[i].update);
    struct reference_case c = reference_case_open(1, lines, (struct grid){{1, 1, 1}});
    c.inputs[0][0] = 2;
    if (second) c.inputs[1][0] = -3;
    CHECK_OK(reference_case_run(&c, 1, 1, true));
    CHECK_NEAR(rows[i].value, c.outputs[0][0], 0, "row %zu", i);
    CHECK_NEAR(rows[i].magnitude, c.magnitudes[0][0], 0, "row %zu", i);
    reference_case_close(&c);
  }
}

/* Pairs of coefficients p and q, whose weights p - q have the same value but different magnitudes, or the reverse. */
TEST(constants_that_are_half_alike_are_two) {
  enum { PAIRS = 200, TOTAL = 2 * PAIRS };
  for (int alike = 0; alike < 2; alike++) { /* first equal values, then equal magnitudes */
    struct text lines = {0};
    double value = 0, magnitude = 0;
    text_printf(&lines, "inputs: [u]\noutputs: [v]\nboundary: skip\ncoefficients: {");
    for (int k = 1; k <= PAIRS; k++) {
      int other = alike == 0 ? k : TOTAL - k;
      text_printf(&lines, "%sp%d: %d, q%d: %d", k > 1 ? ", " : "", k, k, k, other);
      value += k - other, magnitude += k + other;
    }
    text_printf(&lines, "}\nupdate: |\n  v = ");
    for (int k = 1; k <= PAIRS; k++) text_printf(&lines, "%s(p%d - q%d)*u[0]", k > 1 ? "\n    + " : "", k, k);
    text_printf(&lines, "\n");
    struct reference_case c = reference_case_open(1, text_string(&lines), (struct grid){{1, 1, 1}});
    text_free(&lines);
    c.inputs[0][0] = -1;
    CHECK_OK(reference_case_run(&c, 1, 1, true));
    CHECK_NEAR(-value, c.outputs[0][0], 0, "row %d", alike);
    CHECK_NEAR(magnitude, c.magnitudes[0][0], 0, "row %d", alike);
    reference_case_close(&c);
  }
}

/* Skipped points count with their absolute value, in the magnitudes themselves and in those of the next step. */
TEST(magnitudes_of_skipped_points_have_no_sign) {
  struct reference_case c = reference_case_open(
      1, "inputs: [u]\noutputs: [v]\nboundary: skip\niterate: {v: u}\nupdate: v = u[-1] - 2*u[0] + u[1]",
      (struct grid){{5, 1, 1}});
  static const double u[] = {-1, 2, -3, 4, -5};
  /* After a step the inner magnitudes are 1 + 4 + 3, 2 + 6 + 4 and 3 + 8 + 5, between those of the ends. */
  static const double second[] = {1, 1 + 2 * 8 + 12, 8 + 2 * 12 + 16, 12 + 2 * 16 + 5, 5};
  memcpy(c.inputs[0], u, sizeof u);
  c.outputs[0][0] = u[0], c.outputs[0][4] = u[4];
  CHECK_OK(reference_case_run(&c, 2, 1, true));
  for (int i = 0; i < 5; i++) CHECK_NEAR(second[i], c.magnitudes[0][i], 0, "point %d", i);
  reference_case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_and_magnitudes_are_as_computed_by_hand),
      cmocka_unit_test(constants_that_are_half_alike_are_two),
      cmocka_unit_test(magnitudes_of_skipped_points_have_no_sign),
  };
  return cmocka_run_group_tests_name("verify_magnitude", tests, NULL, NULL);
}
