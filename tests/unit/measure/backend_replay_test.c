/* backend_replay_test.c: recordings that are read, and recordings with contents that no version has written. */
#include "tuner/measure/backends/backend_replay.h"

#include "tests/unit/stores.h"

static void recording_write(const struct work *work, struct bench_case *c) {
  struct store *store;
  int64_t variant;
  CHECK_OK(store_open(work->path, STORE_WRITE, &store));
  case_load(c);
  case_put(c, store, 256);
  const int64_t run = case_run(c, store, "580.1");
  for (int number = 1; number <= 2; number++) {
    const struct variant_key key = case_variant(c, (uint64_t)number);
    const struct measurement measurement = case_measurement(number);
    CHECK_OK(store_measurement(store, run, &key, &measurement, &variant));
  }
  store_close(store);
}

static void recording_change(const struct work *work, const char *sql) {
  sqlite3 *connection;
  CHECK_EQ(SQLITE_OK, sqlite3_open(work->path, &connection), "%s", work->path);
  CHECK_EQ(SQLITE_OK, sqlite3_exec(connection, sql, NULL, NULL, NULL), "%s: %s", sql, sqlite3_errmsg(connection));
  sqlite3_close(connection);
}

/* The result of set_problem for the recorded problem. */
static halotune_status recording_load(const struct work *work, const struct bench_case *c) {
  struct backend_handle backend;
  const struct scene scene = {
      .request = {
          .stencil = c->stencil, .analysis = c->analysis, .dtype = DTYPE_F32, .domain = {.grid = {{256, 256, 128}}}}};
  const struct backend_problem problem = {.scene = &scene};
  CHECK_OK(backend_replay_open(work->path, &backend));
  const halotune_status status = backend.table->set_problem(backend.state, &problem);
  backend_close(&backend);
  return status;
}

/* A table that was copied with `create table ... as` has no constraints. */
TEST(a_recording_without_its_texts_is_an_error) {
  static const struct {
    const char *change;
    halotune_status want;
  } rows[] = {
      {"select 1", HALOTUNE_OK},
      {"create table loose as select * from measurement; drop table measurement;"
       " alter table loose rename to measurement",
       HALOTUNE_OK},
      {"update measurement set reason = null where number = 2", HALOTUNE_DB},
      {"update measurement set reason = '', outcome = null where number = 2", HALOTUNE_DB},
      {"update measurement set outcome = 'splendid' where number = 2", HALOTUNE_DB},
      {"delete from measurement where number = 2", HALOTUNE_OK},
  };
  struct work work = work_begin();
  struct bench_case c;
  recording_write(&work, &c);
  for (size_t i = 0; i < COUNT(rows); i++) {
    recording_change(&work, rows[i].change);
    CHECK_EQ(rows[i].want, recording_load(&work, &c), "row %zu: %s", i, fail_text());
  }
  case_free(&c);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_recording_without_its_texts_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
