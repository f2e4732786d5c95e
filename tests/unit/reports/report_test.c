/* report_test.c: parts of the report that the tests of whole documents do not cover. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "db/store/store.h"
#include "reports/document/device_json.h"
#include "reports/document/document.h"
#include "reports/rows/variants.h"

TEST(arithmetic_roofs) {
  CHECK_NEAR(66908.16, peak_gflops(90, 132, 1980000, DTYPE_F32), 1e-6, "H200 f32");
  CHECK_NEAR(33454.08, peak_gflops(90, 132, 1980000, DTYPE_F64), 1e-6, "H200 f64");
  CHECK_NEAR(19491.84, peak_gflops(80, 108, 1410000, DTYPE_F32), 1e-6, "A100 f32");
  CHECK(isnan(peak_gflops(35, 15, 800000, DTYPE_F32)), "an old one");
}

/* 1000 rows: a tenth failed for one of two reasons, times fall from 2 ms to 1 ms, and row 500 must be kept. */
TEST(a_choice_keeps_the_fastest_and_every_failure) {
  enum { ROWS = 1000, MOST = 100 };
  static struct variant_row rows[ROWS];
  static struct variant_row *order[ROWS];
  struct variant_table table = {.rows = rows, .order = order, .count = ROWS, .order_count = ROWS};
  texts_add(&table.reasons, "one", 3), texts_add(&table.reasons, "two", 3);
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
  texts_free(&table.reasons);
}

/* Blocks that jansson still gets before one allocation fails. */
static long blocks_left;

static void *scarce_malloc(size_t bytes) { return blocks_left-- == 0 ? NULL : malloc(bytes); }

static struct store *golden_open(void) {
  struct store *store;
  char *sql = NULL;
  size_t length;
  CHECK_OK(file_read("tests/report/golden.sql", 1 << 20, &sql, &length));
  CHECK_OK(store_open_memory(&store));
  CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), "golden.sql");
  free(sql);
  return store;
}

/* Each allocation fails in turn. The sanitizers find memory that is then freed twice or never. */
TEST(a_document_that_memory_is_out_for_fails) {
  static const struct report_request request = {.database = "golden.db", .generated = "today"};
  struct store *store = golden_open();
  long refused = 0, n = 0;
  json_set_alloc_funcs(scarce_malloc, free);
  for (blocks_left = -1; blocks_left < 0; n += 1 + n / 16) { /* until a document needs fewer blocks than are allowed */
    struct text out = {0};
    blocks_left = n;
    halotune_status status = report_document(store_connection(store), &request, &out);
    CHECK(status == HALOTUNE_OK || status == HALOTUNE_MEMORY, "block %ld: %s", n, fail_text());
    refused += status == HALOTUNE_MEMORY;
    text_free(&out);
  }
  CHECK(refused > 50, "only %ld refusals were told", refused);
  json_set_alloc_funcs(malloc, free);
  store_close(store);
}

TEST(a_text_that_memory_is_out_for_stays_empty) {
  static const struct report_request request = {.database = "golden.db", .generated = "today"};
  struct store *store = golden_open();
  struct text out = {.out_of_memory = true};
  CHECK_EQ(HALOTUNE_MEMORY, report_document(store_connection(store), &request, &out), "%s", fail_text());
  CHECK_EQ(0, out.length, "bytes");
  text_free(&out);
  store_close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arithmetic_roofs),
      cmocka_unit_test(a_choice_keeps_the_fastest_and_every_failure),
      cmocka_unit_test(a_document_that_memory_is_out_for_fails),
      cmocka_unit_test(a_text_that_memory_is_out_for_stays_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
