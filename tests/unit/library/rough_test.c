/* rough_test.c: rough costs are as near to those of predict.h as rough_costs.h says. */
#include "library/predict/rough_costs.h"

#include <math.h>

#include "base/numbers/branchless.h"
#include "base/numbers/random.h"
#include "base/numbers/wide_vectors.h"
#include "tests/unit/unit.h"

/* A number between two others, most often near the smaller one. */
static float between(uint64_t seed, uint64_t number, double least, double most) {
  return (float)(least * pow(most / least, (double)(random_bits(seed, number) % 4096) / 4095));
}

TEST(logarithms_and_powers_are_nearly_right) {
  for (uint64_t i = 0; i < 20000; i++) {
    const float value = between(1, i, 1e-30, 1e30), exponent = 80 * (2 * between(2, i, 0.01, 1) - 1);
    const double log_of = log((double)value), power = exp((double)exponent);
    CHECK_NEAR(log_of, (double)rough_log(value), 1e-6 * fmax(1, fabs(log_of)), "log(%g)", (double)value);
    CHECK_NEAR(1, (double)rough_exp(exponent) / power, 1e-5, "exp(%g)", (double)exponent);
    CHECK_NEAR((double)ceilf(value), (double)round_up(value), 0, "%g", (double)value);
    CHECK_NEAR(ceil(1e3 * (double)value), round_up_double(1e3 * (double)value), 0, "%g", 1e3 * (double)value);
  }
  CHECK_NEAR(0, (double)rough_log(1), 0, "log(1)");
  CHECK_NEAR(exp(80), (double)rough_exp(1e9F), 1e30, "a large exponent");
  CHECK_NEAR(exp(-80), (double)rough_exp(-INFINITY), 1e-39, "a small exponent");
  CHECK(isinf(round_up(INFINITY)) && isinf(round_up_double(INFINITY)), "infinite numbers are whole");
}

enum { SHAPES = ROUGH_AT_ONCE };

/* Random shapes. Some do not have tiles along all axes, some have clusters, and some tell nothing of their blocks. */
static void make_shapes(uint64_t seed, float columns[6][SHAPES]) {
  for (uint64_t i = 0; i < SHAPES; i++) {
    for (uint64_t axis = 0; axis < MAX_DIMS; axis++) {
      const bool is_tiled = random_bits(seed, 10 * i + axis) % 5 > 0;
      columns[axis][i] = is_tiled ? roundf(3 * between(seed + 1, 10 * i + axis, 1, 512)) / 3 : 0;
    }
    columns[3][i] = (float)(random_bits(seed, 10 * i + 3) % 4);
    columns[4][i] = (float)(1 + random_bits(seed, 10 * i + 4) % 32);
    columns[5][i] = (float)(random_bits(seed, 10 * i + 5) % 3);
  }
}

static struct predict_model random_model(uint64_t seed) {
  struct predict_model model = predict_default();
  for (uint64_t i = 0; i < PREDICT_COEFFICIENTS && seed % 2; i++) {
    const double least = i < PREDICT_FEATURES ? -3 : 0;
    model.coefficients[i] = least + (3 - least) * (double)(random_bits(seed, 200 + i) % 1024) / 1023;
  }
  return model;
}

TEST(rough_costs_are_near_the_exact_ones) {
  static float columns[6][SHAPES];
  const struct predict_gpu gpu = {132, 4813, 62914560, 4256, 90};
  for (uint64_t seed = 0; seed < 200; seed++) {
    const struct predict_model model = random_model(seed);
    const double n[MAX_DIMS] = {ceil((double)between(seed, 100, 1, 2000)), ceil((double)between(seed, 101, 1, 2000)),
                                random_bits(seed, 102) % 3 ? ceil((double)between(seed, 103, 1, 2000)) : 1};
    const struct predict_work work = {{n[0], n[1], n[2]}, 4 * n[0], 8 * n[0] * n[1] * n[2], 3, 0, 0, DTYPE_F32};
    const struct shape_columns shapes = {{columns[0], columns[1], columns[2]}, columns[3], columns[4], columns[5]};
    const enum launch_mode mode = seed % 3 ? LAUNCH_STREAM : LAUNCH_GRAPH;
    const int first = (int)(seed % 2) * WIDE_LANES;
    struct predict_place place;
    struct block_terms terms[SHAPES / WIDE_LANES];
    struct rough_costs costs;
    make_shapes(seed, columns);
    predict_place_of(&model, &work, &gpu, &place);
    block_terms_of(&shapes, SHAPES, &work, place.sm_count, terms);
    rough_costs_of(&model, &terms[first / WIDE_LANES], SHAPES - first, &place, mode, &costs);
    for (int i = 0; i < SHAPES - first; i++) {
      const int at = first + i;
      const struct predict_shape shape = {
          {columns[0][at], columns[1][at], columns[2][at]}, columns[3][at], 64, columns[4][at], columns[5][at], 0};
      struct predict_cost cost, of_blocks;
      predict_cost_in(&model, &shape, &place, &cost);
      predict_cost_of_blocks(&model, terms, at, &place, &of_blocks);
      CHECK_NEAR((double)cost.log_ms[mode], (double)of_blocks.log_ms[mode], 0, "seed %d, shape %d", (int)seed, at);
      const struct predict_bounds bounds = predict_bounds_of(&cost, mode);
      const double error = (double)rough_error;
      CHECK_NEAR((double)cost.factor, (double)costs.factor[i], error, "seed %d, shape %d", (int)seed, at);
      CHECK_NEAR((double)cost.features[PREDICT_fill], (double)costs.fill[i], error, "seed %d, shape %d", (int)seed, at);
      CHECK_NEAR((double)cost.log_ms[mode], (double)costs.log_ms[i], error, "seed %d, shape %d", (int)seed, at);
      CHECK_NEAR((double)cost.launch_share[mode], (double)costs.launch_share[i], error, "seed %d, shape %d", (int)seed,
                 at);
      CHECK_NEAR((double)bounds.log_start, (double)costs.log_start[i], error, "seed %d, shape %d", (int)seed, at);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logarithms_and_powers_are_nearly_right),
      cmocka_unit_test(rough_costs_are_near_the_exact_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
