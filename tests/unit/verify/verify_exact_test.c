/* verify_exact_test.c: fields compared with their formulas, and checksums of fields. */
#include "tests/unit/unit.h"

#include <float.h>

#include "tests/unit/verify/reference_case.h"
#include "tuner/verify/checksum.h"
#include "tuner/verify/exact.h"

#define LINES                                                                                                          \
  "inputs: [u, w]\noutputs: [v, r]\nboundary: skip\ncoefficients: {a: 3}\nupdate: |\n  v = u[0,0,0]\n  r = w[0,0,0]\n" \
  "exact: {r: a*x, w: x + 10*y + 100*z, u: 4*nx + z}\n"

TEST(formulas_are_found_by_their_field) {
  struct reference_case c = reference_case_open(3, LINES, (struct grid){{3, 5, 2}});
  static const struct {
    bool is_output;
    int field;
    bool found;
  } rows[] = {{false, 0, true}, {false, 1, true},  {true, 0, false},
              {true, 1, true},  {false, 2, false}, {true, 2, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct exact *exact = exact_find(c.stencil, rows[i].is_output, rows[i].field);
    CHECK_EQ(rows[i].found, exact != NULL, "row %zu", i);
    CHECK(!exact || (exact->is_output == rows[i].is_output && exact->field == rows[i].field), "row %zu", i);
  }
  reference_case_close(&c);
}

TEST(a_field_is_filled_from_its_formula) {
  /* smaller than one part of the work, and many parts */
  static const struct grid grids[] = {{{3, 5, 2}}, {{9, 33, 17}}};
  for (size_t i = 0; i < 2 * COUNT(grids); i++) {
    struct reference_case c = reference_case_open(3, LINES, grids[i / 2]);
    const long *n = c.grid.n;
    int threads = i % 2 ? 4 : 1;
    CHECK_OK(
        exact_fill(c.stencil, exact_find(c.stencil, false, 0), &c.grid, c.coefficients, 0, threads, NULL, c.inputs[0]));
    CHECK_OK(
        exact_fill(c.stencil, exact_find(c.stencil, false, 1), &c.grid, c.coefficients, 0, threads, NULL, c.inputs[1]));
    CHECK_OK(
        exact_fill(c.stencil, exact_find(c.stencil, true, 1), &c.grid, c.coefficients, 1, threads, NULL, c.outputs[1]));
    for (long k = 0; k < c.points; k++) {
      const long point[] = {k % n[0], k / n[0] % n[1], k / n[0] / n[1]};
      double at[MAX_DIMS];
      for (int axis = 0; axis < MAX_DIMS; axis++) at[axis] = (double)point[axis] / (double)(n[axis] - 1);
      CHECK_NEAR(4 * (double)n[0] + at[2], c.inputs[0][k], 1e-14, "row %zu, u at %ld", i, k);
      CHECK_NEAR(at[0] + 10 * at[1] + 100 * at[2], c.inputs[1][k], 1e-13, "row %zu, w at %ld", i, k);
      CHECK_NEAR(3 * at[0], c.outputs[1][k], 1e-15, "row %zu, r at %ld", i, k);
    }
    reference_case_close(&c);
  }
}

TEST(a_stop_ends_it) {
  const volatile sig_atomic_t stop = 1;
  struct reference_case c = reference_case_open(3, LINES, (struct grid){{9, 33, 17}});
  CHECK_EQ(HALOTUNE_CANCELLED,
           exact_fill(c.stencil, exact_find(c.stencil, false, 0), &c.grid, c.coefficients, 0, 2, &stop, c.inputs[0]),
           "stopped");
  reference_case_close(&c);
}

enum { CELLS = 4 };

static const struct {
  double want[CELLS], got[CELLS];
  long low, high;
  double rms, max, scale;
} rows[] = {
    {{1, 2, 3, 4}, {1, 2, 3, 4}, 0, 4, 0, 0, 4},
    {{1, -9, 3, 4}, {1, -9, 3, 4}, 0, 4, 0, 0, 9},
    {{1, 2, 3, 4}, {2, 0, 5, 8}, 0, 4, 2.5, 4, 4},                /* errors 1, 2, 2, 4 */
    {{1, 2, 3, 4}, {0, 4, 1, 0}, 0, 4, 2.5, 4, 4},                /* of the other sign */
    {{9, 2, 2, 8}, {0, 5, 6, 0}, 1, 3, 3.5355339059327378, 4, 2}, /* errors 3, 4 */
    {{0, 0, 0, 0}, {0, 0, 0, 6}, 0, 4, 3, 6, 0},
    {{0, 0, 0, 0}, {6, 0, 0, 0}, 0, 4, 3, 6, 0},
    {{0, 0, 0, 0}, {6, 0, 0, 6}, 1, 3, 0, 0, 0},
    {{1, 1, 1, 1}, {2, 2, 2, 2}, 2, 2, 0, 0, 0},
    {{1, 1, 1, 1}, {1, NAN, 1, 1}, 0, 4, INFINITY, INFINITY, 1},
    {{1, 1, 1, NAN}, {1, 1, 1, 1}, 0, 4, INFINITY, INFINITY, 1},
    {{1, 1, 1, 1}, {-INFINITY, 1, 1, 1}, 0, 4, INFINITY, INFINITY, 1},
    {{INFINITY, 1, 1, 1}, {INFINITY, 1, 1, 1}, 0, 4, INFINITY, INFINITY, INFINITY},
    {{1, 1, 1, NAN}, {1, NAN, 1, 3}, 2, 3, 0, 0, 1},
};

TEST(errors_are_as_computed_by_hand) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      struct grid grid = {{1, 1, 1}};
      grid.n[axis] = CELLS;
      struct box box = box_whole(&grid);
      box.low[axis] = rows[i].low, box.high[axis] = rows[i].high;
      struct exact_error error = exact_compare(&grid, &box, rows[i].want, rows[i].got);
      CHECK(error.rms == rows[i].rms, "row %zu: %.17g", i, error.rms);
      CHECK(error.max == rows[i].max, "row %zu: %.17g", i, error.max);
      CHECK(error.scale == rows[i].scale, "row %zu: %.17g", i, error.scale);
    }
  }
}

TEST(each_cell_of_the_box_counts_and_no_other) {
  enum { POINTS = 3 * 4 * 5 };
  static const struct grid grid = {{3, 4, 5}};
  static const struct box box = {{1, 0, 2}, {3, 3, 4}};
  for (long i = 0; i < POINTS; i++) {
    double want[POINTS] = {0}, got[POINTS] = {0};
    bool in = i % 3 >= 1 && i / 3 % 4 < 3 && i / 12 >= 2 && i / 12 < 4;
    got[i] = 5;
    struct exact_error error = exact_compare(&grid, &box, want, got);
    CHECK_NEAR(in ? 5 : 0, error.max, 0, "cell %ld", i);
    CHECK_NEAR(in ? 5 / sqrt(12) : 0, error.rms, 1e-15, "cell %ld", i);
    error = exact_compare(&grid, &box, got, want);
    CHECK_NEAR(in ? 5 : 0, error.scale, 0, "cell %ld", i);
  }
}

static const struct {
  double values[CELLS];
  long count;
  double sum, absolute_sum, min, max;
  long not_finite;
} sums[] = {
    {{1, 2, 3, 4}, 4, 10, 10, 1, 4, 0},
    {{4, 3, 2, 1}, 4, 10, 10, 1, 4, 0},
    {{1, -2, 3, -4}, 4, -2, 10, -4, 3, 0},
    {{-1, -2, -3, -4}, 4, -10, 10, -4, -1, 0}, /* the maximum of negative values is not the 0 with which it starts */
    {{5, 6, 7, 8}, 4, 26, 26, 5, 8, 0},        /* nor is the minimum of positive values */
    {{5, 6, 7, 8}, 3, 18, 18, 5, 7, 0},
    {{5, 6, 7, 8}, 1, 5, 5, 5, 5, 0},
    {{5, 6, 7, 8}, 0, 0, 0, 0, 0, 0},
    {{NAN, 6, 7, 8}, 4, 21, 21, 6, 8, 1},
    {{NAN, -6, -7, -8}, 4, -21, 21, -8, -6, 1},
    {{INFINITY, -INFINITY, 7, 8}, 4, 15, 15, 7, 8, 2},
    {{-5, INFINITY, -7, NAN}, 4, -12, 12, -7, -5, 2},
    {{NAN, INFINITY, -INFINITY, -NAN}, 4, 0, 0, 0, 0, 4},
    {{1e16, 1, -1e16, 1}, 4, 1, 2e16, -1e16, 1e16, 0}, /* added in the order of memory */
    {{1, 1e16, 1, -1e16}, 4, 0, 2e16, -1e16, 1e16, 0},
};

TEST(checksums_are_as_computed_by_hand) {
  for (size_t i = 0; i < COUNT(sums); i++) {
    struct checksum c = checksum_make(sums[i].values, sums[i].count);
    CHECK_NEAR(sums[i].sum, c.sum, 0, "row %zu", i);
    CHECK_NEAR(sums[i].absolute_sum, c.absolute_sum, 0, "row %zu", i);
    CHECK_NEAR(sums[i].min, c.min, 0, "row %zu", i);
    CHECK_NEAR(sums[i].max, c.max, 0, "row %zu", i);
    CHECK_EQ(sums[i].not_finite, c.not_finite, "row %zu", i);
    struct hash hash = hash_bytes(sums[i].values, (size_t)sums[i].count * sizeof(double));
    CHECK_EQ(0, hash_compare(hash, c.hash), "row %zu", i);
  }
}

/* Fields may differ although their sums agree. */
TEST(every_bit_and_every_place_shows_in_the_hash) {
  const double values[CELLS] = {1, 2, 3, 0};
  static const double others[][CELLS] = {
      {2, 1, 3, 0}, {1, 2, 0, 3}, {1, 2, 3, -0.0}, {1 + DBL_EPSILON, 2, 3, 0}, {1, 2, 3, 0x1p-1074}, {1, 2, 3, NAN}};
  struct checksum c = checksum_make(values, CELLS);
  for (size_t i = 0; i < COUNT(others); i++) {
    CHECK(hash_compare(c.hash, checksum_make(others[i], CELLS).hash) != 0, "row %zu", i);
  }
  CHECK(hash_compare(c.hash, checksum_make(values, CELLS - 1).hash) != 0, "one less");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formulas_are_found_by_their_field),
      cmocka_unit_test(a_field_is_filled_from_its_formula),
      cmocka_unit_test(a_stop_ends_it),
      cmocka_unit_test(errors_are_as_computed_by_hand),
      cmocka_unit_test(each_cell_of_the_box_counts_and_no_other),
      cmocka_unit_test(checksums_are_as_computed_by_hand),
      cmocka_unit_test(every_bit_and_every_place_shows_in_the_hash),
  };
  return cmocka_run_group_tests_name("verify_exact", tests, NULL, NULL);
}
