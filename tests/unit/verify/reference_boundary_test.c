/* reference_boundary_test.c: boundary rules of the reference, compared with rows worked out by hand. Weights are powers
 * of ten and cells are digits, so the digits of a result are the cells that the taps read. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/reference_case.h"

enum { MOST_CELLS = 5 };

static struct reference_case row_case(int axis, const char *rule, const char *taps, long n) {
  struct text lines = {0};
  struct grid grid = {{1, 1, 1}};
  grid.n[axis] = n;
  text_printf(&lines, "inputs: [u]\noutputs: [v]\nboundary: [%s, %s, %s]\nupdate: v = ", axis == 0 ? rule : "skip",
              axis == 1 ? rule : "skip", axis == 2 ? rule : "skip");
  for (const char *c = taps; *c; c++) { /* "u[@]" is a tap along the axis */
    static const char *const before[] = {"", "0,", "0,0,"}, *const after[] = {",0,0", ",0", ""};
    if (*c == '[') text_printf(&lines, "[%s", before[axis]);
    else if (*c == ']') text_printf(&lines, "%s]", after[axis]);
    else text_printf(&lines, "%c", *c);
  }
  struct reference_case c = reference_case_open(3, text_string(&lines), grid);
  text_free(&lines);
  return c;
}

#define FOUR_TAPS "1000*u[-2] + 100*u[-1] + 10*u[1] + u[2]"

/* U means that the value is unchanged. */
enum { U = -7 };

static const struct {
  const char *rule, *taps;
  long n;
  double u[MOST_CELLS], v[MOST_CELLS];
} rows[] = {
    {"periodic", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {4523, 5134, 1245, 2351, 3412}},
    {"periodic_endpoint", FOUR_TAPS, 5, {1, 2, 3, 4, 1}, {3423, 4134, 1241, 2312, 3423}},
    {"clamp", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {1123, 1134, 1245, 2355, 3455}},
    {"zero", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {23, 134, 1245, 2350, 3400}},
    {"skip", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {U, U, 1245, U, U}},
    {"mirror", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {2123, 1134, 1245, 2355, 3454}},
    {"mirror_node", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {3223, 2134, 1245, 2354, 3443}},
    {"odd_mirror", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {-2000 - 100 + 23, -1000 + 134, 1245, 2350 - 5, 3400 - 50 - 4}},
    {"odd_mirror_node", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {-3000 - 200 + 23, -2000 + 134, 1245, 2350 - 4, 3400 - 40 - 3}},
    {"7", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {7723, 7134, 1245, 2357, 3477}},
    {"[mirror, 7]", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {2123, 1134, 1245, 2357, 3477}},
    {"[skip, odd_mirror]", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {U, U, 1245, 2350 - 5, 3400 - 50 - 4}},
    {"[clamp, skip]", FOUR_TAPS, 5, {1, 2, 3, 4, 5}, {1123, 1134, 1245, U, U}},
    {"mirror", FOUR_TAPS, 2, {1, 2}, {2122, 1121}},
    {"mirror_node", FOUR_TAPS, 3, {1, 2, 3}, {3223, 2132, 1221}},
    /* taps on one side only */
    {"skip", "10*u[-2] + u[1]", 5, {1, 2, 3, 4, 5}, {U, U, 14, 25, U}},
    {"skip", "10*u[-1] + u[0]", 5, {1, 2, 3, 4, 5}, {U, 12, 23, 34, 45}},
    {"skip", "10*u[0] + u[3]", 5, {1, 2, 3, 4, 5}, {14, 25, U, U, U}},
    {"skip", "u[-2] + u[2]", 4, {1, 2, 3, 4}, {U, U, U, U}},
    {"periodic", "10*u[-3] + u[0]", 5, {1, 2, 3, 4, 5}, {31, 42, 53, 14, 25}},
    {"zero", "10*u[0] + u[2]", 5, {1, 2, 3, 4, 5}, {13, 24, 35, 40, 50}},
    /* a reach beyond the whole grid */
    {"periodic", FOUR_TAPS, 2, {1, 2}, {1221, 2112}},
    {"periodic", FOUR_TAPS, 1, {3}, {3333}},
    {"periodic", "10*u[-7] + u[7]", 3, {1, 2, 3}, {32, 13, 21}},
    {"periodic_endpoint", FOUR_TAPS, 3, {1, 2, 1}, {1221, 2112, 1221}},
    {"periodic_endpoint", FOUR_TAPS, 2, {4, 4}, {4444, 4444}},
    {"periodic_endpoint", "10*u[-7] + u[7]", 4, {1, 2, 3, 1}, {32, 13, 21, 32}},
    {"clamp", FOUR_TAPS, 2, {1, 2}, {1122, 1122}},
    {"zero", FOUR_TAPS, 2, {1, 2}, {20, 100}},
    {"zero", FOUR_TAPS, 1, {3}, {0}},
};

TEST(rows_follow_their_rule) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      struct reference_case c = row_case(axis, rows[i].rule, rows[i].taps, rows[i].n);
      memcpy(c.inputs[0], rows[i].u, (size_t)rows[i].n * sizeof(double));
      CHECK_OK(reference_case_run(&c, 1, 1, false));
      for (long k = 0; k < rows[i].n; k++) {
        CHECK_NEAR(rows[i].v[k], c.outputs[0][k], 0, "row %zu, axis %c, cell %ld", i, axis_names[axis], k);
      }
      reference_case_close(&c);
    }
  }
}

/* Taps beyond the corner of
 *     y=2  7 8 9
 *     y=1  4 5 6
 *     y=0  1 2 3
 * where each axis has its own rule. The points are (0,0), (2,0), (0,2), (2,2), the taps (-1,-1), (1,-1), (-1,1),
 * (1,1). */
static const struct {
  const char *rules;
  double v[4];
} corners[] = {
    {"periodic, periodic", {9865, 8754, 6532, 5421}},
    {"clamp, clamp", {1245, 2356, 4578, 5689}},
    {"zero, zero", {5, 50, 500, 5000}},
    {"periodic, zero", {65, 54, 6500, 5400}},
    {"zero, periodic", {805, 8050, 502, 5020}},
    {"clamp, periodic", {7845, 8956, 4512, 5623}},
    {"periodic, clamp", {3265, 2154, 6598, 5487}},
    {"mirror, mirror", {1245, 2356, 4578, 5689}},
    {"odd_mirror, odd_mirror", {1000 - 200 - 40 + 5, -2000 + 300 + 50 - 6, -4000 + 500 + 70 - 8, 5000 - 600 - 80 + 9}},
    {"mirror_node, periodic", {8855, 8855, 5522, 5522}},
    {"odd_mirror, 7", {7700 - 40 + 5, 7700 + 50 - 6, -4000 + 500 + 77, 5000 - 600 + 77}},
    {"6, 7", {6765, 7656, 6567, 5676}},
    {"skip, periodic", {U, U, U, U}},
    {"periodic, skip", {U, U, U, U}},
};

TEST(each_axis_has_its_own_rule_at_corners) {
  static const long at[] = {0, 2, 6, 8};
  for (size_t i = 0; i < COUNT(corners); i++) {
    char lines[256];
    snprintf(lines, sizeof lines,
             "inputs: [u]\noutputs: [v]\nboundary: [%s]\n"
             "update: v = 1000*u[-1,-1] + 100*u[1,-1] + 10*u[-1,1] + u[1,1]",
             corners[i].rules);
    struct reference_case c = reference_case_open(2, lines, (struct grid){{3, 3, 1}});
    for (int k = 0; k < 9; k++) c.inputs[0][k] = k + 1;
    CHECK_OK(reference_case_run(&c, 1, 1, false));
    for (size_t k = 0; k < COUNT(at); k++) {
      CHECK_NEAR(corners[i].v[k], c.outputs[0][at[k]], 0, "row %zu \"%s\", corner %zu", i, corners[i].rules, k);
    }
    reference_case_close(&c);
  }
}

TEST(skipped_points_keep_what_was_there) {
  struct reference_case c = reference_case_open(
      1, "inputs: [u]\noutputs: [v]\nboundary: skip\nupdate: v = u[-1] + u[2]", (struct grid){{6, 1, 1}});
  for (long i = 0; i < c.points; i++) c.inputs[0][i] = (double)i, c.outputs[0][i] = NAN;
  CHECK_OK(reference_case_run(&c, 1, 1, true));
  for (long i = 0; i < c.points; i++) {
    bool computed = i >= 1 && i < 4;
    CHECK_EQ(!computed, isnan(c.outputs[0][i]) != 0, "value %ld", i);
    CHECK_EQ(!computed, isnan(c.magnitudes[0][i]) != 0, "magnitude %ld", i);
  }
  reference_case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_follow_their_rule),
      cmocka_unit_test(each_axis_has_its_own_rule_at_corners),
      cmocka_unit_test(skipped_points_keep_what_was_there),
  };
  return cmocka_run_group_tests_name("reference_boundary", tests, NULL, NULL);
}
