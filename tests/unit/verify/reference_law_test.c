/* reference_law_test.c: laws that hold for every stencil, so that the reference needs no second implementation to be
 * compared with. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/reference_case.h"

/* All axes and all sides differ, and so do the grid's lengths, so that no exchange goes unnoticed. */
static const struct {
  int offset[MAX_DIMS];
  double weight;
} lopsided[] = {
    {{0, 0, 0}, 1},   {{-3, 0, 0}, 2}, {{1, 0, 0}, 3},   {{0, -2, 0}, 5},   {{0, 4, 0}, 7},
    {{0, 0, -1}, 11}, {{0, 0, 5}, 13}, {{1, -2, 3}, 17}, {{-2, 3, -1}, 19},
};
static const struct grid lopsided_grid = {{7, 11, 13}};

#define LOPSIDED                                                                                                           \
  "inputs: [u]\noutputs: [v]\ncoefficients: {a: 1, b: 2, c: 3, d: 5, e: 7, f: 11, g: 13, h: 17, i: 19}\niterate: {v: u}\n" \
  "update: |\n"                                                                                                            \
  "  v = a*u[0,0,0] + b*u[-3,0,0] + c*u[1,0,0] + d*u[0,-2,0] + e*u[0,4,0] + f*u[0,0,-1]\n"                                 \
  "    + g*u[0,0,5] + h*u[1,-2,3] + i*u[-2,3,-1]\n"

static long index_of(const struct grid *grid, const long p[MAX_DIMS]) {
  return p[0] + grid->n[0] * (p[1] + grid->n[1] * p[2]);
}

/* Find the output point that a tap changes if only the input point `p` is 1. Returns false if there is none. */
static bool response_point(const struct grid *grid, const long p[MAX_DIMS], const int offset[MAX_DIMS], bool periodic,
                           long q[MAX_DIMS]) {
  bool inside = true;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    long n = grid->n[axis];
    q[axis] = p[axis] - offset[axis];
    if (periodic) q[axis] = (q[axis] + n) % n;
    inside = inside && q[axis] >= 0 && q[axis] < n;
  }
  return inside;
}

TEST(an_impulse_shows_the_coefficients) {
  static const long sources[][MAX_DIMS] = {{3, 5, 6}, {0, 0, 0}, {6, 10, 12}, {0, 10, 3}, {6, 1, 12}, {2, 7, 0}};
  static const char *const rules[] = {"periodic", "zero"};
  for (size_t i = 0; i < 2 * COUNT(sources); i++) {
    const long *p = sources[i / 2];
    char lines[1024];
    snprintf(lines, sizeof lines, LOPSIDED "boundary: %s", rules[i % 2]);
    struct reference_case c = reference_case_open(3, lines, lopsided_grid);
    double *want = reference_field(c.points, 0);
    for (size_t k = 0; k < COUNT(lopsided); k++) {
      long q[MAX_DIMS];
      if (response_point(&c.grid, p, lopsided[k].offset, i % 2 == 0, q))
        want[index_of(&c.grid, q)] += lopsided[k].weight;
    }
    c.inputs[0][index_of(&c.grid, p)] = 1;
    CHECK_OK(reference_case_run(&c, 1, 2, false));
    for (long k = 0; k < c.points; k++)
      CHECK_NEAR(want[k], c.outputs[0][k], 0, "source %zu, %s, point %ld", i / 2, rules[i % 2], k);
    free(want);
    reference_case_close(&c);
  }
}

TEST(an_impulse_shows_the_weights_of_shipped_stencils) {
  static const char *const names[] = {"star7", "star13", "star25", "box27"};
  for (size_t i = 0; i < COUNT(names); i++) {
    struct reference_case c = reference_case_kernel(names[i], (struct grid){{12, 10, 11}});
    const long p[] = {6, 5, 5};
    CHECK(c.analysis->weight_count > 6, "%s", names[i]);
    c.inputs[0][index_of(&c.grid, p)] = 1;
    CHECK_OK(reference_case_run(&c, 1, 1, false));
    for (int k = 0; k < c.analysis->weight_count; k++) {
      const struct weight *weight = &c.analysis->weights[k];
      long q[MAX_DIMS];
      CHECK(response_point(&c.grid, p, weight->tap.offset, false, q), "%s, weight %d", names[i], k);
      if (c.outputs[0][index_of(&c.grid, q)] == REFERENCE_UNTOUCHED) continue; /* skipped */
      CHECK_NEAR(weight->value, c.outputs[0][index_of(&c.grid, q)], 1e-15, "%s, weight %d", names[i], k);
    }
    reference_case_close(&c);
  }
}

/* Fill a field with integers, so that rounding hides no difference. */
static void fill_digits(double *field, long points, unsigned seed) {
  for (long i = 0; i < points; i++) {
    seed = seed * 1664525u + 1013904223u;
    field[i] = (double)(seed >> 24) - 100;
  }
}

TEST(a_sum_of_inputs_gives_the_sum_of_outputs) {
  static const char *const rules[] = {"periodic", "periodic_endpoint", "clamp", "zero", "skip"};
  for (size_t i = 0; i < COUNT(rules); i++) {
    char lines[1024];
    snprintf(lines, sizeof lines, LOPSIDED "boundary: %s", rules[i]);
    struct reference_case a = reference_case_open(3, lines, lopsided_grid);
    struct reference_case b = reference_case_open(3, lines, lopsided_grid);
    struct reference_case both = reference_case_open(3, lines, lopsided_grid);
    fill_digits(a.inputs[0], a.points, 1);
    fill_digits(b.inputs[0], b.points, 2);
    for (long k = 0; k < both.points; k++) both.inputs[0][k] = 3 * a.inputs[0][k] - 5 * b.inputs[0][k];
    CHECK_OK(reference_case_run(&a, 1, 1, false));
    CHECK_OK(reference_case_run(&b, 1, 2, false));
    CHECK_OK(reference_case_run(&both, 1, 1, false));
    for (long k = 0; k < both.points; k++) {
      double got = both.outputs[0][k];
      if (got == REFERENCE_UNTOUCHED) continue;
      CHECK_NEAR(3 * a.outputs[0][k] - 5 * b.outputs[0][k], got, 0, "%s, point %ld", rules[i], k);
    }
    reference_case_close(&a), reference_case_close(&b), reference_case_close(&both);
  }
}

/* On periodic axes no point is special: a shifted input gives the shifted output, bit for bit and over several steps.
 * Rows are longer than the pieces in which they are computed. */
TEST(a_shifted_input_gives_the_shifted_output) {
  static const struct grid grids[] = {{{7, 11, 13}}, {{700, 3, 2}}, {{1, 257, 5}}};
  static const long shift[] = {2, 5, 1};
  for (size_t i = 0; i < COUNT(grids); i++) {
    struct reference_case c = reference_case_open(3, LOPSIDED "boundary: periodic", grids[i]);
    struct reference_case s = reference_case_open(3, LOPSIDED "boundary: periodic", grids[i]);
    const long *n = grids[i].n;
    reference_case_fill(&c, INPUT_RANDOM, i);
    for (int pass = 0; pass < 2; pass++) { /* first shift the input, then compare the outputs */
      for (long k = 0; k < c.points; k++) {
        const long to[] = {(k % n[0] + shift[0]) % n[0], (k / n[0] % n[1] + shift[1]) % n[1],
                           (k / n[0] / n[1] + shift[2]) % n[2]};
        if (pass == 0) s.inputs[0][index_of(&grids[i], to)] = c.inputs[0][k];
        else CHECK_NEAR(c.outputs[0][k], s.outputs[0][index_of(&grids[i], to)], 0, "grid %zu, point %ld", i, k);
      }
      if (pass == 0) {
        CHECK_OK(reference_case_run(&c, 3, 1, false));
        CHECK_OK(reference_case_run(&s, 3, 2, false));
      }
    }
    reference_case_close(&c), reference_case_close(&s);
  }
}

TEST(a_constant_field_is_kept_where_weights_sum_to_one) {
  static const char *const names[] = {"star7", "heat2d", "advect1d", "star13", "star25", "box27", "star2d9"};
  for (size_t i = 0; i < COUNT(names); i++) {
    struct stencil *stencil;
    CHECK_OK(stencil_of_kernels(names[i], &stencil));
    struct grid grid = {{20, stencil->dims > 1 ? 19 : 1, stencil->dims > 2 ? 18 : 1}};
    struct reference_case c = reference_case_of(stencil, grid);
    double sum = 0;
    for (int k = 0; k < c.analysis->weight_count; k++) sum += c.analysis->weights[k].value;
    CHECK_NEAR(1, sum, 1e-12, "%s", names[i]);
    for (long k = 0; k < c.points; k++) c.inputs[0][k] = c.outputs[0][k] = 3.25;
    CHECK_OK(reference_case_run(&c, 3, 1, false));
    for (long k = 0; k < c.points; k++) CHECK_NEAR(3.25, c.outputs[0][k], 1e-13, "%s, point %ld", names[i], k);
    reference_case_close(&c);
  }
}

TEST(the_number_of_threads_changes_nothing) {
  static const struct grid grids[] = {{{40, 30, 20}}, {{3000, 5, 3}}, {{3, 2, 900}}};
  for (size_t i = 0; i < COUNT(grids); i++) {
    struct reference_case c = reference_case_open(3, LOPSIDED "boundary: [periodic, clamp, zero]", grids[i]);
    reference_case_fill(&c, INPUT_RANDOM, 5);
    CHECK_OK(reference_case_run(&c, 2, 1, true));
    size_t bytes = (size_t)c.points * sizeof(double);
    double *values = reference_field(c.points, 0), *magnitudes = reference_field(c.points, 0);
    memcpy(values, c.outputs[0], bytes);
    memcpy(magnitudes, c.magnitudes[0], bytes);
    for (int threads = 0; threads < 8; threads++) {
      memset(c.outputs[0], 0, bytes);
      CHECK_OK(reference_case_run(&c, 2, threads, true));
      CHECK(memcmp(values, c.outputs[0], bytes) == 0, "grid %zu, %d threads", i, threads);
      CHECK(memcmp(magnitudes, c.magnitudes[0], bytes) == 0, "grid %zu, %d threads", i, threads);
    }
    free(values);
    free(magnitudes);
    reference_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_impulse_shows_the_coefficients),
      cmocka_unit_test(an_impulse_shows_the_weights_of_shipped_stencils),
      cmocka_unit_test(a_sum_of_inputs_gives_the_sum_of_outputs),
      cmocka_unit_test(a_shifted_input_gives_the_shifted_output),
      cmocka_unit_test(a_constant_field_is_kept_where_weights_sum_to_one),
      cmocka_unit_test(the_number_of_threads_changes_nothing),
  };
  return cmocka_run_group_tests_name("reference_law", tests, NULL, NULL);
}
