/* compare_test.c: which change of a time counts. */
#include "tests/unit/unit.h"
#include "tuner/cli/compare/compare_rows.h"

TEST(a_change_counts_beyond_tolerance_and_intervals) {
  static const struct {
    struct compare_row before, after;
    double tolerance;
    enum change want;
  } rows[] = {
#define ROW(time, low, high) {.time_ms = (time), .low_ms = (low), .high_ms = (high)}
      {ROW(1, 0.99, 1.01), ROW(1, 0.99, 1.01), 0.02, CHANGE_NONE},
      {ROW(1, 0.99, 1.01), ROW(1.05, 1.04, 1.06), 0.02, CHANGE_SLOWER},
      {ROW(1.05, 1.04, 1.06), ROW(1, 0.99, 1.01), 0.02, CHANGE_FASTER},
      {ROW(1, 0.99, 1.01), ROW(1.015, 1.014, 1.016), 0.02, CHANGE_NONE},   /* within the tolerance */
      {ROW(1, 0.99, 1.01), ROW(1.015, 1.014, 1.016), 0.01, CHANGE_SLOWER}, /* above a smaller tolerance */
      {ROW(1, 0.9, 1.1), ROW(1.05, 1.04, 1.06), 0.02, CHANGE_NONE},        /* the intervals overlap */
      {ROW(1, 0.9, 1.04), ROW(1.05, 1.04, 1.06), 0.02, CHANGE_NONE},       /* the intervals touch */
      {ROW(1, NAN, NAN), ROW(1.05, 1.04, 1.06), 0.02, CHANGE_SLOWER},      /* no intervals: the tolerance counts */
      {ROW(1, NAN, NAN), ROW(1.01, NAN, NAN), 0.02, CHANGE_NONE},
      {ROW(1, 0.99, 1.01), ROW(0.97, 0.96, 0.98), 0, CHANGE_FASTER},
#undef ROW
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_EQ(rows[i].want, compare_times(&rows[i].before, &rows[i].after, rows[i].tolerance), "row %zu", i);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_change_counts_beyond_tolerance_and_intervals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
