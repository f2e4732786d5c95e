/* static_fit_test.c: the weights of static costs that times were made with are found again, stored, and read back. */
#include "library/predict/static_fit.h"

#include "base/numbers/random.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "library/lookup/context.h"
#include "library/predict/fit.h"
#include "tests/unit/library/made_costs.h"

static void take_result(void *context, const struct fit_result *result) {
  struct fit_result *out = context;
  *out = *result;
}

/* Fit a database as `halotune db fit` does. */
static struct fit_result fit(struct store *store) {
  struct fit_result result = {.device = ""};
  struct template *template;
  CHECK_OK(template_read("templates/direct.yaml", &template));
  CHECK_OK(predict_fit(store, &template, 1, take_result, &result));
  template_free(template);
  return result;
}

static enum static_stored read_weights(struct store *store, enum tuned_gpu gpu, struct static_weights *out) {
  const struct device_facts device = tuned_device(gpu);
  enum static_stored found;
  CHECK_OK(static_weights_read(store, device.name, device.capability, device.sm_count, &found, out));
  return found;
}

#define COUNT_WEIGHTS "select count(*) from prediction where " SQL_IS_STATIC_WEIGHT("coefficient")

/* From many problems the weights are found as they are, whatever the built-in ones say. */
TEST(many_problems_give_the_weights_themselves) {
  enum { PROBLEMS = 40, VARIANTS = STATIC_OF_A_PROBLEM };
  const struct static_weights made = made_weights();
  struct static_time *list = calloc(PROBLEMS * VARIANTS, sizeof *list);
  struct static_problem problems[PROBLEMS];
  const struct static_times times = {
      .list = list, .count = PROBLEMS * VARIANTS, .problems = problems, .problem_count = PROBLEMS};
  struct static_fit out;
  CHECK(list, "memory");
  for (int p = 0; p < PROBLEMS; p++)
    problems[p] = (struct static_problem){.device = 1, .first = p * VARIANTS, .end = (p + 1) * VARIANTS};
  for (int i = 0; i < PROBLEMS * VARIANTS; i++) {
    for (int f = 0; f < STATIC_COST_FEATURES; f++)
      list[i].features[f] = (double)(random_bits(1, (uint64_t)(i * STATIC_COST_FEATURES + f)) % 4000) / 1000;
    /* each problem has a constant of its own; no time is clipped */
    list[i].log_time = static_cost_sum(&made, list[i].features) - 0.1 * (double)(i / VARIANTS);
  }
  static_fit_make(&times, 0, PROBLEMS, &out);
  CHECK(out.is_kept, "%g of %g", out.ordered_after, out.ordered_before);
  for (int f = 0; f < STATIC_COST_FEATURES; f++)
    CHECK_NEAR(made.of[f], out.weights.of[f], 0.05 * fabs(made.of[f] - static_weights_built_in.of[f]), "%s",
               static_cost_names[f]);
  free(list);
}

TEST(the_weights_of_made_times_are_found) {
  struct work work = work_begin();
  struct store *store;
  struct static_weights weights;
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  made_costs_put(store, MADE_VARIANTS);
  const struct fit_result result = fit(store);
  CHECK_EQ(MADE_PROBLEMS * MADE_VARIANTS, result.costs.times, "times");
  CHECK_EQ(MADE_PROBLEMS, result.costs.problems, "problems");
  CHECK(result.costs.is_kept, "%g, before %g", result.costs.ordered_after, result.costs.ordered_before);
  CHECK(result.costs.ordered_before < 0.05, "the built-in weights: %g", result.costs.ordered_before);
  CHECK(result.costs.ordered_after > 0.7, "the new ones: %g", result.costs.ordered_after);
  CHECK_EQ(STATIC_STORED, read_weights(store, GPU_H200, &weights), "stored");
  for (int i = 0; i < STATIC_COST_FEATURES; i++)
    CHECK_NEAR(result.costs.weights.of[i], weights.of[i], 0, "%s", static_cost_names[i]);
  CHECK_EQ(STATIC_NONE, read_weights(store, GPU_H100, &weights), "not of another model");
  CHECK_EQ(STATIC_COST_FEATURES, number_of(store, COUNT_WEIGHTS), "rows");
  fit(store);
  CHECK_EQ(STATIC_COST_FEATURES, number_of(store, COUNT_WEIGHTS), "a second fit replaces them");
  store_close(store);
  work_end(&work);
}

/* Lookups take the coefficients of predicted times from the first database that has any. Weights are not such ones. */
TEST(weights_are_no_coefficients_of_lookups) {
  struct work work = work_begin();
  const char *paths[] = {work.path};
  halotune_ctx *ctx;
  struct store *store;
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  made_costs_put(store, MADE_VARIANTS);
  fit(store);
  CHECK_OK(
      query_script(store_connection(store), "delete from prediction where not " SQL_IS_STATIC_WEIGHT("coefficient")));
  CHECK_EQ(STATIC_COST_FEATURES, number_of(store, COUNT_WEIGHTS), "the weights stay");
  store_close(store);
  CHECK_OK(halotune_open(paths, 1, &ctx));
  CHECK_EQ(-1, ctx->catalog.devices[0].fitted_by, "no coefficients");
  halotune_close(ctx);
  work_end(&work);
}

TEST(few_times_leave_the_built_in_weights) {
  struct work work = work_begin();
  struct store *store;
  struct static_weights weights;
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  made_costs_put(store, (STATIC_LEAST_TIMES - 1) / MADE_PROBLEMS);
  const struct fit_result result = fit(store);
  CHECK(result.costs.times > 0 && result.costs.times < STATIC_LEAST_TIMES, "%ld times", result.costs.times);
  CHECK(!result.costs.is_kept, "too few");
  CHECK_EQ(STATIC_NONE, read_weights(store, GPU_H200, &weights), "nothing is stored");
  CHECK_OK(query_script(store_connection(store),
                        "insert into origin (kind, name, signer, date) values ('imported', 'x', 'bob', '');"
                        " insert into prediction (device_id, coefficient, value, origin_id) select id, 'static_row', 1,"
                        " (select max(id) from origin) from device limit 1"));
  CHECK(!fit(store).costs.is_kept, "too few");
  CHECK_EQ(1, number_of(store, COUNT_WEIGHTS), "that of a document stays");
  store_close(store);
  work_end(&work);
}

/* Times that the built-in weights explain already leave these in use. */
TEST(weights_that_are_no_better_are_not_kept) {
  struct static_time list[2 * STATIC_LEAST_TIMES] = {{.log_time = 0}};
  struct static_problem problem = {.device = 1, .first = 0, .end = COUNT(list)};
  const struct static_times times = {.list = list, .count = COUNT(list), .problems = &problem, .problem_count = 1};
  struct static_fit out;
  for (size_t i = 0; i < COUNT(list); i++) {
    list[i].features[STATIC_COST_starts] = (double)i / COUNT(list);
    list[i].log_time = static_cost_sum(&static_weights_built_in, list[i].features);
  }
  static_fit_make(&times, 0, 1, &out);
  CHECK_NEAR(1, out.ordered_before, 1e-9, "all pairs");
  CHECK(!out.is_kept, "%g after", out.ordered_after);
  list[7].features[STATIC_COST_starts] = NAN;
  static_fit_make(&times, 0, 1, &out);
  CHECK(!out.is_kept, "NaN");
}

TEST(weights_that_make_no_sense_are_not_read) {
  static const char *const changes[] = {
      "update prediction set value = 9e999 where coefficient = 'static_memory'",
      "update prediction set value = -9e999 where coefficient = 'static_memory'",
      "update prediction set value = 1e300",
      "update prediction set value = -3.01 where coefficient = 'static_many_points'",
      "delete from prediction where coefficient = 'static_fill'",
      "update prediction set coefficient = 'static_other' where coefficient = 'static_fill'",
  };
  for (size_t i = 0; i < COUNT(changes); i++) {
    struct work work = work_begin();
    struct store *store;
    struct static_weights weights = {{42}};
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    tuned_put(store, &(struct tuned){GPU_H200, "star7", "direct", NULL, DTYPE_F32, {64, 64, 64}, MADE_USUAL, 1});
    made_weights_store(store, &static_weights_built_in);
    CHECK_EQ(STATIC_STORED, read_weights(store, GPU_H200, &weights), "before");
    weights.of[0] = 42;
    CHECK_OK(query_script(store_connection(store), changes[i]));
    CHECK_EQ(STATIC_NONSENSE, read_weights(store, GPU_H200, &weights), "%s", changes[i]);
    CHECK_NEAR(42, weights.of[0], 0, "%s: untouched", changes[i]);
    store_close(store);
    work_end(&work);
  }
  struct static_weights weights = static_weights_built_in;
  CHECK(static_weights_are_sensible(&weights), "the built-in ones");
  weights.of[STATIC_COST_edge] = NAN;
  CHECK(!static_weights_are_sensible(&weights), "NaN");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_problems_give_the_weights_themselves),
      cmocka_unit_test(the_weights_of_made_times_are_found),
      cmocka_unit_test(weights_are_no_coefficients_of_lookups),
      cmocka_unit_test(few_times_leave_the_built_in_weights),
      cmocka_unit_test(weights_that_are_no_better_are_not_kept),
      cmocka_unit_test(weights_that_make_no_sense_are_not_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
