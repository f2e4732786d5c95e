/* predict_test.c: shapes of real templates, and what the model makes of grids, GPUs and unknown numbers. */
#include "library/predict/predict.h"
#include "stencil/template/template_read.h"
#include "tests/unit/template/templates.h"

static const double points_of_512[MAX_DIMS] = {512, 512, 512};
static const struct predict_gpu h200 = {132, 4813, 62914560, 0, 0};

static struct variant_spec spec_of(const char *stencil, const char *template, long n, const char *set) {
  struct variant_spec spec = {.dtype = DTYPE_F32, .limits = arch_device_limits(arch_find(9, 0))};
  struct stencil *parsed;
  struct analysis *analysis;
  struct template *read;
  char path[64];
  snprintf(path, sizeof path, "kernels/%s.yaml", stencil);
  CHECK_OK(stencil_read(path, &parsed));
  CHECK_OK(analysis_make(parsed, &analysis));
  snprintf(path, sizeof path, "templates/%s.yaml", template);
  CHECK_OK(template_read(path, &read));
  struct grid grid = {{n, n, parsed->dims > 2 ? n : 1}};
  spec.stencil = parsed;
  spec.analysis = analysis;
  spec.template = read;
  spec.domain = domain_dense(parsed, analysis, &grid);
  spec.configuration = configuration_for(&spec, set);
  return spec;
}

static struct predict_shape shape_of(const char *stencil, const char *template, const char *set) {
  struct variant_spec spec = spec_of(stencil, template, 512, set);
  struct bindings bindings;
  double facts[FACT_COUNT];
  facts_fill(spec.stencil, spec.analysis, spec.dtype, &spec.domain, &spec.limits, false, facts);
  CHECK_OK(bindings_make(spec.template, facts, &bindings));
  bindings_configure(&bindings, &spec.configuration);
  const struct predict_shape shape = predict_shape_of(&bindings, 0.5, 2048);
  for (int i = 0; i < FACT_COUNT; i++) CHECK_NEAR(facts[i], bindings.variables[i], 0, "fact %d", i);
  bindings_free(&bindings);
  template_free((struct template *)(uintptr_t)spec.template);
  analysis_free((struct analysis *)(uintptr_t)spec.analysis);
  stencil_free((struct stencil *)(uintptr_t)spec.stencil);
  return shape;
}

static const struct {
  const char *stencil, *template, *set;
  double tile[MAX_DIMS], blocks, threads;
} shapes[] = {
    {"star7",
     "direct",
     "block_x=128 block_y=2 block_z=1 vector=2 points_x=1 points_y=1 points_z=4",
     {256, 2, 4},
     1,
     256},
    {"star7",
     "zmarch",
     "block_x=32 block_y=8 points_y=2 vector=2 cluster_y=1 band=0 z_slicing=16",
     {64, 16, 16},
     1,
     256},
    {"star7",
     "zmarch",
     "block_x=32 block_y=8 points_y=2 vector=2 cluster_y=1 band=64 z_slicing=16",
     {64, 64, 16},
     4,
     256},
    {"scan_z", "scan", "block_x=64 block_y=1 method=march", {0, 1, 0}, 1, 64},
    {"heat2d", "pipeline_rows", "steps=4 warps=4 min_blocks=2", {0, 0, 0}, -2, 128}, /* two for each multiprocessor */
};

TEST(shapes_follow_the_launch_formulas) {
  for (size_t i = 0; i < COUNT(shapes); i++) {
    const struct predict_shape shape = shape_of(shapes[i].stencil, shapes[i].template, shapes[i].set);
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      if (axis == 0 && shapes[i].tile[0] == 0) continue;
      CHECK_NEAR(shapes[i].tile[axis], (double)shape.tile[axis], 0.01, "row %zu, axis %d", i, axis);
    }
    CHECK_NEAR(shapes[i].blocks, (double)shape.blocks, 0, "row %zu", i);
    CHECK_NEAR(shapes[i].threads, (double)shape.threads, 0, "row %zu", i);
    CHECK_NEAR(round(1024 / shapes[i].threads), (double)shape.blocks_per_sm, 0, "row %zu", i);
  }
}

/* The predicted time of a variant on one grid and GPU, from its time on others. */
static double time_between(const struct predict_gpu *const gpus[2], const struct predict_shape *shape, double time_ms,
                           const double from[MAX_DIMS], const double to[MAX_DIMS]) {
  const struct predict_model model = predict_default();
  const double *const points[] = {from, to};
  struct predict_cost costs[2];
  for (int i = 0; i < 2; i++) {
    const double *n = points[i];
    const struct predict_work work = {{n[0], n[1], n[2]}, n[0] * 4, n[0] * n[1] * n[2] * 8, 3, 0, 0, DTYPE_F32};
    predict_cost(&model, shape, &work, gpus[i], &costs[i]);
  }
  return predict(&model, time_ms, &costs[0], LAUNCH_STREAM, &costs[1], LAUNCH_STREAM, 0, 0).time_ms;
}

static double time_on(const struct predict_gpu *gpu, const struct predict_shape *shape, double time_ms,
                      const double from[MAX_DIMS], const double to[MAX_DIMS]) {
  const struct predict_gpu *const gpus[] = {gpu, gpu};
  return time_between(gpus, shape, time_ms, from, to);
}

static double time_at(const struct predict_shape *shape, double time_ms, const double from[MAX_DIMS],
                      const double to[MAX_DIMS]) {
  return time_on(&h200, shape, time_ms, from, to);
}

static double ratio(const struct predict_shape *shape, const double from[MAX_DIMS], const double to[MAX_DIMS]) {
  return time_at(shape, 1, from, to);
}

/* A launch of as many blocks as the GPU holds has whole waves on each GPU. */
TEST(some_launches_fill_every_gpu) {
  const struct predict_gpu pcie = {114, 2039, 52428800, 0, 0}, *const gpus[] = {&h200, &pcie};
  const struct predict_shape shape = shape_of("heat2d", "pipeline_rows", "steps=4 warps=4 min_blocks=2");
  const struct predict_model model = predict_default();
  for (int i = 0; i < 2; i++) {
    const struct predict_work work = {{512, 512, 1}, 2048, 512.0 * 512 * 8, 3, 0, 0, DTYPE_F32};
    struct predict_shape full = shape;
    struct predict_cost cost;
    full.blocks_per_sm = 2;
    predict_cost(&model, &full, &work, gpus[i], &cost);
    CHECK_NEAR(0, (double)cost.features[PREDICT_tail], 1e-6, "GPU %d", i);
    CHECK_NEAR(0, (double)cost.features[PREDICT_idle], 1e-6, "GPU %d", i);
    CHECK_NEAR(2 * gpus[i]->sm_count * 0.61e-6, (double)cost.dispatch_ms, 1e-9, "GPU %d", i);
  }
}

TEST(time_follows_the_points_of_large_grids) {
  const struct predict_shape shape = {{64, 16, 4}, 1, 256, 4, 1, 0};
  const double twice[] = {512, 512, 1024};
  CHECK_NEAR(1, ratio(&shape, points_of_512, points_of_512), 1e-6, "the same grid");
  CHECK_NEAR(2, ratio(&shape, points_of_512, twice), 0.05, "twice the planes");
}

/* Measured: a variant of star13 f64 takes 1.12 times as long on an H100 as on an H200 for 128x128x128, whose fields
 * stay in the L2 cache. The H200's memory is 1.44 times as fast. */
TEST(the_rate_of_memory_counts_beyond_the_cache) {
  const struct predict_gpu h100 = {132, 3352, 52428800, 0, 0}, *const gpus[] = {&h200, &h100};
  const struct predict_shape shape = {{64, 2, 4}, 1, 128, 8, 1, 0};
  static const struct {
    double side, least, most;
  } rows[] = {{128, 1.05, 1.15}, {160, 1.05, 1.15}, {208, 1.2, 1.4}, {512, 1.42, 1.45}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const double n[] = {rows[i].side, rows[i].side, rows[i].side}, times = time_between(gpus, &shape, 1, n, n);
    CHECK(times > rows[i].least && times < rows[i].most, "row %zu: %g", i, times);
  }
}

TEST(deep_blocks_are_slow_on_small_grids) {
  const struct predict_shape deep = {{128, 32, 512}, 1, 256, 1, 1, 0}, flat = {{128, 32, 4}, 1, 256, 1, 1, 0};
  const double small[] = {100, 100, 100};
  CHECK(ratio(&deep, points_of_512, small) > 3 * ratio(&flat, points_of_512, small), "%g and %g",
        ratio(&deep, points_of_512, small), ratio(&flat, points_of_512, small));
}

/* Measured on an H200: box27 f32 of 59x32x48 takes 2.45 us with 192 blocks, 40x40x40 takes 1.70 us with 125. It has 132
 * multiprocessors, so that some compute two of the 192 blocks. */
TEST(some_multiprocessors_have_a_block_more) {
  const struct predict_shape shape = {{8, 8, 8}, 1, 512, 3, 1, 0};
  static const struct {
    double points[MAX_DIMS], idle;
  } rows[] = {
      {{8, 8, 8 * 66}, 0.6931},        /* half of the multiprocessors have none */
      {{8, 8, 8 * 132}, 0},            /* each has one */
      {{8, 8, 8 * 133}, 0.5 * 0.6856}, /* one has two */
      {{8, 8, 8 * 264}, 0},            /* each has two */
      {{8, 8, 8 * 529}, 0},            /* one has five, the others four */
  };
  const struct predict_model model = predict_default();
  for (size_t i = 0; i < COUNT(rows); i++) {
    const double *n = rows[i].points;
    const struct predict_work work = {{n[0], n[1], n[2]}, 128, n[0] * n[1] * n[2] * 8, 3, 0, 0, DTYPE_F32};
    struct predict_cost cost;
    predict_cost(&model, &shape, &work, &h200, &cost);
    CHECK_NEAR(rows[i].idle, (double)cost.features[PREDICT_idle], 1e-3, "row %zu", i);
  }
}

/* Measured on an H200: a variant of star25 f32 takes 0.293 ms for 512x512x512, and 0.548 ms for 520x520x520, whose rows
 * do not begin at multiples of 128 bytes. */
TEST(grids_are_nearer_if_their_rows_are_aligned_alike) {
  const struct predict_model model = predict_default();
  struct predict_size sizes[3];
  static const double sides[] = {512, 520, 544};
  for (size_t i = 0; i < COUNT(sides); i++) {
    const double n = sides[i];
    const struct predict_work work = {{n, n, n}, n * 4, n * n * n * 8, 3, 0, 0, DTYPE_F32};
    struct predict_place place;
    predict_place_of(&model, &work, &h200, &place);
    sizes[i] = place.common.size;
  }
  CHECK_NEAR(0.83, (double)predict_nearness(&sizes[0], &sizes[1]), 0.01, "512 and 520");
  CHECK_NEAR(0.99, (double)predict_nearness(&sizes[0], &sizes[2]), 0.01, "512 and 544");
}

/* Measured on an H200: heat2d f32 of 96x320 takes 0.87 us with 60 clusters of two blocks, 185x1472 takes 3.76 us with
 * 1104. One block in place of a cluster costs a quarter. */
TEST(many_small_blocks_wait_for_their_start) {
  const struct predict_shape pairs = {{16, 16, 0}, 2, 64, 32, 2, 0}, blocks = {{16, 16, 0}, 2, 64, 32, 1, 0};
  const struct predict_shape large = {{512, 16, 4}, 1, 256, 4, 1, 0};
  const double small[] = {94, 318, 1}, wide[] = {183, 1470, 1};
  CHECK(time_at(&pairs, 0.00087, small, wide) > 0.0017, "%g", time_at(&pairs, 0.00087, small, wide));
  CHECK(time_at(&blocks, 0.00087, small, wide) < 0.0015, "%g", time_at(&blocks, 0.00087, small, wide));
  CHECK_NEAR(
      ratio(&large, points_of_512, (const double[]){512, 512, 1024}),
      ratio(&(struct predict_shape){{512, 16, 4}, 1, 256, 4, 2, 0}, points_of_512, (const double[]){512, 512, 1024}),
      1e-6, "a large grid does not wait");
}

/* star7 in f32 on an H200, where a copy reaches 4256 GB/s: 1056x130x36 fits into the L2 cache, and 512x512x512 takes
 * 272 us. */
TEST(no_variant_is_faster_than_a_copy_unless_it_was_measured_so) {
  const struct predict_shape shape = {{128, 4, 18}, 1, 256, 4, 1, 0};
  struct predict_gpu gpu = h200;
  const double cached[] = {1056, 130, 36}, large[] = {640, 512, 512}, other[] = {128, 130, 300};
  const double bytes = 640 * 512 * 512 * 8.0, cached_ms = 0.0085, fast_ms = 0.3 * 512 * 512 * 512 * 8.0 / 4256e6;
  const double free_ms = time_on(&(struct predict_gpu){132, 4813, 0, 4256, 0}, &shape, cached_ms, cached, other);
  CHECK_NEAR(bytes / 4813e6, time_on(&gpu, &shape, cached_ms, cached, large), 1e-3, "the peak stands for a copy");
  gpu.copy_gbs = 4256;
  CHECK_NEAR(bytes / 4256e6, time_on(&gpu, &shape, cached_ms, cached, large), 1e-3, "a copy");
  CHECK_NEAR(0.272 * 640 / 512, time_on(&gpu, &shape, 0.272, points_of_512, large), 0.01, "slower than a copy");
  CHECK_NEAR(0.3 * bytes / 4256e6, time_on(&gpu, &shape, fast_ms, points_of_512, large), 1e-3, "its own rate");
  CHECK_NEAR(1, time_on(&gpu, &shape, cached_ms, cached, other) / free_ms, 0.2, "the cache holds both");
}

/* On an H200, 125 additions a point of 512x512x512 in f32 take 0.50 ms at the peak rate, and 0.66 at three quarters of
 * it. The fastest variant took 0.64. If weights that repeat are grouped, fewer operations are left. */
TEST(no_variant_computes_faster_than_the_multiprocessors_can) {
  static const struct {
    int capability;
    enum dtype dtype;
    double least_ms; /* 0: none */
  } rows[] = {{90, DTYPE_F32, 0.4965 / 0.75}, {90, DTYPE_F64, 0.993 / 0.75}, {0, DTYPE_F32, 0}, {103, DTYPE_F64, 0}};
  const struct predict_shape shape = {{128, 4, 18}, 1, 256, 4, 1, 0};
  const struct predict_model model = predict_default();
  const double points = 512.0 * 512 * 512, time_ms = 0.3;
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct predict_gpu gpu = {132, 4813, 62914560, 4256, rows[i].capability};
    const struct predict_work few = {{512, 512, 512}, 2048, points * 8, 3, 7 * points, 7 * points, rows[i].dtype},
                              many = {{512, 512, 512}, 2048, points * 8, 3, 343 * points, 125 * points, rows[i].dtype};
    struct predict_cost measured, asked;
    predict_cost(&model, &shape, &few, &gpu, &measured);
    predict_cost(&model, &shape, &many, &gpu, &asked);
    const double from_few = predict(&model, time_ms, &measured, LAUNCH_STREAM, &asked, LAUNCH_STREAM, 0, 0).time_ms;
    const double from_many = predict(&model, time_ms, &asked, LAUNCH_STREAM, &asked, LAUNCH_STREAM, 0, 0).time_ms;
    CHECK_NEAR(fmax(time_ms, rows[i].least_ms), from_few, 1e-3 * from_few, "row %zu", i);
    CHECK_NEAR(time_ms, from_many, 1e-6, "row %zu: what was measured can be", i);
  }
}

TEST(nothing_is_known_of_a_GPU_or_of_blocks) {
  const struct predict_model model = predict_default();
  const struct predict_gpu nothing = {0};
  const struct predict_shape shapes_of[] = {{{0}, 0, 0, 0, 0, 0}, {{64, 16, 4}, 1, 256, 4, 1, 0}};
  const struct predict_work works[] = {{{0}, 0, 0, 0, 0, 0, DTYPE_F32},
                                       {{512, 512, 512}, 2048, 1e9, 3, 1e9, 1e9, DTYPE_F32}};
  for (int i = 0; i < 4; i++) {
    struct predict_cost cost;
    predict_cost(&model, &shapes_of[i / 2], &works[i % 2], &nothing, &cost);
    CHECK(isfinite(cost.log_ms[LAUNCH_STREAM] + cost.log_ms[LAUNCH_GRAPH]), "row %d", i);
    const struct prediction prediction = predict(&model, 0.5, &cost, LAUNCH_GRAPH, &cost, LAUNCH_GRAPH, 0, 0);
    CHECK_NEAR(0.5, prediction.time_ms, 0, "row %d", i);
    CHECK_NEAR(model.coefficients[PREDICT_sigma], prediction.error, 1e-9, "row %d", i);
  }
}

TEST(unsteady_variants_are_predicted_with_a_larger_error_where_launches_are_short) {
  static const struct {
    const char *template, *set;
    float unsteady;
  } rows[] = {{"patch", "overlap=1 arguments=lazy", 1},
              {"patch", "overlap=1 arguments=early", 0},
              {"patch", "overlap=0 arguments=lazy", 0},
              {"direct", "", 0}};
  const struct predict_model model = predict_default();
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct predict_shape shape = shape_of("star7", rows[i].template, rows[i].set);
    CHECK_NEAR((double)rows[i].unsteady, (double)shape.unsteady, 0, "row %zu", i);
  }
  struct predict_shape steady = shape_of("star7", "patch", "overlap=1 arguments=early"), unsteady = steady;
  unsteady.unsteady = 1;
  for (int n = 32; n <= 512; n *= 2) {
    const double points = (double)n * n * n;
    const struct predict_work work = {{n, n, n}, 4.0 * n, 8 * points, 3, 9 * points, 9 * points, DTYPE_F32};
    struct predict_cost costs[2];
    predict_cost(&model, &steady, &work, &h200, &costs[0]);
    predict_cost(&model, &unsteady, &work, &h200, &costs[1]);
    const struct prediction a = predict(&model, 0.01, &costs[0], LAUNCH_GRAPH, &costs[0], LAUNCH_GRAPH, 0, 0),
                            b = predict(&model, 0.01, &costs[1], LAUNCH_GRAPH, &costs[1], LAUNCH_GRAPH, 0, 0);
    const double share = (double)costs[1].launch_share[LAUNCH_GRAPH];
    CHECK_NEAR(a.time_ms, b.time_ms, 0, "%d points a side", n);
    CHECK_NEAR(model.coefficients[PREDICT_sigma_unsteady] * share, b.error - a.error, 1e-6, "%d points a side", n);
    CHECK(n > 32 || share > 0.5, "a launch on 32^3 points has a share of %g", share);
    CHECK(n < 512 || share < 0.02, "a launch on 512^3 points has a share of %g", share);
  }
}

TEST(nonsense_is_no_model) {
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1e30, -4, 4};
  struct predict_model model = predict_default();
  CHECK(predict_is_sensible(&model), "the defaults");
  for (int at = 0; at < PREDICT_COEFFICIENTS; at++) {
    for (size_t i = 0; i < COUNT(bad); i++) {
      model = predict_default();
      model.coefficients[at] = bad[i];
      CHECK(!predict_is_sensible(&model), "%s is %g", predict_names[at], bad[i]);
    }
  }
  model = predict_default();
  model.coefficients[PREDICT_sigma] = -0.1;
  CHECK(!predict_is_sensible(&model), "an error below 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_follow_the_launch_formulas),
      cmocka_unit_test(many_small_blocks_wait_for_their_start),
      cmocka_unit_test(no_variant_is_faster_than_a_copy_unless_it_was_measured_so),
      cmocka_unit_test(some_launches_fill_every_gpu),
      cmocka_unit_test(time_follows_the_points_of_large_grids),
      cmocka_unit_test(the_rate_of_memory_counts_beyond_the_cache),
      cmocka_unit_test(deep_blocks_are_slow_on_small_grids),
      cmocka_unit_test(some_multiprocessors_have_a_block_more),
      cmocka_unit_test(grids_are_nearer_if_their_rows_are_aligned_alike),
      cmocka_unit_test(no_variant_computes_faster_than_the_multiprocessors_can),
      cmocka_unit_test(nothing_is_known_of_a_GPU_or_of_blocks),
      cmocka_unit_test(unsteady_variants_are_predicted_with_a_larger_error_where_launches_are_short),
      cmocka_unit_test(nonsense_is_no_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
