/* rule_test.c: the values of expressions in templates, and expressions that are refused. */
#include "stencil/template/template_read.h"
#include "tests/unit/template/templates.h"

/* The value of a rule. p is 6 of [2, 6], `mode` is the second of its words, and the value of every fact is its own
 * number. */
static double rule_value(const char *rule) {
  char text[512];
  struct template *template;
  struct bindings bindings;
  double facts[FACT_COUNT];
  for (int i = 0; i < FACT_COUNT; i++) facts[i] = i;
  snprintf(text, sizeof text, "{keep: '%s', otherwise: x}", rule);
  CHECK_OK(template_of_rules(
      "p: {values: [2, 6], default: 6, about: x}, mode: {values: [flat, edge], default: edge, about: x}", text,
      &template));
  CHECK_OK(bindings_make(template, facts, &bindings));
  double value = bindings_value(&bindings, template->rules[0].keep);
  bindings_free(&bindings);
  template_free(template);
  return value;
}

TEST(expressions_have_the_values_of_c) {
  static const struct {
    const char *rule;
    double value;
  } rows[] = {
      {"1 + 2*3", 7},
      {"(1 + 2)*3", 9},
      {"7/2", 3.5},
      {"ceil(7/2)*2", 8},
      {"floor(-7/2)", -4},
      {"7 % 4 + 1", 4},
      {"2*7 % 4", 2},
      {"-7 % 4", -3},
      {"1 - 2 - 3", -4},
      {"1 < 2 == 1", 1},
      {"1 == 1 < 2", 1},
      {"3 < 2 + 2", 1},
      {"2 <= 2 && 2 >= 2", 1},
      {"2 < 2 || 2 > 2", 0},
      {"1 || 0 && 0", 1},
      {"(1 || 0) && 0", 0},
      {"5 && -2", 1},
      {"!0 + !5", 1},
      {"!!3", 1},
      {"!(p == 6)", 0},
      {"-p + 2", -4},
      {"1 != 2", 1},
      {"fmin(p, 4) + fmax(p, 8)", 12},
      {"fabs(-2) + sqrt(9)", 5},
      {"0 ? 1 : 0 ? 2 : 3", 3},
      {"1 ? 0 ? 4 : 5 : 6", 5},
      {"p > 5 ? p*2 : 1/0.5", 12},
      {"(p > 5 ? 1 : 2)*10", 10},
      {"mode", 1},
      {"mode == edge", 1},
      {"mode == flat ? 10 : 20", 20},
      {"dims", FACT_dims},
      {"zero - skip", FACT_zero - FACT_skip},
      {"1e3 + .5", 1000.5},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_NEAR(rows[i].value, rule_value(rows[i].rule), 0, "row %zu %s", i, rows[i].rule);
}

TEST(expressions_that_make_no_sense_are_refused) {
  static const struct {
    const char *rule, *message;
  } rows[] = {
      {"", "expected a number, a name"},
      {"p +", "expected a number, a name"},
      {"p 2", "expected an operator, found '2'"},
      {"p & 2", "'&' has no meaning here"},
      {"p = 2", "found an assignment"},
      {"q == 2", "'q'"},
      {"p ? 1", "expected an operator or ':'"},
      {"p/0", "division by zero"},
      {"p % 0", "division by zero"},
      {"(p", "')'"},
      {"ceil(1, 2)", "ceil"},
      {"ceil", "'ceil'"},
      {"u[0,0,0]", "'u'"},
      {"1e999", "1e999"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char text[256];
    struct template *template;
    snprintf(text, sizeof text, "{keep: '%s', otherwise: x}", rows[i].rule);
    halotune_status status = template_of_rules("p: {values: [2, 6], default: 6, about: x}", text, &template);
    CHECK_EQ(HALOTUNE_PARSE, status, "row %zu %s", i, rows[i].rule);
    CHECK(strstr(fail_text(), rows[i].message), "row %zu %s: %s", i, rows[i].rule, fail_text());
    CHECK(!template, "row %zu", i);
  }
}

/* A search tests a rule as soon as the last parameter that it names has a value. */
TEST(a_rule_knows_its_last_parameter) {
  static const struct {
    const char *rule;
    int last;
  } rows[] = {
      {"dims == 3", -1},
      {"1", -1},
      {"a == 2", 0},
      {"c + a", 2},
      {"b*a", 1},
      {"flat == 0", -1},
      {"dims == 3 && c == flat", 2},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char text[256];
    struct template *template;
    snprintf(text, sizeof text, "{keep: '%s', otherwise: x}", rows[i].rule);
    CHECK_OK(template_of_rules("a: {values: [1], default: 1, about: x}, b: {values: [1], default: 1, about: x}, "
                               "c: {values: [flat], default: flat, about: x}",
                               text, &template));
    CHECK_EQ(rows[i].last, template->rules[0].last_parameter, "row %zu %s", i, rows[i].rule);
    template_free(template);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_have_the_values_of_c),
      cmocka_unit_test(expressions_that_make_no_sense_are_refused),
      cmocka_unit_test(a_rule_knows_its_last_parameter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
