/* fleet_member_test.c: a member tells its leader which tasks are not the same to it, and hears it while it
 * has a task of its own. */
#include <limits.h>
#include <stdlib.h>

#include "tests/unit/fleet/fake_members.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"
#include "tuner/fleet/member.h"

/* How the leader's task differs from the member's. */
enum flaw { OTHER_STENCIL, NO_STENCIL, OTHER_COEFFICIENTS, OTHER_TEMPLATE, NO_TEMPLATE, NO_GRID, FLAW_COUNT, NO_FLAW };

static const char *const reasons[FLAW_COUNT] = {[OTHER_STENCIL] =
                                                    "stencil star7 has another meaning there than at the leader",
                                                [NO_STENCIL] = "the leader's stencil",
                                                [OTHER_COEFFICIENTS] = "stencil star7 has 7 coefficients, not 6",
                                                [OTHER_TEMPLATE] = "its template zmarch differs from the leader's",
                                                [NO_TEMPLATE] = "it has no template zmarch",
                                                [NO_GRID] = "stencil star7 has no such grid"};

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
                            .grid = {{flaw == NO_GRID ? LONG_MAX / 2 : 64, 48, 40}},
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

static volatile sig_atomic_t told_to_stop;

/* The member is told to stop while the device gets the problem. */
static halotune_status set_no_problem(void *state, const struct backend_problem *problem) {
  (void)state, (void)problem;
  told_to_stop = 1;
  return fail(HALOTUNE_CANCELLED, "stopped");
}

TEST(a_member_that_is_stopped_in_its_set_up_is_not_ready) {
  static const struct backend table = {.name = "none", .set_problem = set_no_problem};
  struct bench_case bench;
  struct unpack in;
  struct fake_link *fake = calloc(1, sizeof *fake);
  CHECK(fake, "memory");
  case_load(&bench);
  struct backend_handle backend = {.table = &table, .facts = {.device = case_device, .arch = arch_find(9, 0)}};
  const struct member_tools tools = {
      .backend = &backend, .templates = {&bench.template, NULL, 1}, .room = 3, .stop = &told_to_stop};
  const struct fleet_link link = {.table = &fake_table, .state = fake, .rank = 1, .size = 2};
  fake_say(fake, 0, FLEET_WELCOME, 0);
  say_task(fake, &bench, NO_FLAW);
  CHECK_EQ(HALOTUNE_IO, member_serve(&link, &tools), "it cannot run the next task");
  CHECK_EQ(1, told_to_stop, "the device was asked");
  CHECK_EQ(0, fake_count(fake, 0, FLEET_READY, NULL), "it does not say that it is ready");
  CHECK_EQ(1, fake_count(fake, 0, FLEET_LEAVING, &in), "it says that it leaves");
  CHECK_TEXT("it was told to stop", unpack_text(&in), "and why");
  fake_free(fake);
  free(fake);
  case_free(&bench);
}

static halotune_status look_alone(void *context, const struct member_alone *how, const char *what, struct text *out) {
  int *looks = context;
  CHECK_TEXT("a task", what, "the leader's words");
  while (!*how->stop && *looks < 10) {
    (*looks)++;
    how->look(how->state);
  }
  text_add(out, "rows", 4);
  return HALOTUNE_OK;
}

/* A member that waits, or has a task of its own, when the leader says something. */
TEST(a_member_ends_its_own_task_when_the_leader_says_so) {
  static const struct {
    const char *what;
    enum fleet_kind kind;
    bool is_alone;
    halotune_status status;
    int looks, answers, farewells;
  } rows[] = {
      {"sent home while it waits", FLEET_HOME, false, HALOTUNE_OK, 0, 0, 0},
      {"dropped while it waits", FLEET_REFUSED, false, HALOTUNE_ARGUMENT, 0, 0, 0},
      {"a sign of life", FLEET_ALIVE, true, HALOTUNE_OK, 2, 1, 0},
      {"the leader is to stop", FLEET_STOP, true, HALOTUNE_OK, 1, 1, 0},
      {"sent home", FLEET_HOME, true, HALOTUNE_OK, 1, 1, 0},
      {"dropped", FLEET_REFUSED, true, HALOTUNE_ARGUMENT, 1, 0, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fake_link *fake = calloc(1, sizeof *fake);
    CHECK(fake, "memory");
    struct backend_handle backend = {.facts.device = case_device};
    int looks = 0;
    const struct member_tools tools = {.backend = &backend, .room = 3, .alone = look_alone, .alone_context = &looks};
    const struct fleet_link link = {.table = &fake_table, .state = fake, .rank = 1, .size = 2};
    fake_say(fake, 0, FLEET_WELCOME, 0);
    if (rows[i].is_alone) pack_text(fake_say(fake, 0, FLEET_ALONE, 1), "a task");
    pack_text(fake_say(fake, 0, rows[i].kind, 1), "it said nothing for 60 s");
    fake_say(fake, 0, FLEET_HOME, 1);
    CHECK_EQ(rows[i].status, member_serve(&link, &tools), "%s: %s", rows[i].what, fail_text());
    CHECK_EQ(rows[i].looks, looks, "%s: looks", rows[i].what);
    CHECK_EQ(rows[i].answers, fake_count(fake, 0, FLEET_DONE, NULL), "%s: answers", rows[i].what);
    CHECK_EQ(rows[i].farewells, fake_count(fake, 0, FLEET_LEAVING, NULL), "%s: farewells", rows[i].what);
    if (rows[i].status != HALOTUNE_OK)
      CHECK_TEXT("the leader goes on without it: it said nothing for 60 s", fail_text(), "%s: why", rows[i].what);
    fake_free(fake);
    free(fake);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_task_that_means_something_else_here_is_refused_and_the_member_stays),
      cmocka_unit_test(a_member_that_is_stopped_in_its_set_up_is_not_ready),
      cmocka_unit_test(a_member_ends_its_own_task_when_the_leader_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
