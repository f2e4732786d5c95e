/* fleet_member_test.c: a member tells its leader which tasks are not the same to it. */
#include <stdlib.h>

#include "tests/unit/fleet/fake_members.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"
#include "tuner/fleet/member.h"

/* What speaks against the task; the leader's side has it. */
enum flaw { OTHER_STENCIL, NO_STENCIL, OTHER_COEFFICIENTS, OTHER_TEMPLATE, NO_TEMPLATE, FLAW_COUNT };

static const char *const reasons[FLAW_COUNT] = {[OTHER_STENCIL] =
                                                    "stencil star7 means another thing to it than to the leader",
                                                [NO_STENCIL] = "the leader's stencil",
                                                [OTHER_COEFFICIENTS] = "stencil star7 has 7 coefficients, not 6",
                                                [OTHER_TEMPLATE] = "its template zmarch differs from the leader's",
                                                [NO_TEMPLATE] = "it has no template zmarch"};

/* The task of a leader whose stencil or template is another one. */
static void say_task(struct fake_link *fake, const struct bench_case *bench, enum flaw flaw) {
  struct template template = *bench->template, *templates[] = {&template};
  struct analysis analysis = *bench->analysis;
  struct stencil stencil = *bench->stencil;
  if (flaw == OTHER_STENCIL) analysis.hash.bytes[0] ^= 1;
  if (flaw == OTHER_COEFFICIENTS) stencil.coefficient_count--;
  if (flaw == OTHER_TEMPLATE) template.hash.bytes[0] ^= 1;
  const struct task task = {.stencil = &stencil,
                            .analysis = &analysis,
                            .stencil_text = flaw == NO_STENCIL ? "name: [" : bench->stencil_text,
                            .grid = {{64, 48, 40}},
                            .coefficients = case_coefficients,
                            .launch_steps = 1};
  const struct crew_task from = {.task = &task, .templates = templates, .template_count = 1};
  fleet_task_write(fake_say(fake, 0, FLEET_TASK, 1), &from);
}

TEST(a_task_that_means_something_else_here_is_refused_and_the_member_stays) {
  for (enum flaw flaw = 0; flaw < FLAW_COUNT; flaw++) {
    struct bench_case bench;
    struct unpack in;
    struct fake_link *fake = calloc(1, sizeof *fake);
    CHECK(fake, "memory");
    case_load(&bench);
    struct backend_handle backend = {.facts.device = case_device};
    const struct member_tools tools = {
        .backend = &backend, .templates = {&bench.template, NULL, flaw == NO_TEMPLATE ? 0 : 1}, .room = 3};
    const struct fleet_link link = {.table = &fake_table, .state = fake, .rank = 1, .size = 2};
    fake_say(fake, 0, FLEET_WELCOME, 0);
    say_task(fake, &bench, flaw);
    fake_say(fake, 0, FLEET_HOME, 1);
    CHECK_EQ(HALOTUNE_OK, member_serve(&link, &tools), "%s: the next task may be possible", reasons[flaw]);
    CHECK_EQ(1, fake_count(fake, 0, FLEET_HELLO, NULL), "%s: hello", reasons[flaw]);
    CHECK_EQ(1, fake_count(fake, 0, FLEET_READY, &in), "%s: an answer", reasons[flaw]);
    CHECK_EQ(0, unpack_u64(&in), "%s: not ready", reasons[flaw]);
    const char *why = unpack_text(&in);
    CHECK(strstr(why, reasons[flaw]), "%s: it says \"%s\"", reasons[flaw], why);
    CHECK_EQ(0, fake_count(fake, 0, FLEET_LEAVING, NULL), "%s: it stays", reasons[flaw]);
    fake_free(fake);
    free(fake);
    case_free(&bench);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_task_that_means_something_else_here_is_refused_and_the_member_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
