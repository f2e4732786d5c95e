/* heat_solvers_test.c: heat with each kind of wall, against the exact decay of one wave. */
#include "tests/unit/solvers/solver.h"

/* A wave of k half periods over n spacings. */
static double wave(double i, double n, double k, double phase) { return sin(k * M_PI * i / n + phase); }

static double torus(const long n[3], long x, long y, long z) {
  (void)z;
  return wave((double)x, (double)n[0], 2, 0.3) * wave((double)y, (double)n[1], 2, 0.7);
}
/* A hot wall at point -1 and a cold one at point n: a line between them, and a wave that is 0 at both. */
static double warm_wave(const long n[3], long x, long y, long z) {
  (void)z;
  return wave((double)x + 1, (double)n[0] + 1, 1, 0) * wave((double)y + 0.5, (double)n[1], 2, M_PI / 2);
}
static double warm_line(const long n[3], long x, long y, long z) {
  (void)y, (void)z;
  return 1 - 0.75 * (double)(x + 1) / (double)(n[0] + 1);
}
static double mean(const long n[3], long x, long y, long z) {
  (void)n, (void)x, (void)y, (void)z;
  return 1;
}
/* The same with walls on the faces of the outer cells, the cold one at 0, and periodic along y. */
static double face_wave(const long n[3], long x, long y, long z) {
  (void)z;
  return wave((double)x + 0.5, (double)n[0], 1, 0) * wave((double)y, (double)n[1], 2, 0.7);
}
static double face_line(const long n[3], long x, long y, long z) {
  (void)y, (void)z;
  return 1 - ((double)x + 0.5) / (double)n[0];
}
static double insulated_wave(const long n[3], long x, long y, long z) {
  (void)z;
  return wave((double)x + 0.5, (double)n[0], 1, M_PI / 2) * wave((double)y + 0.5, (double)n[1], 2, M_PI / 2);
}
/* Walls on the outer points: given temperatures along x, insulating ones along y. */
static double point_wave(const long n[3], long x, long y, long z) {
  (void)z;
  return wave((double)x, (double)n[0] - 1, 1, 0) * wave((double)y, (double)n[1] - 1, 2, M_PI / 2);
}
static double point_line(const long n[3], long x, long y, long z) {
  (void)y, (void)z;
  return 1 - 0.75 * (double)x / (double)(n[0] - 1);
}
static double zero(const long n[3], long x, long y, long z) { return 0 * mean(n, x, y, z); }

static const struct {
  const char *name;
  field_value *wave, *rest; /* what decays, and what stays */
  double rate;              /* of the decay: exp(-rate*pi^2*t) */
  int more;                 /* how many more spacings than points the unit length has along x */
} rows[] = {
    {"heat_periodic", torus, zero, 8, 0},           {"heat_dirichlet", warm_wave, warm_line, 5, 1},
    {"heat_neumann", insulated_wave, mean, 5, 0},   {"heat_face", face_wave, face_line, 5, 0},
    {"heat_points", point_wave, point_line, 5, -1},
};

/* The largest error at the time 0.02, with `cells` spacings along x. */
static double error_of(size_t row, long cells) {
  struct solver s;
  const long nx = cells - rows[row].more;
  solver_open(&s, rows[row].name, NULL, nx, cells, 1);
  double *rest = solver_field(&s), *wave = solver_field(&s), *u = solver_field(&s), error = 0;
  const double dt = solver_coefficient(&s, "dt");
  const long steps = lround(0.02 / dt);
  const double decay = exp(-rows[row].rate * M_PI * M_PI * (double)steps * dt);
  field_fill(&s, rows[row].rest, rest);
  field_fill(&s, rows[row].wave, wave);
  for (long i = 0; i < s.problem.points; i++) u[i] = rest[i] + wave[i];
  solver_put(&s, "u", u);
  solver_start(&s);
  solver_advance(&s, steps);
  solver_get(&s, "v", u);
  for (long i = 0; i < s.problem.points; i++) error = fmax(error, fabs(u[i] - rest[i] - decay * wave[i]));
  free(rest);
  free(wave);
  free(u);
  solver_close(&s);
  return error;
}

TEST(heat_converges_with_order_2) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    const long n = 16 * solver_scale();
    const double error[] = {error_of(i, n), error_of(i, 2 * n), error_of(i, 4 * n)};
    CHECK(error[0] < 0.01, "%s: %g", rows[i].name, error[0]);
    CHECK_NEAR(2, order_of(error[0], error[1]), 0.1, "%s: %g, %g", rows[i].name, error[0], error[1]);
    CHECK_NEAR(2, order_of(error[1], error[2]), 0.05, "%s: %g, %g", rows[i].name, error[1], error[2]);
  }
}

/* A rod that loses heat at both ends has the modes cos(k*(x - 1/2)) with k*tan(k/2) = loss. */
static double robin_error(long n) {
  struct solver s;
  solver_open(&s, "heat_robin", NULL, n, 1, 1);
  const double loss = solver_coefficient(&s, "loss"), dt = solver_coefficient(&s, "dt");
  double low = 0, high = M_PI - 1e-9, *u = solver_field(&s), error = 0;
  for (int i = 0; i < 60; i++) {
    const double middle = (low + high) / 2;
    if (middle * tan(middle / 2) < loss) low = middle;
    else high = middle;
  }
  const long steps = lround(0.1 / dt);
  for (long i = 0; i < n; i++) u[i] = cos(low * (((double)i + 0.5) / (double)n - 0.5));
  solver_put(&s, "u", u);
  solver_start(&s);
  solver_advance(&s, steps);
  solver_get(&s, "v", u);
  for (long i = 0; i < n; i++) {
    const double want = exp(-low * low * (double)steps * dt) * cos(low * (((double)i + 0.5) / (double)n - 0.5));
    error = fmax(error, fabs(u[i] - want));
  }
  free(u);
  solver_close(&s);
  return error;
}

TEST(a_rod_that_loses_heat_converges_with_order_2) {
  const double coarse = robin_error(40 * solver_scale()), fine = robin_error(80 * solver_scale());
  CHECK(coarse < 1e-3, "%g", coarse);
  CHECK_NEAR(2, order_of(coarse, fine), 0.1, "%g, %g", coarse, fine);
}

/* No heat leaves through insulating walls. */
TEST(insulating_walls_keep_the_heat) {
  struct solver s;
  solver_open(&s, "heat_neumann", NULL, 20 * solver_scale(), 12 * solver_scale(), 1);
  solver_fill(&s, "u", torus);
  solver_start(&s);
  solver_advance(&s, 1);
  const double first = solver_sum(&s, "v");
  solver_advance(&s, 500);
  CHECK_NEAR(first, solver_sum(&s, "v"), 1e-12, "after 500 steps");
  solver_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heat_converges_with_order_2),
      cmocka_unit_test(a_rod_that_loses_heat_converges_with_order_2),
      cmocka_unit_test(insulating_walls_keep_the_heat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
