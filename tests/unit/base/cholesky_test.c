/* cholesky_test.c: known solutions are found again, and singular matrices are noticed. */
#include "base/numbers/cholesky.h"

#include <math.h>
#include <string.h>

#include "base/memory/array.h"
#include "tests/unit/unit.h"

enum { STRIDE = 8 };
static const double tolerance = 1e-12;

TEST(equations_have_their_known_solution) {
  static const struct {
    int order;
    double matrix[STRIDE][STRIDE], solution[STRIDE];
  } rows[] = {
      {1, {{4}}, {-3}},
      {2, {{4}, {2, 3}}, {1, -2}},
      {3, {{25}, {15, 18}, {-5, 0, 11}}, {7, 0.5, -1}},
      {5, {{6}, {1, 7}, {0, -1, 8}, {2, 0, 1, 9}, {-1, 3, 0, 1, 10}}, {1, 2, -3, 4, -5}},
  };
  for (size_t r = 0; r < COUNT(rows); r++) {
    double lower[STRIDE][STRIDE], x[STRIDE] = {0};
    const int n = rows[r].order;
    memcpy(lower, rows[r].matrix, sizeof lower);
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < n; k++) x[i] += rows[r].matrix[i > k ? i : k][i > k ? k : i] * rows[r].solution[k];
    }
    CHECK(cholesky_factor(lower[0], STRIDE, n, 0), "order %d", n);
    cholesky_solve_lower(lower[0], STRIDE, 0, n, x);
    cholesky_solve_upper(lower[0], STRIDE, n, x);
    for (int i = 0; i < n; i++)
      CHECK(fabs(x[i] - rows[r].solution[i]) < tolerance, "order %d: x[%d] is %.17g", n, i, x[i]);
  }
}

TEST(a_factor_grows_by_a_row) {
  double lower[STRIDE][STRIDE] = {{25}, {15, 18}, {-5, 0, 11}}, whole[STRIDE][STRIDE];
  double b[STRIDE] = {1, 2, 3}, at_once[STRIDE] = {1, 2, 3};
  memcpy(whole, lower, sizeof whole);
  CHECK(cholesky_factor(whole[0], STRIDE, 3, 0), "the whole");
  cholesky_solve_lower(whole[0], STRIDE, 0, 3, at_once);
  CHECK(cholesky_factor(lower[0], STRIDE, 2, 0), "two rows");
  cholesky_solve_lower(lower[0], STRIDE, 0, 2, b);
  CHECK(cholesky_row(lower[0], STRIDE, 2, 0), "the third row");
  cholesky_solve_lower(lower[0], STRIDE, 2, 3, b);
  for (int i = 0; i < 3; i++) {
    CHECK(b[i] == at_once[i], "b[%d] is %.17g", i, b[i]);
    for (int k = 0; k <= i; k++) CHECK(lower[i][k] == whole[i][k], "(%d, %d) is %.17g", i, k, lower[i][k]);
  }
}

TEST(a_matrix_that_is_not_positive_definite_is_refused) {
  static const struct {
    const char *what;
    int order;
    double matrix[STRIDE][STRIDE], least;
  } rows[] = {
      {"zero", 1, {{0}}, 0},
      {"negative", 1, {{-1}}, 0},
      {"not a number", 1, {{NAN}}, 0},
      {"equal rows", 2, {{1}, {1, 1}}, 0},
      {"indefinite", 2, {{1}, {2, 1}}, 0},
      {"not a number below", 2, {{1}, {NAN, 1}}, 0},
      {"dependent rows", 3, {{4}, {2, 2}, {6, 4, 10}}, 0},
      {"nearly equal rows", 2, {{1}, {1, 1 + 1e-12}}, 1e-10},
  };
  for (size_t r = 0; r < COUNT(rows); r++) {
    double matrix[STRIDE][STRIDE];
    memcpy(matrix, rows[r].matrix, sizeof matrix);
    CHECK(!cholesky_factor(matrix[0], STRIDE, rows[r].order, rows[r].least), "%s", rows[r].what);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equations_have_their_known_solution),
      cmocka_unit_test(a_factor_grows_by_a_row),
      cmocka_unit_test(a_matrix_that_is_not_positive_definite_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
