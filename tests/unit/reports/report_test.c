/* report_test.c: parts of the report that its documents alone do not show. */
#include "tests/unit/unit.h"

#include "base/json.h"
#include "reports/document/peak.h"
#include "reports/rows/names.h"
#include "reports/rows/request.h"
#include "reports/rows/variants.h"

TEST(names_are_kept_once) {
  struct names names = {0};
  char word[16];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 1000; i++) {
      int length = snprintf(word, sizeof word, "word%d", i);
      CHECK_EQ(i, report_names_add(&names, word, (size_t)length), "word %d in round %d", i, round);
    }
  }
  CHECK_EQ(1000, names.count, "count");
  CHECK_EQ(1, report_names_add(&names, "word12", 5), "the first five bytes alone");
  CHECK_EQ(1000, report_names_add(&names, "", 0), "an empty one");
  CHECK_TEXT("word999", names.list[999], "the last");
  report_names_free(&names);
}

static bool append(void *context, const char *name, size_t name_length, const char *value, size_t value_length) {
  struct text *text = context;
  text_printf(text, "%.*s=%.*s;", (int)name_length, name, (int)value_length, value);
  return name_length != strlen("stop") || strncmp(name, "stop", name_length) != 0;
}

TEST(parameters_are_split) {
  static const struct {
    const char *text, *want;
    bool is_good;
  } rows[] = {
      {"{}", "", true},
      {"{\"block_x\":32,\"storage\":\"planes\"}", "block_x=32;storage=planes;", true},
      {" { \"a\" : -1.5e3 , \"b\" : \"\" } ", "a=-1.5e3;b=;", true},
      {"", "", false},
      {"[1]", "", false},
      {"{\"a\":1", "a=1;", false},
      {"{\"a\" 1}", "", false},
      {"{\"a\":}", "", false},
      {"{\"a\":\"x\\\"y\"}", "", false},
      {"{\"a\":1}x", "a=1;", false},
      {"{\"a\":1 2}", "a=1;", false},
      {"{\"stop\":1,\"b\":2}", "stop=1;", false},
      {"{a:1}", "", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    CHECK_EQ(rows[i].is_good, parameters_each(rows[i].text, append, &text), "row %zu %s", i, rows[i].text);
    CHECK_TEXT(rows[i].want, text_string(&text), "row %zu %s", i, rows[i].text);
    text_free(&text);
  }
}

TEST(arithmetic_roofs) {
  CHECK_NEAR(66908.16, peak_gflops(90, 132, 1980000, DTYPE_F32), 1e-6, "H200 f32");
  CHECK_NEAR(33454.08, peak_gflops(90, 132, 1980000, DTYPE_F64), 1e-6, "H200 f64");
  CHECK_NEAR(19491.84, peak_gflops(80, 108, 1410000, DTYPE_F32), 1e-6, "A100 f32");
  CHECK(isnan(peak_gflops(35, 15, 800000, DTYPE_F32)), "an old one");
}

/* 1000 rows: a tenth failed for one of two reasons, times fall from 2 ms to 1 ms, row 500 is to be kept. */
TEST(a_choice_keeps_the_fastest_and_every_failure) {
  enum { ROWS = 1000, MOST = 100 };
  static struct variant_row rows[ROWS];
  static struct variant_row *order[ROWS];
  struct variant_table table = {.rows = rows, .order = order, .count = ROWS, .order_count = ROWS};
  report_names_add(&table.reasons, "one", 3), report_names_add(&table.reasons, "two", 3);
  int seen[2] = {0}, kept_hung = 0;
  for (int i = 0; i < ROWS; i++) {
    bool failed = i % 10 == 0;
    rows[i] = (struct variant_row){.variant = i, .reason = -1, .median_ms = failed ? NAN : 2 - i / 1000.0};
    if (failed) rows[i].outcome = OUTCOME_WRONG, rows[i].reason = i == 990;
    if (i == 980) rows[i].outcome = OUTCOME_HUNG, rows[i].reason = -1;
    order[i] = &rows[i];
  }
  variants_keep(&table, 500);
  variants_choose(&table, MOST);
  for (int i = 0; i < ROWS; i++) {
    if (rows[i].is_kept && rows[i].reason >= 0) seen[rows[i].reason]++;
    kept_hung += rows[i].is_kept && rows[i].outcome == OUTCOME_HUNG;
  }
  CHECK(table.shown_count <= MOST + 1 && table.shown_count >= MOST / 2, "%d of %d", table.shown_count, MOST);
  CHECK(rows[500].is_kept, "what was named");
  for (int i = 999; i > 950; i--) CHECK(rows[i].is_kept || i % 10 == 0, "the fastest, row %d", i);
  CHECK(seen[0] > 0 && seen[1] == 1 && kept_hung == 1, "failures %d %d %d", seen[0], seen[1], kept_hung);
  variants_choose(&table, ROWS);
  CHECK_EQ(ROWS, table.shown_count, "all, where there is room");
  report_names_free(&table.reasons);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_kept_once),
      cmocka_unit_test(parameters_are_split),
      cmocka_unit_test(arithmetic_roofs),
      cmocka_unit_test(a_choice_keeps_the_fastest_and_every_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
