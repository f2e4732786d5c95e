/* compare_test.c: which change of a time counts. */
#include "db/store/query.h"
#include "tests/unit/stores.h"
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

/* A document says that another GPU of the model was slower, later: the time of this user stays. */
TEST(times_of_this_user_are_compared_before_those_of_others) {
  static const char claim[] =
      "insert into origin (id, kind, name, date) values (99, 'imported', 'm.json', '');"
      " create temp table d as select * from device; update d set id = 99, uuid = 'GPU-99'; insert into device select * from d;"
      " create temp table p as select * from problem; update p set id = 99, device_id = 99; insert into problem select * from p;"
      " create temp table b as select * from best; update b set id = 99, problem_id = 99, run_id = null, time_ms = 0.6,"
      " high_ms = 0.6, date = '2999-01-01T00:00:00.000Z', origin_id = 99; insert into best select * from b";
  static const struct compare_side all = {"", "", "", "", ""};
  struct compare_rows rows = {0};
  struct bench_case c;
  struct store *store;
  case_load(&c);
  CHECK_OK(store_open_memory(&store));
  case_put(&c, store, 512);
  case_tune(&c, store, 1, 1, 0.3);
  CHECK_OK(query_script(store_connection(store), claim));
  CHECK_OK(compare_rows_read(store, &all, true, &rows));
  CHECK_EQ(1, rows.count, "problems");
  CHECK_NEAR(0.3, rows.list[0].time_ms, 1e-9, "the time");
  compare_rows_free(&rows);
  store_close(store);
  case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_change_counts_beyond_tolerance_and_intervals),
                                     cmocka_unit_test(times_of_this_user_are_compared_before_those_of_others)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
