/* pricing_test.c: the order of configurations in a family, on which trends and equal ranks depend. */
#include "library/lookup/pricing.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(configurations_come_in_the_order_of_their_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
