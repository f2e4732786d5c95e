/* water_solvers_test.c: shallow water in a basin: water at rest, standing waves, and the volume that walls keep. */
#include "tests/unit/solvers/solver.h"

static double flat(const long n[3], long x, long y, long z) {
  (void)n, (void)x, (void)y, (void)z;
  return 1;
}
static double still(const long n[3], long x, long y, long z) { return 0 * flat(n, x, y, z); }
static double hill(const long n[3], long x, long y, long z) {
  const double dx = (double)x / (double)n[0] - 0.3, dy = (double)y / (double)n[1] - 0.4;
  return 0.6 * flat(n, x, y, z) + 0.4 * exp(-20 * (dx * dx + dy * dy));
}

static void start_water(struct solver *s, field_value *depth, long nx, long ny) {
  solver_open(s, "shallow_water", NULL, nx, ny, 1);
  solver_fill(s, "h", depth);
  solver_fill(s, "hu", still);
  solver_fill(s, "hv", still);
  solver_start(s);
}

TEST(water_at_rest_stays_at_rest) {
  struct solver s;
  start_water(&s, flat, 12 * solver_scale(), 9 * solver_scale());
  solver_advance(&s, 200);
  CHECK(solver_error(&s, "h_new", flat, 1) < 1e-13, "the depth");
  CHECK(solver_error(&s, "hu_new", still, 1) < 1e-13, "the momentum along x");
  CHECK(solver_error(&s, "hv_new", still, 1) < 1e-13, "the momentum along y");
  solver_close(&s);
}

TEST(walls_keep_the_volume) {
  struct solver s;
  start_water(&s, hill, 40 * solver_scale(), 30 * solver_scale());
  double *depth = solver_field(&s), volume = 0;
  field_fill(&s, hill, depth);
  for (long i = 0; i < s.problem.points; i++) volume += depth[i];
  free(depth);
  solver_advance(&s, 500);
  CHECK_NEAR(1, solver_sum(&s, "h_new") / volume, 1e-12, "after 500 steps");
  solver_close(&s);
}

/* A low standing wave follows the linear theory: its depth is 1 + a*cos(pi*x)*cos(w*t), w = pi*sqrt(g). */
static const double height = 1e-6;
static double along_x(const long n[3], long x, long y, long z) {
  return flat(n, x, y, z) + height * cos(M_PI * ((double)x + 0.5) / (double)n[0]);
}
static double wave_along_x(const long n[3], long x, long y, long z) { return along_x(n, x, y, z) - 1; }

static double wave_error(long n) {
  struct solver s;
  start_water(&s, along_x, n, 4);
  const double dt = solver_coefficient(&s, "dt"), frequency = M_PI * sqrt(solver_coefficient(&s, "g"));
  const long steps = lround(0.15 / dt);
  double *h = solver_field(&s), *wave = solver_field(&s), error = 0;
  solver_advance(&s, steps);
  solver_get(&s, "h_new", h);
  field_fill(&s, wave_along_x, wave);
  for (long i = 0; i < s.problem.points; i++)
    error = fmax(error, fabs(h[i] - 1 - cos(frequency * (double)steps * dt) * wave[i]) / height);
  free(h);
  free(wave);
  solver_close(&s);
  return error;
}

TEST(a_standing_wave_converges_with_order_1) {
  const double coarse = wave_error(400 * solver_scale()), fine = wave_error(800 * solver_scale());
  CHECK_NEAR(1, order_of(coarse, fine), 0.1, "%g, %g", coarse, fine);
}

/* The two directions are alike: a basin that is turned round gives the result turned round. */
static double turned_hill(const long n[3], long x, long y, long z) {
  const long turned[3] = {n[1], n[0], n[2]};
  return hill(turned, y, x, z);
}

TEST(x_and_y_are_alike) {
  enum { N = 24 };
  struct solver s, turned;
  start_water(&s, hill, N, N);
  start_water(&turned, turned_hill, N, N);
  solver_advance(&s, 60);
  solver_advance(&turned, 60);
  double *hu = solver_field(&s), *hv = solver_field(&s);
  solver_get(&s, "hu_new", hu);
  solver_get(&turned, "hv_new", hv);
  for (int i = 0; i < N * N; i++) CHECK_NEAR(hu[i], hv[i % N * N + i / N], 1e-13, "point %d", i);
  free(hu);
  free(hv);
  solver_close(&s);
  solver_close(&turned);
}

/* --- the staggered grid ------------------------------------------------------------------------------------------- */

/* A mode of the basin with half the wave numbers kx and ky times the spacing. Its frequency w on the grid is known
 * exactly: sin(w dt/2)^2 = a*b*(sin(kx)^2 + sin(ky)^2). Velocities are those half a step later. */
enum { WAVES_X = 2, WAVES_Y = 3 };
static double half_x(const long n[3]) { return M_PI / 2 * WAVES_X / (double)n[0]; }
static double half_y(const long n[3]) { return M_PI / 2 * WAVES_Y / (double)n[1]; }
static double depth_mode(const long n[3], long x, long y, long z) {
  (void)z;
  return cos(half_x(n) * (double)(2 * x + 1)) * cos(half_y(n) * (double)(2 * y + 1));
}
static double x_mode(const long n[3], long x, long y, long z) {
  (void)z;
  if (x == n[0] - 1) return 0; /* a wall */
  return sin(half_x(n)) * sin(half_x(n) * (double)(2 * x + 2)) * cos(half_y(n) * (double)(2 * y + 1));
}
static double y_mode(const long n[3], long x, long y, long z) {
  (void)z;
  if (y == n[1] - 1) return 0;
  return sin(half_y(n)) * cos(half_x(n) * (double)(2 * x + 1)) * sin(half_y(n) * (double)(2 * y + 2));
}

/* Start with a mode whose depth is 1 at most. */
static void start_mode(struct solver *s, long nx, long ny) {
  solver_open(s, "shallow_staggered", NULL, nx, ny, 1);
  const double b = solver_coefficient(s, "b");
  field_value *const modes[] = {depth_mode, x_mode, y_mode};
  static const char *const names[] = {"h", "u", "v"};
  double *values = solver_field(s);
  for (size_t i = 0; i < COUNT(modes); i++) {
    field_fill(s, modes[i], values);
    for (long k = 0; k < s->problem.points && i > 0; k++) values[k] *= b;
    solver_put(s, names[i], values);
  }
  free(values);
  solver_start(s);
}

/* An error of the frequency of 1e-13 would show after 10,000 steps, and so would a loss of energy. */
TEST(a_staggered_basin_keeps_its_mode_over_10000_steps) {
  struct solver s;
  start_mode(&s, 14 * solver_scale(), 11 * solver_scale());
  const long *n = s.problem.grid.n, steps = solver_slow_driver() ? 20 : 10000;
  const double ab = solver_coefficient(&s, "a") * solver_coefficient(&s, "b");
  const double phase = 2 * asin(sqrt(ab) * hypot(sin(half_x(n)), sin(half_y(n))));
  solver_advance(&s, steps);
  const double error = solver_error(&s, "h_new", depth_mode, cos((double)steps * phase));
  CHECK(error < 1e-9, "%g", error);
  CHECK(fabs(solver_sum(&s, "h_new")) < 1e-9, "the volume changes");
  solver_close(&s);
}

/* The same against the wave itself: w = pi*sqrt(g*depth*(kx^2 + ky^2)). */
static double staggered_error(long n) {
  struct solver s;
  start_mode(&s, n, n);
  const double dt = solver_coefficient(&s, "dt"), speed = sqrt(solver_coefficient(&s, "g"));
  const long steps = lround(0.3 / dt);
  solver_advance(&s, steps);
  const double factor = cos(M_PI * speed * hypot(WAVES_X, WAVES_Y) * (double)steps * dt);
  const double error = solver_error(&s, "h_new", depth_mode, factor);
  solver_close(&s);
  return error;
}

TEST(a_staggered_basin_converges_with_order_2) {
  const double coarse = staggered_error(32 * solver_scale()), fine = staggered_error(64 * solver_scale());
  CHECK_NEAR(2, order_of(coarse, fine), 0.1, "%g, %g", coarse, fine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(water_at_rest_stays_at_rest),
      cmocka_unit_test(walls_keep_the_volume),
      cmocka_unit_test(a_standing_wave_converges_with_order_1),
      cmocka_unit_test(x_and_y_are_alike),
      cmocka_unit_test(a_staggered_basin_keeps_its_mode_over_10000_steps),
      cmocka_unit_test(a_staggered_basin_converges_with_order_2),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
