/* bench_measure_test.c: the search phase of one variant, and the anchor, on a simulated GPU with its own clock. */
#include "tests/unit/measure/bench_model.h"
#include "tests/unit/unit.h"
#include "tuner/measure/sampling/anchor.h"
#include "tuner/measure/sampling/measure.h"

static struct measured measure_variant(struct model *model, double true_ms, double best_ms) {
  struct backend_handle backend = model_handle(model);
  const struct measure_request request = {.slot = 3, .best_ms = best_ms};
  struct measured out;
  model->true_ms[7] = true_ms;
  model_load(model, 3, 7);
  CHECK_OK(measure_slot(&backend, &request, &out));
  return out;
}

TEST(batches_make_samples_of_200_us) {
  static const struct {
    double time_ms;
    int batch;
  } rows[] = {{0.001, 200},
              {0.003, 67},
              {0.0199, 11},
              {0.2, 1},
              {0.201, 1},
              {0.1999, 2},
              {50, 1},
              {1e-9, MEASURE_BATCH_MOST},
              {0, MEASURE_BATCH_MOST}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_EQ(rows[i].batch, batch_of(rows[i].time_ms, 0.2), "%g ms", rows[i].time_ms);
    struct model model;
    model_make(&model, NOISE_NONE, 1);
    struct measured got = measure_variant(&model, rows[i].time_ms, 0);
    CHECK(got.batch >= rows[i].batch && got.batch <= 1.1 * rows[i].batch + 1, "%g ms: %d", rows[i].time_ms, got.batch);
    CHECK_NEAR(rows[i].time_ms, got.timing.median_ms, 1e-12, "%g ms", rows[i].time_ms);
    CHECK(got.timing.sample_count <= 25, "%g ms: %d samples", rows[i].time_ms, got.timing.sample_count);
    measured_free(&got);
  }
  CHECK_EQ(MEASURE_BATCH_MOST, batch_of(0, 0.2), "no time");
}

/* The samples that are taken for times without noise: 8 samples or 5 ms, at most 1 s. For long times the first sample
 * counts, which is a tenth longer here. */
TEST(quiet_variants_take_few_samples) {
  static const struct {
    double time_ms;
    int samples;
  } rows[] = {{0.25, 20}, {1, 8}, {4, 8}, {90, 8}, {200, 4}, {450, 2}, {900, 1}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct model model;
    struct measured got;
    model_make(&model, NOISE_NONE, 1);
    model.true_ms[7] = rows[i].time_ms;
    model_load(&model, 3, 7);
    struct backend_handle backend = model_handle(&model);
    const struct measure_request request = {.slot = 3};
    CHECK_OK(measure_slot(&backend, &request, &got));
    CHECK_EQ(rows[i].samples, got.timing.sample_count, "%g ms", rows[i].time_ms);
    CHECK_EQ(1, model.rechecks, "%g ms", rows[i].time_ms);
    /* Applications are sampled one by one only until the GPU is warm: a batch of its own, and 3 samples of which two
     * agree. */
    const bool is_at_once = rows[i].samples > 2;
    CHECK(model.single_calls <= 6 && model.calls - model.single_calls == is_at_once, "%ld of %ld calls",
          model.single_calls, model.calls);
    CHECK_EQ(MODEL_MHZ, got.before.sm_mhz, "before");
    CHECK_EQ(MODEL_MHZ, got.after.sm_mhz, "after");
    CHECK(got.timing.samples == got.samples && got.samples[0] > 0, "samples are kept");
    measured_free(&got);
  }
}

TEST(noise_is_sampled_until_the_interval_is_narrow) {
  struct model model;
  model_make(&model, NOISE_INDEPENDENT, 5);
  struct measured got = measure_variant(&model, 1, 0);
  CHECK(got.timing.high_ms - got.timing.low_ms <= 0.01 * got.timing.median_ms, "%g to %g", got.timing.low_ms,
        got.timing.high_ms);
  measured_free(&got);
  /* It cannot become a finalist, so it gets only the fewest samples, although the interval is wide. */
  model_make(&model, NOISE_OUTLIERS, 5);
  got = measure_variant(&model, 1.12, 1);
  CHECK_EQ(OUTCOME_MEASURED, got.verdict.outcome, "outcome");
  CHECK_EQ(MEASURE_SAMPLES, got.timing.sample_count, "samples");
  measured_free(&got);
}

TEST(screening_is_above_1_15) {
  static const struct {
    double time_ms, best_ms;
    enum outcome want;
  } rows[] = {{1.149, 1, OUTCOME_MEASURED},
              {1.151, 1, OUTCOME_SCREENED},
              {3, 1, OUTCOME_SCREENED},
              {3, 0, OUTCOME_MEASURED},
              {0.5, 1, OUTCOME_MEASURED}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct model model;
    model_make(&model, NOISE_NONE, 1);
    struct measured got = measure_variant(&model, rows[i].time_ms, rows[i].best_ms);
    CHECK_EQ(rows[i].want, got.verdict.outcome, "row %zu", i);
    if (rows[i].want == OUTCOME_SCREENED) {
      CHECK_EQ(MEASURE_WARM_SAMPLES, got.timing.sample_count, "row %zu", i);
      CHECK_EQ(0, model.rechecks, "row %zu", i);
    }
    measured_free(&got);
  }
}

/* One long sample is enough to reject a slow variant if nothing explains its time. Otherwise the rule of three samples
 * holds. The time includes the first sample, which finds the batch, and here is a tenth longer. */
TEST(hopeless_ones_take_one_sample) {
  static const struct {
    double time_ms, best_ms;
    int samples;
    long applications;
  } rows[] = {{10.1, 1, 1, 1},  {9, 1, 3, 4},   {700, 0.3, 1, 1}, {4.5, 0.3, 3, 4}, {5.1, 0.3, 1, 1},
              {700, 650, 3, 3}, {700, 0, 1, 1}, {300, 0, 3, 3},   {300, 200, 3, 3}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct model model;
    model_make(&model, NOISE_NONE, 1);
    /* a slowdown does not explain the time either */
    model.throttle_to_ms = rows[i].samples == 1 && rows[i].best_ms > 0 ? 1e9 : 0;
    struct measured got = measure_variant(&model, rows[i].time_ms, rows[i].best_ms);
    const bool is_screened = rows[i].best_ms > 0 && rows[i].time_ms > 1.15 * rows[i].best_ms;
    CHECK_EQ(is_screened ? OUTCOME_SCREENED : OUTCOME_MEASURED, got.verdict.outcome, "row %zu", i);
    CHECK_EQ(rows[i].samples, got.timing.sample_count, "row %zu", i);
    CHECK_EQ(rows[i].applications, model.samples, "row %zu", i);
    CHECK_EQ(1, got.attempts, "row %zu", i);
    measured_free(&got);
  }
}

/* A fast variant after an idle gap: its first samples are more than 1.15 times the best, and must not reject it. */
TEST(a_cold_start_screens_nothing) {
  struct model model;
  model_make(&model, NOISE_RAMP, 1);
  model.clock_share[7] = 1;
  model.clock = 0.7;
  struct measured got = measure_variant(&model, 1, 1);
  CHECK_EQ(OUTCOME_MEASURED, got.verdict.outcome, "outcome");
  measured_free(&got);
}

TEST(slowdowns_repeat_at_most_three_times) {
  static const struct {
    double until_ms;
    int attempts_least, attempts_most;
    bool is_marked;
  } rows[] = {{0, 1, 1, false}, {20, 2, 3, false}, {1e9, 4, 4, true}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct model model;
    model_make(&model, NOISE_NONE, 1);
    model.throttle_to_ms = rows[i].until_ms;
    struct measured got = measure_variant(&model, 1, 0);
    CHECK(got.attempts >= rows[i].attempts_least && got.attempts <= rows[i].attempts_most, "row %zu: %d", i,
          got.attempts);
    CHECK_EQ(rows[i].is_marked, got.is_marked, "row %zu", i);
    CHECK_NEAR(rows[i].is_marked ? 1.4 : 1, got.timing.median_ms, 1e-9, "row %zu", i);
    measured_free(&got);
  }
  struct gpu_reading reading = {.throttle = -1};
  CHECK(!reading_spoils(&reading), "what cannot be read spoils nothing");
  reading.throttle = 0x1 | 0x2 | 0x4 | 0x10 | 0x100;
  CHECK(!reading_spoils(&reading), "idle, application clocks, power cap, sync boost, display clocks");
  static const long long spoiling[] = {0x8, 0x20, 0x40, 0x80};
  for (size_t i = 0; i < COUNT(spoiling); i++) {
    reading.throttle = 0x4 | spoiling[i];
    CHECK(reading_spoils(&reading), "0x%llx", spoiling[i]);
  }
}

TEST(what_goes_wrong_is_a_verdict) {
  for (int at = 0; at < 14; at++) {
    struct model model;
    model_make(&model, NOISE_NONE, 1);
    model.failing = 7;
    model.failure = OUTCOME_HUNG;
    model.samples_to_failure = at;
    struct measured got = measure_variant(&model, 1, 0);
    CHECK_EQ(at < 12 ? OUTCOME_HUNG : OUTCOME_MEASURED, got.verdict.outcome, "sample %d", at);
    CHECK(at >= 12 || got.timing.sample_count == 0, "sample %d", at);
    measured_free(&got);
  }
  struct model model;
  model_make(&model, NOISE_NONE, 1);
  model.is_wrong[7] = true;
  struct measured got = measure_variant(&model, 1, 0);
  CHECK_EQ(OUTCOME_WRONG, got.verdict.outcome, "its recheck");
  CHECK_EQ(0, got.timing.sample_count, "a wrong result has no time");
  measured_free(&got);
}

struct anchored {
  struct model model;
  struct backend_handle backend;
  struct anchor *anchor;
};

static void begin_anchored(struct anchored *test, enum model_noise noise) {
  struct verdict verdict;
  model_make(&test->model, noise, 1);
  test->backend = model_handle(&test->model);
  test->model.true_ms[0] = 0.4;
  model_load(&test->model, 0, 0);
  const struct time_source time = model_time(&test->model);
  CHECK_OK(anchor_make(&test->backend, 0, &time, &verdict, &test->anchor));
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "anchor");
}

static void take_reading(struct anchored *test) {
  struct verdict verdict;
  CHECK_OK(anchor_take(test->anchor, &verdict));
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "anchor");
}

TEST(the_anchor_is_due_every_two_seconds_and_after_gaps) {
  struct anchored test;
  begin_anchored(&test, NOISE_RAMP);
  CHECK(!anchor_due(test.anchor), "just taken");
  for (int i = 0; i < 49; i++) {
    model_work(&test.model, 40);
    anchor_busy(test.anchor);
    CHECK(!anchor_due(test.anchor), "%d ms later", 40 * (i + 1));
  }
  model_work(&test.model, 40);
  anchor_busy(test.anchor);
  CHECK(anchor_due(test.anchor), "2 s later");
  take_reading(&test);
  model_idle(&test.model, 49);
  CHECK(!anchor_due(test.anchor), "49 ms of nothing");
  model_idle(&test.model, 2);
  CHECK(anchor_due(test.anchor), "51 ms of nothing");
  model_idle(&test.model, 500);
  CHECK(test.model.clock < 0.72, "the clock fell to %g", test.model.clock);
  take_reading(&test);
  CHECK(test.model.clock > 0.98, "the clock is up again: %g", test.model.clock);
  CHECK_NEAR(1, anchor_scale(test.anchor, 0), 0.01, "so that the reading is as before");
  anchor_free(test.anchor);
}

/* A result may be taken long after its variant has ended. */
TEST(a_gap_begins_at_the_end_of_the_work) {
  struct anchored test;
  begin_anchored(&test, NOISE_RAMP);
  model_work(&test.model, 40);
  const double end_ms = test.model.now_ms;
  model_idle(&test.model, 49);
  anchor_busy_until(test.anchor, end_ms);
  CHECK(!anchor_due(test.anchor), "49 ms of nothing");
  model_idle(&test.model, 2);
  anchor_busy_until(test.anchor, end_ms);
  CHECK(anchor_due(test.anchor), "51 ms of nothing");
  anchor_busy(test.anchor);
  anchor_busy_until(test.anchor, end_ms);
  CHECK(!anchor_due(test.anchor), "later work counts");
  anchor_free(test.anchor);
}

TEST(clocks_that_cannot_be_read_end_the_wait) {
  struct anchored test;
  begin_anchored(&test, NOISE_RAMP);
  test.model.hides_clock = true;
  model_idle(&test.model, 500);
  const double from_ms = test.model.now_ms;
  take_reading(&test);
  CHECK(test.model.now_ms - from_ms < 100, "%g ms", test.model.now_ms - from_ms);
  anchor_free(test.anchor);
}

/* The variant is measured, judged by the next reading, and measured again, at most three times. */
TEST(drift_between_readings_asks_for_another_measurement) {
  struct anchored test;
  begin_anchored(&test, NOISE_NONE);
  CHECK_OK(anchor_cover(test.anchor, 1, false));
  CHECK_OK(anchor_cover(test.anchor, 2, false));
  CHECK_EQ(0, anchor_next_again(test.anchor), "no reading yet");
  test.model.true_ms[0] *= 1.009;
  take_reading(&test);
  CHECK_EQ(0, anchor_next_again(test.anchor), "0.9 %% is no drift");

  CHECK_OK(anchor_cover(test.anchor, 3, false));
  CHECK_OK(anchor_cover(test.anchor, 4, false));
  test.model.true_ms[0] *= 1.02;
  take_reading(&test);
  CHECK(anchor_is_marked(test.anchor, 3) && !anchor_is_marked(test.anchor, 1), "3, not 1");
  CHECK_EQ(3, anchor_next_again(test.anchor), "first");
  CHECK_EQ(4, anchor_next_again(test.anchor), "second");
  CHECK_EQ(0, anchor_next_again(test.anchor), "each once");

  CHECK_OK(anchor_cover(test.anchor, 3, false));
  take_reading(&test);
  CHECK(!anchor_is_marked(test.anchor, 3), "measured again, all is well");
  CHECK(anchor_is_marked(test.anchor, 4), "asked for, never measured again");
  CHECK_NEAR(1.009 * 1.02, anchor_scale(test.anchor, 3), 1e-9, "how slow it was then");
  CHECK_NEAR(1.0045, anchor_scale(test.anchor, 1), 1e-9, "between the first two readings");
  CHECK_EQ(2, anchor_attempts(test.anchor, 3), "attempts");
  CHECK_EQ(0, anchor_attempts(test.anchor, 99), "unknown");

  CHECK_OK(anchor_cover(test.anchor, 5, false));
  for (int attempt = 1; attempt <= ANCHOR_ATTEMPTS; attempt++) {
    test.model.true_ms[0] *= attempt % 2 ? 1.05 : 1 / 1.05; /* a speed-up is drift, too */
    take_reading(&test);
    CHECK(anchor_is_marked(test.anchor, 5), "attempt %d", attempt);
    CHECK_EQ(attempt < ANCHOR_ATTEMPTS ? 5 : 0, anchor_next_again(test.anchor), "attempt %d", attempt);
    if (attempt < ANCHOR_ATTEMPTS) CHECK_OK(anchor_cover(test.anchor, 5, false));
  }
  anchor_free(test.anchor);
}

TEST(slowdowns_are_no_drift_of_the_scale) {
  struct anchored test;
  begin_anchored(&test, NOISE_NONE);
  CHECK_OK(anchor_cover(test.anchor, 1, true));
  take_reading(&test);
  CHECK_EQ(1, anchor_next_again(test.anchor), "spoilt: again, although the readings agree");
  CHECK_OK(anchor_cover(test.anchor, 1, false));
  test.model.throttle_from_ms = 0;
  test.model.throttle_to_ms = 1e9;
  take_reading(&test);
  CHECK_EQ(1, anchor_next_again(test.anchor), "the readings differ");
  CHECK_NEAR(1, anchor_scale(test.anchor, 1), 1e-9, "a spoilt reading is no measure");
  CHECK_NEAR(1, anchor_scale(test.anchor, 0), 1e-9, "a spoilt reading is no measure");
  /* On a GPU that stays slow, not everything is measured three times. */
  int again = 0;
  for (long number = 100; number < 140; number++) {
    CHECK_OK(anchor_cover(test.anchor, number, true));
    take_reading(&test);
    while (anchor_next_again(test.anchor)) again++;
    CHECK(anchor_is_marked(test.anchor, number), "%ld", number);
  }
  CHECK_EQ(ANCHOR_SPOILT_MOST - 1, again, "repetitions");
  anchor_free(test.anchor);
}

/* At whatever sample of a reading the slowdown ends or begins. */
TEST(slowdowns_that_end_or_begin_in_a_reading_spoil_it) {
  for (int tenths = 0; tenths < 100; tenths++) {
    for (int begins = 0; begins < 2; begins++) {
      struct anchored test;
      begin_anchored(&test, NOISE_NONE);
      const double edge_ms = test.model.now_ms + 0.1 * tenths;
      test.model.throttle_from_ms = begins ? edge_ms : 0;
      test.model.throttle_to_ms = begins ? 1e9 : edge_ms;
      take_reading(&test);
      CHECK_NEAR(1, anchor_scale(test.anchor, 0), 1e-9, "%s at %g ms", begins ? "begins" : "ends", 0.1 * tenths);
      anchor_free(test.anchor);
    }
  }
}

TEST(an_anchor_that_fails_is_a_verdict) {
  struct anchored test;
  struct verdict verdict;
  begin_anchored(&test, NOISE_NONE);
  CHECK_OK(anchor_cover(test.anchor, 1, false));
  test.model.failing = 0;
  test.model.failure = OUTCOME_CRASHED;
  CHECK_OK(anchor_take(test.anchor, &verdict));
  CHECK_EQ(OUTCOME_CRASHED, verdict.outcome, "taken");
  test.model.failing = -1;
  model_load(&test.model, 0, 0);
  take_reading(&test);
  CHECK(!anchor_is_marked(test.anchor, 1), "what waited is judged by the next reading");
  anchor_free(test.anchor);

  struct anchor *none;
  test.model.failing = 0;
  const struct time_source time = model_time(&test.model);
  CHECK_OK(anchor_make(&test.backend, 0, &time, &verdict, &none));
  CHECK(!none && verdict.outcome == OUTCOME_CRASHED, "no anchor");
}

/* Another variant takes the anchor's place. Times are still scaled to the first one. */
TEST(another_variant_may_take_the_anchor_s_place) {
  struct anchored test;
  struct verdict verdict;
  begin_anchored(&test, NOISE_NONE);
  test.model.true_ms[0] *= 1.02;
  CHECK_OK(anchor_cover(test.anchor, 1, false));
  take_reading(&test);
  CHECK_EQ(1, anchor_next_again(test.anchor), "drift");
  CHECK_OK(anchor_cover(test.anchor, 2, false));
  test.model.failing = 0;
  test.model.failure = OUTCOME_CRASHED;
  CHECK_OK(anchor_take(test.anchor, &verdict));
  CHECK_EQ(OUTCOME_CRASHED, verdict.outcome, "taken");
  CHECK_OK(anchor_cover(test.anchor, 3, false));
  test.model.true_ms[1] = 0.25;
  test.model.failing = 1;
  model_load(&test.model, 0, 1);
  CHECK_OK(anchor_replace(test.anchor, &verdict));
  CHECK_EQ(OUTCOME_CRASHED, verdict.outcome, "the next one fails as well");
  CHECK_EQ(0, anchor_next_again(test.anchor), "and nothing is judged by it");
  test.model.failing = -1;
  model_load(&test.model, 0, 1);
  CHECK_OK(anchor_replace(test.anchor, &verdict));
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "replaced");
  CHECK(!anchor_due(test.anchor), "just taken");
  CHECK_NEAR(1.02, anchor_scale(test.anchor, 0), 1e-9, "the GPU is as it was");
  CHECK_EQ(2, anchor_next_again(test.anchor), "nobody watched since the last reading");
  CHECK_EQ(3, anchor_next_again(test.anchor), "nor after the failure");
  CHECK_OK(anchor_cover(test.anchor, 2, false));
  take_reading(&test);
  CHECK(!anchor_is_marked(test.anchor, 2), "measured again, all is well");
  CHECK_NEAR(1.02, anchor_scale(test.anchor, 2), 1e-9, "and in the terms of the first anchor");
  CHECK_OK(anchor_cover(test.anchor, 4, false));
  test.model.true_ms[1] *= 1.05;
  take_reading(&test);
  CHECK_EQ(4, anchor_next_again(test.anchor), "it sees drift, too");
  CHECK_NEAR(1.02 * 1.05, anchor_scale(test.anchor, 0), 1e-9, "how slow the GPU is now");
  anchor_free(test.anchor);
}

/* While the GPU is slowed down, nobody knows how the time of another variant compares with the first one's. The first
 * clean reading says it. */
TEST(a_slowdown_while_the_anchor_is_replaced_changes_no_scale) {
  for (int spoilt_readings = 0; spoilt_readings < 2; spoilt_readings++) {
    struct anchored test;
    struct verdict verdict;
    begin_anchored(&test, NOISE_NONE);
    test.model.throttle_from_ms = 0;
    test.model.throttle_to_ms = INFINITY;
    test.model.true_ms[1] = 0.25;
    model_load(&test.model, 0, 1);
    CHECK_OK(anchor_replace(test.anchor, &verdict));
    CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "replaced");
    for (int i = 0; i < spoilt_readings; i++) take_reading(&test);
    CHECK_OK(anchor_cover(test.anchor, 1, false));
    test.model.throttle_to_ms = 0;
    take_reading(&test);
    CHECK_NEAR(1, anchor_scale(test.anchor, 0), 1e-9, "the GPU is as at the start");
    CHECK_NEAR(0.25, anchor_own_ms(test.anchor), 1e-9, "the variant's own time");
    CHECK_EQ(1, anchor_next_again(test.anchor), "nobody knows how slow the GPU was");
    CHECK_OK(anchor_cover(test.anchor, 1, false));
    test.model.true_ms[1] *= 1.02;
    take_reading(&test);
    CHECK_NEAR(1.02, anchor_scale(test.anchor, 0), 1e-9, "and then it sees what changes");
    CHECK_EQ(1, anchor_next_again(test.anchor), "as ever");
    anchor_free(test.anchor);
  }
}

/* A reading takes 100 ms if 3 samples fit into that, and 5 % of the time. */
TEST(readings_of_slow_anchors_are_few_and_short) {
  static const struct {
    double time_ms;
    int samples;
    double period_ms;
  } rows[] = {{0.4, 7, 2000}, {10, 7, 2000}, {20, 5, 2400}, {100, 3, 8000}, {600, 3, 48000}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct anchored test;
    struct verdict verdict;
    begin_anchored(&test, NOISE_NONE);
    anchor_free(test.anchor);
    test.model.true_ms[0] = rows[i].time_ms;
    const struct time_source time = model_time(&test.model);
    CHECK_OK(anchor_make(&test.backend, 0, &time, &verdict, &test.anchor));
    CHECK_NEAR(rows[i].period_ms, anchor_period_ms(rows[i].time_ms), 1e-9, "%g ms", rows[i].time_ms);
    const long before = test.model.samples;
    take_reading(&test);
    CHECK_EQ(rows[i].samples + 1, test.model.samples - before, "%g ms", rows[i].time_ms);
    CHECK_NEAR(rows[i].time_ms, anchor_own_ms(test.anchor), 1e-9, "%g ms", rows[i].time_ms);
    model_work(&test.model, rows[i].period_ms - 50);
    anchor_busy(test.anchor);
    CHECK(!anchor_due(test.anchor), "%g ms", rows[i].time_ms);
    model_work(&test.model, 60);
    anchor_busy(test.anchor);
    CHECK(anchor_due(test.anchor), "%g ms", rows[i].time_ms);
    anchor_free(test.anchor);
  }
}

TEST(what_is_too_slow_for_an_anchor) {
  static const struct {
    double time_ms, best_ms;
    bool want;
  } rows[] = {{9, 0.1, false}, {11, 0.1, true}, {11, 2.1, true},   {11, 2.3, false},
              {11, 0, true},   {9, 0, false},   {700, 200, false}, {700, 0.3, true}};
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_EQ(rows[i].want, anchor_is_slow(rows[i].time_ms, rows[i].best_ms), "row %zu", i);
}

/* Ten samples, as many as fit into 100 ms. The first one finds the batch. A single application is a tenth longer
 * here. */
TEST(a_first_idea_takes_few_samples) {
  static const struct {
    double time_ms, want_ms;
    long samples, calls;
  } rows[] = {{1, 1, 10, 2}, {30, 30, 4, 2}, {700, 770, 1, 1}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct model model;
    model_make(&model, NOISE_NONE, 1);
    struct backend_handle backend = model_handle(&model);
    double got_ms;
    model.true_ms[7] = rows[i].time_ms;
    model_load(&model, 3, 7);
    CHECK_OK(measure_roughly(&backend, 3, &got_ms));
    CHECK_NEAR(rows[i].want_ms, got_ms, 1e-9, "row %zu", i);
    CHECK_EQ(rows[i].samples, model.samples, "row %zu", i);
    CHECK_EQ(rows[i].calls, model.calls, "row %zu", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches_make_samples_of_200_us),
      cmocka_unit_test(quiet_variants_take_few_samples),
      cmocka_unit_test(noise_is_sampled_until_the_interval_is_narrow),
      cmocka_unit_test(screening_is_above_1_15),
      cmocka_unit_test(hopeless_ones_take_one_sample),
      cmocka_unit_test(a_cold_start_screens_nothing),
      cmocka_unit_test(slowdowns_repeat_at_most_three_times),
      cmocka_unit_test(what_goes_wrong_is_a_verdict),
      cmocka_unit_test(the_anchor_is_due_every_two_seconds_and_after_gaps),
      cmocka_unit_test(a_gap_begins_at_the_end_of_the_work),
      cmocka_unit_test(clocks_that_cannot_be_read_end_the_wait),
      cmocka_unit_test(drift_between_readings_asks_for_another_measurement),
      cmocka_unit_test(slowdowns_are_no_drift_of_the_scale),
      cmocka_unit_test(slowdowns_that_end_or_begin_in_a_reading_spoil_it),
      cmocka_unit_test(an_anchor_that_fails_is_a_verdict),
      cmocka_unit_test(another_variant_may_take_the_anchor_s_place),
      cmocka_unit_test(a_slowdown_while_the_anchor_is_replaced_changes_no_scale),
      cmocka_unit_test(readings_of_slow_anchors_are_few_and_short),
      cmocka_unit_test(what_is_too_slow_for_an_anchor),
      cmocka_unit_test(a_first_idea_takes_few_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
