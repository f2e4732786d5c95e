/* space_parts_test.c: counting a space part by part gives the same as one walk through the whole space. */
#include "base/numbers/random.h"
#include "gpu/architecture/arch.h"
#include "stencil/template/template_read.h"
#include "stencil/template/walk.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

static bool go_on(void *context, const struct configuration *configuration) {
  (void)context;
  return configuration != NULL;
}

/* Hash the variants of a walk, in their order. */
static bool add_to_hash(void *context, const struct configuration *configuration) {
  uint64_t *hash = context;
  for (int i = 0; i < MAX_PARAMETERS; i += 8) {
    uint64_t choices;
    memcpy(&choices, configuration->choice + i, sizeof choices);
    *hash = random_bits(*hash, choices);
  }
  return true;
}

static void check_counts(const struct template *template, const struct space_counts *want,
                         const struct space_counts *got, const char *where) {
  CHECK_NEAR(want->raw, got->raw, 0, "%s: raw", where);
  CHECK_EQ(want->kept, got->kept, "%s: kept", where);
  for (int r = 0; r < template->rule_count; r++) {
    CHECK_NEAR(want->removed[r], got->removed[r], 0, "%s: by rule %d, %s", where, r, template->rules[r].text);
  }
  for (int p = 0; p < template->parameter_count; p++) {
    for (int v = 0; v < template->parameters[p].value_count; v++) {
      CHECK_EQ(want->used[p][v], got->used[p][v], "%s: %s=%s", where, template->parameters[p].name,
               template->parameters[p].words[v]);
    }
  }
}

/* Fix parameters at random values until a walk through the others is short. */
static void fix_some(const struct template *template, uint64_t seed, double most, bool fixed[],
                     struct configuration *from) {
  double combinations = 1;
  for (int p = 0; p < template->parameter_count; p++) {
    const int values = template->parameters[p].value_count;
    fixed[p] = false;
    from->choice[p] = (unsigned char)(random_bits(seed, (uint64_t)p) % (uint64_t)values);
    combinations *= values;
  }
  for (uint64_t draw = 100; combinations > most; draw++) {
    const int p = (int)(random_bits(seed, draw) % (uint64_t) template->parameter_count);
    if (!fixed[p]) combinations /= template->parameters[p].value_count;
    fixed[p] = true;
  }
}

static const char *const templates[] = {"direct", "flat",    "pencil",         "line", "patch",           "tile",
                                        "zmarch", "scatter", "scatter_direct", "scan", "pipeline_planes", "fused_tile"};

/* The numbers of parts and of configurations over all walks. */
struct sums {
  long parts, kept;
};

static void check_template(const char *name, const char *stencil_name, const double facts[FACT_COUNT],
                           struct sums *sums) {
  enum { SEEDS = 8 };
  struct template *template;
  struct bindings bindings, remembering;
  char text[128];
  snprintf(text, sizeof text, "templates/%s.yaml", name);
  CHECK_OK(template_read(text, &template));
  CHECK_OK(bindings_make(template, facts, &bindings));
  CHECK_OK(bindings_make(template, facts, &remembering));
  bindings_remember(&remembering);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    bool fixed[MAX_PARAMETERS];
    struct configuration from = {{0}};
    struct space_counts at_once, by_parts, remembered;
    uint64_t evaluated_hash = 0, remembered_hash = 0;
    fix_some(template, seed, 5e4, fixed, &from);
    space_walk(&bindings, fixed, &from, add_to_hash, &evaluated_hash, &at_once);
    space_walk(&remembering, fixed, &from, add_to_hash, &remembered_hash, &remembered);
    space_walk(&bindings, fixed, &from, NULL, NULL, &by_parts);
    snprintf(text, sizeof text, "%s, %s, seed %d", name, stencil_name, (int)seed);
    check_counts(template, &at_once, &by_parts, text);
    check_counts(template, &at_once, &remembered, text);
    CHECK(evaluated_hash == remembered_hash, "%s: other variants where rules are remembered", text);
    struct walk walk = walk_make(&bindings, fixed, &from);
    sums->parts += walk_split(&walk).count;
    sums->kept += at_once.kept;
  }
  bindings_free(&remembering);
  bindings_free(&bindings);
  template_free(template);
}

TEST(all_templates_are_counted_by_parts_as_at_once) {
  static const char *const stencils[] = {"star7", "box27", "wave25", "heat2d", "derivative_x", "triad", "scan_y"};
  struct sums sums = {0, 0};
  for (size_t s = 0; s < COUNT(stencils); s++) {
    struct stencil *stencil;
    struct analysis *analysis;
    double facts[FACT_COUNT];
    CHECK_OK(stencil_of_kernels(stencils[s], &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    struct domain domain = domain_dense(stencil, analysis, &stencil->grids[0]);
    struct device_limits limits = arch_device_limits(arch_find(9, 0));
    facts_fill(stencil, analysis, DTYPE_F32, &domain, &limits, false, facts);
    for (size_t t = 0; t < COUNT(templates); t++) check_template(templates[t], stencils[s], facts, &sums);
    analysis_free(analysis);
    stencil_free(stencil);
  }
  CHECK(sums.parts > 1200 && sums.kept > 10000, "%ld parts, %ld kept", sums.parts, sums.kept);
}

/* Which of the parameters a, b, c, d rules tie together: "0100" separates b. */
TEST(rules_that_can_fail_tie_parameters) {
  static const struct {
    const char *rules, *parts;
  } rows[] = {
      {"", "0123"},
      {"{keep: 'a < 9', otherwise: x}", "0123"},
      {"{keep: 'a < 2', otherwise: x}", "0123"},
      {"{keep: 'a + d < 5', otherwise: x}", "0120"},
      {"{keep: 'a + d < 5', otherwise: x}, {keep: 'b != c', otherwise: x}", "0110"},
      {"{keep: 'd > b', otherwise: x}, {keep: 'b != c', otherwise: x}", "0111"},
      {"{keep: 'c != d', otherwise: x}, {keep: 'a != b', otherwise: x}, {keep: 'b != d', otherwise: x}", "0000"},
      {"{keep: 'a + d < 7', otherwise: x}", "0123"},
      {"{keep: 'dims == 3 || a + d < 5', otherwise: x}", "0123"},
      {"{keep: 'dims == 2 || a + d < 5', otherwise: x}", "0120"},
      {"{keep: '1/(a + d - 6) < 1', otherwise: x}", "0120"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct template *template;
    struct bindings bindings;
    double facts[FACT_COUNT];
    char got[5] = "";
    device_facts(facts);
    facts[FACT_dims] = 3;
    CHECK_OK(
        template_of_rules("a: {values: [1, 2, 3], default: 1, about: x}, b: {values: [1, 2, 3], default: 1, about: x}, "
                          "c: {values: [1, 2, 3], default: 1, about: x}, d: {values: [1, 2, 3], default: 1, about: x}",
                          rows[i].rules, &template));
    CHECK_OK(bindings_make(template, facts, &bindings));
    struct walk walk = walk_make(&bindings, NULL, NULL);
    struct walk_parts parts = walk_split(&walk);
    for (int p = 0; p < 4; p++) got[p] = (char)('0' + parts.of[p]);
    CHECK_TEXT(rows[i].parts, got, "row %zu", i);
    bindings_free(&bindings);
    template_free(template);
  }
}

enum { VALUES = 32 };

/* Parameters p0 to p29 with 32 values each, and a rule about the sum of all. */
static void make_sum(const char *keep, struct template **template, struct bindings *bindings) {
  enum { PARAMETERS = 30 };
  static char parameters[8192], values[256], rule[512];
  double facts[FACT_COUNT];
  snprintf(values, sizeof values, "1");
  parameters[0] = '\0';
  snprintf(rule, sizeof rule, "{keep: 'p0");
  for (int v = 2; v <= VALUES; v++) snprintf(values + strlen(values), sizeof values - strlen(values), ", %d", v);
  for (int p = 0; p < PARAMETERS; p++) {
    const size_t length = strlen(parameters), at = strlen(rule);
    snprintf(parameters + length, sizeof parameters - length, "%sp%d: {values: [%s], default: 1, about: x}",
             p ? ", " : "", p, values);
    if (p > 0) snprintf(rule + at, sizeof rule - at, "+p%d", p);
  }
  snprintf(rule + strlen(rule), sizeof rule - strlen(rule), "%s', otherwise: x}", keep);
  device_facts(facts);
  CHECK_OK(template_of_rules(parameters, rule, template));
  CHECK_OK(bindings_make(*template, facts, bindings));
}

static bool count_question(const void *context) {
  int *questions;
  memcpy(&questions, context, sizeof questions);
  return ++*questions == 3;
}

/* Steps are counted, so that the ends are the same on every machine. */
TEST(a_walk_that_finds_nothing_ends) {
  struct template *template;
  struct bindings bindings;
  struct space_counts counts;
  struct configuration *sample, first;
  int questions = 0, *asked = &questions;
  long count;
  make_sum(" == 0.5", &template, &bindings);
  bindings.limit.most_steps = 20000;
  space_walk(&bindings, NULL, NULL, NULL, NULL, &counts);
  CHECK_EQ(HALOTUNE_PARSE, space_is_walkable(&bindings), "counted");
  CHECK(strstr(fail_text(), "after 20000 values"), "%s", fail_text());
  space_walk(&bindings, NULL, NULL, go_on, NULL, NULL);
  CHECK_EQ(HALOTUNE_PARSE, space_is_walkable(&bindings), "listed");
  CHECK_EQ(HALOTUNE_PARSE, space_sample(&bindings, NULL, NULL, 10, 1, &sample, &count), "sampled");
  CHECK(!sample && count == 0, "no sample");
  first = configuration_default(template);
  CHECK(space_nearest(&bindings, NULL, &first) == &template->rules[0], "the rule is named");
  CHECK_EQ(HALOTUNE_PARSE, space_is_walkable(&bindings), "nearest");
  bindings.limit = (struct walk_limit){.is_over = count_question, .context = &asked};
  space_walk(&bindings, NULL, NULL, NULL, NULL, &counts);
  CHECK_EQ(3, questions, "asked until somebody ended it");
  CHECK_EQ(WALK_STOPPED, bindings.limit.end, "stopped");
  CHECK_OK(space_is_walkable(&bindings));
  questions = 0;
  CHECK_OK(space_sample(&bindings, NULL, NULL, 10, 1, &sample, &count));
  CHECK(!sample && count == 0, "a sample is whole or none");
  bindings_free(&bindings);
  template_free(template);
}

/* A count may take nearly all steps of its limit, and the sample that needs the count has as many again. */
TEST(a_count_leaves_steps_for_its_sample) {
  struct template *template;
  struct bindings bindings;
  struct space_counts counts;
  struct configuration *sample;
  double facts[FACT_COUNT];
  long count;
  device_facts(facts);
  CHECK_OK(template_of_rules("a: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}, "
                             "b: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}, "
                             "c: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}, "
                             "d: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}",
                             "{keep: a + b + c + d <= 18, otherwise: x}", &template));
  CHECK_OK(bindings_make(template, facts, &bindings));
  space_walk(&bindings, NULL, NULL, NULL, NULL, &counts);
  CHECK_OK(space_is_walkable(&bindings));
  bindings.limit.most_steps = SPACE_MOST_STEPS - bindings.limit.steps_left + 2;
  bindings.counted.is_known = false;
  CHECK_OK(space_sample(&bindings, NULL, NULL, 10, 1, &sample, &count));
  CHECK_EQ(10, count, "of %ld", counts.kept);
  free(sample);
  bindings_free(&bindings);
  template_free(template);
}

/* The first configuration is found at once; the nearest one to the last is far away. */
TEST(a_search_for_the_nearest_ends) {
  struct template *template;
  struct bindings bindings;
  struct configuration far = {{0}};
  make_sum(" == 30", &template, &bindings);
  bindings.limit.most_steps = 20000;
  for (int i = 0; i < template->parameter_count; i++) far.choice[i] = VALUES - 1;
  CHECK(space_nearest(&bindings, NULL, &far) == &template->rules[0], "ended");
  CHECK_EQ(HALOTUNE_PARSE, space_is_walkable(&bindings), "and said");
  for (int i = 0; i < template->parameter_count; i++) CHECK_EQ(VALUES - 1, far.choice[i], "value %d", i);
  bindings_free(&bindings);
  template_free(template);
}

TEST(a_number_that_is_capped_says_so) {
  char text[SPACE_COUNT_BYTES];
  CHECK_TEXT("0", space_count_text(0, text), "none");
  CHECK_TEXT("9007199254740991", space_count_text(SPACE_MOST - 1, text), "exact");
  CHECK_TEXT("more than 9.0e15", space_count_text(SPACE_MOST, text), "capped");
  CHECK_TEXT("more than 9.0e15", space_count_text(SPACE_MOST + 5, text), "a sum of capped ones");
}

/* 32^12 configurations: too many to be counted exactly, or to be walked. */
TEST(a_space_without_end_is_counted_and_sampled_at_once) {
  enum { WANTED = 1000, PARAMETERS = 12 };
  char parameters[4096] = "", values[256] = "1";
  struct template *template;
  struct bindings bindings;
  struct space_counts counts;
  struct configuration *sample;
  double facts[FACT_COUNT];
  long count, used[PARAMETERS][VALUES] = {{0}};
  device_facts(facts);
  for (int v = 2; v <= VALUES; v++) snprintf(values + strlen(values), sizeof values - strlen(values), ", %d", v);
  for (int p = 0; p < PARAMETERS; p++) {
    size_t length = strlen(parameters);
    snprintf(parameters + length, sizeof parameters - length, "%sp%d: {values: [%s], default: 1, about: x}",
             p ? ", " : "", p, values);
  }
  CHECK_OK(template_of_rules(parameters, "{keep: 'p3 != p4', otherwise: x}", &template));
  CHECK_OK(bindings_make(template, facts, &bindings));
  space_walk(&bindings, NULL, NULL, NULL, NULL, &counts);
  CHECK_EQ(SPACE_MOST, counts.kept, "kept");
  CHECK_NEAR(0x1p60, counts.raw, 0, "raw");
  CHECK_NEAR(0x1p55, counts.removed[0], 0, "removed");
  CHECK_OK(space_sample(&bindings, NULL, NULL, WANTED, 1, &sample, &count));
  CHECK_EQ(WANTED, count, "drawn");
  for (long i = 0; i < count; i++) {
    CHECK(sample[i].choice[3] != sample[i].choice[4], "number %ld is kept", i);
    for (int p = 0; p < PARAMETERS; p++) used[p][sample[i].choice[p]]++;
  }
  for (int v = 0; v < VALUES; v++) CHECK(used[0][v] > 0, "value %d", v);
  free(sample);
  bindings_free(&bindings);
  template_free(template);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_templates_are_counted_by_parts_as_at_once),
      cmocka_unit_test(rules_that_can_fail_tie_parameters),
      cmocka_unit_test(a_walk_that_finds_nothing_ends),
      cmocka_unit_test(a_count_leaves_steps_for_its_sample),
      cmocka_unit_test(a_search_for_the_nearest_ends),
      cmocka_unit_test(a_number_that_is_capped_says_so),
      cmocka_unit_test(a_space_without_end_is_counted_and_sampled_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
