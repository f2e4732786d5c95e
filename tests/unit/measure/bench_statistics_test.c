/* bench_statistics_test.c: medians and their intervals, compared with numbers worked out by hand or in exact
 * arithmetic. */
#include "base/numbers/random.h"
#include "tests/unit/unit.h"
#include "tuner/measure/sampling/statistics.h"

TEST(intervals_have_the_ranks_and_confidence_of_the_binomial) {
  /* The ranks of the usual tables for 95 %; the confidence is an exact fraction of 2^n. */
  static const struct {
    int count, rank;
    double confidence;
  } rows[] = {
      {0, 1, 0},
      {1, 1, 0},
      {2, 1, 0.5},
      {3, 1, 0.75},
      {4, 1, 0.875},
      {5, 1, 0.9375},
      {6, 1, 1 - 2 / 64.0},
      {7, 1, 1 - 2 / 128.0},
      {8, 1, 1 - 2 / 256.0}, /* rank 2 would have 1 - 18/256 = 92.97 % */
      {9, 2, 1 - 20 / 512.0},
      {10, 2, 1 - 22 / 1024.0},
      {12, 3, 1 - 2 * 79 / 4096.0},
      {20, 6, 1 - 2 * 21700 / 1048576.0},
      {25, 8, 1 - 2 * 726206 / 33554432.0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    double confidence = -1;
    CHECK_EQ(rows[i].rank, median_interval_rank(rows[i].count, &confidence), "%d samples", rows[i].count);
    CHECK_NEAR(rows[i].confidence, confidence, 1e-12, "%d samples", rows[i].count);
  }
}

TEST(many_samples_follow_the_normal_law) {
  /* n/2 - 1.96 sqrt(n)/2, without underflow where 2^-n is 0. */
  static const int counts[] = {100, 1000, 5000};
  static const int ranks[] = {40, 469, 2431};
  for (size_t i = 0; i < COUNT(counts); i++) {
    double confidence;
    const int rank = median_interval_rank(counts[i], &confidence);
    CHECK_EQ(ranks[i], rank, "%d samples", counts[i]);
    CHECK(confidence >= 0.95 && confidence < 0.97, "%d samples: %g", counts[i], confidence);
  }
}

TEST(summaries_are_those_of_sorted_values) {
  static const struct {
    int count;
    double values[10];
    double median, minimum, low, high;
  } rows[] = {
      {1, {3}, 3, 3, 3, 3},
      {2, {4, 1}, 2.5, 1, 1, 4},
      {3, {9, 1, 2}, 2, 1, 1, 9},
      {4, {4, 3, 2, 1}, 2.5, 1, 1, 4},
      {6, {6, 5, 4, 3, 2, 100}, 4.5, 2, 2, 100},
      {9, {9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 1, 2, 8},
      {10, {10, 1, 9, 2, 8, 3, 7, 4, 6, 1000}, 6.5, 1, 2, 10},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    double values[10];
    memcpy(values, rows[i].values, sizeof values);
    const struct summary got = summary_of(values, rows[i].count);
    CHECK_EQ(rows[i].count, got.count, "row %zu", i);
    CHECK_NEAR(rows[i].median, got.median, 0, "row %zu", i);
    CHECK_NEAR(rows[i].minimum, got.minimum, 0, "row %zu", i);
    CHECK_NEAR(rows[i].low, got.low, 0, "row %zu", i);
    CHECK_NEAR(rows[i].high, got.high, 0, "row %zu", i);
  }
  const struct summary none = summary_of(NULL, 0);
  CHECK(isnan(none.median) && isnan(none.low) && isnan(none.minimum) && none.count == 0, "no values");
}

/* In 4000 draws of a skewed distribution, the interval contains the true median at least as often as its confidence
 * says. */
TEST(intervals_hold_the_median_as_often_as_they_say) {
  static const int counts[] = {5, 8, 20, 25};
  uint64_t drawn = 0;
  for (size_t i = 0; i < COUNT(counts); i++) {
    const int draws = 4000;
    int held = 0;
    struct summary got = {0};
    for (int draw = 0; draw < draws; draw++) {
      double values[25];
      for (int j = 0; j < counts[i]; j++) {
        values[j] = -log(((double)(random_bits(7, drawn++) >> 11) + 0.5) * 0x1p-53); /* the median is log 2 */
      }
      got = summary_of(values, counts[i]);
      held += got.low <= log(2) && log(2) <= got.high;
    }
    /* Three standard deviations of this many draws are about 1 %. */
    CHECK_NEAR(got.confidence, held / (double)draws, 0.012, "%d samples", counts[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_have_the_ranks_and_confidence_of_the_binomial),
      cmocka_unit_test(many_samples_follow_the_normal_law),
      cmocka_unit_test(summaries_are_those_of_sorted_values),
      cmocka_unit_test(intervals_hold_the_median_as_often_as_they_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
