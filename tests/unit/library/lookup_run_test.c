/* lookup_run_test.c: halotune_run on the driver of tests/fake_cuda, which executes kernels on the CPU: any number of
 * steps gives what as many launches of one step give. */
#include <math.h>
#include <stdlib.h>

#include "gpu/driver/device.h"
#include "library/kernel/kernel_set.h"
#include "stencil/analysis/iterate.h"
#include "tests/unit/fake_cuda.h"
#include "tests/unit/library/tuned.h"

enum { MOST_ELEMENTS = 8192, MOST_BUFFERS = 10 };

/* A case and the row of its single step. Times are such that more steps take less time a step. */
#define ONE_STEP(stencil, dtype, nx, ny, nz) \
  { GPU_H200, stencil, "direct", "block_x=32", dtype, {nx, ny, nz}, LAUNCH_STREAM, CACHE_STEADY, false, 1 }
#define FUSED(stencil, set, dtype, nx, ny, nz, time_ms) \
  { GPU_H200, stencil, "fused_tile", set, dtype, {nx, ny, nz}, LAUNCH_STREAM, CACHE_STEADY, false, time_ms }

static const struct tuned rows_stored[] = {
    ONE_STEP("heat2d", DTYPE_F32, 40, 30, 1),
    FUSED("heat2d", "steps=4 tile_x=16 tile_y=8 tile_z=1 block_x=64", DTYPE_F32, 40, 30, 1, 2),
    FUSED("heat2d", "steps=2 tile_x=16 tile_y=8 tile_z=1 block_x=64", DTYPE_F32, 40, 30, 1, 1.5),
    ONE_STEP("advect1d", DTYPE_F64, 200, 1, 1),
    FUSED("advect1d", "steps=3 tile_x=64 tile_y=1 tile_z=1 block_x=64", DTYPE_F64, 200, 1, 1, 2),
    ONE_STEP("asymmetric/skew_steps_3d", DTYPE_F64, 14, 10, 9),
    FUSED("asymmetric/skew_steps_3d", "steps=2 tile_x=8 tile_y=4 tile_z=4 block_x=64", DTYPE_F64, 14, 10, 9, 1.5),
    ONE_STEP("wave25", DTYPE_F32, 16, 14, 13),
    FUSED("wave25", "steps=2 tile_x=8 tile_y=4 tile_z=4 block_x=64", DTYPE_F32, 16, 14, 13, 1.5),
    /* a launch of several steps that is not worth it */
    ONE_STEP("star13", DTYPE_F32, 24, 12, 10),
    FUSED("star13", "steps=2 tile_x=8 tile_y=4 tile_z=4 block_x=64", DTYPE_F32, 24, 12, 10, 2.5),
    /* launches that are gathered in graphs */
    {GPU_H200, "star7", "direct", "block_x=32", DTYPE_F64, {24, 12, 10}, LAUNCH_GRAPH, CACHE_STEADY, false, 0.002},
    {GPU_H200,
     "star7",
     "fused_tile",
     "steps=2 tile_x=8 tile_y=4 tile_z=4 block_x=64",
     DTYPE_F64,
     {24, 12, 10},
     LAUNCH_GRAPH,
     CACHE_STEADY,
     false,
     0.003},
    /* an output in the memory of an input, by single launches and in graphs */
    ONE_STEP("../tests/data/wave_in_place", DTYPE_F32, 24, 20, 1),
    {GPU_H200,
     "../tests/data/wave_in_place",
     "direct",
     "block_x=32",
     DTYPE_F64,
     {24, 20, 1},
     LAUNCH_GRAPH,
     CACHE_STEADY,
     false,
     0.002},
    {GPU_H200,
     "../tests/data/two_in_place",
     "direct",
     "block_x=32",
     DTYPE_F64,
     {24, 20, 1},
     LAUNCH_GRAPH,
     CACHE_STEADY,
     false,
     0.002},
    ONE_STEP("../tests/data/needed_in_place", DTYPE_F32, 24, 20, 1),
    ONE_STEP("triad", DTYPE_F32, 4096, 1, 1),
};

static struct work work;
static halotune_ctx *ctx;
static struct cu cu;
static struct device device;
static CUdeviceptr arrays[MOST_BUFFERS];

static int set_up(void **state) {
  (void)state;
  work = work_begin();
  setenv("XDG_CACHE_HOME", work.folder, 1);
  CHECK(find_fake_cuda(), "there is no driver of tests: run 'make fake-cuda'");
  tuned_make(work.path, rows_stored, COUNT(rows_stored));
  tuned_change(work.path, "update best set cubin = zeroblob(0)");
  const char *paths[] = {work.path};
  CHECK_OK(halotune_open(paths, 1, &ctx));
  CHECK_OK(cu_open(&cu));
  CHECK_OK(device_open(&cu, 0, &device));
  for (int i = 0; i < MOST_BUFFERS; i++)
    CHECK_OK(cu_check(&cu, cu.mem_alloc(&arrays[i], MOST_ELEMENTS * sizeof(double)), "cuMemAlloc"));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (int i = 0; i < MOST_BUFFERS; i++) cu.mem_free(arrays[i]);
  halotune_close(ctx);
  device_close(&device);
  work_end(&work);
  return 0;
}

static void *array(int number) { return (void *)(uintptr_t)arrays[number]; }

/* A kernel for the problem of a row, with at most so many steps a launch. */
static halotune_kernel *create(const struct tuned *row, int steps, const halotune_layout *layout,
                               halotune_config *config) {
  halotune_kernel *kernel;
  const char *slash = strrchr(row->stencil, '/');
  halotune_problem problem = {.stencil = slash ? slash + 1 : row->stencil,
                              .grid = {row->n[0], row->n[1], row->n[2]},
                              .dtype = (halotune_dtype)row->dtype,
                              .steps = steps};
  CHECK_OK(halotune_lookup(ctx, &problem, config));
  CHECK_OK(halotune_kernel_create(ctx, config, NULL, layout, &kernel));
  return kernel;
}

/* Fill all arrays with the same numbers: so they agree at the points that no step computes. */
static void write_arrays(enum dtype dtype) {
  static double doubles[MOST_ELEMENTS];
  static float floats[MOST_ELEMENTS];
  for (int k = 0; k < MOST_ELEMENTS; k++) floats[k] = (float)(doubles[k] = (double)((k * 7) % 101) / 101);
  const void *from = dtype == DTYPE_F32 ? (const void *)floats : (const void *)doubles;
  for (int i = 0; i < MOST_BUFFERS; i++)
    CHECK_OK(cu_check(&cu, cu.to_device(arrays[i], from, (size_t)MOST_ELEMENTS * dtype_bytes(dtype)), "cuMemcpyHtoD"));
}

static void read_array(const void *pointer, enum dtype dtype, long elements, double out[MOST_ELEMENTS]) {
  static float floats[MOST_ELEMENTS];
  void *to = dtype == DTYPE_F32 ? (void *)floats : (void *)out;
  CHECK_OK(cu_check(&cu, cu.to_host(to, (CUdeviceptr)(uintptr_t)pointer, (size_t)elements * dtype_bytes(dtype)),
                    "cuMemcpyDtoH"));
  for (long k = 0; k < elements && dtype == DTYPE_F32; k++) out[k] = (double)floats[k];
}

/* Make single steps with halotune_kernel_launch. `fields` receives the buffers of the inputs, then those of the
 * outputs. */
static void step_singly(halotune_kernel *single, const struct stencil *stencil, int steps, void *fields[]) {
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS];
  for (int i = 0; i < stencil->input_count; i++) inputs[i] = i;
  for (int i = 0; i < stencil->output_count; i++) outputs[i] = stencil->input_count + i;
  for (int step = 0; step < steps; step++) {
    const void *from[MAX_FIELDS];
    void *to[MAX_FIELDS];
    for (int i = 0; i < stencil->input_count; i++) from[i] = array(inputs[i]);
    for (int i = 0; i < stencil->output_count; i++) to[i] = array(outputs[i]);
    CHECK_OK(halotune_kernel_launch(single, NULL, from, to));
    iterate_advance(stencil, 1, inputs, outputs);
  }
  for (int i = 0; i < stencil->input_count; i++) fields[i] = array(inputs[i]);
  for (int i = 0; i < stencil->output_count; i++) fields[stencil->input_count + i] = array(outputs[i]);
}

/* Compare a run with as many single steps: all inputs afterwards, and an output that no input takes. */
static void check_run(const struct tuned *row, halotune_kernel *kernel, halotune_kernel *single, int steps) {
  static double want[MOST_BUFFERS][MOST_ELEMENTS], got[MOST_ELEMENTS];
  halotune_kernel_facts facts;
  struct stencil *stencil;
  void *fields[MOST_BUFFERS];
  CHECK_OK(stencil_of_kernels(row->stencil, &stencil));
  halotune_kernel_info(kernel, &facts);
  const int results = stencil->input_count + (stencil->output_count > 1 ? 2 : 0);
  write_arrays(row->dtype);
  step_singly(single, stencil, steps, fields);
  for (int i = 0; i < results; i++) read_array(fields[i], row->dtype, (long)facts.elements, want[i]);
  write_arrays(row->dtype);
  for (int i = 0; i < facts.input_count + facts.output_count; i++) fields[i] = array(i);
  CHECK_OK(halotune_run(kernel, NULL, fields, steps));
  for (int i = 0; i < results; i++) {
    if (i == stencil->input_count) continue; /* a free buffer, whose content nobody promises */
    read_array(fields[i], row->dtype, (long)facts.elements, got);
    for (long k = 0; k < facts.elements; k++)
      CHECK_NEAR(want[i][k], got[k], row->dtype == DTYPE_F32 ? 2e-5 : 1e-12, "%s, %d steps, field %d, element %ld",
                 row->stencil, steps, i, k);
  }
  stencil_free(stencil);
}

TEST(a_run_equals_as_many_single_steps) {
  static const struct {
    int row, steps, output_count;
  } cases[] = {{0, 4, 1}, {3, 3, 1}, {5, 2, 3}, {7, 2, 2}, {11, 2, 1}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct tuned *row = &rows_stored[cases[i].row];
    halotune_config config, one;
    halotune_kernel *kernel = create(row, HALOTUNE_STEPS_ANY, NULL, &config), *single = create(row, 0, NULL, &one);
    halotune_kernel_facts facts;
    halotune_kernel_info(kernel, &facts);
    CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "%s", row->stencil);
    CHECK_EQ(cases[i].steps, config.steps, "%s", row->stencil);
    CHECK_EQ(cases[i].steps, facts.steps, "%s", row->stencil);
    CHECK_EQ(cases[i].output_count, facts.output_count, "%s", row->stencil);
    CHECK_EQ(1, one.steps, "%s", row->stencil);
    for (int steps = 1; steps <= 2 * cases[i].steps + 1; steps++) {
      check_run(row, kernel, single, steps);
      if (steps <= 2) check_run(row, single, single, steps);
    }
    halotune_kernel_free(kernel);
    halotune_kernel_free(single);
  }
}

/* Points outside of the box keep their values, however many steps a launch makes, and whatever lies between rows. */
TEST(a_run_computes_the_box_of_a_layout) {
  static const halotune_layout padded = {48, 0, {3, 5, 0}, {30, 23, 0}};
  const struct tuned *row = &rows_stored[0];
  halotune_config config;
  halotune_kernel *kernel = create(row, HALOTUNE_STEPS_ANY, &padded, &config),
                  *single = create(row, 0, &padded, &config);
  halotune_kernel_facts facts;
  halotune_kernel_info(kernel, &facts);
  CHECK_EQ(4, facts.steps, "%s", facts.parameters);
  for (int steps = 1; steps <= 9; steps += 4) check_run(row, kernel, single, steps);
  check_run(row, kernel, single, 7);
  halotune_kernel_free(kernel);
  halotune_kernel_free(single);
}

/* Graphs are used from the second run on a list on, or from the middle of a long first run on, but not in a capture. */
TEST(short_launches_are_gathered_in_graphs) {
  enum { STAR7_F64 = 11, A_GRAPH = 2 * 32 };
  const struct tuned *row = &rows_stored[STAR7_F64];
  halotune_config config;
  halotune_kernel *kernel = create(row, HALOTUNE_STEPS_ANY, NULL, &config), *single = create(row, 0, NULL, &config);
  CHECK(kernel->gathers, "short launches");
  check_run(row, kernel, single, A_GRAPH - 1);
  CHECK_EQ(0, kernel->graph_count, "too short a run");
  check_run(row, kernel, single, A_GRAPH);
  CHECK_EQ(1, kernel->graph_count, "a run on known pointers");
  CHECK_EQ(32, kernel->graphs[0].launches, "launches of a graph");
  check_run(row, kernel, single, A_GRAPH + 3);
  CHECK_EQ(1, kernel->graph_count, "the same graph");
  halotune_kernel_free(kernel);
  kernel = create(row, HALOTUNE_STEPS_ANY, NULL, &config);
  check_run(row, kernel, single, 2 * A_GRAPH + 1);
  CHECK_EQ(1, kernel->graph_count, "a long first run");
  void *fields[] = {array(0), array(1)};
  CUstream stream;
  CUgraph graph;
  CHECK_OK(cu_check(&cu, cu.stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
  CHECK_OK(cu_check(&cu, cu.capture_begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture"));
  CHECK_OK(halotune_run(kernel, stream, fields, A_GRAPH));
  CHECK_OK(cu_check(&cu, cu.capture_end(stream, &graph), "cuStreamEndCapture"));
  cu.graph_destroy(graph);
  cu.stream_destroy(stream);
  halotune_kernel_free(kernel);
  halotune_kernel_free(single);
}

/* Two buffers give what three give. With {v: u, u: u_prev} two buffers change places in each step. */
TEST(a_run_in_place_equals_one_with_separate_buffers) {
  static const struct { int row, steps; } cases[] = {{13, 1}, {13, 2}, {13, 7}, {14, 3}, {14, 100}, {14, 101}};
  static double want[2][MOST_ELEMENTS], got[MOST_ELEMENTS];
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct tuned *row = &rows_stored[cases[i].row];
    halotune_config config;
    halotune_kernel *kernel = create(row, 0, NULL, &config);
    void *apart[] = {array(0), array(1), array(2)}, *shared[] = {array(0), array(1), array(1)};
    const long elements = row->n[0] * row->n[1];
    CHECK(kernel->gathers == (row->dtype == DTYPE_F64), "row %zu", i);
    write_arrays(row->dtype);
    CHECK_OK(halotune_run(kernel, NULL, apart, cases[i].steps));
    for (int k = 0; k < 2; k++) read_array(apart[k], row->dtype, elements, want[k]);
    for (int again = 0; again < 2; again++) { /* the second time on pointers that are known */
      write_arrays(row->dtype);
      shared[0] = array(0), shared[1] = shared[2] = array(1);
      CHECK_OK(halotune_run(kernel, NULL, shared, cases[i].steps));
      CHECK(shared[0] == array(cases[i].steps % 2), "row %zu: where u is", i);
      CHECK(shared[1] == array(1 - cases[i].steps % 2), "row %zu: where u_prev is", i);
      CHECK(shared[2] == shared[1], "row %zu: v goes over u_prev", i);
      for (int k = 0; k < 2; k++) {
        read_array(shared[k], row->dtype, elements, got);
        for (long n = 0; n < elements; n++)
          CHECK_NEAR(want[k][n], got[n], 1e-30, "row %zu, input %d, element %ld", i, k, n);
      }
    }
    void *wrong[] = {array(0), array(1), array(0)};
    CHECK_EQ(HALOTUNE_ARGUMENT, halotune_run(kernel, NULL, wrong, 1), "v over u, which is read at neighbours");
    halotune_kernel_free(kernel);
  }
}

/* Each output apart or in the memory of an input. The buffers have their first places again after 2 or 3 launches. */
TEST(some_outputs_of_a_run_may_be_in_place) {
  enum { TWO_IN_PLACE = 15 };
  static const struct {
    int fields[5], launches;
  } cases[] = {{{0, 1, 2, 3, 4}, 32}, {{0, 1, 2, 1, 4}, 30}, {{0, 1, 2, 3, 0}, 30}, {{0, 1, 2, 1, 0}, 32}};
  static double want[2][MOST_ELEMENTS], got[MOST_ELEMENTS];
  const struct tuned *row = &rows_stored[TWO_IN_PLACE];
  const long elements = row->n[0] * row->n[1];
  halotune_config config;
  halotune_kernel *single = create(row, 0, NULL, &config);
  struct stencil *stencil;
  CHECK_OK(stencil_of_kernels(row->stencil, &stencil));
  for (size_t i = 0; i < COUNT(cases); i++) {
    halotune_kernel *kernel = create(row, 0, NULL, &config);
    for (int steps = 1; steps <= 100; steps = steps < 3 ? steps + 1 : steps == 3 ? 64 : steps + 3) {
      void *fields[MOST_BUFFERS];
      write_arrays(row->dtype);
      step_singly(single, stencil, steps, fields);
      for (int k = 0; k < 2; k++) read_array(fields[k], row->dtype, elements, want[k]);
      write_arrays(row->dtype);
      for (int k = 0; k < 5; k++) fields[k] = array(cases[i].fields[k]);
      CHECK_OK(halotune_run(kernel, NULL, fields, steps));
      for (int k = 0; k < 2; k++) {
        read_array(fields[k], row->dtype, elements, got);
        for (long n = 0; n < elements; n++)
          CHECK_NEAR(want[k][n], got[n], 1e-30, "row %zu, %d steps, input %d, element %ld", i, steps, k, n);
      }
    }
    CHECK(kernel->graph_count > 0, "row %zu: no launches were gathered", i);
    CHECK_EQ(cases[i].launches, kernel->graphs[0].launches, "row %zu", i);
    halotune_kernel_free(kernel);
  }
  halotune_kernel_free(single);
  stencil_free(stencil);
}

/* A single launch may write over an input that the next step needs. A run may not. */
TEST(a_run_keeps_what_its_next_step_needs) {
  enum { NEEDED_IN_PLACE = 16 };
  static const int cases[][5] = {{0, 1, 2, 1, 3}, {0, 1, 2, 3, 2}}; /* v over b, which a takes; q over w, a constant */
  static double before[MOST_ELEMENTS], after[MOST_ELEMENTS];
  halotune_config config;
  halotune_kernel *kernel = create(&rows_stored[NEEDED_IN_PLACE], 0, NULL, &config);
  for (size_t i = 0; i < COUNT(cases); i++) {
    void *fields[5];
    for (int k = 0; k < 5; k++) fields[k] = array(cases[i][k]);
    write_arrays(DTYPE_F32);
    read_array(fields[0], DTYPE_F32, MOST_ELEMENTS, before); /* what all arrays hold */
    CHECK_EQ(HALOTUNE_ARGUMENT, halotune_run(kernel, NULL, fields, 3), "row %zu", i);
    CHECK(strstr(halotune_error(ctx), "overlaps"), "row %zu: %s", i, halotune_error(ctx));
    for (int k = 0; k < 5; k++) {
      CHECK(fields[k] == array(cases[i][k]), "row %zu, field %d", i, k);
      read_array(fields[k], DTYPE_F32, MOST_ELEMENTS, after);
      for (long n = 0; n < MOST_ELEMENTS; n++)
        CHECK(before[n] == after[n], "row %zu, field %d is written at %ld", i, k, n);
    }
    CHECK_OK(halotune_kernel_launch(kernel, NULL, (const void *const *)fields, fields + 3));
  }
  halotune_kernel_free(kernel);
}

/* No launch of several steps takes pointers of so little alignment. Then single steps are made, and no failure is
 * left. */
TEST(a_run_goes_on_with_fewer_steps) {
  struct work own = work_begin();
  halotune_ctx *const usual = ctx;
  halotune_config config;
  const char *paths[] = {own.path};
  tuned_make(own.path, rows_stored, 3); /* for heat2d */
  tuned_change(own.path, "update best set cubin = zeroblob(0); update template set yaml ="
                         " replace(yaml, 'alignment_bytes: element_bytes', 'alignment_bytes: 16')");
  CHECK_OK(halotune_open(paths, 1, &ctx));
  halotune_kernel *kernel = create(&rows_stored[0], HALOTUNE_STEPS_ANY, NULL, &config);
  CHECK_EQ(4, config.steps, "%s", config.parameters);
  void *fields[] = {(float *)array(0) + 1, (float *)array(1) + 1};
  write_arrays(DTYPE_F32);
  (void)fail(HALOTUNE_IO, "an earlier failure");
  CHECK_OK(halotune_run(kernel, NULL, fields, config.steps));
  CHECK_TEXT("an earlier failure", halotune_error(ctx), "a run that succeeded");
  CHECK(fields[0] == (float *)array(0) + 1, "an even number of launches");
  halotune_kernel_free(kernel);
  halotune_close(ctx);
  ctx = usual;
  work_end(&own);
}

/* The launches of several steps fit rows of 40 points alone. */
TEST(steps_that_do_not_fit_leave_no_failure) {
  static const halotune_layout narrow = {.low = {4, 0, 0}};
  struct tuned wider = rows_stored[0];
  struct work own = work_begin();
  halotune_ctx *const usual = ctx;
  halotune_config config;
  halotune_kernel *kernel;
  halotune_kernel_facts facts;
  const char *paths[] = {own.path};
  tuned_make(own.path, rows_stored, 3); /* for heat2d */
  tuned_change(own.path, "update best set cubin = zeroblob(0); update template set yaml = replace(yaml, 'boundary_x != "
                         "periodic_endpoint || (start_x == 0) == (start_x + points_in_x == nx)', 'points_in_x == 38')");
  CHECK_OK(halotune_open(paths, 1, &ctx));
  (void)fail(HALOTUNE_IO, "an earlier failure");
  wider.n[0] = 48;
  halotune_kernel_free(create(&wider, HALOTUNE_STEPS_ANY, NULL, &config));
  CHECK_EQ(1, config.steps, "%s", config.parameters);
  CHECK_TEXT("an earlier failure", halotune_error(ctx), "a lookup");
  halotune_kernel_free(create(&rows_stored[0], HALOTUNE_STEPS_ANY, NULL, &config));
  CHECK_EQ(4, config.steps, "%s", config.parameters);
  CHECK_OK(halotune_kernel_create_boxes(ctx, &config, NULL, &narrow, 1, &kernel));
  halotune_kernel_info(kernel, &facts);
  CHECK_EQ(1, facts.steps, "%s", facts.parameters);
  CHECK_TEXT("an earlier failure", halotune_error(ctx), "the kernel of a box");
  halotune_kernel_free(kernel);
  halotune_close(ctx);
  ctx = usual;
  work_end(&own);
}

TEST(what_counts_is_the_time_of_a_step) {
  static const struct {
    int row, asked, steps;
  } cases[] = {{0, 0, 1}, {0, 1, 1}, {0, 3, 2}, {0, 4, 4}, {0, HALOTUNE_STEPS_ANY, 4}, {9, HALOTUNE_STEPS_ANY, 1}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct tuned *row = &rows_stored[cases[i].row];
    halotune_config config;
    halotune_problem problem = {.stencil = row->stencil,
                                .grid = {row->n[0] + 8, row->n[1], row->n[2]},
                                .dtype = (halotune_dtype)row->dtype,
                                .steps = cases[i].asked};
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK_EQ(cases[i].steps, config.steps, "row %zu, another grid", i);
    CHECK_EQ(HALOTUNE_MATCH_NEAR_GRID, config.match, "row %zu", i);
    problem.grid[0] -= 8;
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK_EQ(cases[i].steps, config.steps, "row %zu", i);
    CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "row %zu", i);
  }
  halotune_problem problem = {.stencil = "heat2d", .grid = {40, 30, 1}, .steps = -2};
  halotune_config config;
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_lookup(ctx, &problem, &config), "-2 steps");
}

TEST(the_arguments_of_a_run_are_checked) {
  static const struct {
    int fields[2], shift; /* arrays, -1 for NULL; shift of the second in bytes */
    long long steps;
    halotune_status want;
    const char *says;
  } cases[] = {
      {{0, 1}, 0, 0, HALOTUNE_ARGUMENT, "steps is 0; it must be 1 to"},
      {{0, 1}, 0, -1, HALOTUNE_ARGUMENT, "steps is -1;"},
      {{0, 1}, 0, 1LL << 40, HALOTUNE_ARGUMENT, "steps is 1099511627776;"},
      {{0, -1}, 0, 1, HALOTUNE_ARGUMENT, "(v) is NULL"},
      {{0, 0}, 0, 1, HALOTUNE_ARGUMENT, "fields[1] (v) overlaps with fields[0] (u)"},
      {{0, 0}, 64, 1, HALOTUNE_ARGUMENT, "overlaps"},
      {{0, 1}, 2, 1, HALOTUNE_ARGUMENT, "multiple of 4 bytes"},
      {{0, 1}, 4, 9, HALOTUNE_OK, ""},
  };
  halotune_config config;
  halotune_kernel *kernel = create(&rows_stored[0], HALOTUNE_STEPS_ANY, NULL, &config);
  for (size_t i = 0; i < COUNT(cases); i++) {
    void *fields[2], *before[2];
    for (int k = 0; k < 2; k++)
      before[k] = cases[i].fields[k] < 0 ? NULL : (char *)array(cases[i].fields[k]) + (ptrdiff_t)k * cases[i].shift;
    memcpy(fields, before, sizeof fields);
    CHECK_EQ(cases[i].want, halotune_run(kernel, NULL, fields, cases[i].steps), "row %zu: %s", i, halotune_error(ctx));
    if (cases[i].want == HALOTUNE_OK) continue;
    CHECK(strstr(halotune_error(ctx), cases[i].says), "row %zu: %s", i, halotune_error(ctx));
    CHECK(memcmp(before, fields, sizeof fields) == 0, "row %zu changes the list", i);
  }
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_run(kernel, NULL, NULL, 1), "no list");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_run(NULL, NULL, NULL, 1), "no kernel");
  halotune_kernel_free(kernel);
  kernel = create(&rows_stored[COUNT(rows_stored) - 1], HALOTUNE_STEPS_ANY, NULL, &config);
  void *fields[3] = {array(0), array(1), array(2)};
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_run(kernel, NULL, fields, 1), "no time");
  CHECK(strstr(halotune_error(ctx), "iterate"), "%s", halotune_error(ctx));
  halotune_kernel_free(kernel);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_equals_as_many_single_steps),
      cmocka_unit_test(a_run_computes_the_box_of_a_layout),
      cmocka_unit_test(short_launches_are_gathered_in_graphs),
      cmocka_unit_test(a_run_goes_on_with_fewer_steps),
      cmocka_unit_test(steps_that_do_not_fit_leave_no_failure),
      cmocka_unit_test(what_counts_is_the_time_of_a_step),
      cmocka_unit_test(the_arguments_of_a_run_are_checked),
      cmocka_unit_test(a_run_in_place_equals_one_with_separate_buffers),
      cmocka_unit_test(some_outputs_of_a_run_may_be_in_place),
      cmocka_unit_test(a_run_keeps_what_its_next_step_needs),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
