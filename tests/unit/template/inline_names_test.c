/* inline_names_test.c: names and calls in CUDA text become what they stand for, and nothing else changes. */
#include "stencil/cuda/inline_names.h"

#include <stdlib.h>

#include "base/text/text.h"
#include "tests/unit/unit.h"

static const struct inlined list[] = {
    {"COUNT_OF", {NULL}, "STEPS"},    {"ALL", {NULL}, "STEPS*LOW"},
    {"BOTH", {NULL}, "(LOW + HIGH)"}, {"sum", {"n", "each"}, "n*each"},
    {"pick", {"n", "each"}, "each"},  {"update_of", {"n", "taps", "results"}, "update(taps, results)"},
};

TEST(names_and_calls_are_replaced) {
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"int a = COUNT_OF;", "int a = STEPS;"},
      {"sum(k, LOW)", "k*LOW"},
      {"sum(k + 1, LOW)", "(k + 1)*LOW"},
      {"sum(k, LOW + HIGH)", "k*(LOW + HIGH)"},
      {"sum(f(k + 1), a[i + 1].b)", "f(k + 1)*a[i + 1].b"},
      {"sum(k, BOTH)", "k*(LOW + HIGH)"},
      {"sum(-k, LOW)", "(-k)*LOW"},
      {"sum(COUNT_OF - 1, LAG)", "(STEPS - 1)*LAG"},
      {"pick(0, LOW + HIGH)", "LOW + HIGH"},
      {"f(pick(0, LOW + HIGH), 1) - pick(0, LOW + HIGH)", "f(LOW + HIGH, 1) - (LOW + HIGH)"},
      {"sum(k, pick(0, LOW + HIGH))", "k*(LOW + HIGH)"},
      {"sum(k, ALL) + 2*ALL", "k*(STEPS*LOW) + 2*STEPS*LOW"},
      {"a - ALL, b/ALL, c % ALL, !ALL", "a - STEPS*LOW, b/(STEPS*LOW), c % (STEPS*LOW), !(STEPS*LOW)"},
      {"a/sum(k, LOW) + b/BOTH + c/COUNT_OF", "a/(k*LOW) + b/(LOW + HIGH) + c/STEPS"},
      {"a / /* c */ ALL", "a / /* c */ (STEPS*LOW)"},
      {"sum(sum(k, LOW), sum(j, HIGH))", "(k*LOW)*(j*HIGH)"},
      {"update_of(k, Taps<true>{t, p, k}, results);", "update(Taps<true>{t, p, k}, results);"},
      {"sum (  k ,\n  LOW  )", "k*LOW"},
      /* a comment in an argument must not reach what stands behind the call, nor a joined line the next one */
      {"sum(k, LOW // c\n)*0;", "k*LOW*0;"},
      {"sum(k/* c */, LOW)", "k*LOW"},
      {"sum/* c */(k, LOW)", "k*LOW"},
      {"pick(0, a/**/b \\\n)\nx", "a b\nx"},
      {"f(pick(0, LOW + HIGH) /* c */)", "f(LOW + HIGH /* c */)"},
      /* what stands beside a call is not joined to what takes its place */
      {"pick(0, int)y = 5;", "int y = 5;"},
      {"pick(0, int) y = 5;", "int y = 5;"},
      {"pick(0, pick(1, int)y)", "int y"},
      {"a.pick(0, 5), b:pick(0, ::c)", "a. 5, b: ::c"},
      {"pick(0, 1)e5, pick(0, R)\"(a)\"", "1 e5, R \"(a)\""},
      {"pick(0, a)*pick(0, b)[c]", "a*b[c]"},
      /* what stays */
      {"sum(k,\n#if A\nLOW)\n#endif", "sum(k,\n#if A\nLOW)\n#endif"},
      {"#define A sum(k,\n LOW)\n", "#define A sum(k,\n LOW)\n"},
      {"sum(k)", "sum(k)"},
      {"sum(k, a, b)", "sum(k, a, b)"},
      {"sum(a, b, c, d, e)", "sum(a, b, c, d, e)"},
      {"sum(k, LOW", "sum(k, LOW"},
      {"sum, sum; summary(k, LOW)", "sum, sum; summary(k, LOW)"},
      {"// ALL sum(k, LOW)\n\"ALL\" /* ALL */ ALLY", "// ALL sum(k, LOW)\n\"ALL\" /* ALL */ ALLY"},
      {"", ""},
      {"#if COUNT_OF > 1\n  x\n#endif\n", "#if STEPS > 1\n  x\n#endif\n"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0};
    CHECK_OK(inline_names(rows[i].text, list, COUNT(list), &got));
    CHECK_TEXT(rows[i].want, text_string(&got), "row %zu", i);
    text_free(&got);
  }
}

/* However long comments are, the same calls are replaced. */
TEST(comments_do_not_count) {
  enum { DEEP = 230, LONG = 20000 };
  struct text calls = {0}, plain = {0}, commented = {0}, got = {0}, want = {0};
  for (int i = 0; i < DEEP; i++) text_printf(&calls, "sum(");
  for (int i = 0; i < DEEP; i++) text_printf(&calls, ")");
  text_printf(&calls, " pick(0, LOW)");
  text_printf(&plain, "%s", text_string(&calls));
  text_printf(&commented, "/* %*s */%s", LONG, "", text_string(&calls));
  CHECK_OK(inline_names(text_string(&plain), list, COUNT(list), &want));
  CHECK_OK(inline_names(text_string(&commented), list, COUNT(list), &got));
  CHECK_TEXT(text_string(&want), text_string(&got) + LONG + strlen("/*  */"), "the calls");
  text_free(&calls);
  text_free(&plain);
  text_free(&commented);
  text_free(&got);
  text_free(&want);
}

/* A text of somebody else ends soon, however often it opens a bracket: reading it again for each would take hours. */
TEST(many_open_brackets_end_soon) {
  static const char *const repeated[] = {"sum(", "sum(f(1), g, "};
  enum { REPEATS = 60000 };
  for (size_t i = 0; i < COUNT(repeated); i++) {
    struct text text = {0}, got = {0};
    for (int k = 0; k < REPEATS; k++) text_add(&text, repeated[i], strlen(repeated[i]));
    for (int k = 0; k < REPEATS; k++) text_add(&text, ")", 1);
    CHECK_OK(inline_names(text_string(&text), list, COUNT(list), &got));
    CHECK_EQ(text.length, got.length, "%s", repeated[i]);
    text_free(&text);
    text_free(&got);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_and_calls_are_replaced),
      cmocka_unit_test(comments_do_not_count),
      cmocka_unit_test(many_open_brackets_end_soon),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
