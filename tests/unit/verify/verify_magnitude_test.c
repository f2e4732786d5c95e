/* verify_magnitude_test.c: cases that few updates reach: buffers that could be freed twice, constants that agree in
 * value or in magnitude only, and the sign of skipped points. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/reference_case.h"
#include "tuner/verify/compare.h"

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
     4 + 2 * 2 + 2 * 2 + 4 + 4 * (7 + 7)},
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

/* One point, u = 2 and w = -3, where a kernel's values may err by 1/4 of their magnitudes. A comparison whose sides are
 * closer than that allows both results. */
static const struct {
  const char *update;
  double value, magnitude;
} doubtful_rows[] = {
    {"v = u[0] < w[0]", 0, 0},
    {"v = u[0] > w[0]", 1, 1},
    {"v = u[0] >= 2", 1, 1},                              /* both sides are exact */
    {"v = 1.5*u[0] >= 3", 1, 1 + 2 * 4},                  /* one side may be a little less */
    {"v = 1.5*u[0] > 30", 0, 0},                          /* sure: the sides are far apart */
    {"v = 1.5*u[0] > 3 ? w[0] : u[0]", 2, 3 + 2 + 8 * 5}, /* it may be the other one */
    {"v = 1.5*u[0] > -9 ? w[0] : u[0]", -3, 3},           /* only the chosen one counts */
    {"v = u[0] > w[0] ? w[0] : sqrt(w[0])", -3, 3},       /* what is not chosen may be NaN */
    {"v = 1.5*u[0] > 3 && u[0] < w[0]", 0, 0},            /* the second is surely false */
    {"v = 1.5*u[0] > 3 && u[0] > w[0]", 0, 2 * 4},        /* the first decides */
    {"v = 1.5*u[0] > 3 || u[0] > w[0]", 1, 1},
    {"v = !(1.5*u[0] > 3)", 1, 1 + 2 * 4},
    {"v = !w[0]", 0, 0},
    {"v = floor(0.75*u[0])", 1, 1}, /* floor(1.5), and 1.5 may err by 0.375 to either side: not over a jump */
    {"v = floor(1.5*u[0])", 3, 3 + 2 * 4},
    {"v = floor(u[0])", 2, 2},
    {"v = ceil(w[0])", -3, 3},
    {"v = sign(w[0])", -1, 1},
    {"v = sign(1.5*u[0] - 3)", 0, 2 * 2 * 4},
    {"v = (u[0] + w[0])*(u[0] + w[0] + 2)", -1, 1 + 4 + 6 + 0.25 * 4 * 6}, /* the factors are -1 and 1 */
    {"v = (u[0] + w[0])*u[0]", -2, 5 * 2},
    {"v = w[0]/(u[0] + w[0])", 3, (3 + 3 * 4) * (1 + 0.25 * 4)}, /* the divisor may be 0: an estimate */
    {"v = u[0]/(1.5*u[0] + w[0] - 2)", -1, (2 + 2 * 3) / 2. / (1 - 0.25 * 3)},
    {"v = w[0]/(4*u[0] + 2*w[0] + 2)", -0.75, (3 + 3 * 3) / 4. / (1 - 0.25 * 3)},
    {"v = w[0]/(-4*u[0] - 2*w[0] - 2)", 0.75, (3 + 3 * 3) / 4. / (1 - 0.25 * 3)},
    {"v = pow(4*u[0] + 2*w[0] + 2, -1)", 0.25, 0.25 * (1 + 4 * 4 * 4)},
    {"v = pow(u[0] + w[0], -1)", -1, 1 + 5 * 2 * 2},
    {"v = (u[0] + w[0])/u[0]", -0.5, 2.5},
    {"v = pow(u[0] + w[0], 2)", 1, 2 * 5 * (1 + 0.25 * 4)},
    {"v = pow(w[0], 3)", -27, 3 * 27},
    {"v = pow(w[0], -1)", -1. / 3, 2. / 3},
    {"v = pow(u[0] + 2, 1.5)", 8, 92.63553233343869},             /* 8*(8 + 1.5 + 1.5*log(4)) */
    {"v = pow(u[0] + w[0] + 1, 1.5)", 0, 2.322861145156606e-07},  /* 1.5*sqrt(2^-53*6)*6 */
    {"v = pow(u[0] - u[0], 0.5*w[0] + 2)", 0, 94906265.62425156}, /* 0.5*pow(2^-53*4, -0.5)*4 */
    {"v = 1.5*u[0] >= 3 ? u[0] : sqrt(w[0])", 2, 2},              /* NaN is surely not chosen */
    {"v = 1.5*u[0] - 3 > 0 ? u[0]/(1.5*u[0] - 3) : u[0]", 2, 2},
};

TEST(what_a_comparison_leaves_in_doubt_is_allowed) {
  for (size_t i = 0; i < COUNT(doubtful_rows); i++) {
    char lines[512];
    snprintf(lines, sizeof lines,
             "inputs: [u, w]\noutputs: [v, both]\nboundary: skip\nupdate: |\n  both = u[0] + w[0]\n  %s",
             doubtful_rows[i].update);
    struct reference_case c = reference_case_open(1, lines, (struct grid){{1, 1, 1}});
    c.inputs[0][0] = 2, c.inputs[1][0] = -3;
    struct reference reference = {
        .stencil = c.stencil, .analysis = c.analysis, .grid = c.grid, .steps = 1, .threads = 1, .doubt = 0.25};
    const double *const inputs[] = {c.inputs[0], c.inputs[1]};
    CHECK_OK(reference_run(&reference, inputs, c.outputs, c.magnitudes));
    CHECK_NEAR(doubtful_rows[i].value, c.outputs[0][0], 1e-15, "row %zu, %s", i, doubtful_rows[i].update);
    CHECK_NEAR(doubtful_rows[i].magnitude, c.magnitudes[0][0], 1e-12, "row %zu, %s", i, doubtful_rows[i].update);
    reference_case_close(&c);
  }
}

/* Over two steps, a quotient of carried values has no bound where the divisor may be 0. fmax does not lose that. */
TEST(a_carried_divisor_that_may_be_0_has_no_bound) {
  static const struct {
    const char *update;
    bool has_bound;
  } cases[] = {
      {"v = u[0]/(u[0] + w[0])", false},
      {"v = fmax(u[0]/(u[0] + w[0])*(u[0] - u[0]), 1)", false},
      {"v = u[0] + w[0]/(w[0] + 1.5)", true}, /* no step changes w */
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char lines[512];
    snprintf(lines, sizeof lines, "inputs: [u, w]\noutputs: [v]\niterate: {v: u}\nboundary: skip\nupdate: |\n  %s",
             cases[i].update);
    struct reference_case c = reference_case_open(1, lines, (struct grid){{1, 1, 1}});
    c.inputs[0][0] = 2, c.inputs[1][0] = -3;
    struct reference reference = {
        .stencil = c.stencil, .analysis = c.analysis, .grid = c.grid, .steps = 2, .threads = 1, .doubt = 0.25};
    const double *const inputs[] = {c.inputs[0], c.inputs[1]};
    CHECK_OK(reference_run(&reference, inputs, c.outputs, c.magnitudes));
    CHECK_EQ(cases[i].has_bound, !isinf(c.magnitudes[0][0]), "%s: %g", cases[i].update, c.magnitudes[0][0]);
    reference_case_close(&c);
  }
}

/* Squares of positions on a grid of 8 by 1 points, and of a factor that makes them larger than f32 holds exactly. Where
 * x is 5, both sides are equal. In f32 they may round to different numbers. */
TEST(whole_numbers_are_exact_while_the_type_holds_them) {
  static const struct {
    const char *update;
    bool is_doubtful[DTYPE_COUNT];
  } cases[] = {
      {"v = 1000*x*x > 25000", {false, false}},
      {"v = (585*x)*(585*x) > 8555625", {false, false}}, /* at most 4095*4095 */
      {"v = (586*x)*(586*x) > 8584900", {true, false}},  /* at most 4102*4102 */
      {"v = 16777216*x - 16777216*x >= 0", {true, false}},
      {"v = floor(16777216*x/16) > 5242880", {true, false}},
      {"v = sign(586*x)*3 > 3", {false, false}},
      {"v = 17592186044416*x*1024 > 90071992547409920", {true, true}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
      char lines[256];
      snprintf(lines, sizeof lines, "inputs: [u]\noutputs: [v, w]\nboundary: skip\nupdate: |\n  w = u[0]\n  %s",
               cases[i].update);
      struct reference_case c = reference_case_open(1, lines, (struct grid){{8, 1, 1}});
      const struct reference reference = {.stencil = c.stencil,
                                          .analysis = c.analysis,
                                          .grid = c.grid,
                                          .steps = 1,
                                          .threads = 1,
                                          .doubt = 0x1p-20,
                                          .dtype = (enum dtype)dtype};
      const double *const inputs[] = {c.inputs[0]};
      CHECK_OK(reference_run(&reference, inputs, c.outputs, c.magnitudes));
      CHECK_EQ(cases[i].is_doubtful[dtype], c.magnitudes[0][5] > 1, "%s in %s: %g", cases[i].update, dtype_names[dtype],
               c.magnitudes[0][5]);
      reference_case_close(&c);
    }
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

static float square(float u, float a) { return a * u * u; }
static float cube(float u, float a) { return a * u * u * u; }
static float logistic(float u, float a) { return a * u * (1 - u); }
static float quotient(float u, float a) { return u / (a + u * u); }

/* Points whose f32 kernel is called wrong. The kernel's coefficient may differ from the stencil's. */
static struct comparison compare_kernel(const char *update, float (*kernel)(float u, float a), float a, int steps,
                                        uint64_t seed) {
  enum { POINTS = 4000 };
  char lines[256];
  snprintf(lines, sizeof lines,
           "inputs: [u]\noutputs: [v]\nboundary: skip\ncoefficients: {a: 1.5}\niterate: {v: u}\nupdate: v = %s",
           update);
  struct reference_case c = reference_case_open(1, lines, (struct grid){{POINTS, 1, 1}});
  const double units = compare_allowed_units(c.stencil, c.analysis, &c.grid, steps);
  struct reference reference = {.stencil = c.stencil,
                                .analysis = c.analysis,
                                .grid = c.grid,
                                .coefficients = c.coefficients,
                                .steps = steps,
                                .threads = 1,
                                .dtype = DTYPE_F32,
                                .doubt = compare_rounding(DTYPE_F32) * units};
  double *got = reference_field(POINTS, 0);
  reference_case_fill(&c, INPUT_RANDOM, seed);
  for (long i = 0; i < POINTS; i++) {
    float u = (float)c.inputs[0][i];
    c.inputs[0][i] = u;
    for (int step = 0; step < steps; step++) u = kernel(u, a);
    got[i] = u;
  }
  const double *const inputs[] = {c.inputs[0]};
  const struct box box = {{0, 0, 0}, {POINTS, 1, 1}};
  CHECK_OK(reference_run(&reference, inputs, c.outputs, c.magnitudes));
  struct comparison result = compare_fields(&c.grid, &box, c.outputs[0], c.magnitudes[0], got, DTYPE_F32, units);
  free(got);
  reference_case_close(&c);
  return result;
}

/* Carried errors of both factors count. A coefficient that is wrong in the third digit is still found. */
TEST(right_kernels_of_several_nonlinear_steps_pass_and_wrong_ones_do_not) {
  static const struct {
    const char *update;
    float (*kernel)(float u, float a);
  } cases[] = {{"a*u[0]*u[0]", square},
               {"a*u[0]*u[0]*u[0]", cube},
               {"a*u[0]*(1 - u[0])", logistic},
               {"u[0]/(a + u[0]*u[0])", quotient}};
  static const int steps[] = {2, 4, 8};
  for (size_t i = 0; i < COUNT(cases); i++) {
    for (size_t k = 0; k < COUNT(steps); k++) {
      for (uint64_t seed = 1; seed <= 3; seed++) {
        /* Cubes of numbers above 1 grow too large for f32 within 8 steps, and so do parabolas. */
        if (steps[k] == 8 && cases[i].kernel != square && cases[i].kernel != quotient) continue;
        struct comparison right = compare_kernel(cases[i].update, cases[i].kernel, 1.5F, steps[k], seed);
        struct comparison wrong = compare_kernel(cases[i].update, cases[i].kernel, 1.503F, steps[k], seed);
        CHECK_EQ(right.not_finite_points, right.bad_points, "%s, %d steps", cases[i].update, steps[k]);
        CHECK(wrong.bad_points > wrong.not_finite_points + 400, "%s, %d steps: %ld points", cases[i].update, steps[k],
              wrong.bad_points);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_and_magnitudes_are_as_computed_by_hand),
      cmocka_unit_test(what_a_comparison_leaves_in_doubt_is_allowed),
      cmocka_unit_test(a_carried_divisor_that_may_be_0_has_no_bound),
      cmocka_unit_test(whole_numbers_are_exact_while_the_type_holds_them),
      cmocka_unit_test(constants_that_are_half_alike_are_two),
      cmocka_unit_test(magnitudes_of_skipped_points_have_no_sign),
      cmocka_unit_test(right_kernels_of_several_nonlinear_steps_pass_and_wrong_ones_do_not),
  };
  return cmocka_run_group_tests_name("verify_magnitude", tests, NULL, NULL);
}
