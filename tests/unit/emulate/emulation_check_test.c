/* emulation_check_test.c: a kernel with one defect is reported with this defect and its place. */
#include <limits.h>

#include "stencil/template/template_read.h"
#include "tests/unit/emulate/emulation_build.h"
#include "tests/unit/stencils.h"
#include "tuner/verify/emulated_check.h"
#include "tuner/verify/scenes.h"

#define ENTRY                                                                     \
  "struct Geometry { int nx, ny, nz, row, plane, x0, x1, y0, y1, z0, z1; };\n"    \
  "extern \"C\" __global__ void kernel(float *u, float *v, const Geometry g) {\n" \
  "  const int x = threadIdx.x, y = blockIdx.x, i = y*g.row + x;\n"               \
  "  const bool inside = x >= g.x0 && x < g.x1 && y >= g.y0 && y < g.y1;\n"       \
  "  auto sum = [&](int at) { return u[at] + 2*u[at - 1] - 3*u[at + g.row]; };\n"

/* Kernels for v = u[0,0] + 2*u[-1,0] - 3*u[0,1] on 9x8 points in rows of 16. Points with x from 1 and y below 7 are
 * computed. */
static const struct {
  const char *name, *source, *want, *text;
} rows[] = {
    {"right", "  if (inside) v[i] = sum(i);\n}\n", "passed", ""},
    {"wrong weight", "  if (inside) v[i] = sum(i) + 1e-4f;\n}\n", "wrong_result", "v: 56 of 56 points are wrong"},
    {"a point missing", "  if (inside && i != 35) v[i] = sum(i);\n}\n", "wrong_result",
     "1 of 56 points is wrong, the first (3, 2, 0): nan"},
    {"NaN", "  if (inside) v[i] = i == 35 ? 0.0f/(x - 3) : sum(i);\n}\n", "wrong_result", "the first (3, 2, 0): "},
    {"skipped column", "  if (inside) v[i] = sum(i);\n  if (x == 0 && y == 3) v[i] = 0;\n}\n", "wrote_outside",
     "v was written at (0, 3, 0), which is not to be computed"},
    {"padding", "  if (inside) v[i] = sum(i);\n  if (x == 0 && y == 3) v[i + 9] = 0;\n}\n", "wrote_outside",
     "v was written at (9, 3, 0), which is padding"},
    {"input", "  if (inside) v[i] = sum(i);\n  if (i == 35) u[i] += 1;\n}\n", "changed_input",
     "u was written at (3, 2, 0)"},
    {"beyond the field", "  if (inside) v[i] = sum(i);\n  if (i == 0) v[-1] = 0;\n}\n", "out_of_bounds", ""},
    {"padding read", "  if (inside) v[i] = sum(i) + 0*u[y*g.row + 9];\n}\n", "wrong_result", "56 of 56"},
};

TEST(each_fault_has_its_name_and_place) {
  static const char *const kernels[] = {"kernel"};
  struct emulation_source sources[COUNT(rows)];
  struct stencil *stencil;
  struct analysis *analysis;
  struct scene scene;
  CHECK_OK(stencil_of_update(2, "v = u[0,0] + 2*u[-1,0] - 3*u[0,1]", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  struct scene_request request = {.stencil = stencil,
                                  .analysis = analysis,
                                  .dtype = DTYPE_F32,
                                  .input = INPUT_RANDOM,
                                  .seed = 7,
                                  .steps = 1,
                                  .threads = 1};
  request.domain = domain_dense(stencil, analysis, &stencil->grids[0]);
  request.domain.row = 16;
  request.domain.plane = 16L * 9;
  CHECK_OK(scene_make(&request, &scene));
  char text[COUNT(rows)][2048];
  for (size_t i = 0; i < COUNT(rows); i++) {
    snprintf(text[i], sizeof text[i], "%s%s", ENTRY, rows[i].source);
    sources[i] = (struct emulation_source){rows[i].name, text[i], kernels, 1};
  }
  struct emulation_batch *batch = build_kernels(sources, COUNT(rows), false);
  struct generated generated = {
      .launch = {.kernel = "kernel", .block = {9, 1, 1}, .grid = {8, 1, 1}, .index_bytes = 4}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct check_result result;
    CHECK_EQ(COMPILE_OK, emulation_batch_compile(batch, (int)i)->outcome, "%s: %s", rows[i].name,
             emulation_batch_compile(batch, (int)i)->log);
    CHECK_OK(emulated_check(batch, (int)i, &generated, &scene,
                            (struct check_order){EMULATION_ASCENDING, EMULATION_ASCENDING, 0}, &result));
    CHECK_TEXT(rows[i].want, result.name, "%s: %s", rows[i].name, result.text);
    CHECK(strstr(result.text, rows[i].text), "%s: %s", rows[i].name, result.text);
  }
  /* The right kernel reads neighbours, so its output cannot lie in the memory of u. No file can say that it may. */
  struct check_result result;
  stencil->in_place_count = 1;
  CHECK_OK(emulated_check(batch, 0, &generated, &scene,
                          (struct check_order){EMULATION_ASCENDING, EMULATION_ASCENDING, 0}, &result));
  CHECK_TEXT("wrong_result", result.name, "%s", result.text);
  CHECK(strstr(result.text, ", in place"), "%s", result.text);
  emulation_batch_free(batch);
  scene_free(&scene);
  analysis_free(analysis);
  stencil_free(stencil);
}

/* A variant of the template `direct` with 64-bit offsets, and the same with narrow offsets, on a domain with long
 * strides. */
TEST(narrow_offsets_are_found_where_strides_are_long) {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  struct scenes scenes;
  CHECK_OK(stencil_of_kernels("heat2d", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(template_read("templates/direct.yaml", &template));
  CHECK_OK(scenes_make(&(struct scenes_request){stencil, analysis, DTYPE_F32, NULL, 1, 1, 1, {0}}, &scenes));
  const struct scene *far = &scenes.list[scenes.count - 1].scene;
  struct variant_spec spec = {.stencil = stencil,
                              .analysis = analysis,
                              .template = template,
                              .dtype = DTYPE_F32,
                              .configuration = configuration_default(template),
                              .domain = far->request.domain,
                              .coefficients = scenes.coefficients,
                              .limits = {.capability = 90,
                                         .max_threads = 1024,
                                         .max_threads_sm = 2048,
                                         .max_registers = 255,
                                         .registers_sm = 65536,
                                         .max_shared_bytes = 48 << 10,
                                         .warp_size = 32}};
  struct generated generated;
  CHECK_OK(generate(&spec, &generated));
  CHECK_EQ(8, generated.launch.index_bytes, "a field of %ld elements", domain_elements(&spec.domain));
  char *narrow = strdup(generated.source), *type = strstr(narrow, "typedef long long index_t");
  assert_non_null(type);
  static const char narrow_type[] = "typedef int       index_t";
  memcpy(type, narrow_type, sizeof narrow_type - 1);
  const char *kernels[] = {generated.launch.kernel};
  struct emulation_source sources[] = {{"wide", generated.source, kernels, 1}, {"narrow", narrow, kernels, 1}};
  struct emulation_batch *batch = build_kernels(sources, COUNT(sources), false);
  struct check_result result;
  struct check_order order = {EMULATION_ASCENDING, EMULATION_ASCENDING, 0};
  CHECK_OK(emulated_check(batch, 0, &generated, far, order, &result));
  CHECK_TEXT("passed", result.name, "%s", result.text);
  generated.launch.index_bytes = 4;
  CHECK_OK(emulated_check(batch, 1, &generated, far, order, &result));
  CHECK(result.outcome != CHECK_PASSED, "%s", result.name);
  emulation_batch_free(batch);
  free(narrow);
  generated_free(&generated);
  scenes_free(&scenes);
  template_free(template);
  analysis_free(analysis);
  stencil_free(stencil);
}

TEST(coefficients_are_all_different) {
  struct stencil *stencil;
  double values[64];
  CHECK_OK(stencil_of_kernels("star25", &stencil));
  CHECK_OK(scene_coefficients(stencil, &stencil->grids[0], DTYPE_F32, values));
  for (int i = 0; i < stencil->coefficient_count; i++) {
    CHECK((double)(float)values[i] == values[i], "%d", i);
    for (int k = 0; k < i; k++) CHECK(values[i] != values[k], "%d %d", i, k);
  }
  stencil_free(stencil);
}

TEST(default_scenes_cover_what_is_promised) {
  struct stencil *stencil;
  struct analysis *analysis;
  struct scenes scenes;
  int dense = 0, padded = 0, steps = 0, boxed = 0, far = 0, threads[3] = {0}, blocks[2] = {0};
  CHECK_OK(stencil_of_kernels("star7", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  struct scenes_request request = {stencil, analysis, DTYPE_F64, NULL, 1, 1, 1, {0}};
  CHECK_OK(scenes_make(&request, &scenes));
  for (int i = 0; i < scenes.count; i++) {
    const struct scene *scene = &scenes.list[i].scene;
    const struct domain *d = &scene->request.domain;
    dense += d->row == d->grid.n[0];
    padded += d->row > d->grid.n[0] && d->plane > d->row * d->grid.n[1] && d->row % 4 == 0;
    steps += scene->request.steps == 2;
    far += domain_elements(d) > INT_MAX;
    boxed += d->low[0] > 1 || d->high[0] < d->grid.n[0] - 1;
    for (int k = 0; k < scenes.list[i].order_count; k++) {
      threads[scenes.list[i].orders[k].threads]++;
      blocks[scenes.list[i].orders[k].blocks]++;
    }
  }
  CHECK(dense == 2 && padded == 7 && steps == 3 && boxed == 1 && far == 1, "%d %d %d %d %d", dense, padded, steps,
        boxed, far);
  CHECK(threads[0] > 2 && threads[1] > 2 && threads[2] > 2 && blocks[0] > 2 && blocks[1] > 2, "orders");
  scenes_free(&scenes);
  analysis_free(analysis);
  stencil_free(stencil);
}

/* The grids of all scenes have room for mirror images. */
TEST(default_scenes_have_room_for_images) {
  static const char *const texts[] = {
      "name: far\ndims: 2\ninputs: [u]\noutputs: [v]\nboundary: [skip, mirror_node]\ndtypes: [f64]\n"
      "grids: [[64, 64]]\nupdate: v = u[0,0] + u[0,-16]\n",
      "name: far\ndims: 3\ninputs: [u]\noutputs: [v]\nboundary: [skip, skip, mirror]\ndtypes: [f64]\n"
      "grids: [[64, 64, 64]]\nupdate: v = u[0,0,0] + u[0,0,16]\n"};
  for (size_t i = 0; i < COUNT(texts); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    struct scenes scenes;
    CHECK_OK(stencil_parse(&(struct source){"far.yaml", texts[i], strlen(texts[i])}, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    struct scenes_request request = {stencil, analysis, DTYPE_F64, NULL, 1, 1, 1, {0}};
    CHECK_OK(scenes_make(&request, &scenes));
    scenes_free(&scenes);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_fault_has_its_name_and_place),
      cmocka_unit_test(narrow_offsets_are_found_where_strides_are_long),
      cmocka_unit_test(coefficients_are_all_different),
      cmocka_unit_test(default_scenes_cover_what_is_promised),
      cmocka_unit_test(default_scenes_have_room_for_images),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
