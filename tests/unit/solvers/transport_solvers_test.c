/* transport_solvers_test.c: upwind advection against the exact translation, and Gray and Scott's chemicals against
 * their published steady state and the statistics of their pattern. */
#include "tests/unit/solvers/solver.h"

static double bump(const long n[3], long x, long y, long z) {
  (void)y, (void)z;
  return exp(sin(2 * M_PI * (double)x / (double)n[0]));
}
static double to_the_right(const long n[3], long x, long y, long z) { return 1 + 0 * bump(n, x, y, z); }
static double to_the_left(const long n[3], long x, long y, long z) { return -to_the_right(n, x, y, z); }

/* The error after the bump has gone once around. */
static double error_of(field_value *velocity, long n) {
  struct solver s;
  solver_open(&s, "upwind", NULL, n, 1, 1);
  solver_fill(&s, "u", bump);
  solver_fill(&s, "c", velocity);
  solver_start(&s);
  solver_advance(&s, lround(1 / solver_coefficient(&s, "dt")));
  const double error = solver_error(&s, "v", bump, 1);
  solver_close(&s);
  return error;
}

TEST(upwind_converges_with_order_1) {
  field_value *const velocities[] = {to_the_right, to_the_left};
  for (size_t i = 0; i < COUNT(velocities); i++) {
    const long n = 400 * solver_scale();
    const double coarse = error_of(velocities[i], n), fine = error_of(velocities[i], 2 * n);
    CHECK_NEAR(1, order_of(coarse, fine), 0.05, "%g, %g", coarse, fine);
  }
}

/* Uniform chemicals go to the steady state in which both react: u solves u*u - u + (feed + kill)^2/feed = 0. */
static double little(const long n[3], long x, long y, long z) { return 0.3 * to_the_right(n, x, y, z); }
static double one(const long n[3], long x, long y, long z) { return to_the_right(n, x, y, z); }

TEST(uniform_chemicals_reach_the_published_steady_state) {
  const double feed = 0.05, kill = 0.05, loss = feed + kill, root = sqrt(1 - 4 * loss * loss / feed);
  struct solver s;
  solver_open(&s, "gray_scott", "feed=0.05,kill=0.05", 6, 5, 1);
  solver_fill(&s, "u", little);
  solver_fill(&s, "v", little);
  solver_start(&s);
  solver_advance(&s, 5000);
  CHECK(solver_error(&s, "u_new", one, (1 - root) / 2) < 1e-9, "u");
  CHECK(solver_error(&s, "v_new", one, feed / (2 * loss) * (1 + root)) < 1e-9, "v");
  solver_close(&s);
}

/* A square of the second chemical in the first one. */
static double square(const long n[3], long x, long y, long z) {
  (void)z;
  return labs(x - n[0] / 2) < 4 && labs(y - n[1] / 2) < 5 ? 1 : 0;
}
static double first_chemical(const long n[3], long x, long y, long z) { return 1 - 0.5 * square(n, x, y, z); }
static double second_chemical(const long n[3], long x, long y, long z) { return 0.25 * square(n, x, y, z); }

/* Spots multiply until they fill the grid (Pearson's pattern lambda). */
TEST(spots_fill_the_grid) {
  enum { N = 64 };
  struct solver s;
  double mean = 0, variance = 0;
  int peaks = 0;
  solver_open(&s, "gray_scott", NULL, N, N, 1);
  solver_fill(&s, "u", first_chemical);
  solver_fill(&s, "v", second_chemical);
  solver_start(&s);
  solver_advance(&s, 6000);
  double *v = solver_field(&s);
  solver_get(&s, "v_new", v);
  for (int i = 0; i < N * N; i++) mean += v[i] / (N * N);
  for (int i = 0; i < N * N; i++) variance += (v[i] - mean) * (v[i] - mean) / (N * N);
  for (int y = 0; y < N; y++) {
    for (int x = 0; x < N; x++) {
      bool highest = true;
      for (int k = 0; k < 9; k++) {
        const int other = (y + N + k / 3 - 1) % N * N + (x + N + k % 3 - 1) % N;
        highest = highest && v[y * N + x] >= v[other];
      }
      peaks += highest;
    }
  }
  CHECK(mean > 0.17 && mean < 0.21, "the mean is %g", mean);
  CHECK(sqrt(variance) > 0.09 && sqrt(variance) < 0.12, "the deviation is %g", sqrt(variance));
  CHECK(peaks >= 28 && peaks <= 36, "there are %d spots: about one in a square of 11 points", peaks);
  free(v);
  solver_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uniform_chemicals_reach_the_published_steady_state),
      cmocka_unit_test(spots_fill_the_grid),
      cmocka_unit_test(upwind_converges_with_order_1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
