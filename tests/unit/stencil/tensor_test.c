/* tensor_test.c: tensor maps, clusters, overlap and workspaces, from a template's file to a launch, and what is refused
 * on the way. */
#include "stencil/launch/tensor_shape.h"

#include "gpu/architecture/arch.h"
#include "stencil/generate/generate.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

static struct domain domain_of(long nx, long ny, long nz, long row, long plane) {
  return (struct domain){.grid = {{nx, ny, nz}}, .row = row, .plane = plane};
}

TEST(a_shape_counts_bytes) {
  const struct tensor_maps maps = {.count = 1, .box = {40, 12, 2}, .promotion_bytes = 256};
  struct domain domain = domain_of(20, 12, 10, 24, 312);
  struct tensor_shape shape;
  tensor_shape_make(&maps, 3, &domain, DTYPE_F64, &shape);
  CHECK_EQ(3, shape.rank, "rank");
  CHECK_EQ(192, shape.row_bytes, "rows");
  CHECK_EQ(2496, shape.plane_bytes, "planes");
  CHECK_EQ(10, shape.extents[2], "planes");
  CHECK_EQ(256, shape.promotion_bytes, "promotion");
  tensor_shape_make(&maps, 1, &domain, DTYPE_F32, &shape);
  CHECK_EQ(2, shape.rank, "no map has fewer dimensions");
  CHECK_EQ(4, shape.element_bytes, "elements");
}

TEST(shapes_that_no_driver_takes_are_refused) {
  static const struct {
    int dims;
    enum dtype dtype;
    long row, plane, box[MAX_DIMS];
    const char *error; /* NULL: the shape is right */
  } rows[] = {
      {3, DTYPE_F32, 64, 4096, {36, 10, 1}, NULL},
      {3, DTYPE_F32, 64, 4096, {256, 256, 256}, NULL},
      {3, DTYPE_F64, 66, 4356, {2, 1, 1}, NULL},
      {2, DTYPE_F32, 68, 4097, {4, 1, 1}, NULL}, /* there is only one plane */
      {3, DTYPE_F32, 64, 4096, {34, 10, 1}, "the rows of a box are not multiples of 16 bytes"},
      {3, DTYPE_F64, 64, 4096, {3, 10, 1}, "the rows of a box are not multiples of 16 bytes"},
      {3, DTYPE_F32, 64, 4096, {260, 10, 1}, "1 to 256"},
      {3, DTYPE_F32, 64, 4096, {32, 0, 1}, "1 to 256"},
      {3, DTYPE_F32, 66, 4224, {32, 8, 1}, "the grid's rows"},
      {3, DTYPE_F32, 64, 4098, {32, 8, 1}, "the grid's planes"},
      {2, DTYPE_F32, 64, 4096, {32, 8, 2}, "must have 1 element in z"},
      {3, DTYPE_F32, 64, 1L << 38, {32, 8, 1}, "too large"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct tensor_maps maps = {.count = 1};
    struct domain domain = domain_of(64, 64, 1, rows[i].row, rows[i].plane);
    struct tensor_shape shape;
    memcpy(maps.box, rows[i].box, sizeof maps.box);
    tensor_shape_make(&maps, rows[i].dims, &domain, rows[i].dtype, &shape);
    const char *error = tensor_shape_error(&shape);
    CHECK_EQ(rows[i].error == NULL, error == NULL, "row %zu: %s", i, error ? error : "");
    if (error && rows[i].error) CHECK(strstr(error, rows[i].error), "row %zu: %s", i, error);
  }
}

static const char head[] =
    "name: test\nabout: x\nparameters:\n  mode: {values: [0, 1, 2], default: 1, about: x}\n"
    "rules:\n  - {keep: mode != 2 || max_cluster == 8, otherwise: no clusters}\nblock: [32, 4, 1]\ngrid: [4, 6, 8]\nshared_bytes: 0\n";

static const char kernel[] =
    "extern \"C\" __global__ void KERNEL(KERNEL_PARAMETERS) {\n  const Fields f = FIELDS;\n  (void)f;\n}\n";

/* Join the parameters of a kernel, which may be on several lines, into one line. */
static void join_lines(char *source) {
  for (char *at; (at = strstr(source, ",\n    "));) memmove(at + 2, at + 6, strlen(at + 6) + 1), at[1] = ' ';
}

/* Generate a stencil's variant of a template that has these additional lines. */
static halotune_status generate_with(const char *stencil_name, const char *lines, const char *set, int capability,
                                     struct generated *out) {
  char yaml[2048];
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  double coefficients[64];
  struct grid grid = {{64, 48, 32}};
  snprintf(yaml, sizeof yaml, "%s%s", head, lines);
  CHECK_OK(stencil_of_kernels(stencil_name, &stencil));
  for (int axis = stencil->dims; axis < MAX_DIMS; axis++) grid.n[axis] = 1;
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(template_of_texts(yaml, kernel, &template));
  CHECK_OK(stencil_coefficients(stencil, &grid, coefficients));
  struct variant_spec spec = {.stencil = stencil,
                              .analysis = analysis,
                              .template = template,
                              .configuration = configuration_default(template),
                              .dtype = DTYPE_F32,
                              .domain = domain_dense(stencil, analysis, &grid),
                              .coefficients = coefficients,
                              .limits = arch_device_limits(arch_find(capability / 10, capability % 10))};
  if (set) CHECK_OK(configuration_set(template, set, &spec.configuration));
  halotune_status status = generate(&spec, out);
  if (status == HALOTUNE_OK) join_lines(out->source);
  template_free(template);
  analysis_free(analysis);
  stencil_free(stencil);
  return status;
}

#define CHECK_HAS(text) CHECK(strstr(g.source, text), "%s", text)

TEST(maps_are_parameters_of_the_kernel) {
  static const char lines[] = "tensor_inputs: {box: [36, 4 + low_y + high_y, 1], promotion_bytes: 64*mode}\n"
                              "tensor_outputs: {when: mode == 1, box: [32, 4, 1]}\n";
  struct generated g;
  CHECK_OK(generate_with("wave25", lines, NULL, 90, &g));
  CHECK_EQ(1, g.launch.input_maps.count, "of three inputs one is staged");
  CHECK_EQ(1, g.launch.output_maps.count, "outputs");
  CHECK_EQ(12, g.launch.input_maps.box[1], "box");
  CHECK_EQ(64, g.launch.input_maps.promotion_bytes, "promotion");
  CHECK_EQ(128, g.launch.output_maps.promotion_bytes, "promotion by default");
  CHECK_HAS("struct __align__(128) TensorMap");
  CHECK_HAS("const __grid_constant__ TensorMap map_in_u, const __grid_constant__ TensorMap map_out_");
  CHECK_HAS("  const TensorMap *map_in[STAGED];");
  CHECK_HAS("#define LAUNCH_INPUT_MAP_BOX 36, 12, 1  // elements in x, y, z\n");
  CHECK_HAS("#define LAUNCH_INPUT_MAP_PROMOTION 64  // bytes\n");
  generated_free(&g);
  CHECK_OK(generate_with("wave25", lines, "mode=0", 90, &g));
  CHECK_EQ(0, g.launch.output_maps.count, "outputs");
  CHECK(!strstr(g.source, "TensorMap map_out_"), "a configuration that takes none");
  generated_free(&g);
  CHECK_OK(generate_with("gradient", lines, NULL, 90, &g));
  CHECK_EQ(3, g.launch.output_maps.count, "each output");
  generated_free(&g);
  CHECK_OK(generate_with("copy", lines, NULL, 90, &g));
  CHECK_EQ(0, g.launch.input_maps.count, "nothing is staged");
  generated_free(&g);
}

TEST(sources_of_other_templates_stay_as_they_are) {
  struct generated g;
  CHECK_OK(generate_with("star7", "", NULL, 90, &g));
  CHECK(!strstr(g.source, "TensorMap") && !strstr(g.source, "cluster_rank"), "no wrappers of sm_90");
  CHECK_EQ(1, launch_cluster_blocks(&g.launch), "cluster");
  CHECK(!g.launch.overlaps, "overlap");
  generated_free(&g);
}

TEST(clusters_and_overlap) {
  struct generated g;
  CHECK_OK(generate_with("star7", "cluster: [2, 3, mode]\noverlap: mode == 1\n", NULL, 90, &g));
  CHECK_EQ(6, launch_cluster_blocks(&g.launch), "cluster");
  CHECK(g.launch.overlaps, "overlap");
  CHECK_HAS("#define LAUNCH_CLUSTER 2, 3, 1  // blocks in x, y, z\n");
  CHECK_HAS("#define LAUNCH_OVERLAP 1  // programmatic dependent launch\n");
  CHECK(!strstr(g.source, "cluster_rank"), "a kernel that does not ask for it");
  generated_free(&g);
  CHECK_OK(generate_with("star7", "cluster: [1, 1, 1]\noverlap: 0\n", "mode=0", 75, &g));
  CHECK_EQ(1, launch_cluster_blocks(&g.launch), "on a GPU without them");
  generated_free(&g);
}

/* A template may have a workspace and overlap, but no variant may have both. */
TEST(a_workspace_or_overlap) {
  static const char lines[] = "tensor_outputs: {box: [32, 4, 1]}\noverlap: mode == 1\nworkspace_bytes: 16 + nx\n";
  struct generated g;
  CHECK_OK(generate_with("star7", lines, "mode=0", 90, &g));
  CHECK(!g.launch.overlaps, "overlap");
  CHECK_EQ(80, g.launch.workspace_bytes, "workspace");
  CHECK_HAS("// workspace 80 bytes\n");
  CHECK_HAS(" TensorMap map_out_v, void *workspace, const Geometry g");
  generated_free(&g);
  CHECK_EQ(HALOTUNE_ARGUMENT, generate_with("star7", lines, "mode=1", 90, &g), "both");
  CHECK(strstr(fail_text(), "template test: a variant with a workspace cannot overlap"), "%s", fail_text());
}

TEST(launches_that_no_gpu_takes_are_refused) {
  static const struct {
    const char *lines, *set;
    int capability;
    const char *message;
  } rows[] = {
      {"tensor_inputs: {box: [34, 4, 1]}\n", NULL, 90,
       "template test: tensor_inputs: the rows of a box are not multiples of 16 bytes"},
      {"tensor_inputs: {box: [32, 4, 0]}\n", NULL, 90,
       "the box of tensor maps in z is 0; it must be a whole number from 1 to 256"},
      {"tensor_outputs: {box: [32, 257, 1]}\n", NULL, 90, "the box of tensor maps in y is 257"},
      {"tensor_outputs: {box: [32, 4, 1], promotion_bytes: 32}\n", NULL, 90,
       "promotion_bytes is 32; it must be 0, 64, 128 or 256"},
      {"tensor_outputs: {box: [32, 4, 1]}\n", NULL, 80, "tensor_outputs need sm_90 or later"},
      {"cluster: [3, 1, 1]\n", NULL, 90, "4 blocks in x are not a multiple of 3"},
      {"cluster: [4, 3, 1]\n", NULL, 90, "the device has no such clusters of blocks (cluster_blocks <= max_cluster)"},
      {"cluster: [1, 0, 1]\n", NULL, 90, "cluster in y is 0; it must be a whole number from 1 to 8"},
      {"cluster: [2, 1, 1]\n", NULL, 80, "the device has no such clusters of blocks"},
      {"overlap: 2*mode\n", NULL, 90, "overlap is 2; it must be 0 or 1"},
      {"cooperative: 1\n", NULL, 90,
       "192 blocks of a cooperative launch, which would not all run at the same time on 132"},
      {"cooperative: 2\n", NULL, 90, "cooperative is 2; it must be 0 or 1"},
      {"cooperative: 1\noverlap: 1\n", NULL, 90, "a cooperative launch cannot overlap with the previous one"},
      {"", "mode=2", 80, "excludes this configuration: no clusters"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct generated g = {.source = NULL};
    CHECK_EQ(HALOTUNE_ARGUMENT, generate_with("star7", rows[i].lines, rows[i].set, rows[i].capability, &g), "row %zu",
             i);
    CHECK(strstr(fail_text(), rows[i].message), "row %zu: %s", i, fail_text());
    CHECK(!g.source, "row %zu", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shape_counts_bytes),
      cmocka_unit_test(shapes_that_no_driver_takes_are_refused),
      cmocka_unit_test(maps_are_parameters_of_the_kernel),
      cmocka_unit_test(sources_of_other_templates_stay_as_they_are),
      cmocka_unit_test(clusters_and_overlap),
      cmocka_unit_test(a_workspace_or_overlap),
      cmocka_unit_test(launches_that_no_gpu_takes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
