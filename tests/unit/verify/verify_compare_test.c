/* verify_compare_test.c: results compared with expected values, worked out by hand: the size of an error, its place,
 * and what never passes. */
#include "tests/unit/unit.h"

#include <float.h>

#include "tests/unit/verify/reference_case.h"
#include "tuner/verify/compare.h"

enum { CELLS = 4 };
#define U 0x1p-24 /* the unit of rounding of single precision */
#define D 0x1p-53
#define L 0x1p-149 /* the least number of single precision */

static const struct {
  enum dtype dtype;
  double allowed;
  double want[CELLS], magnitudes[CELLS], got[CELLS];
  bool passed;
  long bad, first; /* first: the cell along x */
  double rms, max, units;
} rows[] = {
    /* no error */
    {DTYPE_F32, 0, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}, true, 0, 0, 0, 0, 0},
    {DTYPE_F64, 0, {0, -0.0, 0, 0}, {0, 0, 0, 0}, {-0.0, 0, 0, 0}, true, 0, 0, 0, 0, 0},
    /* at the limit and just beyond it, of both signs and both types */
    {DTYPE_F32, 3, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1 + 3 * U, 1, 1}, true, 0, 0, 1.5 * U, 3 * U, 3},
    {DTYPE_F32, 3, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1 - 3 * U, 1, 1}, true, 0, 0, 1.5 * U, 3 * U, 3},
    {DTYPE_F32,
     3,
     {1, 1, 1, 1},
     {1, 1, 1, 1},
     {1, 1 + 3 * U + 2 * D, 1, 1},
     false,
     1,
     1,
     1.5 * U + D,
     3 * U + 2 * D,
     3 + 0x1p-28},
    {DTYPE_F32, 2.5, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1 - 3 * U, 1}, false, 1, 2, 1.5 * U, 3 * U, 3},
    {DTYPE_F64, 4, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1 + 4 * D, 1, 1}, true, 0, 0, 2 * D, 4 * D, 4},
    {DTYPE_F64, 4, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1 + 6 * D, 1, 1}, false, 1, 1, 3 * D, 6 * D, 6},
    {DTYPE_F64, 1e9, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1 + U}, true, 0, 0, U / 2, U, 0x1p29},
    /* below the least normal number a unit is the least number, except where nothing is expected */
    {DTYPE_F32, 3, {0, L, 0, 0}, {L, L, L, L}, {0, 4 * L, 0, 0}, true, 0, 0, 1.5 * L, 3 * L, 3},
    {DTYPE_F32, 3, {0, L, 0, 0}, {L, L, L, L}, {0, 5 * L, 0, 0}, false, 1, 1, 2 * L, 4 * L, 4},
    {DTYPE_F32, 3, {0, 0, 0, 0}, {1, 0, 1, 1}, {0, L, 0, 0}, false, 1, 1, L / 2, L, INFINITY},
    /* the first cell and the last */
    {DTYPE_F32, 1, {0, 0, 0, 0}, {1, 1, 1, 1}, {2 * U, 0, 0, 0}, false, 1, 0, U, 2 * U, 2},
    {DTYPE_F32, 1, {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 0, 2 * U}, false, 1, 3, U, 2 * U, 2},
    /* the largest error, the largest error in units, and the first bad cell are three different cells */
    {DTYPE_F32,
     1,
     {0, 0, 0, 0},
     {1, 1, 100, 0.5},
     {0, 2 * U, -50 * U, 3 * U},
     false,
     2,
     1,
     25.064915718988566 * U,
     50 * U,
     6},
    /* the sum of squares is 1 + 4 + 4 + 16 = 25 */
    {DTYPE_F32, 9, {0, 0, 0, 0}, {1, 1, 1, 1}, {1 * U, -2 * U, 2 * U, -4 * U}, true, 0, 0, 2.5 * U, 4 * U, 4},
    {DTYPE_F32, 1, {0, 0, 0, 0}, {1, 1, 1, 1}, {1 * U, -2 * U, 2 * U, -4 * U}, false, 3, 1, 2.5 * U, 4 * U, 4},
    /* an error where none is allowed */
    {DTYPE_F32, 1e300, {0, 0, 0, 0}, {1, 1, 0, 1}, {0, 0, 2, 0}, false, 1, 2, 1, 2, INFINITY},
    /* both are finite, but their difference is not */
    {DTYPE_F64,
     1e300,
     {0, DBL_MAX, 0, 0},
     {1, 1, 1, 1},
     {0, -DBL_MAX, 0, 0},
     false,
     1,
     1,
     INFINITY,
     INFINITY,
     INFINITY},
};

TEST(errors_are_as_computed_by_hand) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      struct grid grid = {{1, 1, 1}};
      grid.n[axis] = CELLS;
      struct box box = box_whole(&grid);
      struct comparison c =
          compare_fields(&grid, &box, rows[i].want, rows[i].magnitudes, rows[i].got, rows[i].dtype, rows[i].allowed);
      CHECK_EQ(rows[i].passed, c.passed, "row %zu", i);
      CHECK_EQ(CELLS, c.points, "row %zu", i);
      CHECK_EQ(rows[i].bad, c.bad_points, "row %zu", i);
      CHECK_EQ(0, c.not_finite_points, "row %zu", i);
      CHECK(rows[i].max == c.max_error, "row %zu: %g", i, c.max_error);
      CHECK(rows[i].units == c.max_error_units, "row %zu: %.17g", i, c.max_error_units);
      CHECK(rows[i].rms == c.rms_error || fabs(rows[i].rms - c.rms_error) <= 1e-15 * rows[i].rms, "row %zu: %g", i,
            c.rms_error);
      for (int k = 0; k < MAX_DIMS && !rows[i].passed; k++) {
        CHECK_EQ(k == axis ? rows[i].first : 0, c.first_bad[k], "row %zu, axis %d, %d", i, axis, k);
      }
      if (rows[i].passed) continue;
      CHECK_NEAR(rows[i].want[rows[i].first], c.want, 0, "row %zu", i);
      CHECK_NEAR(rows[i].got[rows[i].first], c.got, 0, "row %zu", i);
    }
  }
}

static const struct {
  double want, magnitude, got;
} never[] = {
    {1, 1, NAN},
    {1, 1, INFINITY},
    {1, 1, -INFINITY},
    {NAN, 1, 1},
    {INFINITY, 1, 1},
    {-INFINITY, 1, 1},
    {NAN, 1, NAN},
    {INFINITY, 1, INFINITY},
    {1, NAN, 2},
    {1, INFINITY, 2},
    {1, NAN, 1 + 0x1p-52},
    {1, INFINITY, 1 - D},
    {NAN, NAN, NAN},
    {INFINITY, INFINITY, 1},
    {INFINITY, INFINITY, INFINITY},
    {-INFINITY, 1, INFINITY},
};

TEST(what_is_not_finite_never_passes) {
  static const double allowed[] = {0, 1, 1e300, DBL_MAX, INFINITY};
  static const struct grid grid = {{3, 2, 2}};
  struct box box = box_whole(&grid);
  for (size_t i = 0; i < COUNT(never) * COUNT(allowed); i++) {
    size_t row = i / COUNT(allowed);
    for (long at = 0; at < 12; at++) {
      double want[12], magnitudes[12], got[12];
      for (long k = 0; k < 12; k++) {
        want[k] = k == at ? never[row].want : 5;
        magnitudes[k] = k == at ? never[row].magnitude : 5;
        got[k] = k == at ? never[row].got : 5;
      }
      for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        struct comparison c =
            compare_fields(&grid, &box, want, magnitudes, got, (enum dtype)dtype, allowed[i % COUNT(allowed)]);
        CHECK(!c.passed, "row %zu, cell %ld, allowed %g", row, at, allowed[i % COUNT(allowed)]);
        CHECK_EQ(1, c.bad_points, "row %zu, cell %ld", row, at);
        CHECK_EQ(1, c.not_finite_points, "row %zu, cell %ld", row, at);
        CHECK(isinf(c.rms_error) && isinf(c.max_error) && isinf(c.max_error_units), "row %zu, cell %ld", row, at);
        CHECK_EQ(at, grid_index(&grid, c.first_bad[0], c.first_bad[1], c.first_bad[2]), "row %zu", row);
      }
    }
  }
}

TEST(an_unknown_magnitude_passes_what_is_equal) {
  static const double magnitudes[] = {NAN, INFINITY}, got[][2] = {{1, -0.0}, {1, 0x1p-1074}, {1 - D, 0}};
  const double want[] = {1, 0};
  const struct grid grid = {{2, 1, 1}};
  struct box box = box_whole(&grid);
  for (size_t i = 0; i < COUNT(magnitudes) * COUNT(got); i++) {
    const double m[] = {magnitudes[i % COUNT(magnitudes)], magnitudes[i % COUNT(magnitudes)]};
    struct comparison c = compare_fields(&grid, &box, want, m, got[i / COUNT(magnitudes)], DTYPE_F64, 1e300);
    bool equal = i < COUNT(magnitudes);
    CHECK_EQ(equal, c.passed, "row %zu", i);
    CHECK_EQ(!equal, c.not_finite_points, "row %zu", i);
    CHECK(c.max_error_units == (equal ? 0 : INFINITY), "row %zu: %g", i, c.max_error_units);
  }
}

TEST(a_wrong_point_and_one_that_is_not_finite_are_both_counted) {
  const double want[] = {1, 1, 1, 1, 1}, got[] = {1, 2, NAN, 1, INFINITY};
  const struct grid grid = {{5, 1, 1}};
  struct box box = box_whole(&grid);
  struct comparison c = compare_fields(&grid, &box, want, want, got, DTYPE_F32, 8);
  CHECK_EQ(3, c.bad_points, "bad");
  CHECK_EQ(2, c.not_finite_points, "not finite");
  CHECK_EQ(1, c.first_bad[0], "the first");
  CHECK_NEAR(2, c.got, 0, "its value");
}

/* A grid whose axes differ, with boxes that touch none or some of its sides. */
static const struct grid inner_grid = {{4, 5, 6}};
static const struct box boxes[] = {
    {{1, 2, 3}, {3, 4, 5}}, {{0, 0, 0}, {4, 5, 6}}, {{0, 1, 0}, {4, 5, 2}},
    {{3, 4, 5}, {4, 5, 6}}, {{1, 0, 4}, {2, 5, 6}},
};
enum { INNER_POINTS = 4 * 5 * 6 };

static bool is_in(const struct box *box, long i) {
  const long p[] = {i % 4, i / 4 % 5, i / 20};
  bool in = true;
  for (int axis = 0; axis < MAX_DIMS; axis++) in = in && p[axis] >= box->low[axis] && p[axis] < box->high[axis];
  return in;
}

TEST(each_cell_of_the_box_counts_and_no_other) {
  for (size_t b = 0; b < COUNT(boxes); b++) {
    double want[INNER_POINTS], magnitudes[INNER_POINTS], got[INNER_POINTS];
    long points = 0;
    for (long i = 0; i < INNER_POINTS; i++) points += is_in(&boxes[b], i);
    CHECK_EQ(points, box_points(&boxes[b]), "box %zu", b);
    for (long one = 0; one < INNER_POINTS; one++) {
      for (long other = one; other < INNER_POINTS; other++) {
        for (long i = 0; i < INNER_POINTS; i++) { /* garbage outside the box */
          bool in = is_in(&boxes[b], i);
          want[i] = in ? 10 * (double)i : NAN, magnitudes[i] = in ? 1 : NAN, got[i] = want[i];
        }
        got[one] += 3, got[other] = want[other] + 3;
        struct comparison c = compare_fields(&inner_grid, &boxes[b], want, magnitudes, got, DTYPE_F64, 64);
        long first = is_in(&boxes[b], one) ? one : other;
        long bad = one == other ? is_in(&boxes[b], one) : is_in(&boxes[b], one) + is_in(&boxes[b], other);
        CHECK_EQ(points, c.points, "box %zu", b);
        CHECK_EQ(bad, c.bad_points, "box %zu, cells %ld and %ld", b, one, other);
        CHECK_EQ(bad == 0, c.passed, "box %zu, cells %ld and %ld", b, one, other);
        CHECK_NEAR(3 * sqrt((double)bad / (double)points), c.rms_error, 1e-14, "box %zu, cells %ld and %ld", b, one,
                   other);
        CHECK_NEAR(bad > 0 ? 3 : 0, c.max_error, 0, "box %zu, cells %ld and %ld", b, one, other);
        if (bad == 0) continue;
        CHECK_EQ(first % 4, c.first_bad[0], "box %zu, x of %ld", b, first);
        CHECK_EQ(first / 4 % 5, c.first_bad[1], "box %zu, y of %ld", b, first);
        CHECK_EQ(first / 20, c.first_bad[2], "box %zu, z of %ld", b, first);
        CHECK_NEAR(10 * (double)first, c.want, 0, "box %zu", b);
        CHECK_NEAR(10 * (double)first + 3, c.got, 0, "box %zu", b);
      }
    }
  }
}

TEST(an_empty_box_compares_nothing_and_does_not_pass) {
  static const struct box empty[] = {
      {{0, 0, 0}, {0, 5, 6}}, {{0, 0, 0}, {4, 0, 6}}, {{0, 0, 0}, {4, 5, 0}},
      {{3, 0, 0}, {1, 5, 6}}, {{3, 3, 0}, {1, 1, 6}},
  };
  double values[INNER_POINTS] = {0};
  for (size_t i = 0; i < COUNT(empty); i++) {
    struct comparison c = compare_fields(&inner_grid, &empty[i], values, values, values, DTYPE_F64, 64);
    CHECK_EQ(0, box_points(&empty[i]), "row %zu", i);
    CHECK(!c.passed && c.points == 0 && c.bad_points == 0 && c.rms_error == 0 && c.max_error == 0, "row %zu", i);
  }
}

static void count_visits(void *context, long first, long count) {
  int *visits = context;
  CHECK(first >= 0 && count > 0 && first + count <= INNER_POINTS, "%ld points from %ld on", count, first);
  for (long i = first; i < first + count; i++) visits[i]++;
}

TEST(outside_of_a_box_is_each_point_that_is_not_in_it_once) {
  for (long low = 0; low < INNER_POINTS; low++) {
    for (long high = 0; high < 210; high++) {
      struct box box = {{low % 4, low / 4 % 5, low / 20}, {high % 5, high / 5 % 6, high / 30}};
      int visits[INNER_POINTS] = {0};
      box_outside(&box, &inner_grid, count_visits, visits);
      for (long i = 0; i < INNER_POINTS; i++) {
        CHECK_EQ(!is_in(&box, i), visits[i], "from %ld up to %ld, point %ld", low, high, i);
      }
    }
  }
}

TEST(boxes_are_what_a_sweep_writes) {
  static const struct {
    const char *boundary;
    struct box want;
  } swept[] = {
      {"skip", {{1, 0, 3}, {4, 3, 6}}},
      {"[periodic, skip, skip]", {{0, 0, 3}, {4, 3, 6}}},
      {"clamp", {{0, 0, 0}, {4, 5, 6}}},
      {"[skip, zero, periodic]", {{1, 0, 0}, {4, 5, 6}}},
      {"[zero, skip, clamp]", {{0, 0, 0}, {4, 3, 6}}},
  };
  for (size_t i = 0; i < COUNT(swept); i++) {
    char lines[256];
    snprintf(lines, sizeof lines,
             "inputs: [u]\noutputs: [v]\nboundary: %s\nupdate: v = u[-1,0,0] + u[0,2,0] + u[0,0,-3]",
             swept[i].boundary);
    struct reference_case c = reference_case_open(3, lines, inner_grid);
    struct box box = box_computed(c.stencil, c.analysis, &inner_grid), whole = box_whole(&inner_grid);
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      CHECK_EQ(swept[i].want.low[axis], box.low[axis], "row %zu, %c", i, axis_names[axis]);
      CHECK_EQ(swept[i].want.high[axis], box.high[axis], "row %zu, %c", i, axis_names[axis]);
      CHECK_EQ(0, whole.low[axis], "%c", axis_names[axis]);
      CHECK_EQ(inner_grid.n[axis], whole.high[axis], "%c", axis_names[axis]);
    }
    CHECK_EQ(INNER_POINTS, grid_points(&inner_grid), "points");
    reference_case_close(&c);
  }
}

#define ONE "inputs: [u]\noutputs: [v]\nboundary: periodic\niterate: {v: u}\n"
#define SCAN "inputs: [u]\noutputs: [v]\nkind: scan\n"

static const struct {
  const char *lines;
  int steps;
  double units;
} allowances[] = {
    {ONE "update: v = u[1,0,0]", 1, 2},
    {ONE "update: v = u[1,0,0] + u[0,1,0]", 1, 4},
    {ONE "update: v = 2*u[1,0,0] + 3*u[0,1,0]", 1, 8},
    {ONE "update: v = 2*u[1,0,0] + 3*u[0,1,0]", 5, 40},
    {ONE "tolerance: 7\nupdate: v = 2*u[1,0,0] + 3*u[0,1,0]", 1, 7},
    {ONE "tolerance: 0.5\nupdate: v = 2*u[1,0,0] + 3*u[0,1,0]", 4, 2},
    {SCAN "axis: x", 1, 2 * 29 + 2},
    {SCAN "axis: y", 1, 2 * 19 + 2},
    {SCAN "axis: z", 1, 2},
    {SCAN "axis: y\ntolerance: 3", 1, 3},
};

TEST(what_is_allowed_grows_with_operations_and_steps) {
  for (size_t i = 0; i < COUNT(allowances); i++) {
    struct reference_case c = reference_case_open(3, allowances[i].lines, (struct grid){{30, 20, 1}});
    CHECK_NEAR(allowances[i].units, compare_allowed_units(c.stencil, c.analysis, &c.grid, allowances[i].steps), 0,
               "row %zu", i);
    reference_case_close(&c);
  }
  CHECK_NEAR(FLT_EPSILON / 2, compare_rounding(DTYPE_F32), 0, "f32");
  CHECK_NEAR(DBL_EPSILON / 2, compare_rounding(DTYPE_F64), 0, "f64");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_as_computed_by_hand),
      cmocka_unit_test(what_is_not_finite_never_passes),
      cmocka_unit_test(an_unknown_magnitude_passes_what_is_equal),
      cmocka_unit_test(a_wrong_point_and_one_that_is_not_finite_are_both_counted),
      cmocka_unit_test(each_cell_of_the_box_counts_and_no_other),
      cmocka_unit_test(an_empty_box_compares_nothing_and_does_not_pass),
      cmocka_unit_test(outside_of_a_box_is_each_point_that_is_not_in_it_once),
      cmocka_unit_test(boxes_are_what_a_sweep_writes),
      cmocka_unit_test(what_is_allowed_grows_with_operations_and_steps),
  };
  return cmocka_run_group_tests_name("verify_compare", tests, NULL, NULL);
}
