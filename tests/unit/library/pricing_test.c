/* pricing_test.c: the configurations of a family: their order, on which trends and equal ranks depend, those that
 * cannot be read, and those that won. */
#include "library/lookup/pricing.h"

#include "db/store/query.h"
#include "tests/unit/library/tuned.h"

#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

/* In memory, texts lie in the order in which they are read. In the order of texts, the fourth row is the first one of
 * its template. */
static const struct tuned rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, USUAL, 0.30},
    {GPU_H200, "star7", "zmarch", "vector=2", DTYPE_F32, {256, 256, 256}, USUAL, 0.05},
    {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {320, 64, 96}, USUAL, 0.011},
    {GPU_H200, "star7", "zmarch", "vector=1", DTYPE_F32, {128, 128, 128}, USUAL, 0.01},
    {GPU_H200, "star7", "direct", "block_x=64", DTYPE_F32, {640, 512, 32}, USUAL, 0.04},
};

TEST(configurations_come_in_the_order_of_their_texts) {
  struct work work;
  halotune_ctx *ctx;
  const struct priced_family *family;
  CHECK_EQ(0, tuned_begin(&work, rows, COUNT(rows), &ctx), "a database");
  CHECK_EQ(1, ctx->table.family_count, "one family");
  CHECK_OK(pricing_family(ctx, 0, &family));
  CHECK_EQ(4, family->shape_count, "configurations");
  for (int i = 1; i < family->shape_count; i++) {
    const struct priced_shape *before = &family->shapes[i - 1], *shape = &family->shapes[i];
    CHECK(before->template_at < shape->template_at ||
              (before->template_at == shape->template_at && strcmp(before->parameters, shape->parameters) < 0),
          "%s after %s", shape->parameters, before->parameters);
  }
  tuned_end(&work, ctx);
}

/* halotune_error has the detail of the last call that failed. A call that succeeds does not change it. */
TEST(parameters_that_cannot_be_read_are_no_failure) {
  struct work work;
  halotune_ctx *ctx;
  struct store *store;
  const struct priced_family *family;
  int unusable = 0;
  CHECK_EQ(0, tuned_begin(&work, rows, COUNT(rows), &ctx), "a database");
  halotune_close(ctx);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_OK(query_script(store_connection(store), "update variant set parameters = '{\"vector\":3}' where id = 2"));
  store_close(store);
  CHECK_OK(halotune_open((const char *const[]){work.path}, 1, &ctx));
  CHECK_EQ(HALOTUNE_ARGUMENT, fail(HALOTUNE_ARGUMENT, "an earlier failure"), "a call failed");
  CHECK_OK(pricing_family(ctx, 0, &family));
  CHECK_TEXT("an earlier failure", halotune_error(ctx), "its detail");
  for (int i = 0; i < family->shape_count; i++) unusable += !family->shapes[i].is_usable;
  CHECK_EQ(1, unusable, "configurations that cannot be read");
  tuned_end(&work, ctx);
}

/* A finalist says something about other stencils if its configuration won somewhere. */
TEST(rows_of_a_configuration_that_won_are_marked) {
  static const struct tuned two[] = {
      {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, USUAL, 0.27},
      {GPU_H200, "star7", "direct", "vector=1", DTYPE_F32, {64, 64, 64}, USUAL, 0.002},
  };
  static const struct {
    const char *change; /* stays for the row below */
    int winners, others;
  } cases[] = {
      {"insert into finalist select f.run_id, o.variant_id, 2, f.sample_count, 1.05*f.median_ms, f.minimum_ms, f.low_ms,"
       " f.high_ms, 1.05, 1.04, 1.06, f.samples, 0, 0, null, null, null from finalist f, finalist o"
       " where f.median_ms > 0.01 and o.median_ms < 0.01",
       3, 0},
      {"update best set is_current = 0 where time_ms < 0.01", 1, 1},
  };
  struct work work;
  halotune_ctx *ctx;
  CHECK_EQ(0, tuned_begin(&work, two, COUNT(two), &ctx), "a database");
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct priced_family *family;
    struct store *store;
    int winners = 0;
    halotune_close(ctx);
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    CHECK_OK(query_script(store_connection(store), cases[i].change));
    store_close(store);
    CHECK_OK(halotune_open((const char *const[]){work.path}, 1, &ctx));
    CHECK_OK(pricing_family(ctx, 0, &family));
    for (int row = 0; row < family->row_count; row++) winners += (family->kinds[row].mode & MODE_WINS) != 0;
    CHECK_EQ(cases[i].winners, winners, "case %zu: rows of configurations that won", i);
    CHECK_EQ(cases[i].winners + cases[i].others, family->row_count, "case %zu: rows", i);
  }
  tuned_end(&work, ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(configurations_come_in_the_order_of_their_texts),
      cmocka_unit_test(parameters_that_cannot_be_read_are_no_failure),
      cmocka_unit_test(rows_of_a_configuration_that_won_are_marked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
