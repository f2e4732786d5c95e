/* generate_test.c: from stencil, template and configuration to source, launch geometry and arguments. */
#include "stencil/generate/generate.h"

#include "gpu/architecture/arch.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

/* A stencil of kernels/ with the template `direct`, and one variant of it. */
struct fixture {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  double coefficients[16];
  struct variant_spec spec;
};

static void open_fixture(struct fixture *f, const char *stencil, long nx, long ny, long nz) {
  struct grid grid = {{nx, ny, nz}};
  CHECK_OK(stencil_of_kernels(stencil, &f->stencil));
  CHECK_OK(analysis_make(f->stencil, &f->analysis));
  CHECK_OK(template_read("templates/direct.yaml", &f->template));
  CHECK_OK(stencil_coefficients(f->stencil, &grid, f->coefficients));
  f->spec = (struct variant_spec){.stencil = f->stencil,
                                  .analysis = f->analysis,
                                  .template = f->template,
                                  .configuration = configuration_default(f->template),
                                  .dtype = DTYPE_F32,
                                  .domain = domain_dense(f->stencil, f->analysis, &grid),
                                  .coefficients = f->coefficients,
                                  .limits = arch_device_limits(arch_find(9, 0))};
}

static void close_fixture(struct fixture *f) {
  template_free(f->template);
  analysis_free(f->analysis);
  stencil_free(f->stencil);
}

static void set_parameter(struct fixture *f, const char *assignment) {
  CHECK_OK(configuration_set(f->template, assignment, &f->spec.configuration));
}

TEST(the_same_variant_gives_the_same_text) {
  struct fixture f;
  struct generated a, b, c;
  open_fixture(&f, "star7", 64, 64, 64);
  CHECK_OK(generate(&f.spec, &a));
  CHECK_OK(generate(&f.spec, &b));
  CHECK_TEXT(a.source, b.source, "twice");
  CHECK_EQ(0, identity_compare(a.hash, b.hash), "hash");
  set_parameter(&f, "vector=2");
  CHECK_OK(generate(&f.spec, &c));
  CHECK(identity_compare(a.hash, c.hash) != 0, "another configuration, another hash");
  CHECK_TEXT("star7_direct", a.launch.kernel, "kernel");
  generated_free(&a);
  generated_free(&b);
  generated_free(&c);
  close_fixture(&f);
}

/* Lines that a variant's source has, and lines that it must not have. */
TEST(the_source_says_what_was_chosen) {
  static const struct {
    const char *set, *has, *lacks;
  } rows[] = {
      {"vector=4", "#define VECTOR 4  //", "#define VECTOR 1  //"},
      {"load_path=readonly", "return load_readonly(", "load_plain"},
      {"load_path=plain", "return load_plain(", "LOAD_PATH_"},
      {"min_blocks=2", "__launch_bounds__(128, 2)", NULL},
      {"min_blocks=0", "__launch_bounds__(128)", NULL},
      {"extents=runtime", "index_t nx, ny, nz", NULL},
      {"extents=literal", "64", "index_t nx, ny, nz, row, plane, x0, x1, y0, y1, z0, z1;"},
      {"coefficients=parameter", "const Coefficients coefficients", "__constant__"},
      {"coefficients=constant", "__constant__", "const Coefficients coefficients)"},
      {"coefficients=literal", "static constexpr real c0_ = real(", "__constant__"},
      {"block_x=64", "#define LAUNCH_BLOCK 64, 1, 1 ", NULL},
      {"block_x=64", "nvcc -cubin -arch=sm_90", NULL},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct generated generated;
    open_fixture(&f, "star7", 64, 64, 64);
    set_parameter(&f, rows[i].set);
    CHECK_OK(generate(&f.spec, &generated));
    CHECK(strstr(generated.source, rows[i].has), "row %zu %s has %s", i, rows[i].set, rows[i].has);
    CHECK(!rows[i].lacks || !strstr(generated.source, rows[i].lacks), "row %zu %s lacks %s", i, rows[i].set,
          rows[i].lacks);
    generated_free(&generated);
    close_fixture(&f);
  }
}

/* The sums of a march, tap by tap and with weights grouped. */
TEST(the_source_groups_weights_if_the_variant_says_so) {
  static const struct {
    const char *stencil, *template, *set, *has, *lacks;
  } rows[] = {
      {"asymmetric/skew_repeats_3d", "scatter", "weights=each", "weights.w0*taps(0, -2, 1) + ", "group0_0"},
      {"asymmetric/skew_repeats_3d", "scatter", "weights=grouped",
       "  const real group0_0 = taps(0, -2, 1) + (taps(0, 1, -1) + taps(0, 1, 1));\n"
       "  const real shared0_0 = weights.w0*group0_0 + weights.w1*taps(0, 0, 0);\n"
       "  sums[0][3] = sums[0][2] + shared0_0;\n"
       "  sums[0][2] = sums[0][1] + weights.w4*taps(0, 0, 0);\n"
       "  sums[0][1] = sums[0][0] + weights.w2*group0_0 + weights.w3*taps(0, 0, 0) + weights.w1*taps(0, 0, 1);\n"
       "  sums[0][0] = shared0_0;\n}",
       "Taps are added in the order"},
      {"asymmetric/skew_repeats_product", "scatter", "weights=grouped",
       "  const real group0_0 = (taps(0, -1, -2) + real(", NULL},
      {"asymmetric/skew_repeats_beside", "scatter", "weights=grouped", "  sums[1][3] = sums[1][2];\n", NULL},
      {"asymmetric/skew_repeats_2d", "pipeline_rows", "weights=each", "fma(weights.w0, taps(0, -2), sums[0][0]);",
       "group0_0"},
      {"asymmetric/skew_repeats_2d", "pipeline_rows", "weights=grouped",
       "    const real group0_0 = taps(0, -2) + taps(0, 1);\n"
       "    const real shared0_0 = weights.w0*group0_0 + weights.w1*taps(0, 0);\n"
       "    sums[0][3] += shared0_0;\n"
       "    sums[0][2] = fma(weights.w4, taps(0, 2), sums[0][2]);\n"
       "    sums[0][1] = fma(weights.w2, group0_0, sums[0][1]);\n"
       "    sums[0][1] = fma(weights.w3, taps(0, 0), sums[0][1]);\n"
       "    sums[0][0] += shared0_0;\n",
       NULL},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct generated generated;
    char path[128];
    open_fixture(&f, rows[i].stencil, 512, 512, strstr(rows[i].stencil, "2d") ? 1 : 512);
    template_free(f.template);
    snprintf(path, sizeof path, "templates/%s.yaml", rows[i].template);
    CHECK_OK(template_read(path, &f.template));
    f.spec.template = f.template;
    f.spec.configuration = configuration_default(f.template);
    f.spec.most_steps = LAUNCH_MOST_STEPS;
    set_parameter(&f, rows[i].set);
    CHECK_OK(generate(&f.spec, &generated));
    CHECK(strstr(generated.source, rows[i].has), "row %zu %s has %s", i, rows[i].stencil, rows[i].has);
    CHECK(!rows[i].lacks || !strstr(generated.source, rows[i].lacks), "row %zu %s lacks %s", i, rows[i].stencil,
          rows[i].lacks);
    generated_free(&generated);
    close_fixture(&f);
  }
}

/* The weights of all taps, for a template that keeps them in an order of its own. Sources of others lack them. */
TEST(the_source_has_each_weight_if_the_template_asks) {
  static const struct {
    const char *template, *text;
    bool has;
  } rows[] = {
      {"tensor_box", "    visit(0, -2, -1, -3, weights.w0);\n", true},
      {"tensor_box", "    visit(0, 1, 3, 0, weights.w", true},
      {"tensor_box", "add_row", false},
      {"direct", "visit", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct generated generated;
    char path[128];
    open_fixture(&f, "asymmetric/skew_sum_3d", 512, 512, 512);
    f.spec.dtype = DTYPE_F64;
    template_free(f.template);
    snprintf(path, sizeof path, "templates/%s.yaml", rows[i].template);
    CHECK_OK(template_read(path, &f.template));
    f.spec.template = f.template;
    f.spec.configuration = configuration_default(f.template);
    CHECK_OK(generate(&f.spec, &generated));
    CHECK_EQ(rows[i].has, strstr(generated.source, rows[i].text) != NULL, "row %zu %s", i, rows[i].text);
    generated_free(&generated);
    close_fixture(&f);
  }
}

/* A source is what a user would put into a repository of their own: it holds what the variant uses, and no more. */
TEST(a_source_is_short) {
  static const struct {
    const char *template;
    int most_lines;
  } rows[] = {
      {"templates/direct.yaml", 150},
      {"templates/tile.yaml", 300},
      {"templates/zmarch.yaml", 400},
      {"templates/scatter.yaml", 500},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct generated generated;
    int lines = 0;
    open_fixture(&f, "star7", 512, 512, 512);
    template_free(f.template);
    CHECK_OK(template_read(rows[i].template, &f.template));
    f.spec.template = f.template;
    f.spec.configuration = configuration_default(f.template);
    CHECK_OK(generate(&f.spec, &generated));
    source_strip_lines(generated.source); /* as `halotune generate` prints it */
    for (const char *at = generated.source; *at; at++) lines += *at == '\n';
    CHECK(lines > 50 && lines <= rows[i].most_lines, "%s: %d lines", rows[i].template, lines);
    generated_free(&generated);
    close_fixture(&f);
  }
}

TEST(the_grid_of_blocks_covers_the_box) {
  static const struct {
    const char *set;
    long n[3], block[3], grid[3]; /* star7 computes 1 to n - 2 in each axis */
  } rows[] = {
      {"block_x=128", {512, 512, 512}, {128, 1, 1}, {4, 510, 510}},
      {"block_x=32", {34, 3, 3}, {32, 1, 1}, {1, 1, 1}},
      {"block_x=32", {35, 3, 3}, {32, 1, 1}, {2, 1, 1}},
      {"vector=4", {512, 64, 64}, {128, 1, 1}, {1, 62, 62}},
      {"vector=4",
       {516, 64, 64},
       {128, 1, 1},
       {2, 62, 62}}, /* the box ends at 515, so the groups from 0 to 511 are too few */
      {"points_z=8", {64, 64, 64}, {128, 1, 1}, {1, 62, 8}},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct generated generated;
    open_fixture(&f, "star7", rows[i].n[0], rows[i].n[1], rows[i].n[2]);
    set_parameter(&f, rows[i].set);
    CHECK_OK(generate(&f.spec, &generated));
    for (int axis = 0; axis < 3; axis++) {
      CHECK_EQ(rows[i].block[axis], generated.launch.block[axis], "row %zu, block, axis %d", i, axis);
      CHECK_EQ(rows[i].grid[axis], generated.launch.grid[axis], "row %zu, grid, axis %d", i, axis);
    }
    generated_free(&generated);
    close_fixture(&f);
  }
}

TEST(what_a_rule_leaves_out_is_refused_with_its_reason) {
  struct fixture f;
  struct generated generated;
  open_fixture(&f, "star7", 63, 64, 64);
  set_parameter(&f, "vector=4");
  CHECK_EQ(HALOTUNE_ARGUMENT, generate(&f.spec, &generated), "rows of 63 elements");
  CHECK(strstr(fail_text(), "rows do not begin at multiples of the vector width"), "%s", fail_text());
  CHECK(!generated.source, "no source");
  CHECK_EQ(0, generated.launch.output_maps.count, "nothing of a launch");
  close_fixture(&f);
}

/* A number that taps beyond the grid read must fit the element type, as the numbers of the update. */
TEST(numbers_beyond_f32_are_refused) {
  static const char text[] = "name: far\ndims: 1\ninputs: [u]\noutputs: [v]\nboundary: {x: [zero, 1e39]}\n"
                             "dtypes: [f32, f64]\ngrids: [[64]]\nupdate: v = u[1] + u[-1]\n";
  struct fixture f;
  struct generated generated;
  struct stencil *stencil;
  struct analysis *analysis;
  const struct grid grid = {{64, 1, 1}};
  open_fixture(&f, "star7", 64, 64, 64);
  CHECK_OK(stencil_parse(&(struct source){"far.yaml", text, strlen(text)}, &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  f.spec.stencil = stencil;
  f.spec.analysis = analysis;
  f.spec.domain = domain_dense(stencil, analysis, &grid);
  CHECK_EQ(HALOTUNE_ARGUMENT, generate(&f.spec, &generated), "f32");
  CHECK(strstr(fail_text(), "far has the number 1e+39, which is beyond the range of f32"), "%s", fail_text());
  f.spec.dtype = DTYPE_F64;
  CHECK_OK(generate(&f.spec, &generated));
  generated_free(&generated);
  analysis_free(analysis);
  stencil_free(stencil);
  close_fixture(&f);
}

TEST(large_fields_get_wide_indices) {
  struct fixture f;
  struct generated generated;
  open_fixture(&f, "star7", 512, 512, 512);
  CHECK_OK(generate(&f.spec, &generated));
  CHECK_EQ(4, generated.launch.index_bytes, "2^27 elements");
  CHECK(strstr(generated.source, "typedef int index_t;"), "index_t");
  generated_free(&generated);
  close_fixture(&f);
  open_fixture(&f, "star7", 2048, 2048, 1024);
  CHECK_OK(generate(&f.spec, &generated));
  CHECK_EQ(8, generated.launch.index_bytes, "2^32 elements");
  CHECK(strstr(generated.source, "typedef long long index_t;"), "index_t");
  generated_free(&generated);
  close_fixture(&f);
}

TEST(arguments_are_packed_as_the_kernel_takes_them) {
  struct fixture f;
  struct generated generated;
  int numbers[DOMAIN_NUMBERS];
  float values[16];
  char bytes[GEOMETRY_BYTES];
  open_fixture(&f, "star7", 20, 12, 10);
  f.spec.domain.row = 24;
  f.spec.domain.plane = 312; /* 13 rows */
  CHECK_OK(generate(&f.spec, &generated));
  CHECK(generated.launch.passes_coefficients && !generated.launch.literal_extents &&
            generated.launch.passes_textures == 0,
        "what is passed");
  CHECK_EQ(sizeof numbers, geometry_pack(&generated.launch, &f.spec.domain, bytes), "bytes of Geometry");
  memcpy(numbers, bytes, sizeof numbers);
  static const int want[DOMAIN_NUMBERS] = {20, 12, 10, 24, 312, 1, 19, 1, 11, 1, 9};
  for (int i = 0; i < DOMAIN_NUMBERS; i++) CHECK_EQ(want[i], numbers[i], "%s", domain_number_names[i]);
  CHECK_EQ(7 * sizeof(float), coefficients_pack(&generated.launch, f.stencil, DTYPE_F32, f.coefficients, values),
           "Coefficients");
  for (int i = 0; i < 7; i++) CHECK_NEAR((float)f.coefficients[i], values[i], 0, "coefficient %d", i);
  generated_free(&generated);
  set_parameter(&f, "extents=literal");
  set_parameter(&f, "coefficients=literal");
  CHECK_OK(generate(&f.spec, &generated));
  CHECK(!generated.launch.passes_coefficients && generated.launch.literal_extents, "what is passed");
  CHECK_EQ(1, geometry_pack(&generated.launch, &f.spec.domain, bytes), "a struct without members");
  CHECK_EQ(0, coefficients_pack(&generated.launch, f.stencil, DTYPE_F32, f.coefficients, values), "none");
  generated_free(&generated);
  close_fixture(&f);
}

/* Values that are built in are part of the source and of its hash. Values that are passed are not. */
TEST(built_in_coefficients_are_in_the_hash) {
  static const struct {
    const char *set;
    bool differs;
  } rows[] = {{"coefficients=parameter", false}, {"coefficients=literal", true}, {"coefficients=constant", true}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct generated a, b;
    open_fixture(&f, "star7", 64, 64, 64);
    set_parameter(&f, rows[i].set);
    CHECK_OK(generate(&f.spec, &a));
    f.coefficients[0] += 0.25;
    CHECK_OK(generate(&f.spec, &b));
    CHECK_EQ(rows[i].differs, identity_compare(a.hash, b.hash) != 0, "row %zu %s", i, rows[i].set);
    generated_free(&a);
    generated_free(&b);
    close_fixture(&f);
  }
}

/* Facts that only access figures use. A group of a row counts once, however many taps are in it. */
TEST(facts_count_aligned_groups) {
  static const struct {
    const char *stencil;
    double taps, groups_of_2, groups_of_4;
  } rows[] = {
      {"star7", 7, 2 + 1 + 4, 2 + 1 + 4},
      {"star25", 25, 4 + 1 + 16, 2 + 1 + 16},
      {"box27", 27, 3 * 9, 3 * 9},
      {"copy", 1, 1, 1},
      {"diffusion2d", 6, 3 + 2 + 1, 3 + 2 + 1},
      {"derivative_x", 8, 5, 3}, /* -4 to -1 and 1 to 4: for two points -4 to 5, for four points -4 to 7 */
      {"advect1d", 2, 2, 2},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    double facts[FACT_COUNT];
    open_fixture(&f, rows[i].stencil, 64, 64, 64);
    facts_fill(f.stencil, f.analysis, DTYPE_F32, &f.spec.domain, &f.spec.limits, false, facts);
    CHECK_NEAR(rows[i].taps, facts[FACT_taps], 0, "%s", rows[i].stencil);
    CHECK_NEAR(rows[i].groups_of_2, facts[FACT_groups_of_2], 0, "%s", rows[i].stencil);
    CHECK_NEAR(rows[i].groups_of_4, facts[FACT_groups_of_4], 0, "%s", rows[i].stencil);
    close_fixture(&f);
  }
}

/* Rules of templates and their CUDA text must agree on where a halo has corners. */
TEST(rules_and_source_agree_on_taps_on_axes) {
  static const struct {
    const char *stencil, *line;
    int expected;
  } rows[] = {
      {"copy", "#define STAR 1 ", 1},  {"derivative_y", "#define STAR 1 ", 1}, {"star7", "#define STAR 1 ", 1},
      {"box27", "#define STAR 0 ", 0}, {"box2d9", "#define STAR 0 ", 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct text prelude = {0};
    double facts[FACT_COUNT];
    open_fixture(&f, rows[i].stencil, 64, 64, 64);
    facts_fill(f.stencil, f.analysis, DTYPE_F32, &f.spec.domain, &f.spec.limits, false, facts);
    CHECK_NEAR(rows[i].expected, facts[FACT_taps_on_axes], 0, "%s", rows[i].stencil);
    CHECK_OK(generate_prelude(f.stencil, f.analysis, DTYPE_F32, &prelude));
    CHECK(strstr(text_string(&prelude), rows[i].line) != NULL, "%s", rows[i].stencil);
    text_free(&prelude);
    close_fixture(&f);
  }
}

/* What a comment says decides nothing: no identity covers it. */
/* The source that is compiled has the name of the one that is stored, which has no #line: a #line between a macro and
 * its arguments would make another kernel. */
TEST(what_is_compiled_is_what_is_stored) {
  static const char yaml[] =
      "name: test\nabout: for tests\nparameters: {block_x: {values: [64], default: 64, about: threads}}\nrules: []\nblock: [64, 1, 1]\n"
      "grid: [1, 1, 1]\nshared_bytes: 0\n";
  static const char *const cuda[] = {
      "__device__ int M(int q) { return q; }\n#define M(a) 1\n__global__ void k() { if (M(0)) f(); }\n",
      "__device__ int M(int q) { return q; }\n#define M(a) 1\n__global__ void k() { if (M\n\n\n\n\n(0)) f(); }\n",
      "__device__ int M(int q) { return q; }\n#define M(a) 1\n__global__ void k() { if (M\n\n\n\n// c\n\n(0)) f(); }\n"};
  struct identity hashes[COUNT(cuda)];
  for (size_t i = 0; i < COUNT(cuda); i++) {
    struct fixture f;
    struct generated generated;
    struct identity compiled;
    open_fixture(&f, "star7", 64, 64, 64);
    template_free(f.template);
    CHECK_OK(template_of_texts(yaml, cuda[i], &f.template));
    f.spec.template = f.template;
    f.spec.configuration = configuration_default(f.template);
    CHECK_OK(generate(&f.spec, &generated));
    CHECK_OK(source_hash(generated.source, &compiled));
    CHECK_EQ(0, identity_compare(generated.hash, compiled), "row %zu: %s", i, generated.source);
    hashes[i] = generated.hash;
    CHECK_EQ(0, identity_compare(hashes[0], hashes[i]), "row %zu", i);
    generated_free(&generated);
    close_fixture(&f);
  }
}

TEST(lines_and_capabilities_are_those_of_directives) {
  static const struct {
    const char *source, *stripped;
    int capability;
  } sources[] = {
      {"#line 1 \"a\"\n#line 2\na;\n #line 3\n#line 4 \"b\"\n", "a;\n #line 3\n", 0},
      {"/*\n#line */ a;\n/**/ b;\n", "/*\n#line */ a;\n/**/ b;\n", 0},
      {"a;\n#line 3 /*\n*/\nb;\n", "a;\nb;\n", 0},
      {"a;\n#line 3 // \\\n b;\nc;\n", "a;\nc;\n", 0},
      {"#line 1.5\na;", "#line 1.5\na;", 0},
      {"a;\n#line 3", "a;\n", 0},
      {"#define LAUNCH_CAPABILITY 90  // ten\n", "#define LAUNCH_CAPABILITY 90  // ten\n", 90},
      {"// #define LAUNCH_CAPABILITY 10\n# define /**/ LAUNCH_CAPABILITY 90\n",
       "// #define LAUNCH_CAPABILITY 10\n# define /**/ LAUNCH_CAPABILITY 90\n", 90},
      {"/*\n#define LAUNCH_CAPABILITY 10\n*/", "/*\n#define LAUNCH_CAPABILITY 10\n*/", 0},
  };
  for (size_t i = 0; i < COUNT(sources); i++) {
    char *text = strdup(sources[i].source);
    CHECK_EQ(sources[i].capability, source_capability(text), "row %zu", i);
    source_strip_lines(text);
    CHECK_TEXT(sources[i].stripped, text, "row %zu", i);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_compiled_is_what_is_stored),
      cmocka_unit_test(lines_and_capabilities_are_those_of_directives),
      cmocka_unit_test(the_same_variant_gives_the_same_text),
      cmocka_unit_test(the_source_says_what_was_chosen),
      cmocka_unit_test(the_source_groups_weights_if_the_variant_says_so),
      cmocka_unit_test(the_source_has_each_weight_if_the_template_asks),
      cmocka_unit_test(a_source_is_short),
      cmocka_unit_test(the_grid_of_blocks_covers_the_box),
      cmocka_unit_test(what_a_rule_leaves_out_is_refused_with_its_reason),
      cmocka_unit_test(numbers_beyond_f32_are_refused),
      cmocka_unit_test(large_fields_get_wide_indices),
      cmocka_unit_test(arguments_are_packed_as_the_kernel_takes_them),
      cmocka_unit_test(built_in_coefficients_are_in_the_hash),
      cmocka_unit_test(facts_count_aligned_groups),
      cmocka_unit_test(rules_and_source_agree_on_taps_on_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
