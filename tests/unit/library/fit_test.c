/* fit_test.c: the coefficients that times were made with are found again, and stored where lookups read them. */
#include "db/store/query.h"
#include "gpu/driver/device.h"
#include "library/lookup/choose.h"
#include "library/lookup/context.h"
#include "library/predict/fit.h"
#include "library/predict/least_squares.h"
#include "tests/unit/library/tuned.h"

#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

static const double made_cache = 0.4; /* the coefficient; all others are 0 */

/* The time of any variant of star7 in f32. */
static double made_ms(long n) {
  const struct device_facts device = tuned_device(GPU_H200);
  const double bytes = (double)n * (double)n * (double)n * 8;
  const double gbs = device_memory_gbs(device.memory_clock_khz, device.bus_bits), reached_share = 0.88;
  const double feature = fmin(fmax(log2(bytes / device.l2_bytes), -2), 1);
  return (double)predict_launch_ms[LAUNCH_STREAM] + bytes / (gbs * reached_share * 1e6) * exp(made_cache * feature);
}

static void take_result(void *context, const struct fit_result *result) {
  struct fit_result *out = context;
  *out = *result;
}

TEST(the_coefficients_of_made_times_are_found) {
  static const long sizes[] = {128, 160, 192, 224, 256, 320, 384, 448, 512, 640};
  /* Blocks of at least 1024 points: the start of blocks takes less time than the bytes. */
  static const char *const sets[] = {"block_x=256 points_z=4",         "block_x=256 points_z=8",
                                     "block_x=128 points_z=8",         "block_x=512 points_z=4",
                                     "block_x=256 block_y=4",          "block_x=128 block_y=8",
                                     "block_x=128 block_z=8",          "block_x=128 block_y=2 points_z=4",
                                     "block_x=256 points_y=4",         "block_x=128 block_y=4 points_y=2",
                                     "block_x=64 block_y=4 points_z=4"};
  struct tuned rows[COUNT(sizes) * COUNT(sets)];
  struct work work = work_begin();
  struct store *store;
  struct fit_result result = {0};
  halotune_ctx *ctx;
  const char *paths[] = {work.path};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const long n = sizes[i % COUNT(sizes)];
    rows[i] =
        (struct tuned){GPU_H200, "star7", "direct", sets[i / COUNT(sizes)], DTYPE_F32, {n, n, n}, USUAL, made_ms(n)};
  }
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_OK(query_script(store_connection(store), "insert into origin (kind, name, date) values ('imported', 'x', '');"
                                                 " update device set origin_id = (select max(id) from origin)"));
  CHECK_OK(predict_fit(store, NULL, 0, take_result, &result));
  CHECK_EQ(
      0, number_of(store, "select count(*) from prediction join origin o on o.id = origin_id where kind <> 'measured'"),
      "this user found the coefficients, whoever brought the device");
  store_close(store);
  CHECK_EQ(COUNT(rows), result.times, "times");
  CHECK_EQ(COUNT(sets), result.variants, "variants");
  CHECK(result.is_kept, "sensible");
  CHECK_NEAR(made_cache, result.model.coefficients[PREDICT_cache], 0.04, "cache, and the default's pull");
  CHECK(result.error_after < 0.4 * result.error_before, "%g, before %g", result.error_after, result.error_before);
  CHECK_OK(halotune_open(paths, 1, &ctx));
  CHECK_EQ(0, ctx->catalog.devices[0].fitted_by, "the database's coefficients");
  for (int i = 0; i < PREDICT_COEFFICIENTS; i++)
    CHECK_NEAR(result.model.coefficients[i], ctx->catalog.devices[0].prediction.coefficients[i], 0, "%s",
               predict_names[i]);
  halotune_config config;
  const halotune_problem problem = {.stencil = "star7", .device = "NVIDIA H200", .grid = {300, 300, 300}};
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_NEAR(choose_overrated(config.expected_error), config.expected_ms / made_ms(300), 0.05, "expected");
  halotune_close(ctx);
  work_end(&work);
}

/* Each time of a variant is compared with each other one, up to a number of times. */
TEST(a_variant_with_many_times_is_compared_in_a_sample) {
  enum { MOST = 64 };
  static const int counts[] = {12, MOST, 300};
  for (size_t i = 0; i < COUNT(counts); i++) {
    const int count = counts[i];
    struct tuned *rows = calloc((size_t)count, sizeof *rows);
    struct work work = work_begin();
    struct store *store;
    struct fit_result result = {0};
    CHECK(rows, "memory");
    for (int k = 0; k < count; k++) {
      const long n = 100 + k;
      rows[k] = (struct tuned){GPU_H200, "star7", "direct", "block_x=256", DTYPE_F32, {n, n, n}, USUAL, made_ms(n)};
    }
    tuned_make(work.path, rows, count);
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    CHECK_OK(predict_fit(store, NULL, 0, take_result, &result));
    CHECK_EQ(count, result.times, "all times count for the coefficients");
    const int most = count < MOST ? count : MOST;
    CHECK(result.pairs <= most * (most - 1) && result.pairs >= most * (most - 1) / 4, "%d times: %d pairs", count,
          result.pairs);
    store_close(store);
    work_end(&work);
    free(rows);
  }
}

TEST(few_times_leave_the_defaults) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", NULL, DTYPE_F32, {64, 64, 64}, USUAL, 0.003},
      {GPU_H200, "star7", "direct", NULL, DTYPE_F32, {128, 128, 128}, USUAL, 0.01},
      {GPU_EMULATION, "star7", "direct", NULL, DTYPE_F32, {32, 32, 32}, USUAL, 50},
  };
  struct work work = work_begin();
  struct store *store;
  struct fit_result result = {0};
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  /* An earlier fit, of a model whose times were removed since. */
  CHECK_OK(query_script(store_connection(store),
                        "insert into prediction (device_id, coefficient, value, origin_id) select id, 'wave', 0.5,"
                        " (select id from origin where kind = 'measured') from device where is_emulation"));
  CHECK_OK(predict_fit(store, NULL, 0, take_result, &result));
  CHECK_EQ(2, result.times, "those of the emulation do not count");
  CHECK(!result.is_kept, "too few");
  CHECK_EQ(0, number_of(store, "select count(*) from prediction"), "nothing is stored, and nothing stays");
  store_close(store);
  work_end(&work);
}

/* What a document brought goes only where a fit takes its place. */
TEST(few_times_leave_the_coefficients_of_a_document) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", NULL, DTYPE_F32, {64, 64, 64}, USUAL, 0.003},
      {GPU_H200, "star7", "direct", NULL, DTYPE_F32, {128, 128, 128}, USUAL, 0.01},
  };
  struct work work = work_begin();
  struct store *store;
  struct fit_result result = {0};
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_OK(query_script(store_connection(store),
                        "insert into origin (kind, name, signer, date) values ('imported', 'x', 'bob', '');"
                        " insert into prediction (device_id, coefficient, value, origin_id) select id, 'cache', 0.5,"
                        " (select max(id) from origin) from device"));
  CHECK_OK(predict_fit(store, NULL, 0, take_result, &result));
  CHECK_EQ(2, result.times, "they are fitted");
  CHECK(!result.is_kept, "too few");
  CHECK_EQ(1, number_of(store, "select count(*) from prediction where value = 0.5"), "that of the document stays");
  store_close(store);
  work_end(&work);
}

/* The second time of a variant whose parameters its template refuses counted as one of the variant before. */
TEST(times_of_a_variant_that_cannot_be_read_do_not_count) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", "block_x=256", DTYPE_F32, {64, 64, 64}, USUAL, 0.003},
      {GPU_H200, "star7", "direct", "block_x=256", DTYPE_F32, {128, 128, 128}, USUAL, 0.01},
      {GPU_H200, "star7", "direct", "block_x=512", DTYPE_F32, {64, 64, 64}, USUAL, 0.003},
      {GPU_H200, "star7", "direct", "block_x=512", DTYPE_F32, {128, 128, 128}, USUAL, 0.01},
      {GPU_H200, "star7", "direct", "block_x=512", DTYPE_F32, {256, 256, 256}, USUAL, 0.08},
  };
  struct work work = work_begin();
  struct store *store;
  struct fit_result result = {0};
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_OK(query_script(store_connection(store), "update variant set parameters = '{\"zz_unknown\":1}'"
                                                 " where json_extract(parameters, '$.block_x') = 512"));
  CHECK_OK(predict_fit(store, NULL, 0, take_result, &result));
  CHECK_EQ(2, result.times, "those of the first variant");
  CHECK_EQ(1, result.variants, "the first variant");
  store_close(store);
  work_end(&work);
}

static void fail_to_print(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count, (void)values;
  sqlite3_result_error(context, "made to fail", -1);
}

/* A model of GPU whose name cannot be read is not told as one without a name. */
TEST(a_name_that_cannot_be_read_is_a_failure) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", NULL, DTYPE_F32, {64, 64, 64}, USUAL, 0.003},
  };
  struct work work = work_begin();
  struct store *store;
  struct fit_result result = {0};
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK(sqlite3_create_function_v2(store_connection(store), "printable", 1, SQLITE_UTF8, NULL, fail_to_print, NULL,
                                   NULL, NULL) == SQLITE_OK,
        "the function that the query calls");
  CHECK_EQ(HALOTUNE_DB, predict_fit(store, NULL, 0, take_result, &result), "%s", fail_text());
  CHECK(strstr(fail_text(), "made to fail"), "%s", fail_text());
  store_close(store);
  work_end(&work);
}

TEST(least_squares_finds_a_line) {
  const double usual[] = {0, 7, 9};
  double out[3];
  struct least_squares sums = {.count = 3};
  for (int i = 0; i < 10; i++) least_squares_add(&sums, (const double[]){1, i, 0}, 3 + 2 * i, 1);
  CHECK(least_squares_solve(&sums, usual, 1e-9, out), "solved");
  CHECK_NEAR(3, out[0], 1e-5, "constant");
  CHECK_NEAR(2, out[1], 1e-5, "slope");
  CHECK_NEAR(9, out[2], 1e-5, "of this the observations tell nothing");
  least_squares_add(&sums, (const double[]){NAN, 1, 1}, 1, 1);
  CHECK(!least_squares_solve(&sums, usual, 1e-9, out), "NaN");
  CHECK_NEAR(7, out[1], 0, "the usual ones");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_coefficients_of_made_times_are_found),
      cmocka_unit_test(a_variant_with_many_times_is_compared_in_a_sample),
      cmocka_unit_test(few_times_leave_the_defaults),
      cmocka_unit_test(few_times_leave_the_coefficients_of_a_document),
      cmocka_unit_test(times_of_a_variant_that_cannot_be_read_do_not_count),
      cmocka_unit_test(a_name_that_cannot_be_read_is_a_failure),
      cmocka_unit_test(least_squares_finds_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
