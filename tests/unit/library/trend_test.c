/* trend_test.c: what all variants have in common on some grids is expected of grids like these, and of no others. */
#include "gpu/driver/device.h"
#include "library/predict/trend.h"
#include "tests/unit/library/tuned.h"

#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

static struct predict_size size_of(double n) {
  const float points = log2f((float)n);
  return (struct predict_size){{3 * points + 3, points, points, points}, 0};
}

static float trend_between(const struct trend *trend, double from, double to) {
  const struct predict_size a = size_of(from), b = size_of(to);
  return trend_at(trend, &b) - trend_at(trend, &a);
}

/* Two configurations on each grid. */
static int make_rows(const double *grids, const double *residuals, int count, struct trend_row *rows) {
  for (int i = 0; i < 2 * count; i++)
    rows[i] = (struct trend_row){size_of(grids[i / 2]), i % 2, residuals[i / 2] + 0.1 * (i % 2)};
  return 2 * count;
}

TEST(a_trend_is_of_grids_and_not_of_configurations) {
  static const double grids[] = {64, 100, 128, 200, 512, 1024}, slow[] = {0.3, 0.3, 0, 0, 0, 0},
                      even[] = {0.7, 0.7, 0.7, 0.7, 0.7, 0.7};
  struct trend_row rows[2 * COUNT(grids)];
  struct trend trend;
  CHECK_OK(trend_make(rows, make_rows(grids, slow, COUNT(grids), rows), &trend));
  CHECK(trend_between(&trend, 512, 80) > 0.1F, "like slow ones: %g", (double)trend_between(&trend, 512, 80));
  CHECK(trend_between(&trend, 512, 80) < 0.35F, "not slower: %g", (double)trend_between(&trend, 512, 80));
  CHECK_NEAR(0, (double)trend_between(&trend, 512, 800), 0.05, "like others");
  CHECK_OK(trend_make(rows, make_rows(grids, even, COUNT(grids), rows), &trend));
  CHECK_NEAR(0, (double)trend_between(&trend, 64, 700), 0.01, "the same on all grids");
  for (size_t i = 0; i < COUNT(rows); i++) rows[i].configuration = (int)(i / 4), rows[i].residual = i < 4 ? 0.1 : 0;
  CHECK_OK(trend_make(rows, COUNT(rows), &trend));
  CHECK(trend_between(&trend, 512, 64) < 0.06F, "partly of the configuration: %g",
        (double)trend_between(&trend, 512, 64));
}

TEST(a_trend_is_of_rows_that_are_aligned_alike) {
  struct trend_row rows[8];
  struct trend trend;
  struct predict_size aligned = size_of(150), unaligned = aligned;
  unaligned.unaligned = 1;
  for (int i = 0; i < 8; i++) {
    rows[i] = (struct trend_row){size_of(100 + 10 * i), i, i % 2 ? 0.4 : 0};
    rows[i].size.unaligned = i % 2 ? 1 : 0;
  }
  CHECK_OK(trend_make(rows, 8, &trend));
  CHECK(trend_at(&trend, &unaligned) > trend_at(&trend, &aligned) + 0.05F, "%g and %g",
        (double)trend_at(&trend, &unaligned), (double)trend_at(&trend, &aligned));
}

TEST(rows_that_say_nothing_and_rows_beyond_the_most) {
  enum { MANY = 5 * TREND_MOST_ROWS };
  static struct trend_row rows[MANY];
  const struct trend none = {0};
  const struct predict_size here = size_of(100);
  struct trend trend;
  CHECK_NEAR(0, (double)trend_at(&none, &here), 0, "no rows");
  CHECK_OK(trend_make(rows, 0, &trend));
  CHECK_NEAR(0, (double)trend_at(&trend, &here), 0, "no rows");
  for (int i = 0; i < MANY; i++) {
    const double n = 40 + i;
    const bool is_slow = n < 100;
    rows[i] = (struct trend_row){size_of(n), i % 3, i % 7 == 0 ? NAN : i % 7 == 1 ? -INFINITY : is_slow ? 0.3 : 0};
  }
  CHECK_OK(trend_make(rows, MANY, &trend));
  CHECK_EQ(TREND_MOST_ROWS, trend.count, "so many are used");
  CHECK(trend_between(&trend, 600, 50) > 0.1F, "%g", (double)trend_between(&trend, 600, 50));
  for (int i = 0; i < 3; i++) rows[i] = (struct trend_row){size_of(i ? 512 : 64), i, i ? 0 : 40};
  CHECK_OK(trend_make(rows, 3, &trend));
  CHECK(trend_between(&trend, 512, 64) <= 1, "a nonsense time moves others by little: %g",
        (double)trend_between(&trend, 512, 64));
}

/* The time of star7 in f32 that the model tells. */
static double made_ms(long n) {
  const double bytes = (double)n * (double)n * (double)n * 8, gbs = 4000;
  return (double)predict_launch_ms[LAUNCH_STREAM] + bytes / (gbs * 1e6);
}

/* The row of the nearest grid has vectors, which 385 points in a row do not allow. It still tells that such grids are
 * slower. */
TEST(rows_that_do_not_fit_tell_of_the_grid) {
  static const char one[] = "vector=1 block_x=32 block_y=8", four[] = "vector=4 block_x=32 block_y=8";
  const double slower = 1.3;
  const halotune_problem problem = {.stencil = "star7", .device = "NVIDIA H200", .grid = {385, 385, 385}};
  double expected[2];
  for (int is_slower = 0; is_slower < 2; is_slower++) {
    struct tuned rows[] = {
        {GPU_H200, "star7", "zmarch", one, DTYPE_F32, {1024, 1024, 1024}, USUAL, made_ms(1024)},
        {GPU_H200, "star7", "zmarch", four, DTYPE_F32, {1000, 1000, 1000}, USUAL, made_ms(1000)},
        {GPU_H200, "star7", "zmarch", four, DTYPE_F32, {384, 384, 384}, USUAL, made_ms(384) * (is_slower ? slower : 1)},
        {GPU_H200, "star7", "zmarch", four, DTYPE_F32, {380, 380, 380}, USUAL, made_ms(380) * (is_slower ? slower : 1)},
    };
    struct work work = work_begin();
    halotune_config config;
    halotune_ctx *ctx;
    const char *paths[] = {work.path};
    tuned_make(work.path, rows, COUNT(rows));
    CHECK_OK(halotune_open(paths, 1, &ctx));
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK_EQ(1024, config.measured_grid[0], "the row that fits");
    expected[is_slower] = config.expected_ms;
    halotune_close(ctx);
    work_end(&work);
  }
  CHECK(expected[1] > 1.02 * expected[0] && expected[1] < slower * expected[0], "%g and %g", expected[0], expected[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_trend_is_of_grids_and_not_of_configurations),
      cmocka_unit_test(a_trend_is_of_rows_that_are_aligned_alike),
      cmocka_unit_test(rows_that_say_nothing_and_rows_beyond_the_most),
      cmocka_unit_test(rows_that_do_not_fit_tell_of_the_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
