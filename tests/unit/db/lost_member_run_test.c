/* lost_member_run_test.c: runs of other GPUs that were lost, and which of them a problem takes up. */
#include "db/store/lost_member_run.h"

#include "tests/unit/stores.h"

static int64_t problem_on(const struct bench_case *c, struct store *store, const char *uuid, const char *name,
                          enum launch_mode launch) {
  struct device_facts facts = case_device;
  snprintf(facts.uuid, sizeof facts.uuid, "%s", uuid);
  snprintf(facts.name, sizeof facts.name, "%s", name);
  const struct problem_key key = {
      store_device(store, &facts, false), c->stencil_id, DTYPE_F32, {{512, 256, 128}}, launch, CACHE_STEADY, false, 1};
  const int64_t problem = store_problem(store, &key);
  CHECK(problem > 0, "%s", fail_text());
  return problem;
}

TEST(a_problem_takes_up_lost_runs_of_other_gpus_of_its_model) {
  static const struct {
    const char *what, *change; /* SQL on the run of the other GPU, which is run 1 */
    const char *uuid, *name;
    enum launch_mode launch;
    bool is_taken;
  } rows[] = {
      {"lost", "", "GPU-2", "NVIDIA H200", LAUNCH_STREAM, true},
      {"ended otherwise", "update run set reason = 'interrupted'", "GPU-2", "NVIDIA H200", LAUNCH_STREAM, false},
      {"not ended", "update run set state = 'running'", "GPU-2", "NVIDIA H200", LAUNCH_STREAM, false},
      {"of an imported file", "update origin set kind = 'imported'", "GPU-2", "NVIDIA H200", LAUNCH_STREAM, false},
      {"of another model", "", "GPU-2", "NVIDIA H100", LAUNCH_STREAM, false},
      {"in another mode", "", "GPU-2", "NVIDIA H200", LAUNCH_GRAPH, false},
  };
  struct bench_case c;
  case_load(&c);
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct work work = work_begin();
    struct store *store = NULL;
    struct measurement measurement = case_measurement(1), found;
    char *error = NULL;
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    case_put(&c, store, 512);
    const int64_t run = case_run(&c, store, "580.1");
    const struct variant_key key = case_variant(&c, 1), other = case_variant(&c, 2);
    CHECK_OK(store_measurement(store, run, &key, &measurement, NULL));
    measurement.number = 2;
    snprintf(measurement.gpu, sizeof measurement.gpu, "GPU-3"); /* a run that had taken up another one before */
    CHECK_OK(store_measurement(store, run, &other, &measurement, NULL));
    CHECK_OK(store_run_lose(store, run, "its process has ended"));
    CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(store), rows[i].change, NULL, NULL, &error), "%s", error);
    const int64_t problem = problem_on(&c, store, rows[i].uuid, rows[i].name, rows[i].launch);
    CHECK_OK(store_adopt_lost(store, problem));
    c.problem = problem;
    const int64_t next = case_run(&c, store, "580.1");
    CHECK_EQ(rows[i].is_taken ? HALOTUNE_OK : HALOTUNE_NOT_FOUND,
             store_find_measurement(store, next, &key, &found, NULL), "%s: its results are those of an earlier run",
             rows[i].what);
    if (rows[i].is_taken) CHECK_TEXT(case_device.uuid, found.gpu, "%s: the GPU of a result", rows[i].what);
    CHECK_EQ(1, number_of(store, "select count(*) from measurement where gpu = 'GPU-3'"),
             "%s: it stays where it is known", rows[i].what);
    if (i == 0)
      CHECK_EQ(1,
               number_of(store, "select state = 'partial' and reason = 'lost: its process has ended' from run"
                                " where id = 1"),
               "the run says that it was lost");
    store_close(store);
    work_end(&work);
  }
  case_free(&c);
}

/* A process that was stopped, and wakes up when others hold it for lost. */
TEST(nothing_is_stored_into_a_lost_run) {
  struct bench_case c;
  const struct work work = work_begin();
  struct store *store = NULL;
  const struct measurement measurement = case_measurement(1);
  int64_t variant;
  case_load(&c);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  case_put(&c, store, 512);
  const int64_t run = case_run(&c, store, "580.1"), ended = case_run(&c, store, "580.1");
  const struct variant_key key = case_variant(&c, 1), other = case_variant(&c, 2);
  CHECK_OK(store_measurement(store, run, &key, &measurement, &variant));
  CHECK_OK(store_run_lose(store, run, "it said nothing for 30 s"));
  const struct best best = case_best(&c, run, variant, 1, 0.3);
  struct measurement wrong = measurement;
  wrong.outcome = OUTCOME_WRONG;
  CHECK_EQ(HALOTUNE_DB, store_measurement(store, run, &other, &measurement, NULL), "a result");
  CHECK(strstr(fail_text(), "another process has ended run 1, because it took this process for dead"), "%s",
        fail_text());
  CHECK_EQ(HALOTUNE_DB, store_measured_again(store, run, variant, &wrong), "another result of a variant");
  CHECK_EQ(HALOTUNE_DB, store_mark(store, run, &variant, 1), "a mark");
  CHECK_EQ(HALOTUNE_DB, store_final(store, run, NULL, 0, &best, &case_end, NULL), "a winner");
  CHECK_EQ(HALOTUNE_DB, store_run_end(store, run, &case_end), "its end");
  CHECK_EQ(1,
           number_of(store, "select count(*) from run where id = 1 and state = 'partial' and"
                            " reason = 'lost: it said nothing for 30 s' and outcomes = '{\"measured\":1}'"),
           "it is still lost");
  CHECK_EQ(1, number_of(store, "select count(*) from measurement where outcome = 'measured' and not is_marked"),
           "what it had stored stays");
  CHECK_EQ(0, number_of(store, "select count(*) from best"), "it has no winner");
  CHECK_OK(store_run_end(store, ended, &case_end));
  CHECK_OK(store_run_lose(store, ended, "its process has ended"));
  CHECK_EQ(1, number_of(store, "select state = 'complete' and reason = '' from run where id = 2"),
           "a run that came to its end is not lost");
  store_close(store);
  case_free(&c);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_problem_takes_up_lost_runs_of_other_gpus_of_its_model),
      cmocka_unit_test(nothing_is_stored_into_a_lost_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
