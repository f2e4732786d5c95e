/* gpu_parts_test.c: a session that keeps the fields alone, with the driver of tests/fake_cuda. The reference of each
 * part is that of the CPU, and what a variant does wrong is found. */
#include "tests/unit/device/check_module.h"

/* A problem whose fields the GPU makes, without copies, and with room for few points of the reference. */
struct parts {
  struct stage stage;
  struct gpu_session s;
  struct gpu_problem problem;
};

/* The least points that have room: those on which one point depends. */
static long least_capacity(const struct gpu_steps *steps) {
  long points = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long extent = 1 + (steps->count - 1) * (steps->reach_low[axis] + steps->reach_high[axis]);
    points *= extent < steps->grid.n[axis] ? extent : steps->grid.n[axis];
  }
  return points;
}

static void open_cached(struct parts *out, const char *stencil, enum dtype dtype, struct grid grid, int steps,
                        enum cache_mode cache) {
  static struct gpu_recipe recipe;
  struct gpu_session *s = &out->s;
  struct gpu_made made;
  bool fits = false;
  stage_open_steps(&out->stage, stencil, dtype, grid, steps);
  const struct backend_problem wanted = {.scene = &out->stage.scene, .cache = cache};
  CHECK_OK(gpu_recipe_make(&out->stage.scene, &recipe, &fits));
  CHECK(fits, "%s", stencil);
  CHECK_OK(cuda_problem_make(&wanted, &out->problem));
  out->problem.is_made_here = true;
  CHECK_OK(gpu_session_open(0, s));
  CHECK_OK(gpu_session_prepare(s, checks.cubin));
  CHECK_OK(gpu_session_problem(s, &out->problem));
  CHECK(!s->in_parts, "a whole reference fits");
  gpu_session_drop_copies(s);
  CHECK_OK(gpu_session_make_fields(s, &recipe, &made));
  CHECK(made.drawn_points > 0, "%s: drawn boxes", stencil);
  const long least = least_capacity(&s->partial.steps), part = box_points(&out->stage.scene.box) / 12;
  const long wanted_points = least * 3 > part ? least * 3 : part;
  if (wanted_points < s->partial.capacity) s->partial.capacity = wanted_points;
  s->partial.part = (struct box){{0}, {0}};
}

static void open_parts(struct parts *out, const char *stencil, enum dtype dtype, struct grid grid, int steps) {
  open_cached(out, stencil, dtype, grid, steps, CACHE_STEADY);
}

static void close_parts(struct parts *parts) {
  gpu_session_close(&parts->s);
  stage_close(&parts->stage);
}

/* Compare a row of values or magnitudes of the reference in a box. */
static void check_row(struct parts *parts, enum gpu_upload kind, int output, const struct box *box, long y, long z,
                      double *got) {
  const struct scene *scene = &parts->stage.scene;
  const long first = grid_index(&scene->request.domain.grid, box->low[0], y, z), count = box->high[0] - box->low[0];
  const double *want = kind == GPU_UPLOAD_WANT ? scene->want[output] : scene->magnitudes[output];
  CHECK_OK(
      gpu_session_download(&parts->s, kind, output, (size_t)first * sizeof *got, got, (size_t)count * sizeof *got));
  for (long x = 0; x < count; x++) {
    CHECK(fabs(want[first + x] - got[x]) <= 1e-15 * scene->request.steps * scene->magnitudes[output][first + x],
          "%s, %d steps, output %d: (%ld, %ld, %ld): %.17g, not %.17g", scene->request.stencil->name,
          scene->request.steps, output, box->low[0] + x, y, z, got[x], want[first + x]);
  }
}

static void check_reference(const char *stencil, enum dtype dtype, struct grid grid, int steps) {
  static struct parts parts;
  open_parts(&parts, stencil, dtype, grid, steps);
  const struct box_pieces pieces = gpu_partial_pieces(&parts.s.partial, &parts.stage.scene.box);
  CHECK(box_pieces_count(&pieces) > 1 || steps > 1, "%s is cut into pieces", stencil);
  double *got = calloc((size_t)grid.n[0], sizeof *got);
  for (long i = 0; i < box_pieces_count(&pieces); i++) {
    const struct box piece = box_piece(&pieces, i);
    for (long z = piece.low[2]; z < piece.high[2]; z++) {
      for (long y = piece.low[1]; y < piece.high[1]; y++) {
        for (int o = 0; o < parts.problem.output_count; o++) {
          check_row(&parts, GPU_UPLOAD_WANT, o, &piece, y, z, got);
          check_row(&parts, GPU_UPLOAD_MAGNITUDE, o, &piece, y, z, got);
        }
      }
    }
  }
  free(got);
  close_parts(&parts);
}

/* Each boundary rule that the GPU knows, several inputs and outputs, a field that stays, and several steps. */
TEST(the_reference_of_each_part_is_that_of_the_cpu) {
  static const struct {
    const char *stencil;
    struct grid grid;
    int steps;
  } rows[] = {{"star7", {{12, 9, 7}}, 1},
              {"wave25", {{16, 15, 14}}, 1},
              {"gradient", {{12, 9, 7}}, 1},
              {"box27", {{7, 6, 5}}, 1},
              {"advect1d", {{90, 1, 1}}, 1},
              {"derivative_x", {{13, 7, 6}}, 1},
              {"star7", {{12, 11, 10}}, 4},
              {"heat2d", {{30, 19, 1}}, 5},
              {"diffusion2d", {{17, 14, 1}}, 3},
              {"asymmetric/skew_1d", {{60, 1, 1}}, 6},
              {"asymmetric/skew_march_3d_periodic", {{14, 13, 12}}, 2},
              {"asymmetric/skew_march_3d_periodic", {{7, 8, 9}}, 3},
              {"asymmetric/skew_steps_2d", {{21, 17, 1}}, 4},
              {"asymmetric/skew_steps_ends", {{20, 15, 1}}, 4},
              {"../examples/solvers/gray_scott", {{16, 18, 1}}, 2}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    check_reference(rows[i].stencil, i % 2 ? DTYPE_F32 : DTYPE_F64, rows[i].grid, rows[i].steps);
  }
}

/* What happens to memory after the kernel of a verification. */
static struct {
  struct gpu_session *s;
  CUresult (*record)(CUevent event, CUstream stream);
  CUdeviceptr at; /* 0: nothing happens */
  double value;
} damage;

static CUresult record_and_damage(CUevent event, CUstream stream) {
  const float single = (float)damage.value;
  const bool is_single = damage.s->problem.dtype == DTYPE_F32;
  if (event == damage.s->end && damage.at)
    damage.s->cu.to_device(damage.at, is_single ? (const void *)&single : &damage.value, is_single ? sizeof single : 8);
  return damage.record(event, stream);
}

/* A variant that is right, and damage to be done to what it writes. */
struct damaged {
  struct parts parts;
  struct variant v;
};

static void open_damaged(struct damaged *out, const char *stencil, struct grid grid, const char *template,
                         const char *set, int steps, enum dtype dtype, enum cache_mode cache) {
  struct kernel_plan plan;
  struct gpu_session *s = &out->parts.s;
  open_cached(&out->parts, stencil, dtype, grid, steps, cache);
  CHECK(variant_open(&out->v, &out->parts.stage, template, set, compiler), "rules");
  kernel_plan_make(&out->v.generated.launch, out->parts.stage.stencil, dtype, &out->v.spec.domain,
                   out->parts.stage.coefficients, &plan);
  CHECK_OK(gpu_session_load(s, 0, &plan, out->v.compiled.cubin, false));
  damage.s = s;
  damage.record = s->cu.event_record;
  damage.at = 0;
  s->cu.event_record = record_and_damage;
}

static void close_damaged(struct damaged *d) {
  variant_close(&d->v);
  close_parts(&d->parts);
}

static bool is_drawn(const struct gpu_session *s, long x, long y, long z) {
  bool found = false;
  for (int i = 0; i < s->drawn_count; i++) found = found || box_contains(&s->drawn[i], x, y, z);
  return found;
}

/* Find a point of the box that is drawn, or one that is not. */
static long find_point(const struct gpu_session *s, bool drawn) {
  const struct domain *d = &s->problem.domain;
  const struct box box = gpu_session_box(s);
  const long count = domain_elements(d);
  for (long i = count / 3; i < count; i++) {
    const long x = i % d->row, y = i % d->plane / d->row, z = i / d->plane;
    if (box_contains(&box, x, y, z) && is_drawn(s, x, y, z) == drawn) return i;
  }
  CHECK(false, "no such point");
  return -1;
}

/* Damage an element of a buffer in a verification.
 *   all  with verify_all */
static struct gpu_look_back verify_damaged(struct damaged *d, int buffer, long element, double value, bool all) {
  struct gpu_session *s = &d->parts.s;
  struct gpu_look_back seen;
  damage.at = s->fields[buffer].data + (CUdeviceptr)element * dtype_bytes(s->problem.dtype);
  damage.value = value;
  CHECK_OK(all ? gpu_session_verify_all(s, 0, &seen) : gpu_session_verify(s, 0, &seen));
  damage.at = 0;
  return seen;
}

/* After its damage the variant must still be found right. */
static void check_right(struct damaged *d) {
  struct gpu_session *s = &d->parts.s;
  struct gpu_look_back seen;
  const struct box box = gpu_session_box(s);
  long long drawn_points = 0;
  for (int i = 0; i < s->drawn_count; i++) drawn_points += box_points(&s->drawn[i]);
  for (int all = 0; all < 2; all++) {
    CHECK_OK(all ? gpu_session_verify_all(s, 0, &seen) : gpu_session_verify(s, 0, &seen));
    for (int b = 0; b < gpu_problem_buffers(&s->problem); b++)
      CHECK_EQ(0, seen.buffers[b].bad + seen.buffers[b].damaged, "buffer %d, first %lld", b, seen.buffers[b].first_bad);
    CHECK_EQ(all ? box_points(&box) : drawn_points, seen.compared_points, "compared points");
  }
}

static void check_damages(const char *stencil, struct grid grid, const char *template, const char *set, int steps,
                          enum dtype dtype) {
  static struct damaged d;
  open_damaged(&d, stencil, grid, template, set, steps, dtype, CACHE_STEADY);
  struct gpu_session *s = &d.parts.s;
  const struct scene *scene = &d.parts.stage.scene;
  const int output = s->problem.input_count;
  const long inside = find_point(s, true), outside = find_point(s, false);
  check_right(&d);
  /* a wrong value in a drawn box, and elsewhere */
  struct gpu_look_back seen = verify_damaged(&d, output, inside, 3, false);
  CHECK(seen.buffers[output].bad >= 1 && seen.buffers[output].first_bad == inside, "%s: %lld", stencil,
        seen.buffers[output].first_bad);
  CHECK_NEAR(scene->want[0][inside], seen.want[0], 1e-13, "the expected value");
  CHECK_NEAR(3, seen.got[0], 0, "the value");
  CHECK_EQ(0, verify_damaged(&d, output, outside, 3, false).buffers[output].bad, "%s: no box has it", stencil);
  seen = verify_damaged(&d, output, outside, 3, true);
  CHECK_EQ(1, seen.buffers[output].bad, "%s: at all points", stencil);
  CHECK_EQ(outside, seen.buffers[output].first_bad, "%s", stencil);
  CHECK_NEAR(scene->want[0][outside], seen.want[0], 1e-13, "the expected value there");
  /* a number that is not finite is found everywhere */
  seen = verify_damaged(&d, output, outside, INFINITY, false);
  CHECK_EQ(1, seen.buffers[output].bad, "%s: infinity", stencil);
  CHECK_EQ(outside, seen.buffers[output].first_bad, "%s", stencil);
  CHECK_NEAR(scene->want[0][outside], seen.want[0], 1e-13, "the expected value instead of infinity");
  CHECK(isinf(seen.got[0]), "%g", seen.got[0]);
  /* an input that changed, a point outside of the box, and guards */
  const long long words = (long long)dtype_bytes(dtype) / 4;
  seen = verify_damaged(&d, 0, outside, 3, false);
  CHECK_EQ(1, seen.buffers[0].bad, "%s: input", stencil);
  CHECK_EQ(outside * words, seen.buffers[0].first_bad, "%s: input, in words", stencil);
  CHECK_EQ(0, seen.buffers[0].damaged + seen.buffers[output].bad, "nothing else");
  if (!box_contains(&scene->box, 0, 0, 0)) {
    seen = verify_damaged(&d, output, 0, 3, false);
    CHECK_EQ(1, seen.buffers[output].damaged, "%s: outside of the box", stencil);
  }
  check_right(&d);
  CHECK(!gpu_session_is_lost(s), "nothing was lost");
  seen = verify_damaged(&d, 0, -2, 3, false);
  CHECK_EQ(1, seen.buffers[0].damaged, "%s: in front of an input", stencil);
  CHECK_EQ(-2 * words, seen.buffers[0].first_damaged, "%s: in words", stencil);
  CHECK(gpu_session_is_lost(s), "a write outside of fields");
  close_damaged(&d);
}

TEST(what_a_variant_does_wrong_is_found) {
  check_damages("star7", (struct grid){{40, 36, 34}}, "direct", "vector=1 load_path=plain", 1, DTYPE_F32);
  check_damages("wave25", (struct grid){{40, 38, 36}}, "direct", "vector=1 load_path=plain", 1, DTYPE_F64);
  check_damages("heat2d", (struct grid){{70, 60, 1}}, "fused_tile", NULL, 2, DTYPE_F32);
}

TEST(several_outputs_and_outputs_in_place_are_compared) {
  static struct damaged d;
  struct gpu_look_back seen;
  open_damaged(&d, "gradient", (struct grid){{33, 31, 30}}, "direct", "vector=1 load_path=plain", 1, DTYPE_F32,
               CACHE_STEADY);
  const int last = gpu_problem_buffers(&d.parts.problem) - 1;
  check_right(&d);
  const long outside = find_point(&d.parts.s, false);
  CHECK_EQ(0, verify_damaged(&d, last, outside, 9, false).buffers[last].bad, "no box has it");
  CHECK_EQ(1, verify_damaged(&d, last, outside, 9, true).buffers[last].bad, "the last output");
  close_damaged(&d);
  open_damaged(&d, "../tests/data/wave_in_place", (struct grid){{70, 67, 1}}, "direct", "vector=1 load_path=plain", 1,
               DTYPE_F64, CACHE_STEADY);
  const int output = d.parts.problem.input_count;
  CHECK_EQ(2, d.parts.s.problem.in_place[0], "the second input");
  check_right(&d);
  d.parts.s.problem.in_place[0] = 1; /* it is read at neighbours */
  for (int all = 0; all < 2; all++) {
    CHECK_OK(all ? gpu_session_verify_all(&d.parts.s, 0, &seen) : gpu_session_verify(&d.parts.s, 0, &seen));
    CHECK(seen.buffers[output].bad > 0, "in the memory of u");
  }
  close_damaged(&d);
}

/* Samples begin with fresh fields, which no copy has. */
TEST(samples_in_parts_are_checked) {
  static struct damaged d;
  struct gpu_look_back seen;
  double time_ms;
  open_damaged(&d, "star7", (struct grid){{40, 36, 34}}, "direct", "vector=1 load_path=plain", 1, DTYPE_F64,
               CACHE_STEADY);
  struct gpu_session *s = &d.parts.s;
  for (int i = 0; i < 3; i++) {
    CHECK_OK(gpu_session_sample_checked(s, 0, 4, &time_ms));
    CHECK_EQ(0, s->slots[0].results.differing, "sample %d", i);
  }
  damage.at = s->fields[0].data + 8 * (CUdeviceptr)find_point(s, false);
  damage.value = 0.5;
  CHECK_OK(gpu_session_sample_checked(s, 0, 4, &time_ms));
  CHECK_EQ(1, s->slots[0].results.differing, "another result");
  damage.at = 0;
  CHECK_OK(gpu_session_inspect(s, 0, &seen));
  CHECK_EQ(1, seen.differing_samples, "and it is told");
  check_right(&d);
  close_damaged(&d);
}

/* Cold samples use sets of fields in turn, each of which is filled. */
TEST(cold_samples_in_parts_are_compared) {
  static struct damaged d;
  struct gpu_look_back seen;
  double time_ms;
  setenv("HALOTUNE_FAKE_L2_MB", "1", 1);
  open_damaged(&d, "star7", (struct grid){{20, 17, 15}}, "direct", "vector=1 load_path=plain", 1, DTYPE_F64,
               CACHE_COLD);
  unsetenv("HALOTUNE_FAKE_L2_MB");
  struct gpu_session *s = &d.parts.s;
  CHECK(s->rotation.count > 1, "%d sets", s->rotation.count);
  const int output = s->problem.input_count;
  for (int i = 0; i < 2; i++) {
    CHECK_OK(gpu_session_sample_checked(s, 0, 3, &time_ms));
    CHECK(!s->slots[0].results.has_wrong, "sample %d", i);
  }
  damage.at = gpu_rotation_field(&s->rotation, 2 % s->rotation.count, output) + 8 * (CUdeviceptr)find_point(s, true);
  damage.value = 0.5;
  CHECK_OK(gpu_session_sample_checked(s, 0, 3, &time_ms));
  damage.at = 0;
  CHECK_OK(gpu_session_inspect(s, 0, &seen));
  CHECK(seen.buffers[output].bad > 0, "a wrong point of a set");
  close_damaged(&d);
}

/* A roof for whose fields there is no memory copies a field. Afterwards no variant is judged by what it left. */
TEST(the_roof_borrows_fields) {
  static struct damaged d;
  struct gpu_look_back seen;
  double time_ms;
  open_damaged(&d, "triad", (struct grid){{900, 1, 1}}, "direct", "vector=1 load_path=plain", 1, DTYPE_F64,
               CACHE_STEADY);
  struct gpu_session *s = &d.parts.s;
  const int output = s->problem.input_count;
  const size_t bytes = s->problem.buffer_bytes[0];
  size_t free_bytes = 0, total_bytes = 0;
  CUdeviceptr rest = 0;
  gpu_rotation_free(&s->gpu, &s->roof);
  CHECK_EQ(CUDA_SUCCESS, s->cu.mem_info(&free_bytes, &total_bytes), "free memory");
  CHECK_EQ(CUDA_SUCCESS, s->cu.mem_alloc(&rest, free_bytes - 2048), "the rest");
  s->problem.roof_elements = 901;
  gpu_session_make_roof(s);
  CHECK_EQ(0, s->roof.count, "a field has 900 elements");
  s->problem.roof_elements = 900;
  gpu_session_make_roof(s);
  CHECK(s->roof.count == 1 && s->roof.is_borrowed, "borrowed");
  CHECK_EQ(s->fields[0].data, gpu_rotation_field(&s->roof, 0, 0), "from the first input");
  CHECK_EQ(s->fields[output].data, gpu_rotation_field(&s->roof, 0, 1), "to the first output");
  CHECK_OK(gpu_session_sample(s, 0, 2, true, &time_ms));
  CHECK_OK(gpu_session_sample(s, GPU_SLOT_MEMCPY, 2, true, &time_ms));
  double *fields[2] = {malloc(bytes), malloc(bytes)};
  for (int i = 0; i < 2; i++)
    CHECK_EQ(CUDA_SUCCESS, s->cu.to_host(fields[i], s->fields[i ? output : 0].data, bytes), "field %d", i);
  CHECK(memcmp(fields[0], fields[1], bytes) == 0, "the roof copies");
  CHECK_EQ(-1, s->applications, "the next sample begins with fresh fields");
  free(fields[0]);
  free(fields[1]);
  CHECK_OK(gpu_session_inspect(s, 0, &seen));
  CHECK_EQ(0, seen.buffers[output].bad, "the copy is not the variant's result");
  check_right(&d);
  s->cu.mem_free(rest);
  close_damaged(&d);
}

/* A copy writes all points of the output. Those outside of the box are nothing that the next variant wrote. */
TEST(a_borrowed_roof_blames_no_variant) {
  static struct damaged d;
  struct gpu_look_back seen;
  double time_ms;
  open_damaged(&d, "../tests/data/names", (struct grid){{40, 36, 34}}, "direct", "vector=1 load_path=plain", 1,
               DTYPE_F32, CACHE_STEADY);
  struct gpu_session *s = &d.parts.s;
  size_t free_bytes = 0, total_bytes = 0;
  CUdeviceptr rest = 0;
  gpu_rotation_free(&s->gpu, &s->roof);
  CHECK_EQ(CUDA_SUCCESS, s->cu.mem_info(&free_bytes, &total_bytes), "free memory");
  CHECK_EQ(CUDA_SUCCESS, s->cu.mem_alloc(&rest, free_bytes - 2048), "the rest");
  s->problem.roof_elements = (long)(s->problem.buffer_bytes[0] / sizeof(float));
  gpu_session_make_roof(s);
  CHECK(s->roof.is_borrowed, "borrowed");
  CHECK(!gpu_problem_has_start(&s->problem, s->problem.input_count), "an output without a start");
  CHECK_OK(gpu_session_sample(s, GPU_SLOT_MEMCPY, 2, true, &time_ms));
  CHECK_OK(gpu_session_sample(s, 0, 2, true, &time_ms));
  CHECK_OK(gpu_session_inspect(s, 0, &seen));
  CHECK_EQ(0, seen.buffers[s->problem.input_count].damaged, "outside of the box");
  CHECK_EQ(0, seen.buffers[s->problem.input_count].bad, "in the box");
  s->cu.mem_free(rest);
  close_damaged(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_reference_of_each_part_is_that_of_the_cpu),
      cmocka_unit_test(what_a_variant_does_wrong_is_found),
      cmocka_unit_test(several_outputs_and_outputs_in_place_are_compared),
      cmocka_unit_test(samples_in_parts_are_checked),
      cmocka_unit_test(cold_samples_in_parts_are_compared),
      cmocka_unit_test(the_roof_borrows_fields),
      cmocka_unit_test(a_borrowed_roof_blames_no_variant),
  };
  if (!find_fake_cuda()) return 0;
  return cmocka_run_group_tests(tests, setup, teardown);
}
