/* wave_solvers_test.c: the acoustic wave with its sponge, and Maxwell's equations on a Yee grid: energies, and modes
 * whose frequency on the grid is known exactly. */
#include "tests/unit/solvers/solver.h"

static double pulse(const long n[3], long x, long y, long z) {
  const double dx = (double)x - (double)n[0] / 2, dy = (double)y - (double)n[1] / 2;
  (void)z;
  const double square = (dx * dx + dy * dy) / 32;
  return (1 - square) * exp(-square);
}
static double one(const long n[3], long x, long y, long z) {
  (void)n, (void)x, (void)y, (void)z;
  return 1;
}
static double nothing(const long n[3], long x, long y, long z) { return 0 * one(n, x, y, z); }

/* A sponge of 20 points at the rim, which grows with the square of the depth. */
static double rim(const long n[3], long x, long y, long z) {
  enum { WIDTH = 20 };
  const long from_x = x < n[0] - 1 - x ? x : n[0] - 1 - x, from_y = y < n[1] - 1 - y ? y : n[1] - 1 - y;
  const double depth = fmax(0, (double)(WIDTH - (from_x < from_y ? from_x : from_y)) / WIDTH);
  (void)z;
  return 0.2 * depth * depth;
}

static double square_sum(struct solver *s, const char *output) {
  double *values = solver_field(s), sum = 0;
  solver_get(s, output, values);
  for (long i = 0; i < s->problem.points; i++) sum += values[i] * values[i];
  free(values);
  return sum;
}

/* What is left of a pulse after it has reached the rim, as a share of the pulse when it was inside. */
static double left_of_pulse(field_value *sponge) {
  struct solver s;
  const long n = 100 * solver_scale();
  solver_open(&s, "acoustic", NULL, n, n, 1);
  solver_fill(&s, "u", pulse);
  solver_fill(&s, "u_prev", pulse);
  solver_fill(&s, "speed", one);
  solver_fill(&s, "sponge", sponge);
  solver_start(&s);
  solver_advance(&s, 40);
  const double inside = square_sum(&s, "v");
  solver_advance(&s, 360 * solver_scale());
  const double left = square_sum(&s, "v");
  solver_close(&s);
  return left / inside;
}

TEST(a_sponge_absorbs_the_wave) {
  const double absorbed = left_of_pulse(rim), reflected = left_of_pulse(nothing);
  CHECK(absorbed < 2e-3, "%g of the energy is left with the sponge", absorbed);
  CHECK(reflected > 0.3, "%g is left without it", reflected);
}

/* u_prev = u, so one step adds r times the Laplacian, whose error is of 8th order. */
static double along_x(const long n[3], long x, long y, long z) {
  (void)y, (void)z;
  return sin(2 * M_PI * (double)x / (double)n[0]);
}
static double laplacian_error(long n) {
  const double h = 1 / (double)n;
  struct solver s;
  solver_open(&s, "acoustic", NULL, n, n, 1);
  double *v = solver_field(&s), *u = solver_field(&s), error = 0;
  solver_fill(&s, "u", along_x);
  solver_fill(&s, "u_prev", along_x);
  solver_fill(&s, "speed", one);
  solver_fill(&s, "sponge", nothing);
  solver_start(&s);
  solver_advance(&s, 1);
  solver_get(&s, "v", v);
  field_fill(&s, along_x, u);
  for (long y = 4; y < n - 4; y++) {
    for (long x = 4; x < n - 4; x++) {
      const long i = y * n + x;
      const double laplacian = (v[i] - u[i]) / (solver_coefficient(&s, "r") * h * h);
      error = fmax(error, fabs(laplacian + 4 * M_PI * M_PI * u[i]));
    }
  }
  free(v);
  free(u);
  solver_close(&s);
  return error;
}

TEST(the_acoustic_wave_has_order_8_in_space) {
  const double coarse = laplacian_error(16), fine = laplacian_error(32);
  CHECK_NEAR(8, order_of(coarse, fine), 0.3, "%g, %g", coarse, fine);
}

static const char *const electric[] = {"ex", "ey", "ez"}, *const electric_new[] = {"ex_new", "ey_new", "ez_new"};
static const char *const magnetic[] = {"hx", "hy", "hz"}, *const magnetic_new[] = {"hx_new", "hy_new", "hz_new"};

/* The two halves of a Yee grid, and copies of their fields. */
struct yee {
  struct solver e, h;
  double *electric[3], *magnetic[3], *old[3]; /* old: the magnetic fields half a step before */
};

/* kind: "maxwell" for periodic boundaries, "cavity" for conducting walls. */
static void yee_open(struct yee *yee, const char *kind, long nx, long ny, long nz) {
  char name[2][64];
  snprintf(name[0], sizeof name[0], "%s_e", kind);
  snprintf(name[1], sizeof name[1], "%s_h", kind);
  solver_open(&yee->e, name[0], NULL, nx, ny, nz);
  solver_open(&yee->h, name[1], NULL, nx, ny, nz);
  for (int i = 0; i < 3; i++) {
    yee->electric[i] = solver_field(&yee->e);
    yee->magnetic[i] = solver_field(&yee->e);
    yee->old[i] = solver_field(&yee->e);
  }
}

static void yee_close(struct yee *yee) {
  for (int i = 0; i < 3; i++) free(yee->electric[i]), free(yee->magnetic[i]), free(yee->old[i]);
  solver_close(&yee->e);
  solver_close(&yee->h);
}

/* Give the halves the fields, which hold E of a whole step and H of half a step before. */
static void yee_start(struct yee *yee) {
  for (int i = 0; i < 3; i++) {
    solver_put(&yee->e, electric[i], yee->electric[i]);
    solver_put(&yee->h, magnetic[i], yee->magnetic[i]);
  }
  for (int i = 0; i < 3; i++) { /* so that the outputs begin with values of their own kind */
    solver_put(&yee->e, magnetic[i], yee->magnetic[i]);
    solver_put(&yee->h, electric[i], yee->electric[i]);
  }
  solver_start(&yee->e);
  solver_start(&yee->h);
}

/* Advance H to the next half step. `old` receives H of before. */
static void yee_advance_h(struct yee *yee) {
  for (int i = 0; i < 3; i++) solver_put(&yee->h, electric[i], yee->electric[i]);
  solver_advance(&yee->h, 1);
  for (int i = 0; i < 3; i++) {
    double *before = yee->old[i];
    yee->old[i] = yee->magnetic[i];
    yee->magnetic[i] = before;
    solver_get(&yee->h, magnetic_new[i], yee->magnetic[i]);
  }
}

static void yee_advance_e(struct yee *yee) {
  for (int i = 0; i < 3; i++) solver_put(&yee->e, magnetic[i], yee->magnetic[i]);
  solver_advance(&yee->e, 1);
  for (int i = 0; i < 3; i++) solver_get(&yee->e, electric_new[i], yee->electric[i]);
}

/* The energy that leapfrog keeps exactly: E at a step, and the product of H half a step before and after it. */
static double yee_energy(const struct yee *yee) {
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    for (long k = 0; k < yee->e.problem.points; k++)
      sum += yee->electric[i][k] * yee->electric[i][k] + yee->old[i][k] * yee->magnetic[i][k];
  }
  return sum;
}

/* The share of the energy that is left after so many steps. E begins with 0, as it is on conducting walls. */
static double energy_left(const char *kind, int steps) {
  struct yee yee;
  yee_open(&yee, kind, 6 * solver_scale_3d(), 5 * solver_scale_3d(), 7 * solver_scale_3d());
  for (int i = 0; i < 3; i++) {
    for (long k = 0; k < yee.e.problem.points; k++) yee.magnetic[i][k] = cos(2.3 * (double)(k * (i + 1)));
  }
  yee_start(&yee);
  yee_advance_h(&yee);
  const double first = yee_energy(&yee);
  for (int step = 0; step < steps; step++) {
    yee_advance_e(&yee);
    yee_advance_h(&yee);
  }
  const double left = yee_energy(&yee) / first;
  yee_close(&yee);
  return left;
}

TEST(maxwell_keeps_the_energy_over_10000_steps) {
  const int steps = solver_slow_driver() ? 20 : 10000;
  CHECK_NEAR(1, energy_left("maxwell", steps), 1e-11, "periodic");
  CHECK_NEAR(1, energy_left("cavity", steps), 1e-11, "between walls");
}

/* Ez of a mode, which depends on x and y. */
static double periodic_mode(const long n[3], long x, long y, long z) {
  (void)z;
  return cos(2 * M_PI * (double)x / (double)n[0]) * cos(4 * M_PI * (double)y / (double)n[1]);
}
static double cavity_mode(const long n[3], long x, long y, long z) {
  if (z == n[2] - 1) return 0; /* Ez of that point is outside of the box */
  return sin(M_PI * (double)x / (double)(n[0] - 1)) * sin(2 * M_PI * (double)y / (double)(n[1] - 1));
}

enum { NX = 12, NY = 10, NZ = 4 }; /* times the scale */
static const struct {
  const char *kind;
  field_value *mode;
  int waves_x, waves_y, walls; /* half waves along the axes; points that are no spacing of their own */
} modes[] = {
    {"maxwell", periodic_mode, 2, 4, 0},
    {"cavity", cavity_mode, 1, 2, 1},
};

/* A mode oscillates with a frequency w that is known exactly on the grid: sin(w dt/2) = r*sqrt(sin(kx h/2)^2 +
 * sin(ky h/2)^2). H half a step before the start is minus H half a step after it. */
TEST(maxwell_has_the_frequency_of_the_grid) {
  enum { STEPS = 20 };
  for (size_t row = 0; row < COUNT(modes); row++) {
    struct yee yee;
    field_value *mode = modes[row].mode;
    const long scale = solver_scale_3d(), nx = NX * scale, ny = NY * scale;
    yee_open(&yee, modes[row].kind, nx, ny, NZ * scale);
    const long *n = yee.e.problem.grid.n;
    const double r = solver_coefficient(&yee.e, "r");
    double error = 0;
    field_fill(&yee.e, mode, yee.electric[2]);
    for (long i = 0; i < yee.e.problem.points; i++) {
      const long x = i % nx, y = i / nx % ny, z = i / nx / ny;
      yee.magnetic[0][i] = r / 2 * (mode(n, x, y + 1, z) - mode(n, x, y, z));
      yee.magnetic[1][i] = -r / 2 * (mode(n, x + 1, y, z) - mode(n, x, y, z));
    }
    yee_start(&yee);
    for (int step = 0; step < STEPS; step++) {
      yee_advance_h(&yee);
      yee_advance_e(&yee);
    }
    const double kx = M_PI / 2 * modes[row].waves_x / (double)(nx - modes[row].walls); /* half of it, times h */
    const double ky = M_PI / 2 * modes[row].waves_y / (double)(ny - modes[row].walls);
    const double factor = cos(2 * STEPS * asin(r * hypot(sin(kx), sin(ky))));
    for (long i = 0; i < yee.e.problem.points; i++) {
      const double want = factor * mode(n, i % nx, i / nx % ny, i / nx / ny);
      error = fmax(error, fabs(yee.electric[2][i] - want));
    }
    CHECK(error < 1e-12, "%s: %g", modes[row].kind, error);
    yee_close(&yee);
  }
}

/* A standing wave with three half periods between the fixed ends. */
static double string_mode(const long n[3], long x, long y, long z) {
  (void)y, (void)z;
  return sin(3 * M_PI * (double)x / (double)(n[0] - 1));
}

/* The phase by which the mode advances in a step on the grid. */
static double string_phase(long nx, double courant) {
  const double half = pow(sin(1.5 * M_PI / (double)(nx - 1)), 2);
  return acos(1 - 2 * courant * courant * half * (1 + half / 3));
}

TEST(a_string_has_the_frequency_of_the_grid) {
  enum { STEPS = 10000 };
  struct solver s;
  const long nx = 65 * solver_scale(), steps = solver_slow_driver() ? 20 : STEPS;
  solver_open(&s, "string", NULL, nx, 1, 1);
  const double phase = string_phase(nx, solver_coefficient(&s, "courant"));
  double *before = solver_field(&s);
  field_fill(&s, string_mode, before);
  solver_put(&s, "u", before);
  for (long i = 0; i < nx; i++) before[i] *= cos(phase);
  solver_put(&s, "u_prev", before);
  solver_start(&s);
  solver_advance(&s, steps);
  const double error = solver_error(&s, "v", string_mode, cos((double)steps * phase));
  CHECK(error < 1e-8, "%g", error);
  free(before);
  solver_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_acoustic_wave_has_order_8_in_space),
      cmocka_unit_test(maxwell_keeps_the_energy_over_10000_steps),
      cmocka_unit_test(maxwell_has_the_frequency_of_the_grid),
      cmocka_unit_test(a_sponge_absorbs_the_wave),
      cmocka_unit_test(a_string_has_the_frequency_of_the_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
