/* gpu_fields_test.c: fields that the GPU makes, with the driver of tests/fake_cuda: every element is the CPU's. */
#include <dlfcn.h>
#include <math.h>

#include "gpu/compile/nvrtc.h"
#include "tests/unit/device/check_module.h"
#include "tuner/verify/spot.h"

/* Read a field of the session as doubles. */
static void read_field(struct gpu_session *s, enum gpu_upload kind, int number, double *values) {
  const long count = domain_elements(&s->problem.domain);
  const bool is_single = kind == GPU_UPLOAD_START && s->problem.dtype == DTYPE_F32;
  float *singles = malloc((size_t)count * sizeof *singles);
  CHECK_OK(gpu_session_download(s, kind, number, 0, is_single ? (void *)singles : values,
                                (size_t)count * (is_single ? sizeof *singles : sizeof *values)));
  for (long i = 0; i < count && is_single; i++) values[i] = (double)singles[i];
  free(singles);
}

static void check_starts(struct gpu_session *s, const struct scene *scene, int buffer, double *got) {
  const int inputs = scene->request.stencil->input_count;
  const double *want = buffer < inputs ? scene->inputs[buffer] : scene->outputs[buffer - inputs];
  read_field(s, GPU_UPLOAD_START, buffer, got);
  for (long i = 0; i < domain_elements(&s->problem.domain); i++) {
    CHECK(want[i] == got[i], "%s: buffer %d, element %ld: %.17g, not %.17g", scene->request.stencil->name, buffer, i,
          got[i], want[i]);
  }
}

/* Compare in the box; other elements are never read. */
static void check_box(const struct scene *scene, const double *want, const double *magnitudes, const double *got) {
  const struct box *box = &scene->box;
  for (long z = box->low[2]; z < box->high[2]; z++) {
    for (long y = box->low[1]; y < box->high[1]; y++) {
      for (long x = box->low[0]; x < box->high[0]; x++) {
        const long i = grid_index(&scene->request.domain.grid, x, y, z);
        CHECK(fabs(want[i] - got[i]) <= 1e-15 * scene->request.steps * magnitudes[i],
              "%s: (%ld, %ld, %ld): %.17g, not %.17g", scene->request.stencil->name, x, y, z, got[i], want[i]);
      }
    }
  }
}

static void check_fields(const char *name, enum dtype dtype, struct grid grid, int steps) {
  static struct gpu_session s;
  static struct gpu_recipe recipe;
  struct stage stage;
  struct scene plan;
  struct gpu_problem problem;
  struct gpu_made made;
  bool fits = false;
  stage_open_steps(&stage, name, dtype, grid, steps);
  const struct backend_problem wanted = {.scene = &stage.scene};
  CHECK_OK(scene_plan(&stage.scene.request, &plan));
  CHECK(!scene_has_fields(&plan) && gpu_recipe_applies(&plan), "%s", name);
  CHECK_OK(gpu_recipe_make(&plan, &recipe, &fits));
  CHECK(fits, "%s", name);
  CHECK_OK(cuda_problem_make(&wanted, &problem));
  CHECK_OK(gpu_session_open(0, &s));
  CHECK_OK(gpu_session_prepare(&s, checks.cubin));
  CHECK_OK(gpu_session_problem(&s, &problem));
  CHECK_OK(gpu_session_make_fields(&s, &recipe, &made));
  CHECK_EQ(0, made.bad_points, "%s", name);
  double *got = calloc((size_t)domain_elements(&problem.domain), sizeof *got);
  for (int b = 0; b < gpu_problem_buffers(&problem); b++) {
    if (s.starts[b]) check_starts(&s, &stage.scene, b, got);
  }
  for (int o = 0; o < problem.output_count; o++) {
    read_field(&s, GPU_UPLOAD_WANT, o, got);
    check_box(&stage.scene, stage.scene.want[o], stage.scene.magnitudes[o], got);
    read_field(&s, GPU_UPLOAD_MAGNITUDE, o, got);
    check_box(&stage.scene, stage.scene.magnitudes[o], stage.scene.magnitudes[o], got);
  }
  free(got);
  gpu_session_close(&s);
  stage_close(&stage);
}

TEST(the_gpu_makes_the_fields_that_the_cpu_makes) {
  static const struct {
    const char *stencil;
    struct grid grid;
  } rows[] = {{"star7", {{20, 9, 7}}},
              {"star25", {{11, 12, 10}}},
              {"wave25", {{10, 11, 12}}},
              {"box27", {{7, 6, 5}}},
              {"gradient", {{9, 8, 7}}},
              {"triad", {{70, 1, 1}}},
              {"heat2d", {{21, 13, 1}}},
              {"diffusion2d", {{17, 14, 1}}},
              {"advect1d", {{90, 1, 1}}},
              {"copy", {{300, 1, 1}}},
              {"derivative_y", {{10, 13, 11}}},
              {"derivative_x", {{13, 7, 6}}},
              {"../tests/data/functions", {{9, 8, 7}}},
              {"../tests/data/box3d_r4", {{12, 11, 10}}}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    check_fields(rows[i].stencil, DTYPE_F32, rows[i].grid, 1);
    check_fields(rows[i].stencil, DTYPE_F64, rows[i].grid, 1);
  }
}

/* Launches of several steps: with each boundary rule that the GPU knows, a field that stays, and two that advance. */
static const struct {
  const char *stencil;
  struct grid grid;
  int steps;
} fused[] = {{"star7", {{12, 11, 10}}, 4},
             {"heat2d", {{30, 19, 1}}, 5},
             {"diffusion2d", {{17, 14, 1}}, 3},
             {"asymmetric/skew_1d", {{60, 1, 1}}, 6},
             {"asymmetric/skew_march_3d_periodic", {{12, 11, 10}}, 3},
             {"asymmetric/skew_steps_2d", {{21, 17, 1}}, 4},
             {"asymmetric/skew_steps_ends", {{20, 15, 1}}, 4},
             {"../examples/solvers/gray_scott", {{16, 18, 1}}, 2},
             {"../tests/data/carried", {{90, 1, 1}}, 2}};

TEST(the_gpu_makes_the_reference_of_several_steps) {
  for (size_t i = 0; i < COUNT(fused); i++) {
    check_fields(fused[i].stencil, DTYPE_F32, fused[i].grid, fused[i].steps);
    check_fields(fused[i].stencil, DTYPE_F64, fused[i].grid, fused[i].steps);
  }
}

/* The assembly of what NVRTC compiles. */
static char *ptx_of(const char *source) {
  static const char *const options[] = {"--gpu-architecture=compute_90", "--std=c++17"};
  nvrtcResult (*ptx_size)(nvrtcProgram program, size_t * bytes);
  nvrtcResult (*ptx)(nvrtcProgram program, char *text);
  struct nvrtc nvrtc;
  nvrtcProgram program;
  size_t bytes = 0;
  CHECK_OK(nvrtc_open(&nvrtc));
  *(void **)&ptx_size = dlsym(nvrtc.library, "nvrtcGetPTXSize");
  *(void **)&ptx = dlsym(nvrtc.library, "nvrtcGetPTX");
  CHECK(ptx_size && ptx, "NVRTC gives PTX");
  CHECK_EQ(NVRTC_SUCCESS, nvrtc.create(&program, source, "check.cu", 0, NULL, NULL), "program");
  CHECK_EQ(NVRTC_SUCCESS, nvrtc.compile(program, COUNT(options), options), "compile");
  CHECK_EQ(NVRTC_SUCCESS, ptx_size(program, &bytes), "size");
  char *text = calloc(1, bytes + 1);
  CHECK_EQ(NVRTC_SUCCESS, ptx(program, text), "PTX");
  nvrtc.destroy(&program);
  nvrtc_close(&nvrtc);
  return text;
}

/* The emulation has no fused multiply-adds of its own. A GPU has them, and they round once instead of twice. */
TEST(inputs_have_no_fused_multiply_adds) {
  static const char *const kernels[] = {".entry fill_f32(", ".entry fill_f64("};
  char *source = gpu_check_source(), *ptx = ptx_of(source);
  for (size_t i = 0; i < COUNT(kernels); i++) {
    char *begin = strstr(ptx, kernels[i]);
    char *end = begin ? strstr(begin, "\n}") : NULL;
    CHECK(end, "%s", kernels[i]);
    *end = '\0';
    CHECK(strstr(begin, "mul.rn.f64") && !strstr(begin, "fma."), "%s", kernels[i]);
    *end = '\n';
  }
  free(ptx);
  free(source);
}

/* The root is that of negative numbers at some points. */
TEST(points_without_a_finite_reference_are_bad) {
  enum { POINTS = 40 };
  static struct gpu_session s;
  static struct gpu_recipe recipe;
  for (int dtype = DTYPE_F32; dtype <= DTYPE_F64; dtype++) {
    const struct grid grid = {{POINTS, 1, 1}};
    struct stencil *stencil;
    struct analysis *analysis;
    struct scene plan;
    struct gpu_problem problem;
    struct gpu_made made;
    bool fits = false;
    double u[POINTS], coefficients[MAX_COEFFICIENTS];
    long long bad = 0, first_bad = -1;
    CHECK_OK(stencil_of_update(1, "v = sqrt(u[0] - 0.5)", &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    const struct scene_request request = {.stencil = stencil,
                                          .analysis = analysis,
                                          .dtype = (enum dtype)dtype,
                                          .domain = domain_dense(stencil, analysis, &grid),
                                          .coefficients = coefficients,
                                          .input = INPUT_RANDOM,
                                          .seed = 1,
                                          .steps = 1,
                                          .launch_steps = 1};
    CHECK_OK(scene_plan(&request, &plan));
    const struct backend_problem wanted = {.scene = &plan};
    CHECK_OK(gpu_recipe_make(&plan, &recipe, &fits));
    CHECK_OK(cuda_problem_make(&wanted, &problem));
    CHECK_OK(gpu_session_open(0, &s));
    CHECK_OK(gpu_session_prepare(&s, checks.cubin));
    CHECK_OK(gpu_session_problem(&s, &problem));
    CHECK_OK(gpu_session_make_fields(&s, &recipe, &made));
    read_field(&s, GPU_UPLOAD_START, 0, u);
    for (int i = POINTS; i-- > 0;) {
      if (u[i] < 0.5) bad++, first_bad = i;
    }
    CHECK(bad > 0 && bad < POINTS, "%lld points", bad);
    CHECK_EQ(bad, made.bad_points, "points");
    CHECK_EQ(first_bad, made.first_bad, "the first");
    gpu_session_close(&s);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

/* The GPU knows neither positions nor comparisons: the CPU makes these fields. */
TEST(rare_updates_are_left_to_the_cpu) {
  static const char *const stencils[] = {"../tests/data/ramp", "../tests/data/positions", "../tests/data/limiter"};
  static struct gpu_recipe recipe;
  for (size_t i = 0; i < COUNT(stencils); i++) {
    struct stage stage;
    bool fits = true;
    stage_open(&stage, stencils[i], DTYPE_F32, (struct grid){{20, 19, 1}});
    CHECK_OK(gpu_recipe_make(&stage.scene, &recipe, &fits));
    CHECK(!fits, "%s", stencils[i]);
    stage_close(&stage);
  }
}

/* Spots are computed without fields; they must be parts of the fields. */
static void check_spots(const char *name, struct grid grid, int steps) {
  enum { SPOTS = 9 };
  struct stage stage;
  static double rows[2 * MAX_FIELDS][ROW_POINTS];
  struct result_row results[MAX_FIELDS];
  stage_open_steps(&stage, name, DTYPE_F32, grid, steps);
  const struct scene *scene = &stage.scene;
  for (int o = 0; o < MAX_FIELDS; o++) results[o] = (struct result_row){rows[o], rows[MAX_FIELDS + o]};
  for (int i = 0; i < SPOTS; i++) {
    const struct spot spot = spot_draw(scene, &scene->box, i);
    CHECK_OK(spot_reference(scene, &spot, results));
    const long first = grid_index(&scene->request.domain.grid, spot.x, spot.y, spot.z);
    for (int o = 0; o < stage.stencil->output_count; o++) {
      for (int p = 0; p < spot.count; p++) {
        CHECK(scene->want[o][first + p] == results[o].values[p], "%s: spot %d", name, i);
        CHECK(scene->magnitudes[o][first + p] == results[o].magnitudes[p], "%s: spot %d", name, i);
      }
    }
  }
  stage_close(&stage);
}

TEST(spots_are_parts_of_the_fields) {
  static const char *const stencils[] = {"star7", "wave25", "box27", "diffusion2d", "derivative_z", "derivative_x"};
  const struct grid large = {{300, 13, 12}}; /* rows are longer than a spot */
  for (size_t i = 0; i < COUNT(stencils); i++) check_spots(stencils[i], (struct grid){{14, 13, 12}}, 1);
  for (size_t i = 0; i < COUNT(fused); i++) check_spots(fused[i].stencil, fused[i].grid, fused[i].steps);
  for (size_t i = 0; i < COUNT(fused); i++) check_spots(fused[i].stencil, large, fused[i].steps);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gpu_makes_the_fields_that_the_cpu_makes),
      cmocka_unit_test(the_gpu_makes_the_reference_of_several_steps),
      cmocka_unit_test(inputs_have_no_fused_multiply_adds),
      cmocka_unit_test(points_without_a_finite_reference_are_bad),
      cmocka_unit_test(rare_updates_are_left_to_the_cpu),
      cmocka_unit_test(spots_are_parts_of_the_fields),
  };
  if (!find_fake_cuda()) return 0;
  return cmocka_run_group_tests(tests, setup, teardown);
}
