/* going_runs_test.c: what `db forget` leaves alone while a tune goes on, and what a tune does whose rows are gone. */
#include "db/store/going_runs.h"

#include "db/exchange/forget.h"
#include "db/store/query.h"
#include "tests/unit/stores.h"

static bool is_tuned; /* whether a process tunes */

static bool tunes(const char *database, const char *uuid) {
  CHECK(database != NULL, "the database");
  CHECK_TEXT(case_device.uuid, uuid, "the GPU");
  return is_tuned;
}

static void sql(struct store *store, const char *text) { CHECK_OK(query_script(store_connection(store), text)); }

TEST(forget_leaves_a_run_that_goes_on_and_what_its_tune_may_use) {
  static const struct choice all = {.stencil = "star7"}, old = {.before = "2010-01-01"};
  struct store *store;
  struct bench_case c;
  struct forget_counts counts;
  const struct measurement measurement = case_measurement(1), second = case_measurement(2);
  int64_t variant;
  CHECK_OK(store_open_memory(&store));
  case_load(&c);
  case_put(&c, store, 512);
  const int64_t known = case_tune(&c, store, 1, 1, 0.5);
  sql(store, "update run set started = '2001-01-01T00:00:00.000Z'; update best set date = '2001-01-01T00:00:00.000Z'");
  const int64_t run = case_run(&c, store, "580.1");
  const struct variant_key key = case_variant(&c, 2), next = case_variant(&c, 3);
  is_tuned = true;
  CHECK_OK(store_forget_count(store, &old, tunes, &counts));
  CHECK_EQ(1, counts.runs, "the old run");
  CHECK_EQ(0, counts.left, "the old run has ended");
  CHECK(counts.is_tuned, "a run goes on");
  CHECK_OK(store_forget(store, &old, tunes));
  CHECK_EQ(1, number_of(store, "select count(*) from run"), "the old run is gone");
  CHECK_EQ(1, number_of(store, "select count(*) from variant"), "its variant stays");
  CHECK_EQ(1, number_of(store, "select count(*) from template"), "the template stays");
  CHECK_OK(store_measurement(store, run, &key, &measurement, &variant));
  CHECK(variant != known, "no id is given twice");
  CHECK_OK(store_forget_count(store, &all, tunes, &counts));
  CHECK_EQ(0, counts.runs, "nothing else");
  CHECK_EQ(0, counts.measurements, "nothing else");
  CHECK_EQ(1, counts.left, "the run that goes on");
  CHECK_OK(store_forget(store, &all, tunes));
  CHECK_OK(store_measurement(store, run, &next, &second, NULL));
  CHECK_EQ(2, number_of(store, "select count(*) from measurement where run_id = 2"), "its results stay");
  is_tuned = false; /* the process was killed */
  CHECK_OK(store_forget_count(store, &all, tunes, &counts));
  CHECK_EQ(1, counts.runs, "the run of a killed tune");
  CHECK_EQ(0, counts.left, "the run of a killed tune");
  CHECK(!counts.is_tuned, "no run goes on");
  CHECK_OK(store_forget(store, &all, tunes));
  CHECK_EQ(0,
           number_of(store, "select (select count(*) from run) + (select count(*) from problem)"
                            " + (select count(*) from device)"),
           "all is gone");
  CHECK_EQ(known, number_of(store, "select sum(id) from variant"), "but for the variant that stayed before");
  case_free(&c);
  store_close(store);
}

/* A document can hold a run without an end. No process here stores results into it. */
TEST(a_run_of_a_document_does_not_go_on) {
  struct store *store;
  struct bench_case c;
  long count = -1;
  CHECK_OK(store_open_memory(&store));
  case_load(&c);
  case_put(&c, store, 512);
  case_run(&c, store, "580.1");
  is_tuned = true;
  CHECK_OK(going_runs_note(store, tunes, &count));
  CHECK_EQ(1, count, "the user's own");
  CHECK_OK(going_runs_note(store, NULL, &count));
  CHECK_EQ(0, count, "nobody is asked");
  sql(store, "update origin set kind = 'imported'");
  CHECK_OK(going_runs_note(store, tunes, &count));
  CHECK_EQ(0, count, "of a document");
  case_free(&c);
  store_close(store);
}

/* Another process may remove a run whose tune it does not see, and its id may be that of a later run. */
TEST(nothing_is_stored_into_a_run_that_took_the_id) {
  const struct work work = work_begin();
  struct store *store, *other;
  struct bench_case c;
  const struct measurement measurement = case_measurement(1);
  int64_t variant;
  case_load(&c);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_OK(store_open(work.path, STORE_WRITE, &other));
  case_put(&c, store, 512);
  const int64_t run = case_run(&c, store, "580.1");
  const struct variant_key key = case_variant(&c, 1);
  CHECK_OK(store_measurement(store, run, &key, &measurement, &variant));
  sql(other, "delete from measurement; delete from run");
  for (int i = 0; i < 2; i++) {
    const struct finalist finalist = {variant, 1,  {3, 0.3, 0.3, 0.3, 0.3, case_samples}, 1, 1, 1, true, false, NAN,
                                      NAN,     NAN};
    const struct best best = case_best(&c, run, variant, 1, 0.3);
    const char *what = i == 0 ? "no run" : "another run";
    if (i == 1) CHECK_EQ(run, case_run(&c, other, "580.1"), "the id is given again");
    CHECK_EQ(HALOTUNE_DB, store_measurement(store, run, &key, &measurement, NULL), "%s: a result", what);
    CHECK(strstr(fail_text(), "run 1 and its results are gone: another process has removed them"), "%s: %s", what,
          fail_text());
    CHECK_EQ(HALOTUNE_DB, store_measured_again(store, run, variant, &measurement), "%s: a time", what);
    CHECK_EQ(HALOTUNE_DB, store_mark(store, run, &variant, 1), "%s: a mark", what);
    CHECK_EQ(HALOTUNE_DB, store_final(store, run, &finalist, 1, &best, &case_end, NULL), "%s: a winner", what);
    CHECK(strstr(fail_text(), "are gone"), "%s: %s", what, fail_text());
    CHECK_EQ(HALOTUNE_DB, store_run_end(store, run, &case_end), "%s: its end", what);
  }
  CHECK_EQ(1, number_of(store, "select count(*) from run where state = 'running'"), "the other run goes on");
  CHECK_EQ(0,
           number_of(store, "select (select count(*) from measurement) + (select count(*) from finalist)"
                            " + (select count(*) from best)"),
           "and has no results of this one");
  CHECK_OK(store_measurement(other, run, &key, &measurement, NULL));
  store_close(other);
  store_close(store);
  case_free(&c);
  work_end(&work);
}

TEST(no_variant_gets_a_template_that_took_the_id) {
  struct store *store;
  struct bench_case c;
  const struct measurement measurement = case_measurement(1);
  CHECK_OK(store_open_memory(&store));
  case_load(&c);
  case_put(&c, store, 512);
  const int64_t run = case_run(&c, store, "580.1");
  const struct variant_key key = case_variant(&c, 1);
  sql(store, "update template set hash = '0123'"); /* as if it was removed and another one added */
  CHECK_EQ(HALOTUNE_DB, store_measurement(store, run, &key, &measurement, NULL), "another template");
  CHECK(strstr(fail_text(), "another process has removed the template zmarch"), "%s", fail_text());
  CHECK_EQ(0, number_of(store, "select count(*) from variant"), "nothing is stored");
  case_free(&c);
  store_close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forget_leaves_a_run_that_goes_on_and_what_its_tune_may_use),
      cmocka_unit_test(a_run_of_a_document_does_not_go_on),
      cmocka_unit_test(nothing_is_stored_into_a_run_that_took_the_id),
      cmocka_unit_test(no_variant_gets_a_template_that_took_the_id),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
