/* random_test.c: a program that asks for random problems gets answers whose configurations keep all rules. */
#include "base/numbers/random.h"
#include "library/lookup/choose.h"
#include "library/lookup/lookup.h"
#include "tests/unit/library/tuned.h"

#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

enum { PROBLEMS = 1000 };

static const struct tuned rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4 block_x=32 block_y=8", DTYPE_F32, {512, 512, 512}, USUAL, 0.272},
    {GPU_H200, "star7", "zmarch", "vector=1 block_x=32 block_y=8", DTYPE_F32, {101, 101, 101}, USUAL, 0.0037},
    {GPU_H200, "star7", "direct", "vector=2 block_x=64 block_y=4", DTYPE_F64, {256, 256, 256}, USUAL, 0.075},
    {GPU_H200, "box27", "direct", "vector=4 block_x=32 block_y=4", DTYPE_F32, {192, 192, 192}, USUAL, 0.026},
    {GPU_H200, "heat2d", "direct", "vector=4 block_x=64 block_y=4", DTYPE_F32, {4096, 4096, 1}, USUAL, 0.036},
    {GPU_H200, "heat2d", "direct", "vector=1 block_x=32 block_y=8", DTYPE_F32, {101, 51, 1}, USUAL, 0.0008},
    {GPU_H100, "heat2d", "direct", "vector=2 block_x=64 block_y=2", DTYPE_F64, {2048, 2048, 1}, USUAL, 0.028},
};

/* A problem with 32 to 1200 points along each axis, on the GPU of the rows or on one without rows. */
static halotune_problem problem_of(uint64_t number) {
  static const char *const names[] = {"star7", "box27", "heat2d"};
  static const char *const devices[] = {"NVIDIA H200", "NVIDIA H100 PCIe", "a100 80gb pcie", "sm_90"};
  const uint64_t kind = random_bits(number, 0) % COUNT(names);
  halotune_problem problem = {.stencil = names[kind],
                              .device = devices[random_bits(number, 1) % COUNT(devices)],
                              .dtype = random_bits(number, 2) % 2 ? HALOTUNE_F64 : HALOTUNE_F32,
                              .launch = (halotune_launch_mode)(random_bits(number, 3) % 3)};
  for (int axis = 0; axis < (kind == 2 ? 2 : 3); axis++)
    problem.grid[axis] = 32 + (long long)(random_bits(number, 4 + (uint64_t)axis) % 1169);
  return problem;
}

/* Whether the configuration of an answer keeps all rules of its template on the problem's grid and GPU. */
static bool keeps_rules(halotune_ctx *ctx, const halotune_problem *problem, const halotune_config *config) {
  struct lookup_key key;
  struct known_device room;
  const struct known_device *device;
  const struct template *template;
  struct question question;
  struct answer answer;
  bool fits = false;
  CHECK_OK(config_read(ctx, config, &key, &answer));
  CHECK_OK(context_device(ctx, problem->device, &room, &device));
  CHECK_OK(question_begin(ctx, &key, device, &question));
  CHECK_OK(context_template(ctx, answer.template_at, &template));
  CHECK_OK(question_check(&question, template, &answer.configuration, &fits));
  return fits;
}

TEST(a_thousand_random_problems_are_answered) {
  struct work work = work_begin();
  halotune_ctx *ctx;
  const char *paths[] = {work.path};
  int measured = 0;
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(halotune_open(paths, 1, &ctx));
  for (uint64_t i = 0; i < PROBLEMS; i++) {
    const halotune_problem problem = problem_of(i);
    halotune_config config, again;
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK_OK(halotune_lookup(ctx, &problem, &again));
    CHECK(config.parameters == again.parameters, "problem %d: the same answer twice", (int)i);
    CHECK(keeps_rules(ctx, &problem, &config), "problem %d: %s %s", (int)i, config.template_name, config.parameters);
    if (config.match == HALOTUNE_MATCH_DEFAULT) continue;
    CHECK(config.expected_ms > 0 && config.expected_ms < 1e3, "problem %d: %g ms", (int)i, config.expected_ms);
    CHECK(config.expected_error > 0 && config.expected_error < 3, "problem %d: %g", (int)i, config.expected_error);
    measured++;
  }
  CHECK(measured > PROBLEMS / 2, "%d have an expected time", measured);
  halotune_close(ctx);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_random_problems_are_answered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
