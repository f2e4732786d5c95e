/* stage_chain_test.c: launches whose stages make different updates with different reaches, executed on the CPU and
 * compared with the reference, which applies the updates one after the other. */
#include <stdlib.h>

#include "gpu/architecture/arch.h"
#include "stencil/analysis/iterate.h"
#include "tests/unit/emulate/emulation_build.h"
#include "tests/unit/template/templates.h"
#include "tuner/verify/emulated_check.h"
#include "tuner/verify/reference.h"

enum { MOST_UPDATES = 3 };

/* Updates of one chain. No two reach equally far on any side of an axis. */
struct updates {
  int dims;
  const char *inputs, *iterate, *texts[MOST_UPDATES];
};

static const struct updates along_z = {
    3,
    "u",
    "{v: u}",
    {"v = 0.4*u[0,0,0] + a*u[0,0,-1] + 0.3*u[0,0,2]", "v = a*u[0,0,-2] + 0.5*u[0,0,-1] + 0.3*u[0,0,0]"}};
static const struct updates in_space = {3,
                                        "u",
                                        "{v: u}",
                                        {"v = a*u[-1,0,0] + 0.3*u[0,2,0] + 0.2*u[0,0,-1] + 0.3*u[0,0,2]",
                                         "v = 0.5*sqrt(1 + u[2,1,0]*u[0,-1,-2]) + a*u[0,0,-1]",
                                         "v = 0.3*u[0,0,1] + 0.5*u[1,0,0] + a*u[0,-1,0]"}};
static const struct updates of_a_wave = {3,
                                         "u, u_prev, k",
                                         "{v: u, u: u_prev}",
                                         {"v = 0.5*u[0,0,0] - 0.2*u_prev[0,0,0] + a*k[0,0,0]*(u[0,0,-1] + u[0,1,2])",
                                          "v = 0.4*u[-2,0,-2] + 0.3*u_prev[0,0,0] + a*k[0,0,0]*u[1,0,0]"}};
static const struct updates in_a_plane = {
    2, "u", "{v: u}", {"v = 0.5*u[-1,0] + a*u[0,2]", "v = 0.5*u[2,-1] + 0.2*u[0,-2] + a*u[0,0]"}};
static const struct updates on_a_line = {
    1, "u", "{v: u}", {"v = 0.5*u[-1] + a*u[2]", "v = 0.5*u[-2] + a*u[0]", "v = 0.7*u[1] + a*u[-1]*u[0]"}};

#define TILE "tile_x=8 tile_y=4 tile_z=4 block_x=64"
#define LONG_TILE "tile_x=64 tile_y=1 tile_z=1 block_x=64"
#define MARCH "points=4 rows=1 lanes_x=8 warps=8 vector=4 min_blocks=0 z_slicing=32"
#define FINE_MARCH "points=2 rows=1 lanes_x=16 warps=8 vector=2 min_blocks=0 z_slicing=32"
#define FINE_LINE "points=4 warps=2 vector=2 min_blocks=0"
#define LINE "points=4 warps=2 vector=4 min_blocks=0"

static const struct {
  const struct updates *updates;
  const char *boundary, *template, *set;
  struct grid grid;
  enum dtype dtype;
} rows[] = {
    {&along_z, "skip", "fused_tile", TILE " steps=1", {{19, 11, 23}}, DTYPE_F64},
    {&along_z, "periodic", "fused_tile", TILE " steps=2", {{19, 11, 23}}, DTYPE_F32},
    {&along_z, "skip", "fused_march", MARCH " steps=2 column=registers", {{40, 30, 37}}, DTYPE_F32},
    {&along_z, "skip", "fused_march", MARCH " steps=2 column=shared", {{40, 30, 37}}, DTYPE_F32},
    {&along_z, "periodic", "fused_march", MARCH " steps=2 column=registers prefetch=2", {{40, 30, 37}}, DTYPE_F32},
    {&in_space, "skip", "fused_tile", TILE " steps=1", {{25, 19, 21}}, DTYPE_F32},
    {&in_space, "skip", "fused_tile", TILE " steps=2", {{25, 19, 21}}, DTYPE_F64},
    {&in_space, "periodic", "fused_tile", TILE " steps=1", {{25, 19, 21}}, DTYPE_F32},
    {&in_space, "clamp", "fused_tile", TILE " steps=1", {{25, 19, 21}}, DTYPE_F64},
    {&in_space, "zero", "fused_tile", TILE " steps=1", {{25, 19, 21}}, DTYPE_F32},
    {&in_space, "skip", "fused_march", MARCH " steps=2 column=registers", {{64, 45, 40}}, DTYPE_F32},
    {&along_z, "periodic", "fused_march", FINE_MARCH " steps=2 column=registers", {{32, 45, 40}}, DTYPE_F64},
    {&in_space, "zero", "fused_march", MARCH " steps=2 column=shared", {{64, 45, 40}}, DTYPE_F32},
    {&in_space, "clamp", "fused_march", MARCH " steps=2 column=registers", {{64, 45, 40}}, DTYPE_F32},
    {&of_a_wave, "skip", "fused_tile", TILE " steps=2", {{25, 19, 21}}, DTYPE_F32},
    {&of_a_wave, "periodic", "fused_tile", TILE " steps=1", {{25, 19, 21}}, DTYPE_F64},
    {&of_a_wave, "skip", "fused_march", MARCH " steps=2 column=registers", {{64, 30, 40}}, DTYPE_F32},
    {&of_a_wave, "periodic", "fused_march", MARCH " steps=2 column=shared", {{64, 30, 40}}, DTYPE_F32},
    {&in_a_plane, "skip", "fused_tile", "tile_x=16 tile_y=8 tile_z=1 block_x=64 steps=3", {{37, 29, 1}}, DTYPE_F32},
    {&in_a_plane, "clamp", "fused_tile", "tile_x=16 tile_y=8 tile_z=1 block_x=64 steps=2", {{37, 29, 1}}, DTYPE_F64},
    {&on_a_line, "skip", "fused_tile", LONG_TILE " steps=2", {{150, 1, 1}}, DTYPE_F32},
    {&on_a_line, "skip", "fused_line", LINE " steps=2", {{500, 1, 1}}, DTYPE_F32},
    {&on_a_line, "periodic", "fused_line", FINE_LINE " steps=4", {{500, 1, 1}}, DTYPE_F64},
    {&on_a_line, "clamp", "fused_line", LINE " steps=1", {{500, 1, 1}}, DTYPE_F32},
    {&on_a_line, "zero", "fused_line", LINE " steps=2", {{500, 1, 1}}, DTYPE_F32},
};

/* A chain, its reference, and a variant. */
struct fixture {
  struct stencil *stencils[MOST_UPDATES];
  struct analysis *analyses[MOST_UPDATES], *analysis;
  struct stages chain;
  struct template *template;
  double coefficients[MAX_FIELDS];
  struct scene scene;
  struct generated generated;
};

static void read_update(const struct updates *updates, const char *boundary, const char *text, struct stencil **out) {
  struct text file = {0};
  text_printf(&file,
              "name: chain\ndims: %d\ninputs: [%s]\noutputs: [v]\niterate: %s\ncoefficients: {a: 0.25}\n"
              "boundary: %s\ndtypes: [f32, f64]\ngrids: [%s]\nupdate: %s\n",
              updates->dims, updates->inputs, updates->iterate, boundary,
              updates->dims == 1   ? "[64]"
              : updates->dims == 2 ? "[64, 64]"
                                   : "[64, 64, 64]",
              text);
  CHECK_OK(stencil_parse(&(struct source){"chain.yaml", text_string(&file), file.length}, out));
  text_free(&file);
}

static void make_chain(struct fixture *f, const struct updates *updates, const char *boundary) {
  f->chain.steps = 1;
  for (int i = 0; i < MOST_UPDATES && updates->texts[i]; i++) {
    read_update(updates, boundary, updates->texts[i], &f->stencils[i]);
    CHECK_OK(analysis_make(f->stencils[i], &f->analyses[i]));
    f->chain.step[f->chain.step_count++] = launch_stage_of(f->stencils[i], f->analyses[i]);
  }
  CHECK_OK(stages_check(&f->chain));
  CHECK_OK(analysis_of_chain(f->stencils[0], (const struct analysis *const *)f->analyses, f->chain.step_count,
                             &f->analysis));
}

/* Put what the stages compute one after the other into the scene. An error counts in units of the type's rounding of
 * 1, because all values are about 1 at most. */
static void compute_reference(struct fixture *f, int stages) {
  const struct stencil *first = f->stencils[0];
  struct scene *scene = &f->scene;
  const struct grid *grid = &scene->request.domain.grid;
  const long points = grid_points(grid);
  double *memory = malloc((size_t)(first->input_count + 1) * (size_t)points * sizeof *memory), *buffers[MAX_FIELDS + 1];
  struct carried carried[MAX_FIELDS];
  int inputs[MAX_FIELDS + 1], outputs[MAX_FIELDS];
  const int carried_count = iterate_carried(first, stages, carried);
  outputs[0] = first->input_count;
  CHECK(memory, "memory");
  for (int i = 0; i <= first->input_count; i++) {
    inputs[i] = i;
    buffers[i] = memory + i * points;
    memcpy(buffers[i], scene->inputs[i < outputs[0] ? i : 0], (size_t)points * sizeof *memory);
  }
  for (int stage = 0; stage < stages; stage++) {
    const int update = stage % f->chain.step_count;
    const struct reference reference = {.stencil = f->stencils[update],
                                        .analysis = f->analyses[update],
                                        .grid = *grid,
                                        .coefficients = f->coefficients,
                                        .steps = 1,
                                        .box = &scene->box,
                                        .dtype = DTYPE_F64};
    const double *read[MAX_FIELDS];
    for (int i = 0; i < first->input_count; i++) read[i] = buffers[inputs[i]];
    CHECK_OK(reference_run(&reference, read, &buffers[outputs[0]], NULL));
    for (int c = -1; c < carried_count; c++) {
      if ((c < 0 ? 0 : carried[c].later) != stages - 1 - stage) continue;
      memcpy(scene->want[first->output_count + c], buffers[outputs[0]], (size_t)points * sizeof(double));
    }
    iterate_advance(first, 1, inputs, outputs);
  }
  for (int k = 0; k < scene->written_count; k++) {
    for (long i = 0; i < points; i++) scene->magnitudes[k][i] = 1;
  }
  scene->allowed_units = 8 * stages;
  free(memory);
}

static void open_fixture(struct fixture *f, size_t row) {
  char path[64];
  *f = (struct fixture){.generated = {.source = NULL}};
  make_chain(f, rows[row].updates, rows[row].boundary);
  snprintf(path, sizeof path, "templates/%s.yaml", rows[row].template);
  CHECK_OK(template_read(path, &f->template));
  CHECK_OK(scene_coefficients(f->stencils[0], &rows[row].grid, rows[row].dtype, f->coefficients));
}

static void close_fixture(struct fixture *f) {
  generated_free(&f->generated);
  scene_free(&f->scene);
  template_free(f->template);
  analysis_free(f->analysis);
  for (int i = 0; i < f->chain.step_count; i++) {
    analysis_free(f->analyses[i]);
    stencil_free(f->stencils[i]);
  }
}

/* Generate the variant of a row, and the scene for it. */
static void make_variant(struct fixture *f, size_t row) {
  const struct variant_spec spec = {.stencil = f->stencils[0],
                                    .analysis = f->analysis,
                                    .template = f->template,
                                    .configuration = configuration_of(f->template, rows[row].set),
                                    .dtype = rows[row].dtype,
                                    .domain = domain_dense(f->stencils[0], f->analysis, &rows[row].grid),
                                    .coefficients = f->coefficients,
                                    .limits = arch_device_limits(arch_find(9, 0)),
                                    .most_steps = 16,
                                    .chain = &f->chain};
  const halotune_status status = generate(&spec, &f->generated);
  CHECK(status == HALOTUNE_OK, "row %zu: %s", row, fail_text());
  const int stages = f->chain.step_count * f->generated.launch.steps;
  const struct scene_request request = {.stencil = f->stencils[0],
                                        .analysis = f->analysis,
                                        .dtype = rows[row].dtype,
                                        .domain = spec.domain,
                                        .coefficients = f->coefficients,
                                        .input = INPUT_RANDOM,
                                        .seed = 11,
                                        .steps = stages,
                                        .launch_steps = stages};
  CHECK_OK(scene_make(&request, &f->scene));
  compute_reference(f, stages);
}

static struct check_result run_variant(struct fixture *f, size_t row) {
  struct check_result result = {.outcome = CHECK_NOT_RUN};
  const char *const kernels[] = {f->generated.launch.kernel};
  const struct emulation_source source = {"chain.cu", f->generated.source, kernels, 1};
  const struct check_order order = {EMULATION_RANDOM, EMULATION_DESCENDING, 5};
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  const struct emulation_compile *compile = emulation_batch_compile(batch, 0);
  CHECK(compile->outcome == COMPILE_OK, "row %zu: %s", row, compile->log);
  if (compile->outcome == COMPILE_OK) {
    CHECK_OK(emulated_check(batch, 0, &f->generated, &f->scene, order, &result));
  }
  emulation_batch_free(batch);
  return result;
}

TEST(stages_of_different_reach_compute_what_the_reference_does) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    open_fixture(&f, i);
    make_variant(&f, i);
    const struct check_result result = run_variant(&f, i);
    CHECK_EQ(CHECK_PASSED, result.outcome, "row %zu, %s %s: %s %s", i, rows[i].template, rows[i].set, result.name,
             result.text);
    close_fixture(&f);
  }
}

/* The same rows find a stage whose reach is given one too small: so the halo comes from the list. */
TEST(a_reach_that_is_too_small_is_found) {
  static const size_t some[] = {0, 2, 5, 10};
  for (size_t i = 0; i < COUNT(some); i++) {
    struct fixture f;
    open_fixture(&f, some[i]);
    f.chain.step[1].reach[rows[some[i]].updates->dims - 1][SIDE_LOW]--;
    make_variant(&f, some[i]);
    const struct check_result result = run_variant(&f, some[i]);
    CHECK(result.outcome != CHECK_PASSED && result.outcome != CHECK_NOT_RUN, "row %zu: %s", some[i], result.name);
    close_fixture(&f);
  }
}

/* What templates that march say of stages, for the chain in_space with two steps. */
static const char words_cuda[] =
    "constexpr int BEYOND = 1;\n"
    "constexpr PerStage HOLD = BEYOND, LAG = STAGE_HIGH_Z + HOLD;\n"
    "static_assert(STAGE_COUNT == 6 && !STAGES_ALIKE, \"all stages\");\n"
    "static_assert(LOW_X == 1 && HIGH_X == 2 && LOW_Y == 1 && HIGH_Y == 2 && LOW_Z == 2 && HIGH_Z == 2, \"of any\");\n"
    "static_assert(ALL_LOW_X == 2 && ALL_HIGH_X == 6 && ALL_SPAN_X == 8 && ALL_SPAN_Y == 10, \"of all\");\n"
    "static_assert(ALL_LOW_Z == 6 && ALL_HIGH_Z == 6 && ALL_SPAN_Z == 12, \"of all along z\");\n"
    "static_assert(of_stage(0, STAGE_HIGH_Z) == 2 && of_stage(1, STAGE_HIGH_Z) == 0, \"of a stage\");\n"
    "static_assert(of_stage(4, STAGE_LOW_Z) == 2 && of_stage(4, STAGE_SPAN_X) == 2, \"of a stage of step 1\");\n"
    "static_assert(sum_first(2, LAG) == 4 && sum_first(4, LAG) == 9 && sum_first(0, LAG) == 0, \"planes behind\");\n"
    "static_assert(sum_last(1, STAGE_LOW_Z) == 0 && sum_last(2, STAGE_LOW_Z) == 2, \"halo\");\n"
    "static_assert(sum_last(3, STAGE_LOW_Z) == 3 && sum_last(6, STAGE_LOW_Z) == ALL_LOW_Z, \"halo\");\n"
    "static_assert(LAG == 3 && sum_last(6, LAG) == ALL_HIGH_Z + 6, \"largest; all\");\n"
    "extern \"C\" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {\n"
    "  const Fields f = FIELDS;\n"
    "  real results[OUTPUTS];\n"
    "  update_stage(int(threadIdx.x), PointTaps{f, g, 0, 0, 0}, COEFFICIENT_VALUES, results);\n"
    "}\n";
static const char words_yaml[] =
    "name: test\nabout: words\nparameters: {steps: {values: [1, 2], default: 2, about: s}}\n"
    "rules: [{keep: step_low_z == 3 && step_high_x == 3 && step_stages == 3, otherwise: no}]\n"
    "block: [1, 1, 1]\ngrid: [1, 1, 1]\nshared_bytes: 0\nsteps: steps\nsums: update\n";

TEST(a_template_sees_each_stage) {
  struct fixture f = {.generated = {.source = NULL}};
  const struct grid grid = {{25, 19, 21}};
  struct text cuda = {0};
  text_printf(&cuda, "#ifndef HALOTUNE_PRELUDE\n#include \"example.cuh\"\n#include \"common.cuh\"\n#endif\n%s",
              words_cuda);
  make_chain(&f, &in_space, "skip");
  CHECK_OK(template_of_texts(words_yaml, text_string(&cuda), &f.template));
  CHECK_OK(scene_coefficients(f.stencils[0], &grid, DTYPE_F32, f.coefficients));
  const struct variant_spec spec = {.stencil = f.stencils[0],
                                    .analysis = f.analysis,
                                    .template = f.template,
                                    .configuration = configuration_default(f.template),
                                    .dtype = DTYPE_F32,
                                    .domain = domain_dense(f.stencils[0], f.analysis, &grid),
                                    .coefficients = f.coefficients,
                                    .limits = arch_device_limits(arch_find(9, 0)),
                                    .most_steps = 16,
                                    .chain = &f.chain};
  CHECK_OK(generate(&spec, &f.generated));
  const char *const kernels[] = {f.generated.launch.kernel};
  struct emulation_batch *batch =
      build_kernels(&(struct emulation_source){"words.cu", f.generated.source, kernels, 1}, 1, false);
  CHECK(emulation_batch_compile(batch, 0)->outcome == COMPILE_OK, "%s", emulation_batch_compile(batch, 0)->log);
  emulation_batch_free(batch);
  text_free(&cuda);
  close_fixture(&f);
}

/* Templates that cannot make chains say so. */
TEST(other_templates_refuse_a_chain) {
  static const char *const templates[] = {"pipeline_planes", "resident"};
  const struct grid grid = {{64, 64, 64}};
  for (size_t i = 0; i < COUNT(templates); i++) {
    struct fixture f;
    char path[64];
    open_fixture(&f, 0);
    template_free(f.template);
    snprintf(path, sizeof path, "templates/%s.yaml", templates[i]);
    CHECK_OK(template_read(path, &f.template));
    const struct variant_spec spec = {.stencil = f.stencils[0],
                                      .analysis = f.analysis,
                                      .template = f.template,
                                      .configuration = configuration_default(f.template),
                                      .domain = domain_dense(f.stencils[0], f.analysis, &grid),
                                      .coefficients = f.coefficients,
                                      .limits = arch_device_limits(arch_find(9, 0)),
                                      .most_steps = 64,
                                      .chain = &f.chain};
    CHECK_EQ(HALOTUNE_ARGUMENT, generate(&spec, &f.generated), "%s", templates[i]);
    CHECK(strstr(fail_text(), "chain of several"), "%s: %s", templates[i], fail_text());
    close_fixture(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_of_different_reach_compute_what_the_reference_does),
      cmocka_unit_test(a_reach_that_is_too_small_is_found),
      cmocka_unit_test(a_template_sees_each_stage),
      cmocka_unit_test(other_templates_refuse_a_chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
