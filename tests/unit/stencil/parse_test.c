/* parse_test.c: texts are parsed into expressions and printed again. */
#include "tests/unit/unit.h"

#include <pthread.h>

#include "base/system/clock.h"
#include "stencil/expression/parse.h"

/* The names for parsing: inputs u and w, outputs v and v2, coefficients a to d. */
struct names {
  struct scope scope;
  struct arena arena;
  struct exprs exprs;
  struct update update;
};

static const char *const inputs[] = {"u", "w"};
static const char *const outputs[] = {"v", "v2"};
static const char *const coefficients[] = {"a", "b", "c", "d"};

static void add_names(struct scope *scope, enum name_kind kind, const char *const *names, int count) {
  for (int i = 0; i < count; i++) CHECK_OK(scope_add(scope, (struct name){.text = names[i], .kind = kind, .index = i}));
}

static void names_make(struct names *names, int dims) {
  *names = (struct names){.scope.dims = dims};
  add_names(&names->scope, NAME_INPUT, inputs, COUNT(inputs));
  add_names(&names->scope, NAME_OUTPUT, outputs, COUNT(outputs));
  add_names(&names->scope, NAME_COEFFICIENT, coefficients, COUNT(coefficients));
}

static void names_free(struct names *names) {
  scope_free(&names->scope);
  arena_free(&names->arena);
  exprs_free(&names->exprs);
}

static halotune_status parse_text(struct names *names, const char *text) {
  struct source source = {"s", text, strlen(text)};
  struct snippet snippet = {&source, text, source.length, {1, 1}};
  return parse_update(&snippet, &names->scope, &names->arena, &names->exprs, &names->update);
}

/* Print leaves as the language spells them, in two dimensions. */
static void print_leaf(struct text *text, const struct expr *node, const void *context) {
  (void)context;
  switch (node->kind) {
  case EXPR_NUMBER: text_number(text, node->number); break;
  case EXPR_COEFFICIENT: text_printf(text, "%s", coefficients[node->index]); break;
  case EXPR_TAP: text_printf(text, "%s[%d,%d]", inputs[node->index], node->offset[0], node->offset[1]); break;
  default: text_printf(text, "?"); break;
  }
}

static const struct spelling plain = {.leaf = print_leaf};

/* Append the last assignment of an update as text, or its error. */
static void add_printed(struct text *out, const char *update) {
  struct names names;
  names_make(&names, 2);
  if (parse_text(&names, update) != HALOTUNE_OK) text_printf(out, "%s", fail_text());
  else CHECK_OK(expr_print(out, &names.exprs, names.update.assignments[names.update.count - 1].root, &plain));
  names_free(&names);
}

static const struct {
  const char *text, *printed;
} print_rows[] = {
    {"1", "1"},
    {"0.10", "0.1"},
    {"u[0,0]", "u[0,0]"},
    {"u[+1, - 2]", "u[1,-2]"},
    {"w[-16,16]", "w[-16,16]"},
    {"a+b*c", "a + b*c"},
    {"(a+b)*c", "(a + b)*c"},
    {"a*(b+c)", "a*(b + c)"},
    {"a-b-c", "a - b - c"},
    {"(a-b)-c", "a - b - c"},
    {"a-(b-c)", "a - (b - c)"},
    {"a-(b+c)", "a - (b + c)"},
    {"a+(b+c)", "a + (b + c)"},
    {"a/b/c", "a/b/c"},
    {"a/(b/c)", "a/(b/c)"},
    {"a/(b*c)", "a/(b*c)"},
    {"a/b*c", "a/b*c"},
    {"a*(b/c)", "a*(b/c)"},
    {"((a))", "a"},
    {"-a", "-a"},
    {"- -a", "-(-a)"},
    {"--a", "-(-a)"},
    {"-a*b", "-a*b"},
    {"-(a*b)", "-(a*b)"},
    {"-(a+b)", "-(a + b)"},
    {"a*-b", "a*-b"},
    {"a - -b", "a - -b"},
    {"a--b", "a - -b"},
    {"-2*a", "-2*a"},
    {"fabs(-a)", "fabs(-a)"},
    {"fma(a, b+c, -u[0,0])", "fma(a, b + c, -u[0,0])"},
    {"fmin(fmax(a,b),sqrt(c))*exp(d)", "fmin(fmax(a, b), sqrt(c))*exp(d)"},
    {"sin(a)*cos(b)", "sin(a)*cos(b)"},
    {"a<b", "a < b"},
    {"a<=b==(c>d)", "a <= b == c > d"},
    {"(a==b)<c", "(a == b) < c"},
    {"a&&b||c&&!d", "a && b || c && !d"},
    {"a&&(b||c)", "a && (b || c)"},
    {"!(a<b)", "!(a < b)"},
    {"!a*b", "!a*b"},
    {"a<b?c:d", "a < b ? c : d"},
    {"a?b:c?d:1", "a ? b : c ? d : 1"},
    {"a?b?c:d:1", "a ? (b ? c : d) : 1"},
    {"(a?b:c)?d:1", "(a ? b : c) ? d : 1"},
    {"1+(a?b:c)", "1 + (a ? b : c)"},
    {"(a>b)*c", "(a > b)*c"},
    {"pow(u[0,0],-2)+pow(a,b)", "pow(u[0,0], -2) + pow(a, b)"},
    {"sign(a)*floor(log(tanh(b)))-atan2(c,tan(d))", "sign(a)*floor(log(tanh(b))) - atan2(c, tan(d))"},
    {"a\n+ b # not c\n- d", "a + b - d"},
    {"a;", "a"},
};

TEST(expressions_print_as_they_group) {
  for (size_t i = 0; i < COUNT(print_rows); i++) {
    struct text update = {0}, printed = {0}, again = {0};
    text_printf(&update, "v = %s", print_rows[i].text);
    add_printed(&printed, text_string(&update));
    CHECK_TEXT(print_rows[i].printed, text_string(&printed), "row %zu \"%s\"", i, print_rows[i].text);
    update.length = 0;
    text_printf(&update, "v = %s", text_string(&printed));
    add_printed(&again, text_string(&update));
    CHECK_TEXT(text_string(&printed), text_string(&again), "row %zu, printed and parsed again", i);
    text_free(&update), text_free(&printed), text_free(&again);
  }
}

static const struct {
  const char *text;
  double value;
} value_rows[] = {
    {"2 + 3*4", 14},   {"(2 + 3)*4", 20},    {"8 - 4 - 2", 2}, {"8/4/2", 1},    {"8/4*2", 4},
    {"-2*3", -6},      {"2 - -3", 5},        {"- -2", 2},      {"1/4", 0.25},   {"fabs(-2)", 2},
    {"sqrt(9)", 3},    {"exp(0)", 1},        {"sin(0)", 0},    {"cos(0)", 1},   {"fmin(1, 2)", 1},
    {"fmax(1, 2)", 2}, {"fma(2, 3, 4)", 10}, {"a*b", 12},      {"d - c*a", -9}, {"1e-3*1000", 1},
};

TEST(formulas_have_the_values_of_c) {
  static const double values[] = {3, 4, 5, 6};
  for (size_t i = 0; i < COUNT(value_rows); i++) {
    struct names names;
    struct formula formula;
    struct source source = {"s", value_rows[i].text, strlen(value_rows[i].text)};
    struct snippet snippet = {&source, source.text, source.length, {1, 1}};
    double value;
    names_make(&names, 0);
    CHECK_OK(parse_formula(&snippet, &names.scope, &names.exprs, &formula));
    CHECK_OK(formula_value(&names.exprs, formula, values, NULL, &value));
    CHECK_NEAR(value_rows[i].value, value, 0, "row %zu \"%s\"", i, value_rows[i].text);
    names_free(&names);
  }
}

/* For each assignment: its name, its output or -1, its place. */
static const struct {
  const char *text, *assignments;
} update_rows[] = {
    {"v = a", "v/0@1:1 "},
    {"v = a; v2 = b", "v/0@1:1 v2/1@1:8 "},
    {"v2 = b\nv = a\n", "v2/1@1:1 v/0@2:1 "},
    {"t = a\n  + b\nv = t", "t/-1@1:1 v/0@3:1 "},
    {"t = a v = t", "t/-1@1:1 v/0@1:7 "},
    {"\n\n  t = a  # t is\n  v = t", "t/-1@3:3 v/0@4:3 "},
    {"a1 = a; a2 = a1*a1; v = a2*a2 - a1;", "a1/-1@1:1 a2/-1@1:9 v/0@1:21 "},
    {"v =\n a", "v/0@1:1 "},
};

TEST(updates_are_lists_of_assignments) {
  for (size_t i = 0; i < COUNT(update_rows); i++) {
    struct names names;
    struct text got = {0};
    names_make(&names, 2);
    CHECK_OK(parse_text(&names, update_rows[i].text));
    for (int k = 0; k < names.update.count; k++) {
      const struct assignment *a = &names.update.assignments[k];
      text_printf(&got, "%s/%d@%d:%d ", a->name, a->output, a->place.line, a->place.column);
      CHECK(a->root >= names.update.first && a->root < names.update.end, "row %zu", i);
    }
    CHECK_TEXT(update_rows[i].assignments, text_string(&got), "row %zu \"%s\"", i, update_rows[i].text);
    text_free(&got);
    names_free(&names);
  }
}

/* Errors whose place is easily wrong. tests/data/bad has the others. */
static const struct {
  const char *text, *error;
} error_rows[] = {
    {"", "s:1:1: expected the name of an output or of a temporary, found the end of the text"},
    {"v = a +  # what?\n",
     "s:1:8: expected a number, a name or '(', found the end of the text\n  v = a +  # what?\n         ^"},
    {"v = a +\nv2 = b", "s:2:1: expected a number, a name or '(', found an assignment\n  v2 = b\n  ^"},
    {"v = a; ; v2 = b",
     "s:1:8: expected the name of an output or of a temporary, found ';'\n  v = a; ; v2 = b\n         ^"},
    {"v = a\n\n  $",
     "s:3:3: '$' has no meaning here: operators are + - * / < <= > >= == != && || ! ?:; names consist of the "
     "letters a-z, digits and underscores\n    $\n    ^"},
    {"v = fma(a, b)", "s:1:5: fma takes 3 arguments\n  v = fma(a, b)\n      ^"},
    {"v = fma(a, b, c, d, a)", "s:1:5: fma takes 3 arguments\n  v = fma(a, b, c, d, a)\n      ^"},
    {"v = fabs(a", "s:1:11: expected an operator, ',' or ')', found the end of the text\n  v = fabs(a\n            ^"},
    {"v = u[0,0,0,0]", "s:1:6: a stencil of 2 dimensions takes 2 offsets, not 4\n  v = u[0,0,0,0]\n       ^"},
    {"v = u[1e0,0]", "s:1:7: the offset of a tap is a whole number of points, not 1e0\n  v = u[1e0,0]\n        ^"},
    {"v = a/(b - b + 0*0)", NULL},
    {"v = a/(0*1)", "s:1:7: division by zero\n  v = a/(0*1)\n        ^"},
    {"t = -0\nv = a/-t", "s:2:7: division by zero\n  v = a/-t\n        ^"},
    {"v = 1e308*10", "s:1:10: this constant is not a finite number\n  v = 1e308*10\n           ^"},
};

TEST(errors_stand_at_the_culprit) {
  for (size_t i = 0; i < COUNT(error_rows); i++) {
    struct names names;
    names_make(&names, 2);
    halotune_status status = parse_text(&names, error_rows[i].text);
    CHECK_EQ(error_rows[i].error ? HALOTUNE_PARSE : HALOTUNE_OK, status, "row %zu \"%s\"", i, error_rows[i].text);
    if (error_rows[i].error) CHECK_TEXT(error_rows[i].error, fail_text(), "row %zu \"%s\"", i, error_rows[i].text);
    names_free(&names);
  }
}

/* Each construct is nested as deep as allowed, and once deeper. */
TEST(two_hundred_levels_are_not_too_deep) {
  enum { LEVELS = 200 };
  static const struct { const char *open, *close; } rows[] = {{"(", ")"}, {"-", ""}, {"fabs(", ")"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (int levels = LEVELS; levels <= LEVELS + 1; levels++) {
      struct names names;
      struct text update = {0};
      names_make(&names, 2);
      text_printf(&update, "v = ");
      for (int k = 0; k < levels; k++) text_printf(&update, "%s", rows[i].open);
      text_printf(&update, "a");
      for (int k = 0; k < levels; k++) text_printf(&update, "%s", rows[i].close);
      halotune_status want = levels <= LEVELS ? HALOTUNE_OK : HALOTUNE_PARSE;
      CHECK_EQ(want, parse_text(&names, text_string(&update)), "row %zu, %d levels", i, levels);
      text_free(&update);
      names_free(&names);
    }
  }
}

TEST(names_that_are_met_are_marked) {
  struct names names;
  names_make(&names, 2);
  CHECK_OK(parse_text(&names, "t = a*u[0,0]; r = b; v = t"));
  static const struct {
    const char *name;
    bool used;
  } rows[] = {
      {"u", true}, {"w", false}, {"a", true}, {"b", true}, {"c", false}, {"t", true}, {"r", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct name *name = scope_find(&names.scope, rows[i].name, strlen(rows[i].name));
    CHECK(name, "%s", rows[i].name);
    CHECK_EQ(rows[i].used, name->is_used, "%s", rows[i].name);
  }
  names_free(&names);
}

TEST(a_temporary_is_the_node_that_defines_it) {
  struct names names;
  names_make(&names, 2);
  CHECK_OK(parse_text(&names, "t = a + b; v = t*t"));
  const struct expr *product = &names.exprs.nodes[names.update.assignments[1].root];
  CHECK_EQ(EXPR_MULTIPLY, product->kind, "t*t");
  CHECK_EQ(names.update.assignments[0].root, product->args[0], "left");
  CHECK_EQ(names.update.assignments[0].root, product->args[1], "right");
  for (int i = 0; i < names.exprs.count; i++) { /* operands come before their users */
    for (int k = 0; k < names.exprs.nodes[i].arg_count; k++) CHECK(names.exprs.nodes[i].args[k] < i, "node %d", i);
  }
  names_free(&names);
}

static const struct {
  const char *name;
  bool good;
} name_rows[] = {
    {"u", true},
    {"_u", true},
    {"U2", true},
    {"__u", false},
    {"2u", false},
    {"", false},
    {"a-b", false},
    {"a b", false},
    {"x", false},
    {"nx", false},
    {"pi", false},
    {"int", false},
    {"sqrt", false},
    {"half", false},
    {"restrict", false},
    {"co_await", false},
    {"threadIdx", false},
    {"\xC3\xA9", false},
    {"xx", true},
    {"integer", true},
    {"n23456789012345678901234567890123456789012345678901234567890123", true},
    {"n234567890123456789012345678901234567890123456789012345678901234", false},
};

TEST(names_that_cuda_or_the_language_uses_are_refused) {
  for (size_t i = 0; i < COUNT(name_rows); i++) {
    const char *error = name_error(name_rows[i].name, strlen(name_rows[i].name));
    CHECK_EQ(name_rows[i].good, error == NULL, "\"%s\": %s", name_rows[i].name, error ? error : "good");
  }
}

/* 50,000 terms and 150 levels of parentheses, on a stack of 1 MiB. Recursion over 50,000 terms would overflow it, even
 * without a sanitizer, which makes frames larger. */
struct long_sum {
  struct names names;
  struct text update, printed;
  bool done;
};

static void *parse_long_sum(void *argument) { /* no CHECK here, since it would leave another thread */
  struct long_sum *sum = argument;
  sum->done = parse_text(&sum->names, text_string(&sum->update)) == HALOTUNE_OK;
  for (int i = 0; i < sum->names.update.count && sum->done; i++) {
    sum->done =
        expr_print(&sum->printed, &sum->names.exprs, sum->names.update.assignments[i].root, &plain) == HALOTUNE_OK;
  }
  return NULL;
}

TEST(a_sum_of_50000_terms_needs_no_deep_stack) {
  enum { TERMS = 50000, LEVELS = 150 };
  const size_t stack_bytes = 1 << 20;
  struct long_sum sum = {.done = false};
  pthread_attr_t attr;
  pthread_t thread;
  names_make(&sum.names, 2);
  text_printf(&sum.update, "v = u[0,0]");
  for (int i = 1; i < TERMS; i++) text_printf(&sum.update, "\n + a*u[%d,%d]", i % 17, -(i % 16));
  text_printf(&sum.update, "; v2 = ");
  for (int i = 0; i < LEVELS; i++) text_printf(&sum.update, "(a - ");
  text_printf(&sum.update, "b");
  for (int i = 0; i < LEVELS; i++) text_printf(&sum.update, ")");
  CHECK_EQ(0, pthread_attr_init(&attr), "attributes");
  CHECK_EQ(0, pthread_attr_setstacksize(&attr, stack_bytes), "%zu bytes", stack_bytes);
  CHECK_EQ(0, pthread_create(&thread, &attr, parse_long_sum, &sum), "thread");
  CHECK_EQ(0, pthread_join(thread, NULL), "thread");
  pthread_attr_destroy(&attr);
  CHECK(sum.done, "%s", fail_text());
  CHECK_EQ(2, sum.names.update.count, "assignments");
  CHECK(sum.printed.length > (size_t)TERMS * 10, "%zu characters", sum.printed.length);
  text_free(&sum.update), text_free(&sum.printed);
  names_free(&sum.names);
}

/* A name that is put before others hides those that are equal. */
TEST(of_equal_names_the_first_one_counts) {
  static const struct {
    int at;
    const char *name;
    int index, places[3]; /* where u, v and a are found afterwards */
  } rows[] = {
      {8, "u", 10, {0, 2, 4}}, {2, "a", 11, {0, 3, 2}}, {1, "u", 12, {0, 4, 3}},
      {0, "u", 13, {0, 5, 4}}, {0, "v", 14, {1, 0, 5}}, {13, "a", 15, {1, 0, 5}},
  };
  static const char *const found[] = {"u", "v", "a"};
  struct names names;
  names_make(&names, 2);
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_OK(scope_insert(&names.scope, rows[i].at, (struct name){.text = rows[i].name, .index = rows[i].index}));
    CHECK_EQ(rows[i].index, names.scope.names[rows[i].at].index, "row %zu", i);
    for (size_t k = 0; k < COUNT(found); k++) {
      const struct name *name = scope_find(&names.scope, found[k], 1);
      CHECK_EQ(rows[i].places[k], name - names.scope.names, "row %zu: %s", i, found[k]);
    }
  }
  CHECK(!scope_find(&names.scope, "u2", 2), "an unknown name");
  names_free(&names);
}

/* The least processor time, in ms, in which an update is read that has so many temporaries, and uses the last one
 * 20,000 times. */
static double temporaries_ms(int count) {
  enum { USES = 20000, TRIES = 5 };
  struct text update = {0};
  double least = INFINITY;
  for (int i = 0; i < count; i++) text_printf(&update, "t%d = a\n", i);
  text_printf(&update, "v = u[0,0]");
  for (int i = 0; i < USES; i++) text_printf(&update, " + t%d", count - 1);
  for (int i = 0; i < TRIES; i++) {
    struct names names;
    names_make(&names, 2);
    const double begin_ms = clock_thread_ms();
    CHECK_OK(parse_text(&names, text_string(&update)));
    least = fmin(least, clock_thread_ms() - begin_ms);
    names_free(&names);
  }
  text_free(&update);
  return least;
}

/* A use of a name does not look at all other names: with a hundred times as many names, it would take some fifty times
 * as long. */
TEST(a_name_is_found_among_thousands) {
  const double few = temporaries_ms(40), many = temporaries_ms(4000);
  CHECK(many < 8 * few, "%g ms, and %g ms among few names", many, few);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_print_as_they_group),
      cmocka_unit_test(formulas_have_the_values_of_c),
      cmocka_unit_test(updates_are_lists_of_assignments),
      cmocka_unit_test(errors_stand_at_the_culprit),
      cmocka_unit_test(two_hundred_levels_are_not_too_deep),
      cmocka_unit_test(names_that_are_met_are_marked),
      cmocka_unit_test(a_temporary_is_the_node_that_defines_it),
      cmocka_unit_test(names_that_cuda_or_the_language_uses_are_refused),
      cmocka_unit_test(a_sum_of_50000_terms_needs_no_deep_stack),
      cmocka_unit_test(of_equal_names_the_first_one_counts),
      cmocka_unit_test(a_name_is_found_among_thousands),
  };
  return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
