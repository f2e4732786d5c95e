/* candidates_test.c: the order of the rows that may answer, and which element types they have. */
#include "library/lookup/candidates.h"

#include <math.h>

#include "base/numbers/random.h"
#include "tests/unit/library/tuned.h"

#define F32 DTYPE_F32
#define F64 DTYPE_F64
#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

static const struct tuned rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", F32, {512, 512, 512}, USUAL, 0.30},
    {GPU_H200, "star7", "zmarch", "vector=4", F32, {256, 256, 256}, USUAL, 0.05},
    {GPU_H200, "star7", "zmarch", "vector=2", F32, {320, 64, 96}, USUAL, 0.011},
    {GPU_H200, "star7", "direct", "block_x=32", F32, {640, 512, 32}, USUAL, 0.04},
    {GPU_H200, "star7", "direct", "block_x=64", F64, {64, 64, 64}, USUAL, 0.003},
    {GPU_H200, "star7", "direct", "block_x=128", F64, {512, 512, 512}, USUAL, 0.75},
    {GPU_H200, "star7", "zmarch", "vector=1", F64, {128, 128, 512}, USUAL, 0.06},
    {GPU_H200, "star13", "zmarch", "vector=1", F32, {256, 256, 256}, USUAL, 0.06},
    {GPU_H100, "star7", "direct", "block_x=32", F32, {96, 96, 96}, USUAL, 0.006},
};

static struct work work;
static halotune_ctx *ctx;

static int set_up(void **state) {
  (void)state;
  return tuned_begin(&work, rows, COUNT(rows), &ctx);
}

static int tear_down(void **state) {
  (void)state;
  return tuned_end(&work, ctx);
}

/* A winner of the other element type on a grid like the asked one is better than one of a grid that is far. */
TEST(the_other_element_type_answers_for_a_near_grid) {
  static const struct {
    long long n;
    halotune_dtype dtype;
    halotune_match match;
    const char *value; /* of block_x of `direct` */
  } cases[] = {
      {66, HALOTUNE_F32, HALOTUNE_MATCH_SIMILAR, "64"},
      {66, HALOTUNE_F64, HALOTUNE_MATCH_NEAR_GRID, "64"},
      {500, HALOTUNE_F64, HALOTUNE_MATCH_NEAR_GRID, "128"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const long long n = cases[i].n;
    const halotune_problem problem = {
        .stencil = "star7", .device = "NVIDIA H200", .grid = {n, n, n}, .dtype = cases[i].dtype};
    halotune_config config;
    halotune_parameter parameter;
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK_EQ(cases[i].match, config.match, "row %zu", i);
    CHECK_TEXT("direct", config.template_name, "row %zu", i);
    CHECK_OK(halotune_config_parameter(&config, "block_x", &parameter));
    CHECK_TEXT(cases[i].value, parameter.value, "row %zu", i);
    CHECK(config.expected_error < choose_doubtful, "row %zu: %g", i, config.expected_error);
  }
}

/* Candidates are ranked when they are needed. All come in the order of predicted time plus three errors. */
static void take_all(const struct question *question, enum candidates_range range, int problem) {
  struct candidates candidates;
  struct candidate candidate;
  double before = -INFINITY;
  int taken = 0;
  CHECK_OK(candidates_find(question, range, &candidates));
  while (candidates_take(&candidates, &candidate)) {
    const struct prediction prediction = candidates_predict(&candidates, &candidate);
    const double rank = log(prediction.time_ms) + 3 * prediction.error;
    CHECK(rank > before - 1e-3, "problem %d, candidate %d: %g after %g", problem, taken, rank, before);
    before = rank;
    taken++;
  }
  CHECK_EQ(candidates.count, taken, "problem %d", problem);
  CHECK_EQ(range == CANDIDATES_ALL ? (int)COUNT(rows) : (int)COUNT(rows) - 1, taken, "problem %d", problem);
  candidates_free(&candidates);
}

TEST(candidates_come_in_order) {
  enum { PROBLEMS = 200 };
  const struct known_device *device;
  struct known_device room;
  CHECK_OK(context_device(ctx, "NVIDIA H200", &room, &device));
  for (int i = 0; i < PROBLEMS; i++) {
    struct lookup_key key = {.dtype = i % 2 ? F64 : F32,
                             .launch = LAUNCH_STREAM + 1,
                             .cache = CACHE_STEADY + 1,
                             .steps = 1,
                             .model = device->model};
    struct question question;
    key.stencil = names_find(&ctx->catalog.stencil_names, "star7");
    for (int axis = 0; axis < MAX_DIMS; axis++)
      key.n[axis] = 16 + (uint32_t)(random_bits((uint64_t)i, (uint64_t)axis) % 700);
    CHECK_OK(question_begin(ctx, &key, device, &question));
    take_all(&question, CANDIDATES_OWN, i);
    take_all(&question, CANDIDATES_ALL, i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_other_element_type_answers_for_a_near_grid),
      cmocka_unit_test(candidates_come_in_order),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
