/* awkward_grids_test.c: the grids on which winners are verified again, and whether real variants can run on one of
 * them. */
#include "tuner/search/finals/awkward_grids.h"

#include <glob.h>
#include <jansson.h>

#include "base/numbers/random.h"
#include "db/store/launch_text.h"
#include "gpu/architecture/arch.h"
#include "stencil/template/facts.h"
#include "stencil/template/space.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

static bool is_prime(long number) {
  for (long d = 2; d * d <= number; d++) {
    if (number % d == 0) return false;
  }
  return number > 1;
}

TEST(the_first_grids_have_primes_along_all_axes) {
  const struct grid cube = {{512, 512, 512}};
  struct grid list[AWKWARD_GRIDS_MOST];
  CHECK(awkward_grids(&cube, list) > 3, "there are some");
  for (int i = 0; i < 3; i++) {
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      CHECK(is_prime(list[i].n[axis]), "grid %d, axis %d: %ld", i, axis, list[i].n[axis]);
      CHECK(list[i].n[axis] != list[i].n[(axis + 1) % MAX_DIMS], "grid %d: the axes differ", i);
    }
  }
  CHECK(list[0].n[0] <= 320 && list[0].n[0] > 300, "near 5/8: %ld", list[0].n[0]);
  CHECK(list[2].n[0] > 480, "nearer to the grid: %ld", list[2].n[0]);
}

TEST(no_awkward_grid_is_the_grid_or_larger_or_listed_twice) {
  static const struct grid grids[] = {{{512, 512, 512}}, {{64, 64, 64}},      {{16, 16, 16}}, {{16384, 16384, 1}},
                                      {{5, 4, 3}},       {{268435456, 1, 1}}, {{9, 1, 1}},    {{2, 2, 2}}};
  for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
    struct grid list[AWKWARD_GRIDS_MOST];
    const int count = awkward_grids(&grids[g], list);
    CHECK(g == 7 || count > 0, "row %zu", g);
    for (int i = 0; i < count; i++) {
      bool is_grid = true;
      for (int axis = 0; axis < MAX_DIMS; axis++) {
        CHECK(list[i].n[axis] >= 1 && list[i].n[axis] <= grids[g].n[axis], "row %zu, grid %d", g, i);
        is_grid = is_grid && list[i].n[axis] == grids[g].n[axis];
      }
      CHECK(!is_grid, "row %zu, grid %d", g, i);
      for (int j = 0; j < i; j++) CHECK(memcmp(&list[i], &list[j], sizeof *list) != 0, "row %zu: %d and %d", g, i, j);
    }
  }
}

struct problem {
  const struct stencil *stencil;
  const struct analysis *analysis;
  enum dtype dtype;
  struct grid grid;
  int steps; /* time steps of a launch */
};

static void bind_template(const struct problem *problem, const struct template *template, const struct grid *grid,
                          struct bindings *out) {
  double facts[FACT_COUNT];
  struct domain domain = domain_dense(problem->stencil, problem->analysis, grid);
  struct device_limits limits = arch_device_limits(arch_find(9, 0));
  facts_fill(problem->stencil, problem->analysis, problem->dtype, &domain, &limits, false, facts);
  facts[FACT_least_steps] = facts[FACT_most_steps] = problem->steps;
  CHECK_OK(bindings_make(template, facts, out));
}

static bool keeps_somewhere(const struct problem *problem, const struct template *template,
                            const struct configuration *configuration) {
  struct grid list[AWKWARD_GRIDS_MOST];
  const int count = awkward_grids(&problem->grid, list);
  bool is_kept = false;
  for (int i = 0; i < count && !is_kept; i++) {
    struct bindings bindings;
    if (stencil_check_grid(problem->stencil, &list[i], NULL) != HALOTUNE_OK) continue;
    bind_template(problem, template, &list[i], &bindings);
    bindings_configure(&bindings, configuration);
    is_kept = !bindings_failed_rule(&bindings);
    bindings_free(&bindings);
  }
  return is_kept;
}

/* Check the default and random variants, each moved to the nearest that the rules keep. Returns the number of
 * variants. */
static int check_variants(const struct problem *problem, const struct template *template) {
  enum { SAMPLE = 6 };
  struct bindings bindings;
  int count = 0;
  bind_template(problem, template, &problem->grid, &bindings);
  for (int i = 0; i <= SAMPLE; i++) {
    struct configuration variant = configuration_default(template);
    for (int p = 0; p < template->parameter_count && i > 0; p++)
      variant.choice[p] =
          (unsigned char)(random_bits((uint64_t)i, (uint64_t)p) % (uint64_t) template->parameters[p].value_count);
    if (space_nearest(&bindings, NULL, &variant)) break; /* the rules keep none */
    CHECK(keeps_somewhere(problem, template, &variant), "%s %s on %ld: %d", problem->stencil->name, template->name,
          problem->grid.n[0], i);
    count++;
  }
  bindings_free(&bindings);
  return count;
}

TEST(variants_of_all_templates_and_stencils_fit_one) {
  glob_t stencils, templates;
  int variants = 0;
  assert_int_equal(0, glob("kernels/*.yaml", 0, NULL, &stencils));
  assert_int_equal(0, glob("templates/*.yaml", 0, NULL, &templates));
  for (size_t t = 0; t < templates.gl_pathc; t++) {
    struct template *template;
    CHECK_OK(template_read(templates.gl_pathv[t], &template));
    for (size_t s = 0; s < stencils.gl_pathc; s++) {
      struct stencil *stencil;
      struct analysis *analysis;
      CHECK_OK(stencil_read(stencils.gl_pathv[s], &stencil));
      CHECK_OK(analysis_make(stencil, &analysis));
      const struct problem problem = {stencil, analysis, DTYPE_F32, stencil->grids[0], 1};
      variants += check_variants(&problem, template);
      analysis_free(analysis);
      stencil_free(stencil);
    }
    template_free(template);
  }
  CHECK(variants > 500, "%d variants", variants);
  globfree(&stencils);
  globfree(&templates);
}

static json_t *row_of(json_t *tables, const char *table, json_t *row, const char *key) {
  json_t *one, *list = json_object_get(tables, table);
  size_t i;
  json_array_foreach(list, i, one) {
    if (json_equal(json_object_get(one, "id"), json_object_get(row, key))) return one;
  }
  return NULL;
}

static const char *text_of(json_t *row, const char *key) { return json_string_value(json_object_get(row, key)); }

/* One in seven winners of the starter database: all of them would take seconds. */
TEST(winners_of_the_starter_database_fit_one) {
  json_t *document = json_load_file("db/starter/nvidia-h200.json", 0, NULL), *row;
  json_t *tables = json_object_get(document, "tables");
  size_t i, count = json_array_size(json_object_get(tables, "best"));
  CHECK(count > 50, "%zu winners", count);
  json_array_foreach(json_object_get(tables, "best"), i, row) {
    if (i % 7 != 0) continue;
    json_t *at = row_of(tables, "problem", row, "problem_id"), *variant = row_of(tables, "variant", row, "variant_id");
    const char *text = text_of(row_of(tables, "stencil_text", row, "text_id"), "text");
    char path[128], *parameters = json_dumps(json_object_get(variant, "parameters"), JSON_COMPACT | JSON_ENCODE_ANY);
    struct template *template;
    struct stencil *stencil;
    struct analysis *analysis;
    struct configuration configuration;
    snprintf(path, sizeof path, "templates/%s.yaml",
             text_of(row_of(tables, "template", variant, "template_id"), "name"));
    CHECK_OK(template_read(path, &template));
    CHECK_OK(stencil_parse(&(struct source){"text", text, strlen(text)}, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    CHECK_OK(configuration_read(template, parameters, &configuration));
    json_t *steps = json_object_get(at, "steps"); /* versions before several steps leave it out */
    struct problem problem = {.stencil = stencil,
                              .analysis = analysis,
                              .dtype = strcmp(text_of(at, "dtype"), "f64") == 0 ? DTYPE_F64 : DTYPE_F32,
                              .steps = steps ? (int)json_integer_value(steps) : 1};
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      static const char *const keys[MAX_DIMS] = {"nx", "ny", "nz"};
      problem.grid.n[axis] = (long)json_integer_value(json_object_get(at, keys[axis]));
    }
    CHECK(keeps_somewhere(&problem, template, &configuration), "%s: %s %s", stencil->name, template->name, parameters);
    analysis_free(analysis);
    stencil_free(stencil);
    template_free(template);
    free(parameters);
  }
  json_decref(document);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_grids_have_primes_along_all_axes),
      cmocka_unit_test(no_awkward_grid_is_the_grid_or_larger_or_listed_twice),
      cmocka_unit_test(variants_of_all_templates_and_stencils_fit_one),
      cmocka_unit_test(winners_of_the_starter_database_fit_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
