/* lookup_box_test.c: boxes of one grid, on the driver of tests/fake_cuda: kernels that share a lookup, the reach of a
 * stencil, and copies of boxes. */
#include <stdlib.h>

#include "gpu/driver/device.h"
#include "library/kernel/kernel_set.h"
#include "tests/unit/fake_cuda.h"
#include "tests/unit/library/tuned.h"

enum { NX = 24, NY = 12, NZ = 10, ROW = 28, PLANE = 340, MOST_BYTES = 8 * PLANE * NZ, ARRAYS = 3 };

#define ROW_OF(stencil, template, set, dtype, nx, ny, nz, time_ms) \
  { GPU_H200, stencil, template, set, dtype, {nx, ny, nz}, LAUNCH_STREAM, CACHE_STEADY, false, time_ms }
/* Reproducible rows: kernels of different configurations then give the same bits. */
#define SAME_BITS(template, set, time_ms) \
  { GPU_H200, "star7", template, set, DTYPE_F32, {NX, NY, NZ}, LAUNCH_STREAM, CACHE_STEADY, true, time_ms }

static const struct tuned rows_stored[] = {
    SAME_BITS("direct", "vector=4 block_x=32", 1),
    SAME_BITS("fused_tile", "steps=2 tile_x=8 tile_y=4 tile_z=4 block_x=64", 1.5),
    /* only the whole grid can have this one */
    ROW_OF("star7", "direct", "block_x=32", DTYPE_F64, NX, NY, NZ, 1),
    ROW_OF("star7", "resident", "steps=4 depth=2 tile_y=8 tile_z=8 block_y=8 vector=2", DTYPE_F64, NX, NY, NZ, 2),
    ROW_OF("asymmetric/skew_beside", "direct", "block_x=32", DTYPE_F32, NX, NY, NZ, 1),
};

static struct work work;
static halotune_ctx *ctx;
static struct cu cu;
static struct device device;
static CUdeviceptr arrays[ARRAYS];
static unsigned char host[MOST_BYTES], before[MOST_BYTES], got[MOST_BYTES];

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
  for (int i = 0; i < ARRAYS; i++) CHECK_OK(cu_check(&cu, cu.mem_alloc(&arrays[i], MOST_BYTES), "cuMemAlloc"));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (int i = 0; i < ARRAYS; i++) cu.mem_free(arrays[i]);
  halotune_close(ctx);
  device_close(&device);
  work_end(&work);
  return 0;
}

static halotune_config look_up(const char *stencil, halotune_dtype dtype, int reproducible) {
  halotune_config config;
  halotune_problem problem = {.stencil = stencil,
                              .grid = {NX, NY, NZ},
                              .dtype = dtype,
                              .reproducible = reproducible,
                              .steps = HALOTUNE_STEPS_ANY};
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "%s", config.parameters);
  return config;
}

static void *at(int array) { return (void *)(uintptr_t)arrays[array]; }

static void write_array(int array, int seed) {
  for (int k = 0; k < MOST_BYTES; k++) host[k] = (unsigned char)(((k + seed) * 7) % 101); /* floats are finite */
  CHECK_OK(cu_check(&cu, cu.to_device(arrays[array], host, MOST_BYTES), "cuMemcpyHtoD"));
}

static void read_array(int array, unsigned char out[MOST_BYTES]) {
  CHECK_OK(cu_check(&cu, cu.to_host(out, arrays[array], MOST_BYTES), "cuMemcpyDtoH"));
}

/* --- the reach */

TEST(the_reach_is_told_for_each_side) {
  halotune_stencil_facts facts;
  CHECK_OK(halotune_stencil_info(ctx, "skew_beside", &facts));
  static const int low[3] = {1, 0, 2}, high[3] = {2, 1, 1};
  for (int axis = 0; axis < 3; axis++) {
    CHECK_EQ(low[axis], facts.reach_low[axis], "axis %d", axis);
    CHECK_EQ(high[axis], facts.reach_high[axis], "axis %d", axis);
  }
}

/* --- kernels */

/* The interior and two faces in z, with two steps a launch. A face is computed with the points around it that its last
 * step needs, and only its own planes count. Their bits are those of one kernel for the whole grid. */
TEST(boxes_of_one_lookup_give_the_bits_of_one_kernel) {
  enum { STEPS = 2, CUT = 4 };
  static const halotune_layout boxes[] = {{ROW, PLANE, {0, 0, 1}, {0, 0, CUT + 1}}, {ROW, PLANE, {0, 0, CUT - 1}, {0}}};
  static const int planes[][2] = {{0, CUT}, {CUT, NZ}}; /* that count */
  const halotune_layout all = {.row = ROW, .plane = PLANE};
  static unsigned char want[MOST_BYTES];
  halotune_kernel *kernels[2], *single;
  halotune_kernel_facts facts;
  CUstream streams[2];
  halotune_config config = look_up("star7", HALOTUNE_F32, 1);
  CHECK_EQ(STEPS, config.steps, "steps");
  CHECK_OK(halotune_kernel_create_boxes(ctx, &config, NULL, boxes, 2, kernels));
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, &all, &single));
  for (int i = 0; i < ARRAYS; i++) write_array(i, 0);
  void *fields[] = {at(0), at(1)};
  CHECK_OK(halotune_run(single, NULL, fields, STEPS));
  CHECK(fields[0] == at(1), "one launch");
  read_array(1, want);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(cu_check(&cu, cu.stream_create(&streams[i], CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
    halotune_kernel_info(kernels[i], &facts);
    CHECK_EQ(STEPS, facts.steps, "box %d", i);
    void *of_box[] = {at(0), at(1 + i)};
    write_array(1 + i, 0);
    CHECK_OK(halotune_run(kernels[i], streams[i], of_box, STEPS));
    read_array(1 + i, got);
    for (int z = planes[i][0]; z < planes[i][1]; z++) {
      CHECK(memcmp(got + (size_t)z * PLANE * 4, want + (size_t)z * PLANE * 4, (size_t)PLANE * 4) == 0,
            "box %d, plane %d", i, z);
    }
    CHECK_OK(cu_check(&cu, cu.stream_synchronize(streams[i]), "cuStreamSynchronize"));
    halotune_kernel_free(kernels[i]);
    cu.stream_destroy(streams[i]);
  }
  halotune_kernel_free(single);
}

/* No box but the whole grid can have the launches of four steps. Then no box has them, and all make two. A kernel of
 * halotune_kernel_create makes as many as take the least time a step: one. */
TEST(boxes_make_equally_many_steps) {
  static const halotune_layout boxes[] = {{0}, {.low = {4, 0, 0}, .high = {16, 0, 0}}};
  halotune_kernel *kernels[2];
  halotune_kernel_facts facts;
  halotune_config config = look_up("star7", HALOTUNE_F64, 0);
  CHECK_EQ(4, config.steps, "steps of the whole grid");
  CHECK_OK(halotune_kernel_create_boxes(ctx, &config, NULL, boxes, 1, kernels));
  halotune_kernel_info(kernels[0], &facts);
  CHECK_EQ(4, facts.steps, "the whole grid alone");
  halotune_kernel_free(kernels[0]);
  CHECK_OK(halotune_kernel_create_boxes(ctx, &config, NULL, &boxes[1], 1, kernels));
  halotune_kernel_info(kernels[0], &facts);
  CHECK_EQ(2, facts.steps, "the other box alone");
  halotune_kernel_free(kernels[0]);
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, &boxes[1], kernels));
  halotune_kernel_info(kernels[0], &facts);
  CHECK_EQ(1, facts.steps, "the kernel of this layout");
  halotune_kernel_free(kernels[0]);
  CHECK_OK(halotune_kernel_create_boxes(ctx, &config, NULL, boxes, 2, kernels));
  for (int i = 0; i < 2; i++) {
    halotune_kernel_info(kernels[i], &facts);
    CHECK_EQ(2, facts.steps, "box %d", i);
    halotune_kernel_free(kernels[i]);
  }
}

TEST(arguments_of_boxes_are_checked) {
  static const halotune_layout good = {0}, bad = {.low = {5, 0, 0}, .high = {5, 0, 0}};
  const halotune_layout boxes[] = {good, bad};
  halotune_kernel *kernels[2] = {(halotune_kernel *)1, (halotune_kernel *)1};
  halotune_config config = look_up("star7", HALOTUNE_F32, 1);
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create_boxes(ctx, &config, NULL, boxes, 2, kernels), "an empty box");
  CHECK(!kernels[0] && !kernels[1], "kernels of a call that failed");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create_boxes(ctx, &config, NULL, boxes, 0, kernels), "no box");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create_boxes(ctx, &config, NULL, NULL, 1, kernels), "no layouts");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create_boxes(ctx, &config, NULL, boxes, 1, NULL), "no place");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create_boxes(NULL, &config, NULL, boxes, 1, kernels), "no ctx");
}

/* --- copies */

/* Pack a box of a field, and compare with a loop; unpack it into another array, of which nothing else may change. */
static void check_copies(halotune_kernel *kernel, int field, const halotune_box *box) {
  halotune_field facts;
  CHECK_OK(halotune_kernel_field(kernel, field, &facts));
  const size_t bytes = (size_t)facts.element_bytes;
  static unsigned char from[MOST_BYTES], dense[MOST_BYTES], to[MOST_BYTES];
  for (int i = 0; i < ARRAYS; i++) write_array(i, 31 * i);
  read_array(0, from), read_array(1, before), read_array(2, to);
  CHECK_OK(halotune_pack(kernel, NULL, field, box, at(0), at(1)));
  read_array(1, dense);
  size_t count = 0;
  for (long long z = box->low[2]; z < (facts.strides[2] ? box->high[2] : box->low[2] + 1); z++) {
    for (long long y = box->low[1]; y < (facts.strides[1] ? box->high[1] : box->low[1] + 1); y++) {
      for (long long x = box->low[0]; x < (facts.strides[0] ? box->high[0] : box->low[0] + 1); x++, count++) {
        const size_t element = (size_t)(x * facts.strides[0] + y * facts.strides[1] + z * facts.strides[2]);
        CHECK(memcmp(dense + count * bytes, from + element * bytes, bytes) == 0, "field %d, point %lld %lld %lld",
              field, x, y, z);
        memcpy(to + element * bytes, from + element * bytes, bytes);
      }
    }
  }
  CHECK(memcmp(dense + count * bytes, before + count * bytes, MOST_BYTES - count * bytes) == 0,
        "field %d: something behind the box changed", field);
  CHECK_OK(halotune_unpack(kernel, NULL, field, box, at(1), at(2)));
  read_array(2, got);
  CHECK(memcmp(got, to, MOST_BYTES) == 0, "field %d: unpacked", field);
}

TEST(boxes_are_packed_and_unpacked) {
  static const halotune_box boxes[] = {{{0, 0, 0}, {NX, NY, NZ}},
                                       {{0, 0, NZ - 1}, {NX, NY, NZ}},
                                       {{3, 0, 0}, {4, NY, NZ}},
                                       {{5, 7, 2}, {9, 8, 6}},
                                       {{23, 11, 9}, {24, 12, 10}}};
  const halotune_layout padded = {.row = ROW, .plane = PLANE};
  for (int dtype = 0; dtype < 2; dtype++) {
    halotune_kernel *kernel;
    halotune_config config = look_up("star7", (halotune_dtype)dtype, dtype == DTYPE_F32);
    CHECK_OK(halotune_kernel_create(ctx, &config, NULL, dtype == DTYPE_F32 ? &padded : NULL, &kernel));
    for (size_t i = 0; i < COUNT(boxes); i++) check_copies(kernel, (int)i % 2, &boxes[i]);
    halotune_kernel_free(kernel);
  }
  halotune_kernel *kernel; /* with a mask, and with inputs along some axes */
  halotune_config config = look_up("skew_beside", HALOTUNE_F32, 0);
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, &padded, &kernel));
  for (int field = 0; field < 7; field++) check_copies(kernel, field, &boxes[3]);
  halotune_kernel_free(kernel);
}

TEST(arguments_of_copies_are_checked) {
  static const struct {
    halotune_box box;
    int field, shift;
    halotune_status want;
    const char *says;
  } rows[] = {
      {{{0, 0, 0}, {1, 1, 1}}, 2, 0, HALOTUNE_ARGUMENT, "no field 2"},
      {{{0, 0, 0}, {1, 1, 1}}, -1, 0, HALOTUNE_ARGUMENT, "no field -1"},
      {{{0, 0, 0}, {NX + 1, 1, 1}}, 0, 0, HALOTUNE_ARGUMENT, "from 0 to 25 in x; the grid goes from 0 to 24"},
      {{{0, -1, 0}, {1, 1, 1}}, 0, 0, HALOTUNE_ARGUMENT, "from -1 to 1 in y"},
      {{{0, 0, 3}, {1, 1, 2}}, 0, 0, HALOTUNE_ARGUMENT, "from 3 to 2 in z"},
      {{{0, 0, 0}, {1, 1, 1}}, 0, 2, HALOTUNE_ARGUMENT, "multiple of 4 bytes"},
      {{{0, 0, 3}, {9, 9, 3}}, 0, 0, HALOTUNE_OK, ""}, /* no points */
  };
  halotune_kernel *kernel;
  halotune_config config = look_up("star7", HALOTUNE_F32, 1);
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, NULL, &kernel));
  write_array(1, 5), read_array(1, before);
  for (size_t i = 0; i < COUNT(rows); i++) {
    void *to = (char *)at(1) + rows[i].shift;
    CHECK_EQ(rows[i].want, halotune_pack(kernel, NULL, rows[i].field, &rows[i].box, at(0), to), "row %zu", i);
    CHECK(rows[i].want == HALOTUNE_OK || strstr(halotune_error(ctx), rows[i].says), "row %zu: %s", i,
          halotune_error(ctx));
    CHECK_EQ(rows[i].want, halotune_unpack(kernel, NULL, rows[i].field, &rows[i].box, at(0), to), "row %zu", i);
  }
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_pack(NULL, NULL, 0, &rows[0].box, at(0), at(1)), "no kernel");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_pack(kernel, NULL, 0, NULL, at(0), at(1)), "no box");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_pack(kernel, NULL, 0, &rows[0].box, NULL, at(1)), "no field");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_unpack(kernel, NULL, 0, &rows[0].box, at(0), NULL), "no array");
  read_array(1, got);
  CHECK(memcmp(before, got, MOST_BYTES) == 0, "a refused copy wrote");
  halotune_kernel_free(kernel);
}

/* The axes before the empty one have more points than a copy can have. */
TEST(a_box_without_points_is_never_too_large) {
  enum { WIDE = 50000 };
  static const halotune_box boxes[] = {{{0, 0, 1}, {WIDE, WIDE, 1}}, {{0, 0, 1}, {WIDE, WIDE, 2}}};
  const halotune_problem problem = {.stencil = "star7", .device = "NVIDIA H200", .grid = {WIDE, WIDE, 4}};
  halotune_kernel *kernel;
  halotune_config config;
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_OK(halotune_kernel_create(ctx, &config, NULL, NULL, &kernel));
  for (size_t i = 0; i < COUNT(boxes); i++) {
    CHECK_EQ(i ? HALOTUNE_ARGUMENT : HALOTUNE_OK, halotune_pack(kernel, NULL, 0, &boxes[i], at(0), at(1)),
             "box %zu: %s", i, halotune_error(ctx));
  }
  halotune_kernel_free(kernel);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_reach_is_told_for_each_side),
      cmocka_unit_test(boxes_of_one_lookup_give_the_bits_of_one_kernel),
      cmocka_unit_test(boxes_make_equally_many_steps),
      cmocka_unit_test(arguments_of_boxes_are_checked),
      cmocka_unit_test(boxes_are_packed_and_unpacked),
      cmocka_unit_test(arguments_of_copies_are_checked),
      cmocka_unit_test(a_box_without_points_is_never_too_large),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
