/* lookup_kernel_test.c: kernels are made and launched through the public interface, with the driver of tests/fake_cuda,
 * which executes them on the CPU. Each result is compared with a loop in this file. */
#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/driver/device.h"
#include "library/kernel/kernel_set.h"
#include "tests/unit/fake_cuda.h"
#include "tests/unit/library/tuned.h"

enum { NX = 24, NY = 12, NZ = 10, MOST_ELEMENTS = 32 * 16 * 12, SPARE = 16 };
enum { SCAN_NX = 8, SCAN_NY = 6, SCAN_NZ = 100 };

static const struct tuned rows_stored[] = {
    {GPU_H200,
     "star7",
     "direct",
     "vector=4 block_x=32",
     DTYPE_F32,
     {NX, NY, NZ},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
    {GPU_H200,
     "scan_z",
     "scan_segments",
     "block_x=16 block_y=4 vector=4 points=4 window=4",
     DTYPE_F32,
     {SCAN_NX, SCAN_NY, SCAN_NZ},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
    {GPU_H200,
     "triad",
     "direct",
     "vector=4 block_x=32",
     DTYPE_F32,
     {4096, 1, 1},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
    {GPU_H200,
     "../tests/data/wave_in_place",
     "direct",
     "vector=1 block_x=16 load_path=plain",
     DTYPE_F32,
     {16, 16, 1},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
    {GPU_H200,
     "../tests/data/pointwise_keep",
     "direct",
     "vector=1 block_x=32 load_path=plain",
     DTYPE_F32,
     {64, 1, 1},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
    {GPU_H200,
     "../tests/data/mask_hold",
     "direct",
     "vector=4 block_x=16",
     DTYPE_F32,
     {16, 16, 1},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
};

/* Winners with tensor maps, clusters and overlapping launches, and one that accepts any pointers. */
static const struct tuned rows_sm_90[] = {
    {GPU_H200,
     "star7",
     "../tests/data/templates/tensor",
     "stores=engine overlap=1",
     DTYPE_F32,
     {NX, NY, NZ},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
    {GPU_H200,
     "star7",
     "../tests/data/templates/cluster",
     "overlap=1",
     DTYPE_F32,
     {NX, NY, NZ},
     LAUNCH_GRAPH,
     CACHE_STEADY,
     false,
     0.001},
    {GPU_H200,
     "star7",
     "direct",
     "vector=1 block_x=32",
     DTYPE_F32,
     {512, NY, NZ},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
};

/* A winner that reads textures, and one that does not. */
static const struct tuned rows_textures[] = {
    {GPU_H200,
     "star7",
     "zmarch",
     "storage=direct vector=1 block_x=32 load_path=texture",
     DTYPE_F32,
     {NX, NY, NZ},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
    {GPU_H200,
     "star7",
     "zmarch",
     "storage=direct vector=1 block_x=32 load_path=plain",
     DTYPE_F32,
     {512, NY, NZ},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     0.001},
};

static struct work work;
static halotune_ctx *ctx;
static struct cu cu;
static struct device device;
static CUdeviceptr arrays[3];
static float host[3][MOST_ELEMENTS + SPARE];

/* The driver is three folders above this program. */
static int set_up(void **state) {
  (void)state;
  work = work_begin();
  setenv("XDG_CACHE_HOME", work.folder, 1);
  CHECK(find_fake_cuda(), "there is no driver of tests: run 'make fake-cuda'");
  tuned_make(work.path, rows_stored, COUNT(rows_stored));
  tuned_change(work.path, "update best set cubin = zeroblob(0)"); /* as after an export without cubins */
  const char *paths[] = {work.path};
  CHECK_OK(halotune_open(paths, 1, &ctx));
  CHECK_OK(cu_open(&cu));
  CHECK_OK(device_open(&cu, 0, &device));
  for (int i = 0; i < 3; i++) CHECK_OK(cu_check(&cu, cu.mem_alloc(&arrays[i], sizeof host[i]), "cuMemAlloc"));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) cu.mem_free(arrays[i]);
  halotune_close(ctx);
  device_close(&device);
  work_end(&work);
  return 0;
}

static halotune_config look_up(const char *stencil, long long nx, long long ny, long long nz) {
  halotune_config config;
  halotune_problem problem = {stencil, NULL, {nx, ny, nz}, HALOTUNE_F32, 0, 0, 0, 0};
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  return config;
}

static void *at(int array, int offset) {
  return (void *)(uintptr_t)(arrays[array] + (CUdeviceptr)offset * sizeof(float));
}

static void write_arrays(void) {
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < MOST_ELEMENTS + SPARE; k++) host[i][k] = (float)((k * 7 + i * 13) % 101) / 101;
    CHECK_OK(cu_check(&cu, cu.to_device(arrays[i], host[i], sizeof host[i]), "cuMemcpyHtoD"));
  }
}

static const double weights[7] = {0.3, 0.1, 0.15, 0.1, 0.05, 0.2, 0.1};

/* Launch star7 from array 0 to array 1, both shifted by some elements, and compare all of array 1. */
static void check_star7(halotune_kernel *kernel, const halotune_layout *layout, int shift) {
  static float got[MOST_ELEMENTS + SPARE];
  const void *inputs[] = {at(0, shift)};
  void *outputs[] = {at(1, shift)};
  long row = layout && layout->row ? (long)layout->row : NX,
       plane = layout && layout->plane ? (long)layout->plane : row * NY;
  long low[3] = {1, 1, 1}, high[3] = {NX - 1, NY - 1, NZ - 1};
  for (int axis = 0; axis < 3 && layout; axis++) {
    if (layout->low[axis]) low[axis] = (long)layout->low[axis];
    if (layout->high[axis]) high[axis] = (long)layout->high[axis];
  }
  write_arrays();
  CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, outputs));
  CHECK_OK(cu_check(&cu, cu.to_host(got, arrays[1], sizeof got), "cuMemcpyDtoH"));
  const float *u = host[0] + shift;
  float *v = host[1] + shift;
  for (long z = low[2]; z < high[2]; z++) {
    for (long y = low[1]; y < high[1]; y++) {
      for (long x = low[0]; x < high[0]; x++) {
        long i = x + row * y + plane * z;
        v[i] = (float)(weights[0] * u[i] + weights[1] * u[i - 1] + weights[2] * u[i + 1] + weights[3] * u[i - row] +
                       weights[4] * u[i + row] + weights[5] * u[i - plane] + weights[6] * u[i + plane]);
      }
    }
  }
  for (int i = 0; i < MOST_ELEMENTS + SPARE; i++)
    CHECK_NEAR(host[1][i], got[i], 1e-5, "element %d, shifted by %d", i, shift);
}

TEST(the_winner_computes_what_it_should) {
  halotune_kernel *kernel;
  halotune_kernel_facts facts;
  halotune_config config = look_up("star7", NX, NY, NZ);
  CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "%s", config.parameters);
  CHECK_OK(halotune_kernel_create(ctx, &config, weights, NULL, &kernel));
  halotune_kernel_info(kernel, &facts);
  CHECK_EQ(16, facts.alignment_bytes, "alignment");
  CHECK_EQ((long)NX * NY * NZ, facts.elements, "elements");
  CHECK_EQ(7, facts.coefficient_count, "coefficients");
  CHECK(strstr(facts.source, facts.name), "%s", facts.name);
  check_star7(kernel, NULL, 0);
  check_star7(kernel, NULL, 0);
  check_star7(kernel, NULL, 1); /* not a multiple of a vector, so another variant runs */
  check_star7(kernel, NULL, 2);
  check_star7(kernel, NULL, 4);
  halotune_kernel_free(kernel);
}

TEST(layouts) {
  static const struct {
    halotune_layout layout;
    halotune_status want;
  } rows[] = {
      {{28, 0, {0}, {0}}, HALOTUNE_OK},
      {{25, 325, {0}, {0}}, HALOTUNE_OK}, /* rows whose length fits no vector */
      {{32, 448, {2, 1, 3}, {20, 7, 5}}, HALOTUNE_OK},
      {{0, 0, {5, 0, 0}, {6, 0, 0}}, HALOTUNE_OK},
      {{23, 0, {0}, {0}}, HALOTUNE_ARGUMENT},
      {{-1, 0, {0}, {0}}, HALOTUNE_ARGUMENT},
      {{24, 24, {0}, {0}}, HALOTUNE_ARGUMENT},
      {{LLONG_MAX, 0, {0}, {0}}, HALOTUNE_ARGUMENT},
      {{0, 1LL << 42, {0}, {0}}, HALOTUNE_ARGUMENT}, /* more elements than any field has */
      {{0, 0, {0}, {NX, 0, 0}}, HALOTUNE_ARGUMENT},  /* its taps would be outside the grid */
      {{0, 0, {7, 0, 0}, {7, 0, 0}}, HALOTUNE_ARGUMENT},
  };
  halotune_config config = look_up("star7", NX, NY, NZ);
  for (size_t i = 0; i < COUNT(rows); i++) {
    halotune_kernel *kernel;
    CHECK_EQ(rows[i].want, halotune_kernel_create(ctx, &config, weights, &rows[i].layout, &kernel), "row %zu: %s", i,
             halotune_error(ctx));
    CHECK_EQ(rows[i].want == HALOTUNE_OK, kernel != NULL, "row %zu", i);
    if (kernel) check_star7(kernel, &rows[i].layout, 0);
    halotune_kernel_free(kernel);
  }
}

TEST(pointers_are_checked) {
  static const struct {
    int input, output, input_shift, output_shift; /* arrays, -1 for NULL; shifts in bytes */
    halotune_status want;
  } rows[] = {
      {0, 1, 0, 0, HALOTUNE_OK},         {-1, 1, 0, 0, HALOTUNE_ARGUMENT}, {0, -1, 0, 0, HALOTUNE_ARGUMENT},
      {0, 1, 2, 0, HALOTUNE_ARGUMENT},   {0, 0, 0, 0, HALOTUNE_ARGUMENT},  {0, 0, 0, 64, HALOTUNE_ARGUMENT},
      {0, 0, 0, -64, HALOTUNE_ARGUMENT}, {1, 0, 0, 0, HALOTUNE_OK},
  };
  halotune_kernel *kernel;
  halotune_config config = look_up("star7", NX, NY, NZ);
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, NULL, &kernel));
  for (size_t i = 0; i < COUNT(rows); i++) {
    const void *inputs[] = {rows[i].input < 0 ? NULL : (const char *)at(rows[i].input, 0) + rows[i].input_shift};
    void *outputs[] = {rows[i].output < 0 ? NULL : (char *)at(rows[i].output, 0) + rows[i].output_shift};
    CHECK_EQ(rows[i].want, halotune_kernel_launch(kernel, NULL, inputs, outputs), "row %zu: %s", i,
             halotune_error(ctx));
  }
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_launch(kernel, NULL, NULL, NULL), "no lists");
  halotune_kernel_free(kernel);
}

TEST(more_sets_than_are_kept) {
  halotune_kernel *kernel;
  halotune_config config = look_up("star7", NX, NY, NZ);
  CHECK_OK(halotune_kernel_create(ctx, &config, weights, NULL, &kernel));
  for (int round = 0; round < 2; round++) {
    for (int shift = 0; shift < SPARE; shift++) check_star7(kernel, NULL, shift * 4 % SPARE + shift / 4);
  }
  for (int shift = 0; shift < MOST_ELEMENTS - NX * NY * NZ; shift += 200) {
    const void *inputs[] = {at(0, shift)};
    void *outputs[] = {at(1, 0)};
    CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, outputs));
  }
  check_star7(kernel, NULL, 3);
  halotune_kernel_free(kernel);
}

/* Launch scan_z on new numbers, and compare all sums. */
static void check_scan(halotune_kernel *kernel, int input_shift, int to, int output_shift, int number) {
  static float got[MOST_ELEMENTS + SPARE];
  enum { LINES = SCAN_NX * SCAN_NY };
  const void *inputs[] = {at(0, input_shift)};
  void *outputs[] = {at(to, output_shift)};
  float sums[LINES] = {0};
  for (int k = 0; k < MOST_ELEMENTS + SPARE; k++) host[0][k] = (float)((k * 7 + number * 13) % 101);
  CHECK_OK(cu_check(&cu, cu.to_device(arrays[0], host[0], sizeof host[0]), "cuMemcpyHtoD"));
  CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, outputs));
  CHECK_OK(cu_check(&cu, cu.to_host(got, arrays[to], sizeof got), "cuMemcpyDtoH"));
  for (int i = 0; i < LINES * SCAN_NZ; i++) {
    sums[i % LINES] += host[0][input_shift + i];
    CHECK_NEAR(sums[i % LINES], got[output_shift + i], 0, "launch %d, element %d", number, i);
  }
}

/* Each set of pointers that is kept has a workspace for many launches. Other launches have their own. */
TEST(a_kernel_with_a_workspace) {
  halotune_kernel *kernel;
  halotune_kernel_facts facts;
  halotune_config config = look_up("scan_z", SCAN_NX, SCAN_NY, SCAN_NZ);
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, NULL, &kernel));
  halotune_kernel_info(kernel, &facts);
  CHECK_TEXT("scan_segments", facts.template_name, "%s", facts.parameters);
  int number = 0;
  for (int round = 0; round < 3; round++) {
    for (int set = 0; set < 20; set++, number++) check_scan(kernel, set % 4 * 4, 1 + set / 16, set / 4 % 4 * 4, number);
  }
  halotune_kernel_free(kernel);
}

/* If only the computed point is read, an output may also be an input. */
TEST(a_pointwise_stencil_runs_in_place) {
  static float got[MOST_ELEMENTS + SPARE];
  halotune_kernel *kernel;
  halotune_config config = look_up("triad", 4096, 0, 0);
  const double s = 3;
  CHECK_OK(halotune_kernel_create(ctx, &config, &s, NULL, &kernel));
  const void *inputs[] = {at(0, 0), at(2, 0)};
  void *outputs[] = {at(0, 0)}, *shifted[] = {at(0, 4)};
  write_arrays();
  CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, outputs));
  CHECK_OK(cu_check(&cu, cu.to_host(got, arrays[0], sizeof got), "cuMemcpyDtoH"));
  for (int i = 0; i < 4096; i++) CHECK_NEAR(host[0][i] + 3 * host[2][i], got[i], 1e-5, "element %d", i);
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_launch(kernel, NULL, inputs, shifted), "by a vector further");
  halotune_kernel_free(kernel);
}

/* An output may be the input that the file names, and no other one. */
TEST(an_output_lies_where_the_file_allows) {
  static float got[MOST_ELEMENTS + SPARE];
  enum { SIDE = 16 };
  halotune_kernel *kernel;
  halotune_config config = look_up("wave_in_place", SIDE, SIDE, 0);
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, NULL, &kernel));
  const void *inputs[] = {at(0, 0), at(1, 0)};
  void *outputs[] = {at(1, 0)}, *other[] = {at(0, 0)}, *shifted[] = {at(1, 4)};
  write_arrays();
  CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, outputs));
  CHECK_OK(cu_check(&cu, cu.to_host(got, arrays[1], sizeof got), "cuMemcpyDtoH"));
  for (int i = 0; i < SIDE * SIDE; i++) {
    const int x = i % SIDE, y = i / SIDE;
    const bool is_computed = x > 0 && x < SIDE - 1 && y > 0 && y < SIDE - 1;
    const float *u = host[0] + i;
    const float rest = is_computed ? u[-1] + u[1] + u[-SIDE] + u[SIDE] - 4 * u[0] : 0;
    const float want = is_computed ? 2 * u[0] - host[1][i] + 0.2F * rest : host[1][i];
    CHECK_NEAR((double)want, (double)got[i], 1e-5, "element %d", i);
  }
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_launch(kernel, NULL, inputs, other), "the input with neighbours");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_launch(kernel, NULL, inputs, shifted), "by a vector further");
  halotune_kernel_free(kernel);
}

/* w keeps points of u. A kernel that stored v first would give them the new v. */
TEST(an_output_lies_in_no_input_that_another_one_keeps) {
  halotune_kernel *kernel;
  halotune_config config = look_up("pointwise_keep", 64, 0, 0);
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, NULL, &kernel));
  const void *inputs[] = {at(0, 0), at(1, 0)};
  void *v_is_u[] = {at(0, 0), at(2, 0)}, *w_is_u[] = {at(2, 0), at(0, 0)};
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_launch(kernel, NULL, inputs, v_is_u), "w keeps points of u");
  CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, w_is_u));
  halotune_kernel_free(kernel);
}

/* A vector has as many bytes of a mask as it has elements of a field. The mask may lie at any address. */
TEST(a_mask_lies_anywhere) {
  static float got[MOST_ELEMENTS + SPARE];
  static unsigned char mask[sizeof host[2]];
  enum { SIDE = 16, VECTOR = 4 };
  halotune_kernel *kernel;
  halotune_config config = look_up("mask_hold", SIDE, SIDE, 0);
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, NULL, &kernel));
  CHECK_EQ(VECTOR * 4, kernel->main->alignment_bytes, "bytes of a vector");
  for (int shift = 0; shift <= VECTOR; shift++) {
    const unsigned char *hold = mask + shift;
    const void *inputs[] = {at(0, 0), (const char *)at(2, 0) + shift};
    void *outputs[] = {at(1, 0)};
    write_arrays();
    for (size_t k = 0; k < sizeof mask; k++) mask[k] = k * 7 % 5 < 2;
    CHECK_OK(cu_check(&cu, cu.to_device(arrays[2], mask, sizeof mask), "cuMemcpyHtoD"));
    CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, outputs));
    CHECK((kernel->sets[shift]->variant == kernel->main) == (shift % VECTOR == 0), "%d bytes on: the variant", shift);
    CHECK_OK(cu_check(&cu, cu.to_host(got, arrays[1], sizeof got), "cuMemcpyDtoH"));
    for (int i = 0; i < SIDE * SIDE; i++) {
      const int x = i % SIDE, y = i / SIDE;
      const bool is_computed = x > 0 && x < SIDE - 1 && y > 0 && y < SIDE - 1;
      const float *u = host[0] + i;
      const float mean = is_computed ? 0.25F * (u[-1] + u[1] + u[-SIDE] + u[SIDE]) : 0;
      const float want = !is_computed ? host[1][i] : hold[i] ? u[0] : mean;
      CHECK_NEAR((double)want, (double)got[i], 1e-6, "element %d, mask shifted by %d bytes", i, shift);
    }
  }
  halotune_kernel_free(kernel);
}

TEST(coefficients_and_contexts_are_checked) {
  halotune_kernel *kernel;
  halotune_config config = look_up("star7", NX, NY, NZ);
  const double wrong[7] = {0, 0, NAN, 0, 0, 0, 0};
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create(ctx, &config, wrong, NULL, &kernel), "not a number");
  CHECK(strstr(halotune_error(ctx), "c2"), "%s", halotune_error(ctx));
  halotune_config none;
  memset(&none, 0, sizeof none);
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create(ctx, &none, NULL, NULL, &kernel), "no configuration");
  cu.ctx_set(NULL);
  CHECK_EQ(HALOTUNE_NO_GPU, halotune_kernel_create(ctx, &config, NULL, NULL, &kernel), "no context");
  halotune_problem problem = {"star7", NULL, {NX, NY, NZ}, HALOTUNE_F32, 0, 0, 0, 0};
  CHECK_EQ(HALOTUNE_NO_GPU, halotune_lookup(ctx, &problem, &config), "no context");
  problem.device = "0";
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  static const struct {
    const char *number, *says;
  } missing[] = {
      {"7", "there is no GPU 7; the driver has 1"},
      {"64", "only the first 64 GPUs of a machine can be used"},
      {"1000", "1000 is read as the number of a GPU; for a model write its letters, too, such as rtx4090: only the "},
      {"99999999999999999999", "99999999999999999999 is read as the number of a GPU"},
  };
  for (size_t i = 0; i < COUNT(missing); i++) {
    problem.device = missing[i].number;
    CHECK_EQ(HALOTUNE_NO_GPU, halotune_lookup(ctx, &problem, &config), "%s", missing[i].number);
    CHECK(strncmp(halotune_error(ctx), missing[i].says, strlen(missing[i].says)) == 0, "%s", halotune_error(ctx));
  }
  cu.ctx_set(device.context);
}

TEST(a_kernel_outlives_its_ctx) {
  const char *paths[] = {work.path};
  halotune_ctx *other;
  halotune_config config;
  halotune_kernel *kernel;
  halotune_problem problem = {"star7", NULL, {NX, NY, NZ}, HALOTUNE_F32, 0, 0, 0, 0};
  CHECK_OK(halotune_open(paths, 1, &other));
  CHECK_OK(halotune_lookup(other, &problem, &config));
  CHECK_OK(halotune_kernel_create(other, &config, weights, NULL, &kernel));
  halotune_close(other);
  check_star7(kernel, NULL, 0);
  halotune_kernel_free(kernel);
}

/* Another thread holds the lock of a kernel at the time of a fork. */
TEST(a_child_waits_for_no_lock_of_a_kernel) {
  enum { MOST_S = 300 }; /* against hanging */
  const halotune_config config = look_up("star7", NX, NY, NZ);
  const void *inputs[] = {at(0, 0)};
  void *outputs[] = {at(1, 0)};
  halotune_kernel *kernel;
  int how = -1;
  CHECK_OK(halotune_kernel_create(ctx, &config, weights, NULL, &kernel));
  pthread_mutex_lock(&kernel->lock);
  const pid_t child = fork();
  if (child == 0) {
    alarm(MOST_S);
    void *fields[] = {at(0, 0), at(1, 0)};
    const halotune_box box = {{0, 0, 0}, {1, 1, 1}};
    halotune_field field;
    halotune_status statuses[] = {
        halotune_kernel_field(kernel, 0, &field), halotune_kernel_launch(kernel, NULL, inputs, outputs),
        halotune_run(kernel, NULL, fields, 2), halotune_pack(kernel, NULL, 0, &box, at(0, 0), at(2, 0)),
        halotune_unpack(kernel, NULL, 0, &box, at(2, 0), at(0, 0))};
    halotune_kernel_free(kernel);
    int wrong = 0;
    for (size_t i = 0; i < COUNT(statuses); i++) wrong |= (statuses[i] != HALOTUNE_ARGUMENT) << i;
    _exit(wrong);
  }
  pthread_mutex_unlock(&kernel->lock);
  CHECK(waitpid(child, &how, 0) == child && how == 0, "wait status %d", how);
  check_star7(kernel, NULL, 0);
  halotune_kernel_free(kernel);
}

/* Tensor maps describe the pointers of each launch, whatever pointers came before. A layout that cannot have tensor
 * maps gets another variant. */
TEST(tensor_maps_clusters_and_overlap) {
  static const halotune_layout padded = {28, 0, {0}, {0}}, odd = {25, 325, {0}, {0}};
  struct work own = work_begin();
  halotune_ctx *usual = ctx;
  halotune_kernel *kernel;
  halotune_kernel_facts facts;
  halotune_config config;
  halotune_problem problem = {"star7", NULL, {NX, NY, NZ}, HALOTUNE_F32, HALOTUNE_LAUNCH_GRAPH, 0, 0, 0};
  tuned_make(own.path, rows_sm_90, COUNT(rows_sm_90));
  tuned_change(own.path, "update best set cubin = zeroblob(0)");
  const char *paths[] = {own.path};
  CHECK_OK(halotune_open(paths, 1, &ctx));
  config = look_up("star7", NX, NY, NZ);
  CHECK_TEXT("tensor", config.template_name, "the winner");
  CHECK_OK(halotune_kernel_create(ctx, &config, weights, NULL, &kernel));
  halotune_kernel_info(kernel, &facts);
  CHECK_EQ(16, facts.alignment_bytes, "alignment");
  for (int round = 0; round < 2; round++) {
    for (int shift = 0; shift < SPARE; shift++) check_star7(kernel, NULL, shift * 4 % SPARE + shift / 4);
  }
  for (int shift = 0; shift < MOST_ELEMENTS - NX * NY * NZ; shift += 200) {
    const void *inputs[] = {at(0, shift)};
    void *outputs[] = {at(1, 0)};
    CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, outputs)); /* more sets than are kept */
  }
  check_star7(kernel, NULL, 4);
  halotune_kernel_free(kernel);
  CHECK_OK(halotune_kernel_create(ctx, &config, weights, &padded, &kernel));
  halotune_kernel_info(kernel, &facts);
  CHECK_TEXT("tensor", facts.template_name, "rows with gaps");
  check_star7(kernel, &padded, 0);
  halotune_kernel_free(kernel);
  CHECK_OK(halotune_kernel_create(ctx, &config, weights, &odd, &kernel));
  halotune_kernel_info(kernel, &facts);
  CHECK(strcmp("tensor", facts.template_name) != 0, "rows that no map takes");
  check_star7(kernel, &odd, 0);
  halotune_kernel_free(kernel);
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_TEXT("cluster", config.template_name, "the winner in graphs");
  CHECK_OK(halotune_kernel_create(ctx, &config, weights, NULL, &kernel));
  check_star7(kernel, NULL, 0);
  check_star7(kernel, NULL, 1);
  halotune_kernel_free(kernel);
  halotune_close(ctx);
  ctx = usual;
  work_end(&own);
}

/* Nobody could destroy the texture objects of a set that is not kept, so a variant without them runs. */
TEST(sets_that_are_not_kept_have_no_textures) {
  enum { TEXTURE_ALIGNMENT = 512 / sizeof(float) };
  struct work own = work_begin();
  halotune_ctx *usual = ctx;
  halotune_kernel *kernel;
  tuned_make(own.path, rows_textures, COUNT(rows_textures));
  tuned_change(own.path, "update best set cubin = zeroblob(0)");
  const char *paths[] = {own.path};
  CHECK_OK(halotune_open(paths, 1, &ctx));
  const halotune_config config = look_up("star7", NX, NY, NZ);
  for (int others = 0; others <= MOST_BOUND_SETS; others += MOST_BOUND_SETS) {
    CHECK_OK(halotune_kernel_create(ctx, &config, weights, NULL, &kernel));
    CHECK(kernel->main->kernel.plan.passes_textures, "%s", config.parameters);
    for (int i = 1; i <= others; i++) {
      const void *inputs[] = {at(0, i * TEXTURE_ALIGNMENT)};
      void *outputs[] = {at(1, 0)};
      CHECK_OK(halotune_kernel_launch(kernel, NULL, inputs, outputs));
    }
    check_star7(kernel, NULL, 0);
    check_star7(kernel, NULL, 0);
    CHECK_EQ(others > 0, kernel->variants != kernel->main, "another variant after %d sets", others);
    halotune_kernel_free(kernel);
  }
  halotune_close(ctx);
  ctx = usual;
  work_end(&own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_winner_computes_what_it_should),
      cmocka_unit_test(layouts),
      cmocka_unit_test(pointers_are_checked),
      cmocka_unit_test(more_sets_than_are_kept),
      cmocka_unit_test(a_kernel_with_a_workspace),
      cmocka_unit_test(a_pointwise_stencil_runs_in_place),
      cmocka_unit_test(an_output_lies_where_the_file_allows),
      cmocka_unit_test(an_output_lies_in_no_input_that_another_one_keeps),
      cmocka_unit_test(a_mask_lies_anywhere),
      cmocka_unit_test(coefficients_and_contexts_are_checked),
      cmocka_unit_test(a_kernel_outlives_its_ctx),
      cmocka_unit_test(a_child_waits_for_no_lock_of_a_kernel),
      cmocka_unit_test(tensor_maps_clusters_and_overlap),
      cmocka_unit_test(sets_that_are_not_kept_have_no_textures),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
