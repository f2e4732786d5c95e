/* reference_bench.c: the speed of the reference. It judges every variant, so it must compute 20 million points per
 * second on one core. */
#include "tests/unit/unit.h"

#include <time.h>

#include "tests/unit/verify/reference_case.h"

enum { POINTS_PER_S = 20000000 };

/* Like star7, with other weights. */
static const char lines[] = "inputs: [u]\noutputs: [v]\n"
                            "coefficients: {c0: 0.31, c1: 0.07, c2: 0.13, c3: 0.05, c4: 0.17, c5: 0.12, c6: 0.15}\n"
                            "update: |\n"
                            "  v = c0*u[0,0,0] + c1*u[-1,0,0] + c2*u[1,0,0] + c3*u[0,-1,0] + c4*u[0,1,0]\n"
                            "    + c5*u[0,0,-1] + c6*u[0,0,1]\n";

static const struct {
  const char *boundary;
  bool magnitudes;
} rows[] = {{"skip", false}, {"periodic", false}, {"skip", true}};

/* The processor time of this thread, which other programs on the machine lengthen only a little. */
static double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

TEST(star7_runs_at_20_million_points_a_second) {
  enum { REPEATS = 5 };
  const long n = 160;
  for (size_t i = 0; i < COUNT(rows); i++) {
    char text[512];
    snprintf(text, sizeof text, "%sboundary: %s", lines, rows[i].boundary);
    struct reference_case c = reference_case_open(3, text, (struct grid){{n, n, n}});
    double best_s = INFINITY;
    reference_case_fill(&c, INPUT_RANDOM, 1);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
      double start_s = now_s();
      CHECK_OK(reference_case_run(&c, 1, 1, rows[i].magnitudes));
      best_s = fmin(best_s, now_s() - start_s);
    }
    double points_per_s = (double)c.points / best_s;
    printf("# star7 with other weights, %s%s, %ld^3, 1 thread: %.0f million points a second\n", rows[i].boundary,
           rows[i].magnitudes ? ", magnitudes" : "", n, points_per_s / 1e6);
    CHECK(points_per_s >= POINTS_PER_S, "%s: %.3g points a second", rows[i].boundary, points_per_s);
    reference_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(star7_runs_at_20_million_points_a_second)};
  return cmocka_run_group_tests_name("reference_speed", tests, NULL, NULL);
}
