/* store_test.c: stored values are read back, reused and replaced by the rules. */
#include "db/store/launch_text.h"
#include "tests/unit/stores.h"

struct fixture {
  struct work work;
  struct store *store;
  struct bench_case c;
};

static void begin_fixture(struct fixture *f) {
  f->work = work_begin();
  CHECK_OK(store_open(f->work.path, STORE_WRITE, &f->store));
  case_load(&f->c);
  case_put(&f->c, f->store, 512);
}

static void end_fixture(struct fixture *f) {
  store_close(f->store);
  case_free(&f->c);
  work_end(&f->work);
}

TEST(a_row_is_added_once) {
  struct fixture f;
  begin_fixture(&f);
  struct bench_case again = f.c;
  case_put(&again, f.store, 512);
  CHECK_EQ(f.c.device, again.device, "device");
  CHECK_EQ(f.c.stencil_id, again.stencil_id, "stencil");
  CHECK_EQ(f.c.template_id, again.template_id, "template");
  CHECK_EQ(f.c.problem, again.problem, "problem");
  case_put(&again, f.store, 513);
  CHECK(f.c.problem != again.problem, "another grid is another problem");
  CHECK_EQ(1,
           number_of(f.store, "select count(*) from device where registers_sm = 65536 and max_shared_bytes = 232448"
                              " and l2_bytes = 62914560 and memory_bytes = 150754820096 and is_emulation = 0"),
           "device");
  CHECK_EQ(
      1,
      number_of(
          f.store,
          "select count(*) from stencil s join stencil_text x on x.stencil_id = s.id where s.name = 'star7' and x.text like '%name: star7%'"),
      "stencil");
  CHECK_EQ(1,
           number_of(f.store, "select count(*) from template where name = 'zmarch' and yaml like '%name: zmarch%'"
                              " and cuda like '%__global__%'"),
           "template");
  end_fixture(&f);
}

/* Each member has its smallest and its largest value. */
TEST(a_measurement_is_read_back) {
  struct fixture f;
  begin_fixture(&f);
  int64_t run = case_run(&f.c, f.store, "580.1"), variant = 0, found = 0;
  struct measurement full = case_measurement(1),
                     bare = {.outcome = OUTCOME_COMPILE_FAILED,
                             .reason = "line 3: no",
                             .number = 2,
                             .at_s = 1,
                             .timing = {0, NAN, NAN, NAN, NAN, NULL},
                             .rms_error = NAN,
                             .max_error = NAN,
                             .max_error_units = NAN,
                             .registers = -1,
                             .shared_bytes = -1,
                             .spill_bytes = -1,
                             .occupancy = -1,
                             .blocks_per_sm = -1,
                             .threads = -1,
                             .blocks = -1,
                             .compile_ms = -1,
                             .before = {-1, -1, -1, -1, -1},
                             .after = {-1, -1, -1, -1, -1},
                             .attempts = 3,
                             .is_marked = true},
                     out;
  struct variant_key first = case_variant(&f.c, 1), second = case_variant(&f.c, 2), third = case_variant(&f.c, 3);
  snprintf(full.gpu, sizeof full.gpu, "GPU-of-another-member");
  CHECK_OK(store_measurement(f.store, run, &first, &full, &variant));
  CHECK_OK(store_measurement(f.store, run, &second, &bare, NULL));
  CHECK_OK(store_find_measurement(f.store, run, &first, &out, &found));
  CHECK_TEXT(full.gpu, out.gpu, "the GPU");
  CHECK_EQ(variant, found, "the variant");
  CHECK_EQ(OUTCOME_MEASURED, out.outcome, "outcome");
  CHECK_EQ(3, out.timing.sample_count, "samples");
  for (int i = 0; i < 3; i++) CHECK(out.timing.samples && out.timing.samples[i] == case_samples[i], "sample %d", i);
  CHECK(out.timing.median_ms == 0.325 && out.timing.minimum_ms == 0.3241 && out.timing.low_ms == 0.3240 &&
            out.timing.high_ms == 0.33,
        "timing");
  CHECK(out.rms_error == 1e-8 && out.max_error == 3e-7 && out.max_error_units == 1.5, "errors");
  CHECK(out.registers == 40 && out.shared_bytes == 9216 && out.spill_bytes == 0 && out.occupancy == 0.75, "resources");
  CHECK(out.blocks_per_sm == 6 && out.threads == 256 && out.blocks == 2048 && out.compile_ms == 88.5, "launch");
  CHECK(out.before.sm_mhz == 1755 && out.after.sm_mhz == 1980 && out.after.memory_mhz == 3201, "clocks");
  CHECK(out.after.temperature_c == 45 && out.after.power_w == 512.5 && out.after.throttle == 4, "readings");
  CHECK(out.attempts == 1 && !out.is_marked && out.number == 1 && out.at_s == 0.5, "the rest");
  CHECK_OK(store_find_measurement(f.store, run, &second, &out, NULL));
  CHECK_TEXT("line 3: no", out.reason, "reason");
  CHECK(out.outcome == OUTCOME_COMPILE_FAILED && out.timing.sample_count == 0 && isnan(out.timing.median_ms),
        "no time");
  CHECK(isnan(out.rms_error) && out.registers == -1 && out.occupancy == -1 && out.blocks == -1 && out.compile_ms == -1,
        "nothing");
  CHECK(out.before.sm_mhz == -1 && out.after.sm_mhz == -1 && out.after.power_w == -1 && out.after.throttle == -1,
        "readings");
  CHECK(out.attempts == 3 && out.is_marked, "marked");
  CHECK_EQ(HALOTUNE_NOT_FOUND, store_find_measurement(f.store, run, &third, &out, NULL),
           "a variant that was never tried");
  end_fixture(&f);
}

TEST(every_outcome_is_stored) {
  struct fixture f;
  begin_fixture(&f);
  int64_t run = case_run(&f.c, f.store, "580.1");
  for (int i = 0; i < OUTCOME_COUNT; i++) {
    struct measurement measurement = case_measurement(i + 1), out;
    struct variant_key key = case_variant(&f.c, (uint64_t)i);
    measurement.outcome = (enum outcome)i;
    CHECK_OK(store_measurement(f.store, run, &key, &measurement, NULL));
    CHECK_OK(store_find_measurement(f.store, run, &key, &out, NULL));
    CHECK_EQ(i, out.outcome, "outcome %s", outcome_name((enum outcome)i));
  }
  end_fixture(&f);
}

/* A later run reuses a result only for the same problem, driver and NVRTC. */
TEST(a_rerun_finds_what_was_measured) {
  static const struct {
    const char *driver;
    long nx;
    uint64_t source;
    halotune_status want;
  } rows[] = {
      {"580.1", 512, 1, HALOTUNE_OK},
      {"580.2", 512, 1, HALOTUNE_NOT_FOUND},
      {"580.1", 513, 1, HALOTUNE_NOT_FOUND},
      {"580.1", 512, 2, HALOTUNE_NOT_FOUND},
  };
  struct fixture f;
  begin_fixture(&f);
  struct variant_key key = case_variant(&f.c, 1);
  struct measurement screened = case_measurement(1), full = case_measurement(9), out;
  int64_t first = case_run(&f.c, f.store, "580.1");
  screened.outcome = OUTCOME_SCREENED;
  CHECK_OK(store_measurement(f.store, first, &key, &screened, NULL));
  CHECK_OK(store_measurement(f.store, first, &key, &full, NULL)); /* the same run measured it again */
  CHECK_EQ(1, number_of(f.store, "select count(*) from measurement"), "the second takes the place of the first");
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case other = f.c;
    case_put(&other, f.store, rows[i].nx);
    int64_t run = case_run(&other, f.store, rows[i].driver);
    key = case_variant(&other, rows[i].source);
    CHECK_EQ(rows[i].want, store_find_measurement(f.store, run, &key, &out, NULL), "row %zu", i);
    if (rows[i].want == HALOTUNE_OK) CHECK_EQ(9, out.number, "row %zu: the newest", i);
  }
  key = case_variant(&f.c, 1);
  int64_t run = case_run(&f.c, f.store, "580.1");
  CHECK_OK(store_find_measurement(f.store, run, &key, &out, NULL));
  end_fixture(&f);
}

/* Results of this run and of an earlier one are measured again. */
TEST(the_newest_truth_about_a_variant_is_stored) {
  struct fixture f;
  begin_fixture(&f);
  int64_t before = case_run(&f.c, f.store, "580.1"), foreign = case_run(&f.c, f.store, "580.2"), variant = 0;
  struct variant_key key = case_variant(&f.c, 1);
  struct measurement screened = case_measurement(7), again = case_measurement(0), out;
  screened.outcome = OUTCOME_SCREENED;
  screened.is_marked = true;
  CHECK_OK(store_measurement(f.store, foreign, &key, &screened, &variant));
  screened.registers = 44;
  CHECK_OK(store_measurement(f.store, before, &key, &screened, NULL));
  int64_t run = case_run(&f.c, f.store, "580.1");
  again.timing.median_ms = 0.3;
  again.at_s = 2.5;
  again.after.sm_mhz = 1700;
  again.attempts = 2;
  CHECK_OK(store_measured_again(f.store, run, variant, &again));
  CHECK_EQ(1, number_of(f.store, "select number from measurement where run_id = 3"), "a row of its own, the first");
  CHECK_OK(store_find_measurement(f.store, run, &key, &out, NULL));
  CHECK(out.outcome == OUTCOME_MEASURED && out.timing.median_ms == 0.3 && out.at_s == 2.5, "what is new");
  CHECK(out.after.sm_mhz == 1700 && out.attempts == 2 && !out.is_marked, "and how it was measured");
  CHECK(out.registers == 44 && out.rms_error == 1e-8 && out.threads == 256, "with what was known by the same driver");
  again.at_s = 9;
  again.attempts = 0;
  CHECK_OK(store_measured_again(f.store, run, variant, &again));
  CHECK_OK(store_find_measurement(f.store, run, &key, &out, NULL));
  CHECK(out.at_s == 2.5, "the search found it then: %g", out.at_s);
  again.outcome = OUTCOME_WRONG;
  again.reason = "on the grid 13x13x11";
  again.timing.sample_count = 0;
  again.attempts = 0;
  CHECK_OK(store_measured_again(f.store, run, variant, &again));
  CHECK_OK(store_find_measurement(f.store, case_run(&f.c, f.store, "580.1"), &key, &out, NULL));
  CHECK(out.outcome == OUTCOME_WRONG && out.attempts == 2 && isnan(out.timing.median_ms), "wrong for later runs");
  CHECK_TEXT("on the grid 13x13x11", out.reason, "reason");
  CHECK_EQ(3, number_of(f.store, "select count(*) from measurement"), "no further row");
  CHECK_EQ(2, number_of(f.store, "select count(*) from measurement where outcome = 'screened'"), "history stays");
  end_fixture(&f);
}

/* Two processes tune one problem. The first one finds in its finals that the winner of the second one is wrong. */
TEST(a_verdict_has_the_date_when_it_was_found) {
  struct fixture f;
  begin_fixture(&f);
  const int64_t run = case_run(&f.c, f.store, "580.1");
  const struct variant_key key = case_variant(&f.c, 1);
  struct measurement right = case_measurement(1), wrong = case_measurement(1);
  int64_t variant;
  right.at_s = 0;
  CHECK_OK(store_measurement(f.store, run, &key, &right, &variant));
  CHECK_EQ(variant, case_tune(&f.c, f.store, 1, 1, 0.3), "the same variant");
  wrong.outcome = OUTCOME_WRONG;
  wrong.timing.sample_count = 0;
  wrong.at_s = 100; /* counts as now */
  CHECK_OK(store_measured_again(f.store, run, variant, &wrong));
  CHECK_EQ(0, number_of(f.store, "select count(*) from best where is_current"), "it is served no more");
  end_fixture(&f);
}

TEST(what_turns_out_to_be_wrong_is_served_no_more) {
  static const struct {
    enum outcome outcome;
    bool is_fresh;
    uint64_t variant;
    int64_t want;
  } rows[] = {
      {OUTCOME_WRONG, false, 1, 0},   {OUTCOME_OUT_OF_BOUNDS, false, 1, 0}, {OUTCOME_WRONG, true, 1, 0},
      {OUTCOME_CRASHED, false, 1, 1}, {OUTCOME_SCREENED, true, 1, 1},       {OUTCOME_WRONG, false, 2, 1},
      {OUTCOME_HUNG, true, 1, 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    begin_fixture(&f);
    case_tune(&f.c, f.store, 1, 2, 0.3);
    int64_t run = case_run(&f.c, f.store, "580.1"), variant = 0;
    struct variant_key key = case_variant(&f.c, rows[i].variant);
    struct measurement again = case_measurement(1);
    CHECK_OK(store_find_measurement(f.store, run, &key, &(struct measurement){.number = 0}, &variant));
    again.outcome = rows[i].outcome;
    CHECK_OK(rows[i].is_fresh ? store_measurement(f.store, run, &key, &again, NULL)
                              : store_measured_again(f.store, run, variant, &again));
    CHECK_EQ(rows[i].want, number_of(f.store, "select count(*) from best where is_current"), "row %zu", i);
    CHECK_EQ(1, number_of(f.store, "select count(*) from best"), "row %zu: history stays", i);
    case_tune(&f.c, f.store, 5, 1, 0.5);
    CHECK_EQ(rows[i].want == 0, number_of(f.store, "select time_ms = 0.5 from best where is_current"),
             "row %zu: a slower one takes its place", i);
    end_fixture(&f);
  }
}

/* A wrong variant is wrong in every mode and on every GPU of the same model. Other GPUs say nothing about it. */
TEST(what_is_wrong_is_wrong_in_every_mode) {
  static const struct {
    const char *what, *change;
    int64_t want;
  } rows[] = {
      {"another launch mode", "update problem set nx = 512, launch = 'graph' where id = 2", 0},
      {"another cache mode", "update problem set nx = 512, cache = 'cold' where id = 2", 0},
      {"among reproducible ones", "update problem set nx = 512, is_reproducible = 1 where id = 2", 0},
      {"another GPU of the model", "update problem set nx = 512, device_id = 2 where id = 2", 0},
      {"another model",
       "update problem set nx = 512, device_id = 2 where id = 2; update device set sm_count = 114 where id = 2", 1},
      {"another element type", "update problem set nx = 512, dtype = 'f64' where id = 2", 1},
      {"another grid", "update problem set nx = 513 where id = 2", 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    begin_fixture(&f);
    struct device_facts second = case_device;
    snprintf(second.uuid, sizeof second.uuid, "GPU-2");
    CHECK_EQ(2, store_device(f.store, &second, false), "another of the model");
    case_put(&f.c, f.store, 511);
    CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(f.store), rows[i].change, NULL, NULL, NULL), "%s", rows[i].what);
    CHECK_EQ(2, f.c.problem, "a problem of its own");
    case_tune(&f.c, f.store, 1, 1, 0.3);
    case_put(&f.c, f.store, 512);
    CHECK_EQ(1, f.c.problem, "the first problem");
    int64_t run = case_run(&f.c, f.store, "580.1");
    struct variant_key key = case_variant(&f.c, 1);
    struct measurement wrong = case_measurement(1);
    wrong.outcome = OUTCOME_WRONG;
    CHECK_OK(store_measurement(f.store, run, &key, &wrong, NULL));
    CHECK_EQ(rows[i].want, number_of(f.store, "select count(*) from best where is_current"), "%s", rows[i].what);
    end_fixture(&f);
  }
}

TEST(a_single_value_has_no_interval) {
  struct fixture f;
  begin_fixture(&f);
  int64_t run = case_run(&f.c, f.store, "580.1"), variant = 0;
  struct variant_key key = case_variant(&f.c, 1);
  struct measurement measurement = case_measurement(1);
  CHECK_OK(store_measurement(f.store, run, &key, &measurement, &variant));
  const struct timing one = {1, 0.3, 0.3, NAN, NAN, case_samples};
  struct finalist finalist = {variant, 1, one, 1, NAN, NAN, true, false, NAN, NAN, NAN};
  struct best best = case_best(&f.c, run, variant, 1, 0.3);
  best.timing = one;
  best.roof_ratio_low = best.roof_ratio_high = NAN;
  CHECK_OK(store_final(f.store, run, &finalist, 1, &best, &case_end, NULL));
  CHECK_EQ(1,
           number_of(f.store, "select count(*) from best where sample_count = 1 and low_ms = 0.3 and high_ms = 0.3"
                              " and roof_ratio_low is null"),
           "the value itself, counted once");
  CHECK_EQ(1,
           number_of(f.store, "select count(*) from finalist where sample_count = 1 and low_ms = 0.3"
                              " and ratio_high = 1"),
           "finalist");
  end_fixture(&f);
}

/* Store a run whose only finalist has this energy. Returns whether it became current. */
static bool tune_energy(struct fixture *f, uint64_t variant_number, enum objective objective, double time_ms,
                        double energy_mj, bool is_complete) {
  struct variant_key key = case_variant(&f->c, variant_number);
  struct measurement measurement = case_measurement(1);
  const int64_t run = case_run(&f->c, f->store, "580.1");
  int64_t variant = 0;
  bool is_current = false;
  CHECK_OK(store_measurement(f->store, run, &key, &measurement, &variant));
  const struct finalist finalist = {.variant = variant,
                                    .rank = 1,
                                    .timing = {3, time_ms, time_ms, time_ms, time_ms, case_samples},
                                    .ratio = 1,
                                    .ratio_low = 1,
                                    .ratio_high = 1,
                                    .energy_mj = energy_mj,
                                    .energy_low_mj = 0.99 * energy_mj,
                                    .energy_high_mj = 1.01 * energy_mj};
  struct best best = case_best(&f->c, run, variant, variant_number, time_ms);
  struct run_end end = case_end;
  best.objective = objective_names[objective];
  best.energy_mj = energy_mj;
  end.is_complete = is_complete;
  CHECK_OK(store_final(f->store, run, &finalist, 1, &best, &end, &is_current));
  return is_current;
}

TEST(the_newest_objective_decides_who_is_current) {
  static const struct {
    enum objective objective;
    double time_ms, energy_mj;
    bool is_complete, want;
    const char *what;
  } rows[] = {
      {OBJECTIVE_TIME, 0.3, NAN, true, true, "the first"},
      {OBJECTIVE_ENERGY, 0.31, 130, false, false, "a partial run replaces no whole one"},
      {OBJECTIVE_ENERGY, 0.31, 130, true, true, "another objective"},
      {OBJECTIVE_ENERGY, 0.29, 140, true, false, "faster, but more energy"},
      {OBJECTIVE_ENERGY, 0.32, 120, true, true, "less energy"},
      {OBJECTIVE_EDP, 0.30, 125, true, true, "another objective again"},
      {OBJECTIVE_EDP, 0.31, 124, true, false, "a greater product"},
      {OBJECTIVE_EDP, 0.29, 128, true, true, "a smaller product"},
      {OBJECTIVE_TIME, 0.35, NAN, true, true, "back to time"},
  };
  struct fixture f;
  begin_fixture(&f);
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_EQ(rows[i].want,
             tune_energy(&f, 1 + i, rows[i].objective, rows[i].time_ms, rows[i].energy_mj, rows[i].is_complete), "%s",
             rows[i].what);
  }
  CHECK_EQ(1, number_of(f.store, "select count(*) from finalist where energy_mj = 120 and energy_low_mj < 120"),
           "kept");
  CHECK_EQ(2, number_of(f.store, "select count(*) from finalist where energy_mj is null and energy_high_mj is null"),
           "not measured");
  CHECK_EQ(1, number_of(f.store, "select objective is null and energy_mj is null from best where is_current"), "none");
  end_fixture(&f);
}

TEST(the_end_of_a_run_is_stored) {
  struct fixture f;
  begin_fixture(&f);
  CHECK_EQ(0, number_of(f.store, "select count(*) from run"), "no run yet");
  int64_t run = case_run(&f.c, f.store, "580.1");
  CHECK_EQ(
      1,
      number_of(f.store,
                "select count(*) from run where state = 'running' and ended is null and seed = 7 and"
                " strategy = 'exhaustive' and budget_s = 60 and space = 1234 and bytes = 134217728 and cuda = 13000"
                " and host = 'host' and started like '20__-__-__T__:__:__.___Z'"),
      "running");
  struct run_end end_of_run = {false, "interrupted", NAN, 0.26, NAN, "another process", 81.5};
  CHECK_OK(store_run_end(f.store, run, &end_of_run));
  CHECK_EQ(1,
           number_of(f.store,
                     "select count(*) from run where state = 'partial' and reason = 'interrupted' and empty_ms is null"
                     " and copy_ms = 0.26 and warnings = 'another process' and ended >= started and idle_w = 81.5"
                     " and objective is null and power_limit_w = 700"),
           "ended");
  end_fixture(&f);
}

/* An export may leave out the measurements, but the run still says how many variants it tried. */
TEST(the_end_of_a_run_counts_its_variants_by_outcome) {
  static const enum outcome outcomes[] = {OUTCOME_MEASURED, OUTCOME_WRONG, OUTCOME_MEASURED, OUTCOME_PRUNED};
  struct fixture f;
  begin_fixture(&f);
  int64_t run = case_run(&f.c, f.store, "580.1"), empty_run = case_run(&f.c, f.store, "580.2");
  for (size_t i = 0; i < COUNT(outcomes); i++) {
    struct variant_key key = case_variant(&f.c, 1 + i);
    struct measurement measurement = case_measurement(1);
    measurement.outcome = outcomes[i];
    CHECK_OK(store_measurement(f.store, run, &key, &measurement, NULL));
  }
  CHECK_EQ(2, number_of(f.store, "select count(*) from run where outcomes is null"), "the runs did not end");
  CHECK_OK(store_run_end(f.store, run, &case_end));
  CHECK_OK(store_run_end(f.store, empty_run, &case_end));
  CHECK_EQ(1, number_of(f.store, "select outcomes = '{\"measured\":2,\"pruned\":1,\"wrong\":1}' from run where id = 1"),
           "counts of the run");
  CHECK_EQ(1, number_of(f.store, "select outcomes = '{}' from run where id = 2"), "a run that tried nothing");
  end_fixture(&f);
}

/* Results of one problem are stored in turn. Each row says which one is the current best afterwards. */
TEST(the_best_is_replaced_by_its_rules) {
  static const struct {
    const char *what;
    uint64_t variant;
    double time_ms;
    const char *driver;
    bool takes;
  } rows[] = {
      {"the first", 1, 0.30, "580.1", true},
      {"a slower one", 2, 0.31, "580.1", false},
      {"a faster one", 2, 0.29, "580.1", true},
      {"the same variant, slower", 2, 0.295, "580.1", true},
      {"another driver, slower", 3, 0.35, "580.2", true},
      {"the same time, newer", 4, 0.35, "580.2", true},
  };
  struct fixture f;
  begin_fixture(&f);
  for (size_t i = 0; i < COUNT(rows); i++) {
    int64_t run = case_run(&f.c, f.store, rows[i].driver), variant = 0;
    struct measurement measurement = case_measurement(1);
    struct variant_key key = case_variant(&f.c, rows[i].variant);
    CHECK_OK(store_measurement(f.store, run, &key, &measurement, &variant));
    struct best best = case_best(&f.c, run, variant, rows[i].variant, rows[i].time_ms);
    best.driver = rows[i].driver;
    bool takes = !rows[i].takes;
    CHECK_OK(store_final(f.store, run, NULL, 0, &best, &case_end, &takes));
    CHECK_EQ(rows[i].takes, takes, "%s", rows[i].what);
    CHECK_EQ(1, number_of(f.store, "select count(*) from best where is_current"), "%s: one is current", rows[i].what);
    CHECK_EQ(i + 1, number_of(f.store, "select count(*) from best"), "%s: all are kept", rows[i].what);
    CHECK_EQ(takes, number_of(f.store, "select is_current from best order by id desc limit 1"), "%s", rows[i].what);
  }
  end_fixture(&f);
}

/* A best may claim a time that it never had. If it was measured beside the winner of a run, that decides. */
TEST(final_rounds_decide_between_their_finalists) {
  for (int is_finalist = 0; is_finalist < 2; is_finalist++) {
    struct fixture f;
    bool takes = false;
    begin_fixture(&f);
    const int64_t present = case_tune(&f.c, f.store, 1, 1, 1e-5), run = case_run(&f.c, f.store, "580.1");
    struct measurement measurement = case_measurement(1);
    struct variant_key key = case_variant(&f.c, 2);
    int64_t variant = 0;
    CHECK_OK(store_measurement(f.store, run, &key, &measurement, &variant));
    const struct finalist finalists[] = {
        {variant, 1, {3, 0.30, 0.30, 0.30, 0.30, case_samples}, 1, 1, 1, true, false, NAN, NAN, NAN},
        {present, 2, {3, 0.31, 0.31, 0.31, 0.31, case_samples}, 1.03, 1.03, 1.03, false, false, NAN, NAN, NAN}};
    struct best best = case_best(&f.c, run, variant, 2, 0.30);
    CHECK_OK(store_final(f.store, run, finalists, 1 + is_finalist, &best, &case_end, &takes));
    CHECK_EQ(is_finalist, takes, "is the present best a finalist? %d", is_finalist);
    end_fixture(&f);
  }
}

TEST(the_best_is_complete) {
  struct fixture f;
  begin_fixture(&f);
  int64_t winner = case_tune(&f.c, f.store, 1, 3, 0.3);
  CHECK_EQ(
      1,
      number_of(
          f.store,
          "select count(*) from best b join origin o on o.id = b.origin_id where o.kind = 'measured' and o.name like '%@%' and time_ms = 0.3 and low_ms < 0.3"
          " and high_ms > 0.3 and sample_count = 20 and default_ms = 0.4 and roof_ms = 0.26 and roof_ratio = 0.8"
          " and roof_ratio_low = 0.79 and roof_ratio_high = 0.81 and empty_ms = 0.002 and bytes = 134217728"
          " and second_grid = '509x251x127' and registers = 40 and shared_bytes = 9216 and occupancy = 0.75"
          " and coefficients = '[0.4,0.1,0.11,0.09,0.1,0.12,0.08]' and steps = 1 and arch = 'sm_90'"
          " and driver = '580.1' and nvrtc = '13.0' and length(cubin) = 11 and source like '__global__%'"
          " and rms_error = 1e-8 and max_error = 3e-7 and max_error_units = 1.5"),
      "columns");
  CHECK_EQ(winner, number_of(f.store, "select variant_id from best"), "variant");
  CHECK_EQ(1,
           number_of(f.store,
                     "select count(*) from finalist where rank = 1 and sample_count = 3 and ratio = 1 and is_default"
                     " and not is_tie and length(samples) = 12"),
           "finalist");
  CHECK_EQ(1, number_of(f.store, "select count(*) from run where state = 'complete'"), "the run");
  end_fixture(&f);
}

/* If a part cannot be stored, nothing is stored. */
TEST(a_failed_end_leaves_nothing) {
  struct fixture f;
  begin_fixture(&f);
  int64_t run = case_run(&f.c, f.store, "580.1");
  /* this variant does not exist */
  struct finalist bad = {987654, 1, {3, 1, 1, 1, 1, case_samples}, 1, 1, 1, true, false, NAN, NAN, NAN};
  struct best best = case_best(&f.c, run, 987654, 1, 1);
  CHECK_EQ(HALOTUNE_DB, store_final(f.store, run, &bad, 1, &best, &case_end, NULL), "foreign keys are looked at");
  CHECK_EQ(0, number_of(f.store, "select count(*) from finalist"), "no finalist");
  CHECK_EQ(0, number_of(f.store, "select count(*) from best"), "no best");
  CHECK_EQ(1, number_of(f.store, "select count(*) from run where state = 'running'"), "the run goes on");
  CHECK(case_tune(&f.c, f.store, 1, 1, 0.3) > 0, "and the store too");
  end_fixture(&f);
}

/* Another process sees a burst when it ends, or never. */
TEST(a_burst_is_stored_at_its_end) {
  struct fixture f;
  struct store *reader;
  begin_fixture(&f);
  const int64_t run = case_run(&f.c, f.store, "580.1");
  CHECK_OK(store_open(f.work.path, STORE_READ, &reader));
  for (int fails = 1; fails >= 0; fails--) {
    CHECK_OK(store_burst_begin(f.store));
    for (int i = 0; i < 3; i++) {
      const struct measurement measurement = case_measurement(i + 1);
      const struct variant_key key = case_variant(&f.c, (uint64_t)i);
      int64_t variant;
      CHECK_OK(store_measurement(f.store, run, &key, &measurement, &variant));
      if (i == 0) CHECK_OK(store_measured_again(f.store, run, variant, &measurement));
      CHECK_EQ(0, number_of(reader, "select count(*) from measurement"), "row %d is not stored yet", i);
    }
    CHECK_EQ(fails ? HALOTUNE_MEMORY : HALOTUNE_OK, store_burst_end(f.store, fails ? HALOTUNE_MEMORY : HALOTUNE_OK),
             "the status of the burst");
    CHECK_EQ(fails ? 0 : 3, number_of(reader, "select count(*) from measurement"), "all, or none");
  }
  store_close(reader);
  end_fixture(&f);
}

/* Values of coefficients are no part of what a stencil means. */
TEST(each_text_of_a_stencil_is_kept) {
  struct fixture f;
  begin_fixture(&f);
  case_tune(&f.c, f.store, 1, 1, 0.3);
  const int64_t first = f.c.text_id, other = store_stencil_text(f.store, f.c.stencil_id, "name: star7 # another\n");
  CHECK(other > 0 && other != first, "a row of its own");
  CHECK_EQ(first, store_stencil_text(f.store, f.c.stencil_id, f.c.stencil_text), "the first is found again");
  f.c.text_id = other;
  case_tune(&f.c, f.store, 2, 1, 0.29);
  CHECK_EQ(other, number_of(f.store, "select text_id from best where is_current"), "whose text it was tuned with");
  CHECK_EQ(first, number_of(f.store, "select text_id from best where not is_current"), "and the older one's");
  CHECK_EQ(2, number_of(f.store, "select count(distinct text_id) from run"), "of both runs");
  end_fixture(&f);
}

TEST(two_names_may_mean_the_same) {
  struct fixture f;
  begin_fixture(&f);
  struct stencil renamed = *f.c.stencil;
  renamed.name = "mine";
  CHECK(store_stencil(f.store, &renamed, f.c.analysis) != f.c.stencil_id, "a row of its own");
  end_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_is_added_once),
      cmocka_unit_test(a_measurement_is_read_back),
      cmocka_unit_test(every_outcome_is_stored),
      cmocka_unit_test(a_rerun_finds_what_was_measured),
      cmocka_unit_test(the_newest_truth_about_a_variant_is_stored),
      cmocka_unit_test(a_verdict_has_the_date_when_it_was_found),
      cmocka_unit_test(what_turns_out_to_be_wrong_is_served_no_more),
      cmocka_unit_test(what_is_wrong_is_wrong_in_every_mode),
      cmocka_unit_test(a_single_value_has_no_interval),
      cmocka_unit_test(the_newest_objective_decides_who_is_current),
      cmocka_unit_test(the_end_of_a_run_is_stored),
      cmocka_unit_test(the_end_of_a_run_counts_its_variants_by_outcome),
      cmocka_unit_test(the_best_is_replaced_by_its_rules),
      cmocka_unit_test(final_rounds_decide_between_their_finalists),
      cmocka_unit_test(the_best_is_complete),
      cmocka_unit_test(a_failed_end_leaves_nothing),
      cmocka_unit_test(a_burst_is_stored_at_its_end),
      cmocka_unit_test(each_text_of_a_stencil_is_kept),
      cmocka_unit_test(two_names_may_mean_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
