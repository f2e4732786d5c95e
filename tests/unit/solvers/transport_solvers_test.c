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

/* The regions of points whose value is high, or those of the others. Neighbours join them along x and y. */
struct regions {
  int count;
  int round;          /* how many are no larger than a spot */
  long points, least; /* of all, and of the smallest one */
};

static struct regions regions_of(const struct solver *s, const double *v, bool is_high) {
  const double threshold = 0.2; /* of the second chemical */
  const long nx = s->problem.grid.n[0], points = s->problem.points;
  struct regions regions = {.least = points};
  bool *seen = calloc((size_t)points, sizeof *seen);
  long *found = calloc((size_t)points, sizeof *found);
  assert_non_null(seen);
  assert_non_null(found);
  for (long start = 0; start < points; start++) {
    long count = 0;
    if (seen[start] || (v[start] > threshold) != is_high) continue;
    seen[found[count++] = start] = true;
    for (long k = 0; k < count; k++) {
      const long x = found[k] % nx, row = found[k] - x;
      const long beside[] = {row + (x + 1) % nx, row + (x + nx - 1) % nx, (found[k] + nx) % points,
                             (found[k] + points - nx) % points};
      for (size_t side = 0; side < COUNT(beside); side++) {
        if (seen[beside[side]] || (v[beside[side]] > threshold) != is_high) continue;
        seen[found[count++] = beside[side]] = true;
      }
    }
    regions.count++;
    regions.points += count;
    if (count < regions.least) regions.least = count;
    regions.round += count <= 50;
  }
  free(seen);
  free(found);
  return regions;
}

/* The pattern of the second chemical, `scale` times as long and as wide as the small one. */
static double *pattern(struct solver *s, const char *set, long steps) {
  const long scale = solver_scale();
  solver_open(s, "gray_scott", set, 56 * scale, 44 * scale, 1);
  solver_fill(s, "u", first_chemical);
  solver_fill(s, "v", second_chemical);
  solver_start(s);
  solver_advance(s, steps * scale);
  double *v = solver_field(s);
  solver_get(s, "v_new", v);
  return v;
}

/* Munafo's catalogue of Pearson's patterns (mrob.com/pub/comp/xmorphia) has at feed 0.034 and kill 0.063 (eta) spots
 * that divide until they fill the grid, and rest as a hexagonal lattice. */
TEST(spots_divide_until_they_fill_the_grid) {
  struct solver s;
  double *v = pattern(&s, "feed=0.034,kill=0.063", 4000);
  const struct regions spots = regions_of(&s, v, true), rest = regions_of(&s, v, false);
  const double area = (double)s.problem.points / spots.count;
  CHECK(area > 115 && area < 165, "%d spots: one in %g points", spots.count, area);
  CHECK(spots.least >= 20, "a spot has %ld points", spots.least);
  CHECK(spots.round > 0.8 * spots.count, "%d of %d are round: worms divide into spots", spots.round, spots.count);
  CHECK(rest.count == 1, "%d regions between the spots", rest.count);
  free(v);
  solver_close(&s);
}

/* At feed 0.046 and kill 0.061 (theta) it has stripes that branch. */
TEST(stripes_fill_the_grid) {
  struct solver s;
  double *v = pattern(&s, "feed=0.046,kill=0.061", 4000);
  const struct regions stripes = regions_of(&s, v, true), gaps = regions_of(&s, v, false);
  const double share = (double)stripes.points / (double)s.problem.points;
  const long gap = gaps.count > 1 ? gaps.points / gaps.count : 0;
  CHECK(share > 0.45 && share < 0.65, "stripes have %g of the grid", share);
  CHECK(stripes.points > 500L * stripes.count, "%d stripes are spots", stripes.count);
  CHECK(gap > 120, "%d gaps of %ld points are spots", gaps.count, gap);
  free(v);
  solver_close(&s);
}

/* Where feed < 4*(feed + kill)^2 there is no steady state but u = 1, v = 0 (Pearson's line of saddle nodes). */
TEST(too_little_feed_leaves_nothing) {
  struct solver s;
  double *v = pattern(&s, "feed=0.06,kill=0.07", 1000);
  CHECK(solver_error(&s, "v_new", one, 0) < 1e-9, "the second chemical is left");
  free(v);
  solver_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uniform_chemicals_reach_the_published_steady_state),
      cmocka_unit_test(spots_divide_until_they_fill_the_grid),
      cmocka_unit_test(stripes_fill_the_grid),
      cmocka_unit_test(too_little_feed_leaves_nothing),
      cmocka_unit_test(upwind_converges_with_order_1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
