/* backend_replay_test.c: recordings that are read, and recordings with contents that no version has written. */
#include "tuner/measure/backends/backend_replay.h"

#include "tests/unit/stores.h"

/* Add a run with results of two variants. */
static void recording_add(struct store *store, struct bench_case *c, int first) {
  int64_t variant;
  const int64_t run = case_run(c, store, "580.1");
  for (int number = first; number < first + 2; number++) {
    struct variant_key key = case_variant(c, (uint64_t)number);
    const struct measurement measurement = case_measurement(number);
    c->configuration.choice[0] = (unsigned char)number;
    key.configuration = &c->configuration;
    CHECK_OK(store_measurement(store, run, &key, &measurement, &variant));
  }
}

static void recording_write(const struct work *work, struct bench_case *c) {
  struct store *store;
  CHECK_OK(store_open(work->path, STORE_WRITE, &store));
  case_load(c);
  case_put(c, store, 256);
  recording_add(store, c, 1);
  store_close(store);
}

static void recording_change(const struct work *work, const char *sql) {
  sqlite3 *connection;
  CHECK_EQ(SQLITE_OK, sqlite3_open(work->path, &connection), "%s", work->path);
  CHECK_EQ(SQLITE_OK, sqlite3_exec(connection, sql, NULL, NULL, NULL), "%s: %s", sql, sqlite3_errmsg(connection));
  sqlite3_close(connection);
}

static halotune_status set_problem(struct backend_handle *backend, const struct bench_case *c,
                                   enum launch_mode launch) {
  const struct scene scene = {
      .request = {
          .stencil = c->stencil, .analysis = c->analysis, .dtype = DTYPE_F32, .domain = {.grid = {{256, 256, 128}}}}};
  const struct backend_problem problem = {.scene = &scene, .launch = launch};
  return backend->table->set_problem(backend->state, &problem);
}

/* Open the recording, and set the recorded problem. */
static halotune_status recording_open(const struct work *work, const struct bench_case *c, int in_flight,
                                      struct backend_handle *backend) {
  const halotune_status status = backend_replay_open(work->path, in_flight, backend);
  return status == HALOTUNE_OK ? set_problem(backend, c, LAUNCH_STREAM) : status;
}

static halotune_status recording_load(const struct work *work, const struct bench_case *c) {
  struct backend_handle backend;
  const halotune_status status = recording_open(work, c, 1, &backend);
  backend_close(&backend);
  return status;
}

/* A file may have tables without the constraints of schema.sql. */
TEST(a_recording_without_its_texts_and_times_is_an_error) {
  static const struct {
    const char *change;
    halotune_status want;
  } rows[] = {
      {"select 1", HALOTUNE_OK},
      {"pragma writable_schema = on;"
       " update sqlite_schema set sql = replace(sql, ' not null', '') where name = 'measurement'",
       HALOTUNE_OK},
      {"update measurement set reason = null where number = 2", HALOTUNE_DB},
      {"update measurement set reason = '', outcome = null where number = 2", HALOTUNE_DB},
      {"update measurement set outcome = 'splendid' where number = 2", HALOTUNE_DB},
      {"update measurement set outcome = 'measured', median_ms = null, samples = null, sample_count = 0 where number = 2",
       HALOTUNE_DB}, /* the replay's clock counts it */
      {"delete from measurement where number = 2", HALOTUNE_OK},
      {"update device set name = name || char(27)", HALOTUNE_DB}, /* the result would have this name, too */
      {"update device set name = 'NVIDIA H200', sm_count = -1", HALOTUNE_DB},
      {"update device set sm_count = 132", HALOTUNE_OK},
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

/* What loading, sampling and rechecking of one variant adds to the clock. */
static double time_of_variant(struct backend_handle *backend, struct bench_case *c, int number) {
  struct variant_spec spec = {.template = c->template, .configuration = c->configuration};
  spec.configuration.choice[0] = (unsigned char)number;
  const struct candidate candidate = {.spec = &spec};
  struct verdict verdict;
  double time_ms[4];
  int slot = 0, batch = 10, failed = 99;
  const struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = 4};
  const struct time_source time = backend_time(backend);
  const double begin_ms = time_now_ms(&time);
  CHECK_OK(backend->table->load(backend->state, slot, &candidate, &verdict));
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "%s", verdict.reason);
  CHECK_OK(backend->table->sample(backend->state, &plan, time_ms, &failed, &verdict));
  CHECK_EQ(-1, failed, "%s", verdict.reason);
  CHECK_OK(backend->table->recheck(backend->state, slot, &verdict));
  CHECK_OK(backend->table->unload(backend->state, slot));
  return time_now_ms(&time) - begin_ms;
}

/* A variant runs for 0.325 ms: once to be verified, 40 times for samples, once to be checked again. Its compile takes
 * 88.5 ms, and with two in flight the second one compiles beside the first. */
TEST(the_clock_of_a_replay_counts_recorded_times) {
  const double run_ms = 42 * 0.325, compile_ms = 88.5;
  static const struct {
    int in_flight, number;
    bool compiles;
  } rows[] = {{1, 1, true}, {1, 2, true}, {1, 1, false}, {2, 1, true}, {2, 2, false}};
  struct work work = work_begin();
  struct bench_case c;
  struct backend_handle backend = {.table = NULL};
  recording_write(&work, &c);
  recording_change(&work, "update measurement set samples = null");
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (i == 0 || rows[i].in_flight != rows[i - 1].in_flight) {
      backend_close(&backend);
      CHECK_OK(recording_open(&work, &c, rows[i].in_flight, &backend));
    }
    const double want_ms = run_ms + (rows[i].compiles ? compile_ms : 0);
    CHECK_NEAR(want_ms, time_of_variant(&backend, &c, rows[i].number), 1e-6, "row %zu", i);
  }
  backend_close(&backend);
  case_free(&c);
  work_end(&work);
}

/* Texts of versions have no order: "1000" is less than "580.1". */
TEST(driver_and_compiler_are_those_of_the_newest_run) {
  struct work work = work_begin();
  struct bench_case c;
  struct store *store;
  struct backend_handle backend;
  recording_write(&work, &c);
  recording_change(
      &work, "update run set driver = '1000', cuda = 12080, nvrtc = '12.8', started = '2099-01-01T00:00:00.000Z'");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  recording_add(store, &c, 1);
  store_close(store);
  CHECK_OK(backend_replay_open(work.path, 1, &backend));
  CHECK_TEXT("1000", backend.facts.driver, "driver");
  CHECK_TEXT("12.8", backend.facts.nvrtc, "compiler");
  CHECK_EQ(12080, backend.facts.cuda, "CUDA");
  backend_close(&backend);
  case_free(&c);
  work_end(&work);
}

/* An empty slot has no times. No sample is taken after it. */
TEST(samples_of_an_empty_slot_fail) {
  struct work work = work_begin();
  struct bench_case c;
  struct backend_handle backend;
  struct verdict verdict;
  double times_ms[4] = {-1, -1, -1, -1};
  const int slots[] = {0, 1}, batches[] = {10, 10};
  const struct sample_plan plan = {.slots = slots, .batches = batches, .slot_count = 2, .rounds = 2};
  int failed = 99;
  recording_write(&work, &c);
  CHECK_OK(recording_open(&work, &c, 1, &backend));
  struct variant_spec spec = {.template = c.template, .configuration = c.configuration};
  spec.configuration.choice[0] = 1;
  const struct candidate candidate = {.spec = &spec};
  CHECK_OK(backend.table->load(backend.state, 0, &candidate, &verdict));
  CHECK_OK(backend.table->sample(backend.state, &plan, times_ms, &failed, &verdict));
  CHECK_EQ(1, failed, "%s", verdict.reason);
  CHECK_EQ(OUTCOME_LAUNCH_FAILED, verdict.outcome, "%s", verdict.reason);
  CHECK(times_ms[0] > 0, "the first sample");
  for (int i = 1; i < 4; i++) CHECK(times_ms[i] == 0, "sample %d: %g ms", i, times_ms[i]);
  backend_close(&backend);
  case_free(&c);
  work_end(&work);
}

/* The compile takes 88.5 ms. */
TEST(a_compile_is_awaited_up_to_a_time) {
  struct work work = work_begin();
  struct bench_case c;
  struct backend_handle backend;
  bool is_compiled;
  recording_write(&work, &c);
  CHECK_OK(recording_open(&work, &c, 1, &backend));
  struct variant_spec spec = {.template = c.template, .configuration = c.configuration};
  spec.configuration.choice[0] = 1;
  const struct candidate candidate = {.spec = &spec};
  const struct time_source time = backend_time(&backend);
  const double begin_ms = time_now_ms(&time);
  static const struct {
    double until_ms, want_ms;
    bool is_compiled;
  } rows[] = {{50, 50, false}, {40, 50, false}, {88, 88, false}, {100, 88.5, true}, {10, 88.5, true}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_OK(backend.table->await_compile(backend.state, &candidate, begin_ms + rows[i].until_ms, &is_compiled));
    CHECK_EQ(rows[i].is_compiled, is_compiled, "row %zu", i);
    CHECK_NEAR(rows[i].want_ms, time_now_ms(&time) - begin_ms, 1e-6, "row %zu", i);
  }
  backend_close(&backend);
  case_free(&c);
  work_end(&work);
}

/* Variants 1 and 2 are recorded with launches on a stream, 0 and 1 with a graph. */
TEST(results_of_another_launch_mode_do_not_answer) {
  static const struct {
    enum launch_mode launch;
    int number;
    enum outcome want;
  } rows[] = {{LAUNCH_STREAM, 0, OUTCOME_PRUNED},   {LAUNCH_STREAM, 1, OUTCOME_MEASURED},
              {LAUNCH_STREAM, 2, OUTCOME_MEASURED}, {LAUNCH_GRAPH, 0, OUTCOME_MEASURED},
              {LAUNCH_GRAPH, 1, OUTCOME_WRONG},     {LAUNCH_GRAPH, 2, OUTCOME_PRUNED}};
  const struct problem_key graph = {.dtype = DTYPE_F32, .grid = {{256, 256, 128}}, .launch = LAUNCH_GRAPH, .steps = 1};
  struct work work = work_begin();
  struct bench_case c;
  struct store *store;
  struct backend_handle backend;
  recording_write(&work, &c);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  struct problem_key key = graph;
  key.device = c.device, key.stencil = c.stencil_id;
  c.problem = store_problem(store, &key);
  recording_add(store, &c, 0);
  store_close(store);
  recording_change(&work, "update measurement set outcome = 'wrong' where id = 4");
  CHECK_OK(recording_open(&work, &c, 1, &backend));
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct variant_spec spec = {.template = c.template, .configuration = c.configuration};
    spec.configuration.choice[0] = (unsigned char)rows[i].number;
    const struct candidate candidate = {.spec = &spec};
    struct verdict verdict;
    CHECK_OK(set_problem(&backend, &c, rows[i].launch));
    CHECK_OK(backend.table->load(backend.state, 0, &candidate, &verdict));
    CHECK_EQ(rows[i].want, verdict.outcome, "row %zu: %s", i, verdict.reason);
  }
  backend_close(&backend);
  recording_change(&work, "delete from measurement where id > 2");
  CHECK_OK(recording_open(&work, &c, 1, &backend));
  CHECK_EQ(HALOTUNE_NOT_FOUND, set_problem(&backend, &c, LAUNCH_GRAPH), "the recording has none of this mode");
  backend_close(&backend);
  case_free(&c);
  work_end(&work);
}

TEST(a_new_problem_empties_the_slots_of_copies) {
  struct work work = work_begin();
  struct bench_case c;
  struct backend_handle backend;
  struct verdict verdict;
  double time_ms;
  int slot = 5, batch = 1, failed = -1;
  const struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = 1};
  const struct candidate copy = {.is_roof = true};
  recording_write(&work, &c);
  recording_change(&work, "update run set copy_ms = 0.5");
  CHECK_OK(recording_open(&work, &c, 1, &backend));
  CHECK_OK(backend.table->load(backend.state, slot, &copy, &verdict));
  CHECK_OK(backend.table->sample(backend.state, &plan, &time_ms, &failed, &verdict));
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "the copy");
  CHECK_OK(set_problem(&backend, &c, LAUNCH_STREAM));
  CHECK_OK(backend.table->sample(backend.state, &plan, &time_ms, &failed, &verdict));
  CHECK_EQ(OUTCOME_LAUNCH_FAILED, verdict.outcome, "an empty slot");
  CHECK_EQ(slot, failed, "it failed");
  backend_close(&backend);
  case_free(&c);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_clock_of_a_replay_counts_recorded_times),
      cmocka_unit_test(driver_and_compiler_are_those_of_the_newest_run),
      cmocka_unit_test(samples_of_an_empty_slot_fail),
      cmocka_unit_test(a_compile_is_awaited_up_to_a_time),
      cmocka_unit_test(results_of_another_launch_mode_do_not_answer),
      cmocka_unit_test(a_new_problem_empties_the_slots_of_copies),
      cmocka_unit_test(a_recording_without_its_texts_and_times_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
