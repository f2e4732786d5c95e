/* reproducible_test.c: reproducible results: each rounding is a statement of the source, templates with sums in an
 * order of their own are excluded, and all others give the same bits. */
#include "gpu/architecture/arch.h"
#include "stencil/template/space.h"
#include "stencil/template/template_read.h"
#include "tests/unit/emulate/emulation_build.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"
#include "tuner/verify/emulated_check.h"
#include "tuner/verify/scenes.h"

/* A stencil, a template, and the specification of its default variant on a small grid. */
struct fixture {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  double coefficients[32];
  struct variant_spec spec;
};

/* Owns the stencil from now on. */
static void open_fixture(struct fixture *f, struct stencil *stencil, const char *template, enum dtype dtype,
                         bool reproducible) {
  char path[64];
  f->stencil = stencil;
  CHECK_OK(analysis_make(stencil, &f->analysis));
  snprintf(path, sizeof path, "templates/%s.yaml", template);
  CHECK_OK(template_read(path, &f->template));
  CHECK_OK(stencil_coefficients(stencil, &stencil->grids[0], f->coefficients));
  f->spec = (struct variant_spec){.stencil = stencil,
                                  .analysis = f->analysis,
                                  .template = f->template,
                                  .configuration = configuration_default(f->template),
                                  .dtype = dtype,
                                  .domain = domain_dense(stencil, f->analysis, &stencil->grids[0]),
                                  .coefficients = f->coefficients,
                                  .limits = arch_device_limits(arch_find(9, 0)),
                                  .reproducible = reproducible};
}

static void close_fixture(struct fixture *f) {
  template_free(f->template);
  analysis_free(f->analysis);
  stencil_free(f->stencil);
}

/* An update, and a part of the statements that it becomes. */
TEST(each_rounding_is_a_statement) {
  static const struct {
    const char *update, *has;
  } rows[] = {
      {"v = u[0] + u[1]", "const real t2 = rounded_sum(u_(0), u_(1));\n  results[0] = t2;  // v\n"},
      {"v = u[0] - u[1]", "rounded_difference(u_(0), u_(1))"},
      {"v = a*u[0]", "rounded_product(a_, u_(0))"},
      {"v = u[0]/u[1]", " = u_(0)/u_(1);"},
      {"v = -u[0]", " = -u_(0);"},
      {"v = u[0]", "  results[0] = u_(0);  // v"},
      {"v = u[0] + a*u[1]", " = fma(a_, u_(1), u_(0));"},
      {"v = a*u[0] + u[1]", " = fma(a_, u_(0), u_(1));"},
      {"v = u[0] - a*u[1]", " = fma(-a_, u_(1), u_(0));"},
      {"v = a*u[0] - u[1]", " = fma(a_, u_(0), -u_(1));"},
      {"v = a*u[0] + b*u[1]", "const real t2 = rounded_product(a_, u_(0));\n  const real t6 = fma(b_, u_(1), t2);"},
      {"v = u[0] + (u[1] + u[-1])",
       "const real t3 = rounded_sum(u_(1), u_(-1));\n  const real t4 = rounded_sum(u_(0), t3);"},
      {"p = a*u[0]\nv = p + u[1]",
       "const real p_ = rounded_product(a_, u_(0));\n  const real t4 = rounded_sum(p_, u_(1));"},
      {"p = u[0]\nv = p*p", "const real p_ = u_(0);\n  const real t1 = rounded_product(p_, p_);"},
      {"v = fmax(a*u[0], sqrt(u[1]))", "= sqrt(u_(1));"},
      {"v = fma(a, u[0], u[1]*u[1])",
       "const real t4 = rounded_product(u_(1), u_(1));\n  const real t5 = fma(a_, u_(0), t4);"},
      {"v = u[0] + 2*u[1]", "fma(real(2), u_(1), u_(0))"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct stencil *stencil;
    struct fixture f;
    struct generated generated;
    CHECK_OK(stencil_of_update(1, rows[i].update, &stencil));
    open_fixture(&f, stencil, "direct", DTYPE_F32, true);
    CHECK_OK(generate(&f.spec, &generated));
    CHECK(strstr(generated.source, rows[i].has), "%s: %s is not in:\n%s", rows[i].update, rows[i].has,
          strstr(generated.source, "void update("));
    generated_free(&generated);
    close_fixture(&f);
  }
}

/* Ordinary winners are stored under the hash of their source, which must not change. tests/cli/generate_*.out have
 * whole sources. */
TEST(ordinary_sources_know_nothing_of_it) {
  struct stencil *stencil;
  struct fixture f;
  struct generated ordinary, reproducible;
  CHECK_OK(stencil_of_update(1, "v = a*u[0] + b*u[1]", &stencil));
  open_fixture(&f, stencil, "direct", DTYPE_F64, false);
  CHECK_OK(generate(&f.spec, &ordinary));
  f.spec.reproducible = true;
  CHECK_OK(generate(&f.spec, &reproducible));
  CHECK(strstr(ordinary.source, "  results[0] = a_*u_(0) + b_*u_(1);  // v\n"), "%s", ordinary.source);
  CHECK(!strstr(ordinary.source, "rounded_"), "%s", ordinary.source);
  CHECK(strstr(reproducible.source, "{ return __dmul_rn(a, b); }"), "%s", reproducible.source);
  CHECK(identity_compare(ordinary.hash, reproducible.hash) != 0, "each has a key of its own");
  generated_free(&ordinary);
  generated_free(&reproducible);
  close_fixture(&f);
}

TEST(templates_with_an_order_of_their_own_stay_out) {
  static const struct {
    const char *sums;
    bool applies;
  } rows[] = {
      {"sums: update\n", true},
      {"sums: own_order\n", false},
      {"", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (int reproducible = 0; reproducible < 2; reproducible++) {
      struct template *template;
      struct bindings bindings;
      struct space_counts counts;
      double facts[FACT_COUNT];
      device_facts(facts);
      facts[FACT_reproducible] = reproducible;
      char yaml[256];
      snprintf(yaml, sizeof yaml,
               "name: test\nabout: for tests\nparameters: {p: {values: [1, 2], default: 1, about: one}}\nrules: []\n"
               "block: [1, 1, 1]\ngrid: [1, 1, 1]\nshared_bytes: 0\n%s",
               rows[i].sums);
      CHECK_OK(template_of_texts(yaml, "update(taps, COEFFICIENT_VALUES, results);", &template));
      CHECK_OK(bindings_make(template, facts, &bindings));
      bool applies = rows[i].applies || !reproducible;
      CHECK_EQ(applies, space_refusal(&bindings) == NULL, "'%s', %d", rows[i].sums, reproducible);
      space_walk(&bindings, NULL, NULL, NULL, NULL, &counts);
      CHECK_EQ(applies ? 2 : 0, counts.kept, "'%s', %d", rows[i].sums, reproducible);
      bindings_free(&bindings);
      template_free(template);
    }
  }
}

/* Exchange two parts of a source that have the same length. */
static void exchange(char *source, const char *a, const char *b) {
  char *at_a = strstr(source, a), *at_b = strstr(source, b);
  size_t length = strlen(a);
  CHECK(at_a && at_b && length == strlen(b), "%s and %s are not in:\n%s", a, b, strstr(source, "void update("));
  for (size_t i = 0; i < length; i++) {
    at_a[i] = b[i];
    at_b[i] = a[i];
  }
}

enum { MOST_SOURCES = 6 };

/* The outputs of star7's variants in the first scene. */
struct bits {
  struct generated generated[MOST_SOURCES];
  struct hash outputs[MOST_SOURCES];
  int count;
};

static void add_variant(struct bits *bits, const struct scenes *scenes, const char *template, enum dtype dtype,
                        bool reproducible) {
  struct stencil *stencil;
  struct fixture f;
  CHECK_OK(stencil_of_kernels("star7", &stencil));
  open_fixture(&f, stencil, template, dtype, reproducible);
  f.spec.domain = scenes->list[0].scene.request.domain;
  f.spec.coefficients = scenes->coefficients;
  f.spec.configuration = configuration_for(&f.spec, "vector=1");
  CHECK_OK(generate(&f.spec, &bits->generated[bits->count++]));
  close_fixture(&f);
}

/* Run all variants, and check that they are right. */
static void run_variants(struct bits *bits, const struct scenes *scenes) {
  struct emulation_source sources[MOST_SOURCES];
  const char *kernels[MOST_SOURCES];
  for (int i = 0; i < bits->count; i++) {
    kernels[i] = bits->generated[i].launch.kernel;
    sources[i] = (struct emulation_source){kernels[i], bits->generated[i].source, &kernels[i], 1};
  }
  struct emulation_batch *batch = build_kernels(sources, bits->count, false);
  for (int i = 0; i < bits->count; i++) {
    struct check_result result;
    CHECK_EQ(COMPILE_OK, emulation_batch_compile(batch, i)->outcome, "%s", emulation_batch_compile(batch, i)->log);
    CHECK_OK(emulated_check(batch, i, &bits->generated[i], &scenes->list[0].scene,
                            (struct check_order){EMULATION_ASCENDING, EMULATION_ASCENDING, 0}, &result));
    CHECK_TEXT("passed", result.name, "%d: %s", i, result.text);
    bits->outputs[i] = result.outputs;
  }
  emulation_batch_free(batch);
}

TEST(two_sums_that_change_places_change_bits) {
  enum { DIRECT, TILE, ZMARCH, ORDINARY_SCATTER, EXCHANGED };
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
    struct stencil *stencil;
    struct analysis *analysis;
    struct scenes scenes;
    struct bits bits = {.count = 0};
    CHECK_OK(stencil_of_kernels("star7", &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    CHECK_OK(scenes_make(&(struct scenes_request){stencil, analysis, (enum dtype)dtype, NULL, 1, 1, 1, {0}}, &scenes));
    add_variant(&bits, &scenes, "direct", (enum dtype)dtype, true);
    add_variant(&bits, &scenes, "tile", (enum dtype)dtype, true);
    add_variant(&bits, &scenes, "zmarch", (enum dtype)dtype, true);
    add_variant(&bits, &scenes, "scatter_direct", (enum dtype)dtype, false);
    add_variant(&bits, &scenes, "direct", (enum dtype)dtype, true);
    exchange(bits.generated[EXCHANGED].source, "fma(c3_, u_(0, -1, 0)", "fma(c5_, u_(0, 0, -1)");
    run_variants(&bits, &scenes);
    CHECK_EQ(0, hash_compare(bits.outputs[DIRECT], bits.outputs[TILE]), "%s: tile", dtype_names[dtype]);
    CHECK_EQ(0, hash_compare(bits.outputs[DIRECT], bits.outputs[ZMARCH]), "%s: zmarch", dtype_names[dtype]);
    CHECK(hash_compare(bits.outputs[DIRECT], bits.outputs[ORDINARY_SCATTER]) != 0, "%s: sums of planes",
          dtype_names[dtype]);
    CHECK(hash_compare(bits.outputs[DIRECT], bits.outputs[EXCHANGED]) != 0, "%s: another order", dtype_names[dtype]);
    for (int i = 0; i < bits.count; i++) generated_free(&bits.generated[i]);
    scenes_free(&scenes);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_rounding_is_a_statement),
      cmocka_unit_test(ordinary_sources_know_nothing_of_it),
      cmocka_unit_test(templates_with_an_order_of_their_own_stay_out),
      cmocka_unit_test(two_sums_that_change_places_change_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
