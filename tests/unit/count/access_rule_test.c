/* access_rule_test.c: the rules of thumb in the templates' `access` against counts of the emulation. docs/templates.md
 * states how far a rule may be off. */
#include <glob.h>

#include "gpu/architecture/arch.h"
#include "stencil/template/access.h"
#include "stencil/template/template_read.h"
#include "tests/unit/emulate/emulation_build.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"
#include "tuner/count/variant_count.h"

/* How far a rule may be off, divided by the count. docs/templates.md has the same numbers. */
static const double loads_tolerance = 1.0 / 8, over_read_tolerance = 1.0 / 10, conflicts_tolerance = 1.0 / 4;

/* Configurations of a template for a stencil of kernels/, on a grid that is large enough for blocks without boundaries.
 * Parameters that are not named keep their defaults. */
struct row {
  const char *template, *stencil;
  struct grid grid;
  const char *sets[3];
};

#define CUBE          \
  {                   \
    { 512, 512, 512 } \
  }
#define SQUARE        \
  {                   \
    { 2048, 1024, 1 } \
  }
static const struct row rows[] = {
    {"direct",
     "star7",
     CUBE,
     {"vector=1", "vector=4 block_x=32 block_y=8", "vector=2 points_y=2 points_z=2 block_y=4"}},
    {"direct", "diffusion2d", SQUARE, {"block_x=32 block_y=8"}},
    {"patch", "star7", CUBE, {"vector=1 block_x=32 block_y=8", "vector=4 block_x=16 block_y=8 points_y=4 points_z=2"}},
    {"patch", "box27", CUBE, {"vector=2 block_x=32 block_y=4 points_y=2 points_z=2"}},
    {"flat", "star7", CUBE, {"block_x=32 block_y=8 points_y=2 points_z=1"}},
    {"flat", "box2d9", SQUARE, {"block_x=64 block_y=4 points_y=2 points_z=1"}},
    {"line", "derivative_z", CUBE, {"vector=4 points=4 block_x=32 block_y=4"}},
    {"line",
     "derivative_x",
     CUBE,
     {"vector=1 points=2 block_x=32 block_y=4 beside=load", "vector=1 block_x=32 block_y=8 beside=shuffle"}},
    {"pencil",
     "derivative_y",
     CUBE,
     {"pencils=32 block_x=32 block_y=8 segment=64 ends=global",
      "pencils=16 block_x=16 block_y=32 segment=128 ends=global"}},
    {"tile",
     "star7",
     CUBE,
     {"halo_load=edge vector=4 tile_x=128 block_x=32 tile_y=8 block_y=4 tile_z=4 block_z=2 load_path=plain",
      "halo_load=edge vector=2 tile_x=64 block_x=32 tile_y=8 block_y=8 tile_z=2 block_z=1 load_path=texture"}},
    {"tile",
     "heat2d",
     SQUARE,
     {"halo_load=overlap vector=1 tile_x=14 block_x=14 tile_y=14 block_y=14",
      "halo_load=mixed vector=1 tile_x=32 block_x=32 tile_y=8 block_y=8",
      "halo_load=flat vector=4 tile_x=128 block_x=32 tile_y=8 block_y=8"}},
    {"zmarch",
     "star7",
     CUBE,
     {"storage=direct vector=4 z_slicing=8", "storage=planes vector=1 block_x=32 block_y=8 points_y=1 z_slicing=16",
      "storage=registers vector=4 block_x=16 block_y=8 points_y=2 z_slicing=8"}},
    {"zmarch",
     "box27",
     CUBE,
     {"storage=direct vector=2 points_y=2 block_y=4 z_slicing=8",
      "storage=planes prefetch=async vector=2 block_x=32 block_y=8 points_y=1 z_slicing=8"}},
    {"scatter",
     "star7",
     CUBE,
     {"copies=engine vector=2 halo_bytes=128 block_x=64 block_y=8 points_y=2 z_slicing=64",
      "copies=block producer=first halo_bytes=32 vector=4 block_x=32 block_y=8 points_y=2 z_slicing=32"}},
    {"tensor_box",
     "asymmetric/skew_sum_2d",
     SQUARE,
     {"cell_x=4 cell_rows=2 warps_x=1 warps_y=4 warps_z=1 min_blocks=2 turns=8",
      "cell_x=2 cell_rows=4 warps_x=2 warps_y=2 warps_z=1 min_blocks=2 turns=8"}},
    {"tensor_box", "asymmetric/skew_sum_3d", CUBE, {"cell_rows=2 warps_y=4 warps_z=2 turns=8"}},
    {"scatter_direct", "star7", CUBE, {"vector=4 block_x=32 block_y=8 points_y=2 z_slicing=32"}},
    {"scan", "scan_x", CUBE, {"method=shuffle vector=2"}},
    {"scan",
     "scan_z",
     CUBE,
     {"method=march block_x=32 block_y=4 vector=1 points=4", "method=march block_x=64 block_y=8 vector=4 points=8"}},
    {"scan_segments", "scan_z", CUBE, {"vector=1"}},
};

static int failures;

static void compare_counts(const char *what, double rule, double counted, double tolerance, const struct row *row,
                           const char *set) {
  if (isnan(rule) || isnan(counted)) return; /* the variant has no shared memory, or its rule names none */
  if (fabs(rule - counted) <= tolerance * counted) return;
  print_error("# %s %s %s: %s: rule %g, counted %g\n", row->template, row->stencil, set, what, rule, counted);
  failures++;
}

/* Count all configurations of a row, and compare. */
static void check_row(const struct row *row) {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  struct count_job jobs[COUNT(row->sets)] = {{.has_count = false}};
  double coefficients[MAX_COEFFICIENTS], facts[FACT_COUNT];
  char path[64];
  int count = 0;
  snprintf(path, sizeof path, "templates/%s.yaml", row->template);
  CHECK_OK(stencil_of_kernels(row->stencil, &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(template_read(path, &template));
  CHECK_OK(stencil_coefficients(stencil, &row->grid, coefficients));
  struct domain domain = domain_dense(stencil, analysis, &row->grid);
  const enum dtype dtype = stencil->dtypes[DTYPE_F32] ? DTYPE_F32 : DTYPE_F64;
  struct device_limits limits = arch_device_limits(arch_find(9, 0));
  facts_fill(stencil, analysis, dtype, &domain, &limits, false, facts);
  for (; count < (int)COUNT(row->sets) && row->sets[count]; count++) {
    jobs[count].spec = (struct variant_spec){.stencil = stencil,
                                             .analysis = analysis,
                                             .template = template,
                                             .configuration = configuration_of(template, row->sets[count]),
                                             .dtype = dtype,
                                             .domain = domain,
                                             .coefficients = coefficients,
                                             .limits = limits};
  }
  CHECK_OK(variants_count(jobs, count, &(struct emulation_options){.folder = test_cache()}));
  for (int i = 0; i < count; i++) {
    struct bindings bindings;
    if (!jobs[i].has_count) {
      print_error("# %s %s %s: %s\n", row->template, row->stencil, row->sets[i], jobs[i].reason);
      failures++;
      continue;
    }
    CHECK_OK(bindings_make(template, facts, &bindings));
    bindings_configure(&bindings, &jobs[i].spec.configuration);
    const struct access rule = access_of(&bindings);
    const struct count_figures counted = count_figures_of(&jobs[i].count);
    compare_counts("loads a point", rule.loads_per_point, counted.loads, loads_tolerance, row, row->sets[i]);
    compare_counts("over-read", rule.over_read, counted.over_read, over_read_tolerance, row, row->sets[i]);
    compare_counts("bank conflicts", rule.bank_conflicts, counted.mean_conflicts, conflicts_tolerance, row,
                   row->sets[i]);
    bindings_free(&bindings);
  }
  template_free(template);
  analysis_free(analysis);
  stencil_free(stencil);
}

TEST(rules_of_thumb_are_near_the_counts) {
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
  CHECK_EQ(0, failures, "differ by more than docs/templates.md states");
}

/* A new template needs a row above. */
TEST(every_template_is_compared) {
  glob_t found;
  CHECK_EQ(0, glob("templates/*.yaml", 0, NULL, &found), "glob");
  CHECK(found.gl_pathc > 8, "%zu templates", found.gl_pathc);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char path[64];
    struct template *template;
    CHECK_OK(template_read(found.gl_pathv[i], &template));
    bool has_row = template->steps.is_given; /* several time steps: its rule may be further off, as documented */
    template_free(template);
    for (size_t r = 0; r < COUNT(rows); r++) {
      snprintf(path, sizeof path, "templates/%s.yaml", rows[r].template);
      has_row = has_row || strcmp(path, found.gl_pathv[i]) == 0;
    }
    CHECK(has_row, "%s has no row", found.gl_pathv[i]);
  }
  globfree(&found);
}

/* A mask has a byte for each point, and an input along one axis has practically none. */
TEST(over_read_is_of_the_bytes_that_the_inputs_have) {
  static const struct {
    const char *inputs, *fields, *update;
    double over_read; /* 0: there is no such figure */
  } cases[] = {
      {"u", "", "u[0,0] + u[-1,0]", 129.0 / 128},
      {"u, m", "types: {m: u8}", "m[1,0]*u[0,0] + m[0,0]*u[-1,0]", (129.0 * 4 + 132) / (128 * 5)},
      {"u, s, t", "along: {s: x, t: y}", "u[0,0] + s[0]*u[-1,0] + t[0]", 129.0 / 128},
      {"s, t", "along: {s: x, t: y}", "s[0]*t[0]", 0},
  };
  const struct grid grid = {{1024, 64, 1}};
  struct template *template;
  CHECK_OK(template_read("templates/direct.yaml", &template));
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[512];
    struct stencil *stencil;
    struct analysis *analysis;
    snprintf(text, sizeof text,
             "name: test\ndims: 2\ninputs: [%s]\n%s\noutputs: [v]\nupdate: v = %s\nboundary: clamp\n"
             "dtypes: [f32]\ngrids: [[1024, 64]]\n",
             cases[i].inputs, cases[i].fields, cases[i].update);
    const struct source source = source_of("test.yaml", text, strlen(text));
    CHECK_OK(stencil_parse(&source, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    struct count_job job = {.spec = {.stencil = stencil,
                                     .analysis = analysis,
                                     .template = template,
                                     .configuration = configuration_of(template, "block_x=128 vector=1"),
                                     .dtype = DTYPE_F32,
                                     .domain = domain_dense(stencil, analysis, &grid),
                                     .limits = arch_device_limits(arch_find(9, 0))}};
    CHECK_OK(variants_count(&job, 1, &(struct emulation_options){.folder = test_cache()}));
    CHECK(job.has_count, "%s: %s", cases[i].update, job.reason);
    const double over_read = count_figures_of(&job.count).over_read;
    CHECK(cases[i].over_read > 0 ? fabs(over_read - cases[i].over_read) < 1e-9 : isnan(over_read), "%s: %g, not %g",
          cases[i].update, over_read, cases[i].over_read);
    analysis_free(analysis);
    stencil_free(stencil);
  }
  template_free(template);
}

/* A count is kept and found again. Another domain does not get it. */
TEST(counts_are_cached) {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  double coefficients[MAX_COEFFICIENTS];
  CHECK_OK(stencil_of_kernels("heat2d", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(template_read("templates/direct.yaml", &template));
  const struct grid grid = {{96, 40, 1}};
  CHECK_OK(stencil_coefficients(stencil, &grid, coefficients));
  struct count_job job = {.spec = {.stencil = stencil,
                                   .analysis = analysis,
                                   .template = template,
                                   .configuration = configuration_of(template, "block_x=32 block_y=2"),
                                   .dtype = DTYPE_F64,
                                   .domain = domain_dense(stencil, analysis, &grid),
                                   .coefficients = coefficients,
                                   .limits = arch_device_limits(arch_find(9, 0))}};
  const struct emulation_options options = {.folder = program_cache()};
  CHECK_OK(variants_count(&job, 1, &options));
  CHECK(job.has_count && !job.is_cached, "%s", job.reason);
  CHECK_EQ(64, job.count.points, "points");
  const uint64_t sectors = job.count.counts.global_loads.sectors;
  CHECK_OK(variants_count(&job, 1, &options));
  CHECK(job.has_count && job.is_cached, "%s", job.reason);
  CHECK_EQ(sectors, job.count.counts.global_loads.sectors, "sectors");
  job.spec.domain = domain_dense(stencil, analysis, &(struct grid){{96, 41, 1}});
  CHECK_OK(variants_count(&job, 1, &options));
  CHECK(job.has_count && !job.is_cached, "another grid");
  job.spec.configuration = configuration_of(template, "block_x=1024 block_y=16");
  CHECK_OK(variants_count(&job, 1, &options));
  CHECK(!job.has_count && strlen(job.reason) > 0, "a rule leaves it out");
  template_free(template);
  analysis_free(analysis);
  stencil_free(stencil);
}

/* A parameter that only the launch uses changes the number of blocks or of threads, but not the source. */
TEST(counts_of_other_launches_are_others) {
  static const struct {
    unsigned char blocks, block; /* choices */
    uint64_t points;
  } launches[] = {{0, 0, 32}, {1, 0, 64}, {0, 1, 16}, {1, 1, 32}};
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  double coefficients[MAX_COEFFICIENTS];
  CHECK_OK(stencil_of_kernels("copy", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(
      template_of_texts("name: test\nabout: x\nblock: [block, 1, 1]\ngrid: [blocks, 1, 1]\nshared_bytes: 0\nrules: []\n"
                        "parameters:\n  blocks: {default: 1, about: x, values: [1, 2]}\n"
                        "  block: {default: 32, about: x, values: [32, 16]}\n",
                        "extern \"C\" __global__ void KERNEL(KERNEL_PARAMETERS) {\n"
                        "  const Fields f = FIELDS;\n"
                        "  const index_t last = blockIdx.x == 0 ? 1 : 2;\n"
                        "  for (index_t i = 0; i < last; i++)\n"
                        "    write_point(f, 0, g, threadIdx.x + 32*i, 0, 0, read_point(f, 0, g, threadIdx.x, 0, 0));\n"
                        "}\n",
                        &template));
  const struct grid grid = {{96, 4, 1}};
  CHECK_OK(stencil_coefficients(stencil, &grid, coefficients));
  for (size_t i = 0; i < COUNT(launches); i++) {
    struct count_job job = {.spec = {.stencil = stencil,
                                     .analysis = analysis,
                                     .template = template,
                                     .configuration = {.choice = {launches[i].blocks, launches[i].block}},
                                     .dtype = DTYPE_F32,
                                     .domain = domain_dense(stencil, analysis, &grid),
                                     .coefficients = coefficients,
                                     .limits = arch_device_limits(arch_find(9, 0))}};
    CHECK_OK(variants_count(&job, 1, &(struct emulation_options){.folder = program_cache()}));
    CHECK(job.has_count && !job.is_cached, "row %zu: %s", i, job.reason);
    CHECK_EQ(launches[i].points, job.count.points, "row %zu: the block in the middle is the last one", i);
  }
  template_free(template);
  analysis_free(analysis);
  stencil_free(stencil);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_template_is_compared),
      cmocka_unit_test(over_read_is_of_the_bytes_that_the_inputs_have),
      cmocka_unit_test(counts_are_cached),
      cmocka_unit_test(counts_of_other_launches_are_others),
      cmocka_unit_test(rules_of_thumb_are_near_the_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
