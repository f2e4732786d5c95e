/* take_rows_test.c: rows are passed to a function, and the function's status ends the statement. */
#include "db/store/query.h"
#include "db/store/store.h"
#include "db/store/take_rows.h"
#include "tests/unit/unit.h"

struct seen {
  int count, stop_at;
  int64_t sum;
  char texts[64];
};

static halotune_status take_row(void *context, sqlite3_value **values) {
  struct seen *seen = context;
  if (++seen->count == seen->stop_at) return fail(HALOTUNE_MEMORY, "enough");
  seen->sum += sqlite3_value_int64(values[0]);
  size_t length = strlen(seen->texts);
  snprintf(seen->texts + length, sizeof seen->texts - length, "%s", value_text(values[1])); /* "" for NULL */
  return HALOTUNE_OK;
}

TEST(statements_end_with_what_came_of_them) {
  static const struct {
    const char *sql;
    int stop_at;
    halotune_status want;
    int count;
    int64_t sum;
    const char *texts;
  } rows[] = {
      {"select take(id, word) from list", 0, HALOTUNE_OK, 3, 6, "onethree"},
      {"select take(id, word) from list where id > 1", 0, HALOTUNE_OK, 2, 5, "three"},
      {"select take(id, word) from list where id > 3", 0, HALOTUNE_OK, 0, 0, ""},
      {"select take(id, word) from list", 2, HALOTUNE_MEMORY, 2, 1, "one"},
      {"select take(id, word) from no_such", 0, HALOTUNE_DB, 0, 0, ""},
      {"select take(abs(big), word) from list", 0, HALOTUNE_DB, 2, 2, "one"},
  };
  struct store *store;
  CHECK_OK(store_open_memory(&store));
  sqlite3 *connection = store_connection(store);
  CHECK_OK(query_script(connection, "create table list (id integer primary key, word text, big integer);"
                                    " insert into list values (1, 'one', 1), (2, null, -1),"
                                    " (3, 'three', -9223372036854775808)"));
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct seen seen = {.stop_at = rows[i].stop_at};
    CHECK_EQ(rows[i].want, take_rows(connection, rows[i].sql, take_row, &seen), "row %zu", i);
    CHECK_EQ(rows[i].count, seen.count, "row %zu", i);
    CHECK_EQ(rows[i].sum, seen.sum, "row %zu", i);
    CHECK_TEXT(rows[i].texts, seen.texts, "row %zu", i);
  }
  int64_t number;
  CHECK_EQ(HALOTUNE_DB, query_number(connection, "select take(1)", &number), "take is gone afterwards");
  store_close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(statements_end_with_what_came_of_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
