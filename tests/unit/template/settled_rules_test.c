/* settled_rules_test.c: settled rules keep exactly what the rules keep. */
#include "stencil/template/settled_rules.h"

#include <glob.h>

#include "base/numbers/random.h"
#include "gpu/architecture/arch.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

/* A domain and demands: mostly aligned rows, and sometimes a part of a huge grid. */
static void change_facts(uint64_t seed, double facts[FACT_COUNT]) {
  static const long most[] = {64, 512, 4096, 600000};
  static const int steps[] = {1, 1, 2, 8}, bytes[] = {0, 4, 16, 512};
  double before = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const bool is_long = axis < (int)facts[FACT_dims];
    const long n = is_long ? 1 + (long)(random_bits(seed, (uint64_t)axis) % (uint64_t)most[seed % 4]) : 1;
    facts[FACT_nx + axis] = axis == 0 && seed % 3 ? 16 * ceil((double)n / 16) : (double)n;
    facts[FACT_start_x + axis] = (double)(random_bits(seed, 4 + (uint64_t)axis) % 5);
    facts[FACT_points_in_x + axis] = fmax(1, facts[FACT_nx + axis] - facts[FACT_start_x + axis] - 2);
    if (axis > 0) facts[FACT_row + axis - 1] = before *= facts[FACT_nx + axis - 1];
  }
  facts[FACT_pointer_bytes] = bytes[random_bits(seed, 8) % 4];
  facts[FACT_in_place] = random_bits(seed, 9) % 8 == 0;
  facts[FACT_no_textures] = random_bits(seed, 10) % 8 == 0;
  facts[FACT_reproducible] = random_bits(seed, 11) % 8 == 0;
  facts[FACT_least_steps] = steps[random_bits(seed, 12) % 4];
  facts[FACT_most_steps] = facts[FACT_least_steps] * (double)(1 + random_bits(seed, 13) % 2);
}

struct counts {
  long kept, refused;
  long nodes, settled_nodes;
  long rules; /* of all configurations */
};

/* Compare settled rules with the bindings for other facts. */
static void check_settled(struct bindings *bindings, uint64_t seed, const char *where, struct shared_rules *shared,
                          struct counts *counts) {
  enum { QUESTIONS = 24 };
  struct settled_rules settled = {.count = 0};
  CHECK_OK(settled_rules_make(bindings, shared, &settled));
  CHECK(!settled.is_unsettled, "%s", where);
  counts->nodes += bindings->template->exprs.count;
  counts->rules += settled.count;
  for (int i = 0; i < settled.count; i++) counts->settled_nodes += shared->rules[settled.rules[i]].count;
  for (uint64_t i = 0; i < QUESTIONS; i++) {
    change_facts(QUESTIONS * seed + i, bindings->variables);
    const bool keeps = bindings_failed_rule(bindings) == NULL;
    struct rule_verdicts verdicts = {shared, bindings->variables, {0}, {0}};
    CHECK(!keeps || !settled_rules_break_again(&settled, &verdicts), "%s, question %d", where, (int)i);
    CHECK_EQ(keeps, settled_rules_keep(&settled, &verdicts), "%s, question %d", where, (int)i);
    CHECK(keeps || settled_rules_break_again(&settled, &verdicts), "%s, question %d", where, (int)i);
    counts->kept += keeps;
    counts->refused += !keeps;
  }
  settled_rules_free(&settled);
}

static void check_template(const char *path, const char *stencil_name, enum dtype dtype, struct shared_rules *shared,
                           struct counts *counts) {
  enum { CONFIGURATIONS = 3 };
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  struct bindings bindings;
  double facts[FACT_COUNT];
  CHECK_OK(stencil_of_kernels(stencil_name, &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(template_read(path, &template));
  const struct domain domain = domain_dense(stencil, analysis, &stencil->grids[0]);
  const struct device_limits limits = arch_device_limits(arch_find(9, 0));
  facts_fill(stencil, analysis, dtype, &domain, &limits, false, facts);
  facts[FACT_most_steps] = 8;
  for (uint64_t seed = 0; seed < CONFIGURATIONS; seed++) {
    struct configuration configuration;
    CHECK_OK(bindings_make(template, facts, &bindings));
    configuration = configuration_default(template);
    for (int i = 0; i < template->parameter_count; i++) {
      const uint64_t bits = random_bits(seed, (uint64_t)i);
      if (bits % 4 == 0)
        configuration.choice[i] = (unsigned char)(bits / 4 % (uint64_t) template->parameters[i].value_count);
    }
    (void)space_nearest(&bindings, NULL, &configuration); /* so that most rules hold */
    bindings_configure(&bindings, &configuration);
    check_settled(&bindings, seed, path, shared, counts);
    bindings_free(&bindings);
  }
  template_free(template);
  analysis_free(analysis);
  stencil_free(stencil);
}

TEST(all_templates_keep_the_same) {
  static const char *const stencils[] = {"star7", "wave25", "heat2d", "derivative_x", "scan_y"};
  struct counts counts = {.kept = 0};
  struct shared_rules shared = {.count = 0};
  glob_t found;
  CHECK_EQ(0, glob("templates/*.yaml", 0, NULL, &found), "templates");
  for (size_t s = 0; s < COUNT(stencils); s++) {
    for (size_t t = 0; t < found.gl_pathc; t++) {
      check_template(found.gl_pathv[t], stencils[s], (enum dtype)((s + t) % 2), &shared, &counts);
    }
  }
  globfree(&found);
  CHECK(counts.kept > 500 && counts.refused > 500, "%ld kept, %ld refused", counts.kept, counts.refused);
  CHECK(8 * counts.settled_nodes < counts.nodes, "%ld of %ld nodes", counts.settled_nodes, counts.nodes);
  CHECK(shared.count < counts.rules / 4, "%d of %ld rules differ", shared.count, counts.rules);
  shared_rules_free(&shared);
}

/* Bind a template with these rules and a parameter `a`, which is 1, to a grid of one point in three dimensions. */
static void bind_rules(const char *rules, struct template **template, struct bindings *bindings) {
  double facts[FACT_COUNT];
  device_facts(facts);
  facts[FACT_dims] = 3;
  facts[FACT_points_in_x] = facts[FACT_points_in_y] = facts[FACT_points_in_z] = 1;
  CHECK_OK(template_of_rules("a: {values: [1], default: 1, about: x}", rules, template));
  CHECK_OK(bindings_make(*template, facts, bindings));
}

/* What is left of a rule where a is 1, dims 3 and nx not known: the number of its nodes. */
TEST(decided_parts_are_left_out) {
  static const struct {
    const char *rule;
    int nodes;
  } rows[] = {
      {"a < dims", 0},
      {"a < dims || nx < 5", 0},
      {"nx < 5 || a < dims", 0},
      {"a < dims && nx < 5", 3},
      {"nx < 5 && a < dims", 3},
      {"a > dims || nx < 5", 3},
      {"a < dims && nx", 3}, /* 1 && nx is a truth, nx is none */
      {"a < dims ? nx : ny", 1},
      {"a > dims ? nx : dims", 0},
      {"nx % 4 == 0 && ny % (4*a + dims) == 0", 11},
      {"(a > dims ? nx : ny) < 7 && !(nx < 5 && a > dims)", 3},
      {"1/(nx - 3*a) < a + 9", 7},
      {"a/(dims - 3*a) < nx", 3},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct template *template;
    struct bindings bindings;
    struct settled_rules settled = {.count = 0};
    struct shared_rules shared = {.count = 0};
    char rule[256];
    snprintf(rule, sizeof rule, "{keep: '%s', otherwise: x}", rows[i].rule);
    bind_rules(rule, &template, &bindings);
    CHECK_OK(settled_rules_make(&bindings, &shared, &settled));
    const int nodes = settled.count > 0 ? shared.rules[settled.rules[0]].count : 0;
    CHECK(rows[i].nodes == 0 || nodes == rows[i].nodes, "%s: %d nodes", rows[i].rule, nodes);
    for (int n = 0; n < 9; n++) {
      bindings.variables[FACT_nx] = n, bindings.variables[FACT_ny] = n >> 1;
      bindings.variables[FACT_least_steps] = bindings.variables[FACT_most_steps] = 1;
      struct rule_verdicts verdicts = {&shared, bindings.variables, {0}, {0}};
      CHECK_EQ(bindings_failed_rule(&bindings) == NULL, settled_rules_keep(&settled, &verdicts), "%s, nx %d",
               rows[i].rule, n);
    }
    settled_rules_free(&settled);
    shared_rules_free(&shared);
    bindings_free(&bindings);
    template_free(template);
  }
}

/* Two rules are one only if they are the same for every grid. */
TEST(equal_rules_are_shared) {
  static const struct {
    const char *rules[2];
    int count;
  } rows[] = {
      {{"nx < 5", "nx < 5"}, 1},
      {{"nx < 5", "nx < 4*a + 1"}, 1}, /* a is 1 */
      {{"nx < 5", "nx < 6"}, 2},
      {{"nx < 5", "nx <= 5"}, 2},
      {{"nx < 5", "ny < 5"}, 2},
      {{"nx < 5", "5 < nx"}, 2},
      {{"nx - ny < 5", "ny - nx < 5"}, 2},
      {{"fmin(nx, ny) < 5", "fmax(nx, ny) < 5"}, 2},
      {{"1/(0*nx) > 5", "1/(-0*nx) > 5"}, 2},
      {{"nx < 5", "nx < 5 || ny < 5"}, 2},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct template *template;
    struct bindings bindings;
    struct settled_rules settled = {.count = 0};
    struct shared_rules shared = {.count = 0};
    char rules[256];
    snprintf(rules, sizeof rules, "{keep: '%s', otherwise: x}, {keep: '%s', otherwise: y}", rows[i].rules[0],
             rows[i].rules[1]);
    bind_rules(rules, &template, &bindings);
    CHECK_OK(settled_rules_make(&bindings, &shared, &settled));
    const bool is_shared = settled.count >= 2 && settled.rules[0] == settled.rules[1];
    CHECK_EQ(rows[i].count == 1, is_shared, "'%s' and '%s'", rows[i].rules[0], rows[i].rules[1]);
    settled_rules_free(&settled);
    shared_rules_free(&shared);
    bindings_free(&bindings);
    template_free(template);
  }
}

/* Where the list of shared rules is full, the rules of a configuration are not settled. */
TEST(a_full_list_settles_nothing) {
  struct template *template;
  struct bindings bindings;
  struct shared_rules shared = {.count = 0};
  bind_rules("{keep: nx < dims, otherwise: x}", &template, &bindings);
  for (int dims = 0; dims < 2 * SHARED_RULES_MOST && shared.count < SHARED_RULES_MOST; dims++) {
    struct settled_rules settled = {.count = 0};
    bindings.variables[FACT_dims] = dims;
    CHECK_OK(settled_rules_make(&bindings, &shared, &settled));
    CHECK(!settled.is_unsettled, "%d rules", shared.count);
    settled_rules_free(&settled);
  }
  CHECK_EQ(SHARED_RULES_MOST, shared.count, "rules");
  struct settled_rules settled = {.count = 0};
  bindings.variables[FACT_dims] = -1;
  CHECK_OK(settled_rules_make(&bindings, &shared, &settled));
  CHECK(settled.is_unsettled, "a rule more than there is room for");
  settled_rules_free(&settled);
  shared_rules_free(&shared);
  bindings_free(&bindings);
  template_free(template);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_templates_keep_the_same),
      cmocka_unit_test(decided_parts_are_left_out),
      cmocka_unit_test(equal_rules_are_shared),
      cmocka_unit_test(a_full_list_settles_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
