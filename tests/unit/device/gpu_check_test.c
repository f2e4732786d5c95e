/* gpu_check_test.c: the kernels that check fields, run by the emulation. They agree with compare_fields, and find
 * writes outside of the box and of the field. */
#include <stdlib.h>

#include "tests/unit/emulate/emulation_build.h"
#include "tuner/device/gpu_check.h"
#include "tuner/emulate/runtime/poison.h"
#include "tuner/verify/compare.h"

enum { NX = 19, NY = 7, NZ = 5, POINTS = NX * NY * NZ, FRONT = 64, BEHIND = 33, BLOCKS = 3 };

static const char *const kernels[] = {"check_f32", "check_f64", "check_input", "empty", "spin"};
static struct emulation_batch *batch;

static int setup(void **state) {
  char *text = gpu_check_source();
  const struct emulation_source source = {"check.cu", text, kernels, COUNT(kernels)};
  (void)state;
  batch = build_kernels(&source, 1, false);
  const struct emulation_compile *compile = emulation_batch_compile(batch, 0);
  if (compile->outcome != COMPILE_OK) print_error("# %s\n", compile->log);
  free(text);
  return compile->outcome == COMPILE_OK ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  emulation_batch_free(batch);
  return 0;
}

/* An output between guards, and its reference. */
struct field {
  enum dtype dtype;
  struct grid grid;
  struct box box;
  struct emulation_buffer *memory, *want, *magnitudes;
  double values[POINTS];
};

static void set_element(struct field *f, long element, double value) {
  if (f->dtype == DTYPE_F32) ((float *)emulation_buffer_data(f->memory))[FRONT + element] = (float)value;
  else ((double *)emulation_buffer_data(f->memory))[FRONT + element] = value;
}

/* Fill the box with results that err by less than a unit, and everything else with poison. */
static void make_field(struct field *f, enum dtype dtype, struct box box) {
  uint64_t random = 5;
  *f = (struct field){.dtype = dtype, .grid = {{NX, NY, NZ}}, .box = box};
  CHECK_OK(
      emulation_buffer_create((FRONT + POINTS + BEHIND) * dtype_bytes(dtype), (int)dtype_bytes(dtype), &f->memory));
  CHECK_OK(emulation_buffer_create(POINTS * sizeof(double), sizeof(double), &f->want));
  CHECK_OK(emulation_buffer_create(POINTS * sizeof(double), sizeof(double), &f->magnitudes));
  poison_fill(emulation_buffer_data(f->memory), emulation_buffer_bytes(f->memory), EMULATION_POISON_BUFFER);
  double *want = emulation_buffer_data(f->want), *magnitudes = emulation_buffer_data(f->magnitudes);
  for (long i = 0; i < POINTS; i++) {
    long x = i % NX, y = i / NX % NY, z = i / NX / NY;
    random = random * 6364136223846793005u + 1442695040888963407u;
    want[i] = (double)(random >> 40) * 0x1p-23 - 1;
    magnitudes[i] = fabs(want[i]) + 0.5;
    f->values[i] = want[i] + (double)(i % 5 - 2) * 0.3 * compare_rounding(dtype) * magnitudes[i];
    if (dtype == DTYPE_F32) f->values[i] = (double)(float)f->values[i];
    bool inside =
        x >= box.low[0] && x < box.high[0] && y >= box.low[1] && y < box.high[1] && z >= box.low[2] && z < box.high[2];
    if (inside) set_element(f, i, f->values[i]);
  }
}

static void free_field(struct field *f) {
  emulation_buffer_free(f->memory);
  emulation_buffer_free(f->want);
  emulation_buffer_free(f->magnitudes);
}

static struct gpu_look look_of(const struct field *f) {
  struct gpu_look look = {.front = FRONT,
                          .count = POINTS,
                          .behind = BEHIND,
                          .nx = NX,
                          .ny = NY,
                          .rounding = compare_rounding(f->dtype),
                          .allowed_units = 4,
                          .compares = 1,
                          .keeps_poison = 1};
  for (int axis = 0; axis < MAX_DIMS; axis++) look.low[axis] = f->box.low[axis], look.high[axis] = f->box.high[axis];
  return look;
}

/* Launch a check, and add up what its blocks found. */
static struct gpu_found run_check_kernel(const char *kernel, const struct emulation_argument *inputs, int count,
                                         const struct gpu_look *look) {
  struct emulation_argument arguments[5];
  struct emulation_buffer *parts;
  struct emulation_outcome outcome;
  struct gpu_found found = gpu_found_nothing();
  CHECK_OK(emulation_buffer_create(BLOCKS * sizeof found, sizeof(double), &parts));
  memcpy(arguments, inputs, (size_t)count * sizeof *arguments);
  arguments[count] =
      (struct emulation_argument){.kind = EMULATION_ARGUMENT_BYTES, .bytes = look, .byte_count = sizeof *look};
  arguments[count + 1] = (struct emulation_argument){.kind = EMULATION_ARGUMENT_BUFFER, .buffer = parts};
  const struct emulation_launch launch = {.kernel = kernel,
                                          .grid = {BLOCKS, 1, 1},
                                          .block = {GPU_CHECK_THREADS, 1, 1},
                                          .shared_bytes = GPU_CHECK_THREADS * sizeof found,
                                          .arguments = arguments,
                                          .argument_count = count + 2,
                                          .threads = EMULATION_RANDOM,
                                          .seed = 3};
  CHECK_OK(emulation_run(batch, 0, &launch, &outcome));
  CHECK_EQ(EMULATION_OK, outcome.kind, "%s", outcome.text);
  for (int i = 0; i < BLOCKS; i++) gpu_found_add(&found, (const struct gpu_found *)emulation_buffer_data(parts) + i);
  emulation_buffer_free(parts);
  return found;
}

static struct gpu_found look_at(struct field *f, const struct gpu_look *look) {
  const struct emulation_argument arguments[] = {{.kind = EMULATION_ARGUMENT_BUFFER, .buffer = f->memory},
                                                 {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = f->want},
                                                 {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = f->magnitudes}};
  return run_check_kernel(kernels[f->dtype], arguments, COUNT(arguments), look);
}

static const struct box boxes[] = {
    {{0, 0, 0}, {NX, NY, NZ}}, {{2, 1, 1}, {NX - 3, NY - 1, NZ - 2}}, {{4, 4, 4}, {4, 4, 4}}};

static void check_same(const struct field *f, const struct gpu_found *found, const char *what) {
  struct comparison c = compare_fields(&f->grid, &f->box, emulation_buffer_data(f->want),
                                       emulation_buffer_data(f->magnitudes), f->values, f->dtype, 4);
  CHECK_EQ(c.bad_points, found->bad, "%s", what);
  CHECK_EQ(c.not_finite_points, found->not_finite, "%s", what);
  CHECK(c.max_error == found->max_error, "%s: %g, not %g", what, found->max_error, c.max_error);
  CHECK(c.max_error_units == found->max_units, "%s: %g, not %g", what, found->max_units, c.max_error_units);
  double rms = c.points > 0 ? sqrt(found->sum_of_squares / (double)c.points) : 0;
  CHECK(rms == c.rms_error || fabs(rms - c.rms_error) <= 1e-12 * c.rms_error, "%s: %g, not %g", what, rms, c.rms_error);
  if (c.bad_points == 0) return;
  CHECK_EQ(grid_index(&f->grid, c.first_bad[0], c.first_bad[1], c.first_bad[2]), found->first_bad, "%s", what);
}

TEST(what_it_finds_is_what_compare_fields_finds) {
  static struct field f;
  const double infinity = (double)INFINITY;
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
    for (size_t b = 0; b < COUNT(boxes); b++) {
      make_field(&f, (enum dtype)dtype, boxes[b]);
      struct gpu_look look = look_of(&f);
      struct gpu_found found = look_at(&f, &look);
      check_same(&f, &found, "right");
      CHECK_EQ(0, found.damaged, "box %zu", b);
      if (box_points(&f.box) == 0) {
        free_field(&f);
        continue;
      }
      long at[3] = {0, 0, 0};
      for (long k = 0; k < 3; k++) {
        at[k] = grid_index(&f.grid, f.box.low[0] + 3 * k, f.box.low[1] + k, f.box.low[2] + 1);
      }
      f.values[at[2]] = 1.5;
      set_element(&f, at[2], 1.5);
      found = look_at(&f, &look);
      check_same(&f, &found, "one bad");
      f.values[at[1]] = infinity;
      set_element(&f, at[1], infinity);
      found = look_at(&f, &look);
      check_same(&f, &found, "an infinity");
      f.values[at[0]] = (double)NAN;
      set_element(&f, at[0], (double)NAN);
      found = look_at(&f, &look);
      check_same(&f, &found, "a NaN");
      look.compares = 0;
      found = look_at(&f, &look);
      CHECK_EQ(2, found.bad, "not finite");
      CHECK_EQ(at[0], found.first_bad, "not finite");
      free_field(&f);
    }
  }
}

/* Results, references and magnitudes below the least normal number. */
TEST(numbers_below_the_normal_ones_are_judged_as_compare_fields_does) {
  static struct field f;
  static const double least[] = {0x1p-149, 0x1p-1074};
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
    make_field(&f, (enum dtype)dtype, boxes[0]);
    double *want = emulation_buffer_data(f.want), *magnitudes = emulation_buffer_data(f.magnitudes);
    for (long i = 0; i < POINTS; i++) {
      want[i] = magnitudes[i] = (double)(i % 7) * least[dtype];
      f.values[i] = (double)(i % 7 + (i % 7 > 0 ? i % 5 : 0)) * least[dtype]; /* at most 4 units more */
      set_element(&f, i, f.values[i]);
    }
    const struct gpu_look look = look_of(&f);
    struct gpu_found found = look_at(&f, &look);
    check_same(&f, &found, dtype_names[dtype]);
    CHECK_EQ(0, found.bad, "%s", dtype_names[dtype]);
    CHECK(found.max_units == 4, "%s: %g", dtype_names[dtype], found.max_units);
    f.values[9] += least[dtype] * 3; /* 7 units */
    set_element(&f, 9, f.values[9]);
    found = look_at(&f, &look);
    check_same(&f, &found, dtype_names[dtype]);
    CHECK_EQ(9, found.first_bad, "%s", dtype_names[dtype]);
    free_field(&f);
  }
}

TEST(what_is_written_outside_is_found) {
  static struct field f;
  const struct box box = boxes[1];
  const long outside = grid_index(&(struct grid){{NX, NY, NZ}}, 1, 3, 2);
  const struct {
    long at;
    bool in_field;
  } rows[] = {{-FRONT, false}, {-1, false}, {outside, true}, {POINTS, false}, {POINTS + BEHIND - 1, false}};
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
    for (size_t i = 0; i < COUNT(rows); i++) {
      make_field(&f, (enum dtype)dtype, box);
      set_element(&f, rows[i].at, (double)NAN); /* a NaN that is not poison */
      set_element(&f, POINTS + BEHIND - 1, 1);
      struct gpu_look look = look_of(&f);
      struct gpu_found found = look_at(&f, &look);
      CHECK_EQ(rows[i].at == POINTS + BEHIND - 1 ? 1 : 2, found.damaged, "row %zu", i);
      CHECK_EQ(rows[i].at, found.first_damaged, "row %zu", i);
      look.keeps_poison = 0;
      found = look_at(&f, &look);
      CHECK_EQ(rows[i].in_field || rows[i].at == POINTS + BEHIND - 1 ? 1 : 2, found.damaged, "row %zu, guards alone",
               i);
      free_field(&f);
    }
  }
}

TEST(a_changed_input_is_found_bit_for_bit) {
  struct emulation_buffer *memory, *pristine;
  CHECK_OK(emulation_buffer_create((FRONT + POINTS + BEHIND) * sizeof(float), sizeof(float), &memory));
  CHECK_OK(emulation_buffer_create(POINTS * sizeof(float), sizeof(float), &pristine));
  poison_fill(emulation_buffer_data(memory), emulation_buffer_bytes(memory), EMULATION_POISON_BUFFER);
  float *now = (float *)emulation_buffer_data(memory) + FRONT, *before = emulation_buffer_data(pristine);
  for (int i = 0; i < POINTS; i++) now[i] = before[i] = (float)(i % 3);
  struct gpu_look look = {.front = FRONT, .count = POINTS, .behind = BEHIND, .compares = 1};
  const struct emulation_argument arguments[] = {{.kind = EMULATION_ARGUMENT_BUFFER, .buffer = memory},
                                                 {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = pristine}};
  struct gpu_found found = run_check_kernel("check_input", arguments, 2, &look);
  CHECK_EQ(0, found.bad + found.damaged, "untouched");
  now[9] = -0.0f; /* equal to 0, but with different bits */
  now[300] = 7;
  found = run_check_kernel("check_input", arguments, 2, &look);
  CHECK_EQ(2, found.bad, "changed");
  CHECK_EQ(9, found.first_bad, "changed");
  now[-2] = 1;
  look.compares = 0;
  found = run_check_kernel("check_input", arguments, 2, &look);
  CHECK_EQ(0, found.bad, "not compared");
  CHECK_EQ(1, found.damaged, "guard");
  CHECK_EQ(-2, found.first_damaged, "guard");
  emulation_buffer_free(memory);
  emulation_buffer_free(pristine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_it_finds_is_what_compare_fields_finds),
      cmocka_unit_test(numbers_below_the_normal_ones_are_judged_as_compare_fields_does),
      cmocka_unit_test(what_is_written_outside_is_found),
      cmocka_unit_test(a_changed_input_is_found_bit_for_bit),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
