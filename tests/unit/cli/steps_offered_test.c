/* steps_offered_test.c: which numbers of time steps templates offer, also when a space cannot be walked. */
#include "stencil/template/template_read.h"
#include "tuner/cli/tune/steps_offered.h"

#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

/* A template of `steps` in {1, 2, 4}, and of other parameters whose sum a rule compares. */
static struct template *template_of_sum(int parameters, const char *comparison) {
  struct template *template;
  struct text yaml = {0};
  text_printf(&yaml, "name: test\nabout: x\nparameters:\n  steps: {values: [1, 2, 4], default: 1, about: x}\n");
  for (int p = 0; p < parameters; p++)
    text_printf(&yaml, "  p%d: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}\n", p);
  text_printf(&yaml, "rules:\n  - {keep: 'p0");
  for (int p = 1; p < parameters; p++) text_printf(&yaml, "+p%d", p);
  text_printf(&yaml, " %s', otherwise: x}\nblock: [32, 1, 1]\ngrid: [1, 1, 1]\nshared_bytes: 0\nsteps: steps\n",
              comparison);
  CHECK_OK(template_of_texts(text_string(&yaml), "// nothing\n", &template));
  text_free(&yaml);
  return template;
}

struct offer_case {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  struct task task;
  struct tune_templates templates;
};

static void offer_open(int parameters, const char *comparison, struct offer_case *c) {
  *c = (struct offer_case){.template = template_of_sum(parameters, comparison)};
  CHECK_OK(stencil_of_kernels("heat2d", &c->stencil));
  CHECK_OK(analysis_make(c->stencil, &c->analysis));
  c->task = (struct task){.stencil = c->stencil,
                          .analysis = c->analysis,
                          .dtype = DTYPE_F32,
                          .grid = {{64, 64, 1}},
                          .limits = {.capability = 90, .max_threads = 1024}};
  c->templates = (struct tune_templates){&c->template, NULL, 1};
}

static void offer_close(struct offer_case *c) {
  template_free(c->template);
  analysis_free(c->analysis);
  stencil_free(c->stencil);
}

/* Answers yes from the second question on. */
static bool second_question(const void *context) {
  int *questions;
  memcpy(&questions, context, sizeof questions);
  return ++*questions > 1;
}

TEST(steps_of_which_a_template_has_a_variant_are_offered) {
  const struct walk_limit no_limit = {.is_over = NULL};
  struct offer_case c;
  struct steps_search search;
  offer_open(3, "== 4", &c);
  CHECK_OK(steps_offered(&c.task, &c.templates, 2, STEPS_MOST, &no_limit, &search));
  CHECK_EQ(2, search.count, "numbers");
  CHECK_EQ(2, search.offered[0], "the first");
  CHECK_EQ(4, search.offered[1], "the last");
  for (int steps = 3; steps <= 4; steps++) {
    CHECK_OK(steps_offered(&c.task, &c.templates, steps, steps, &no_limit, &search));
    CHECK_EQ(steps == 4, search.count, "%d steps alone", steps);
  }
  offer_close(&c);
}

/* Steps of the walk are counted, so that it ends at the same place on every machine. */
TEST(a_space_without_end_is_a_failure_and_can_be_stopped) {
  struct offer_case c;
  struct steps_search search;
  int questions = 0, *asked = &questions;
  const struct walk_limit short_walk = {.most_steps = 20000}, stopped = {.is_over = second_question, .context = &asked};
  offer_open(20, "== 0.5", &c);
  CHECK_EQ(HALOTUNE_PARSE, steps_offered(&c.task, &c.templates, 2, STEPS_MOST, &short_walk, &search), "walked");
  CHECK(strstr(fail_text(), "template test: the count of its variants stopped"), "%s", fail_text());
  CHECK_OK(steps_offered(&c.task, &c.templates, 2, STEPS_MOST, &stopped, &search));
  CHECK_EQ(3, questions, "asked before the walk, during it, and before the next number of steps");
  CHECK_EQ(0, search.count, "no number was looked at");
  offer_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_of_which_a_template_has_a_variant_are_offered),
                                     cmocka_unit_test(a_space_without_end_is_a_failure_and_can_be_stopped)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
