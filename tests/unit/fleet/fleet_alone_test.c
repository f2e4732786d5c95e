/* fleet_alone_test.c: members run tasks alone, beside the crew's: who gets which, and what becomes of a task whose
 * member is lost, declines, is stopped or talks nonsense. */
#include <stdlib.h>

#include "tests/unit/fleet/fake_members.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"

enum { TASKS = 3, SIZE = 3 };
enum task_state { OPEN, BEGUN, DONE };

struct side {
  enum task_state states[TASKS];
  int offered; /* of the tasks */
  int deaths;
  char why[256];
};

static int choose_task(void *context, const struct fleet_hello *who, struct text *what) {
  struct side *side = context;
  CHECK(strncmp(who->uuid, "GPU-", 4) == 0, "who it is: %s", who->uuid);
  for (int i = 0; i < side->offered; i++) {
    if (side->states[i] != OPEN) continue;
    side->states[i] = BEGUN;
    text_printf(what, "task %d", i);
    return i;
  }
  return -1;
}

static bool done(void *context, int task, const struct fleet_hello *who, const struct alone_end *end) {
  struct side *side = context;
  CHECK(strncmp(who->uuid, "GPU-", 4) == 0, "who it is: %s", who->uuid);
  side->states[task] = OPEN;
  side->deaths += end->has_died;
  snprintf(side->why, sizeof side->why, "%s", end->why);
  if (!end->result) return true;
  if (strcmp(unpack_text(end->result), "rows") != 0) return false;
  side->states[task] = DONE;
  return true;
}

struct team {
  struct fake_link *fake;
  struct fleet_link link;
  struct leader *leader;
  struct side side;
  struct leader_alone alone;
  volatile sig_atomic_t stop;
};

static void team_open(struct team *team, int offered) {
  struct text words = {0};
  *team = (struct team){.fake = calloc(1, sizeof *team->fake), .side.offered = offered};
  CHECK(team->fake, "memory");
  team->link = (struct fleet_link){.table = &fake_table, .state = team->fake, .size = SIZE};
  team->alone = (struct leader_alone){choose_task, done, &team->side};
  const struct leader_options options = {.link = &team->link,
                                         .own = fake_hello(0),
                                         .patience_ms = 1000,
                                         .stop = &team->stop,
                                         .time = {fake_now_ms, team->fake}};
  CHECK_OK(leader_open(&options, &team->leader));
  for (int rank = 1; rank < SIZE; rank++) {
    const struct fleet_hello hello = fake_hello(rank);
    fleet_hello_write(fake_say(team->fake, rank, FLEET_HELLO, 0), &hello);
  }
  CHECK_EQ(SIZE - 1, leader_gather(team->leader, 100, &words), "all take part: %s", text_string(&words));
  leader_offer_alone(team->leader, &team->alone);
  CHECK_OK(leader_look(team->leader));
  text_free(&words);
}

static void team_close(struct team *team) {
  leader_offer_alone(team->leader, NULL);
  leader_close(team->leader);
  fake_free(team->fake);
  free(team->fake);
}

/* The task that a member was given last; "" for none. */
static const char *newest(const struct team *team, int rank) {
  struct unpack in;
  return fake_count(team->fake, rank, FLEET_ALONE, &in) > 0 ? unpack_text(&in) : "";
}

static void say_done(struct team *team, int rank, bool can_do, bool was_stopped, const char *rows) {
  struct text *text = fake_say(team->fake, rank, FLEET_DONE, 0);
  pack_u64(text, can_do);
  pack_u64(text, was_stopped);
  pack_text(text, can_do ? "" : "it has another database");
  if (can_do) pack_text(text, rows);
}

TEST(each_member_has_a_task_and_then_the_next_one) {
  struct team team;
  bool had;
  team_open(&team, TASKS);
  CHECK_TEXT("task 0", newest(&team, 1), "the first");
  CHECK_TEXT("task 1", newest(&team, 2), "the second");
  say_done(&team, 2, true, false, "rows");
  CHECK_OK(leader_look(team.leader));
  CHECK_EQ(DONE, team.side.states[1], "its result is taken");
  CHECK_TEXT("task 2", newest(&team, 2), "who is done gets the next one");
  say_done(&team, 1, true, false, "rows");
  say_done(&team, 2, true, false, "rows");
  CHECK_OK(leader_await_alone(team.leader, &had));
  CHECK(had, "it waited for one");
  CHECK_OK(leader_await_alone(team.leader, &had));
  CHECK_OK(leader_await_alone(team.leader, &had));
  CHECK(!had, "nobody is left");
  for (int i = 0; i < TASKS; i++) CHECK_EQ(DONE, team.side.states[i], "task %d", i);
  CHECK_EQ(1, fake_count(team.fake, 1, FLEET_ALONE, NULL), "and there is no more");
  team_close(&team);
}

TEST(a_task_whose_member_cannot_do_it_goes_to_another) {
  static const struct {
    const char *what, *why;
    bool is_dropped, has_died;
  } rows[] = {{"dies", "its process has ended", false, true},
              {"hangs", "it said nothing for 1 s", true, true},
              {"talks nonsense", "it sent an invalid answer", true, true},
              {"declines", "it has another database", false, false},
              {"loses its GPU", "the GPU is lost", false, true},
              {"is told to stop", "it was told to stop", false, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct team team;
    bool had;
    team_open(&team, 2);
    if (i == 0) fake_gone(team.fake, 1);
    if (i == 2) say_done(&team, 1, true, false, "nonsense");
    if (i == 3) say_done(&team, 1, false, false, NULL);
    if (i == 4) pack_text(fake_say(team.fake, 1, FLEET_LEAVING, 0), "the GPU is lost");
    if (i == 5) say_done(&team, 1, true, true, "rows");
    for (int k = 0; i == 1 && k < 12; k++) {
      team.fake->now_ms += 100;
      fake_say(team.fake, 2, FLEET_ALIVE, 0);
      CHECK_OK(leader_look(team.leader));
    }
    CHECK_OK(leader_look(team.leader));
    CHECK_EQ(OPEN, team.side.states[0], "%s: the task is open", rows[i].what);
    CHECK_TEXT(rows[i].why, team.side.why, "%s: why", rows[i].what);
    CHECK_EQ(rows[i].has_died, team.side.deaths, "%s: it died in the task", rows[i].what);
    CHECK_EQ(rows[i].is_dropped, team.fake->is_dropped[1], "%s: dropped", rows[i].what);
    CHECK_EQ(1, fake_count(team.fake, 1, FLEET_ALONE, NULL), "%s: it gets no more", rows[i].what);
    say_done(&team, 2, true, false, "rows");
    CHECK_OK(leader_look(team.leader));
    CHECK_TEXT("task 0", newest(&team, 2), "%s: another one has it", rows[i].what);
    say_done(&team, 2, true, false, "rows");
    CHECK_OK(leader_await_alone(team.leader, &had));
    for (int t = 0; t < 2; t++) CHECK_EQ(DONE, team.side.states[t], "%s: task %d", rows[i].what, t);
    team_close(&team);
  }
}

TEST(a_leader_that_is_to_stop_stops_all_and_takes_what_they_have) {
  struct team team;
  bool had;
  team_open(&team, TASKS);
  team.stop = 1;
  say_done(&team, 1, true, true, "rows");
  say_done(&team, 2, true, false, "rows");
  CHECK_OK(leader_await_alone(team.leader, &had));
  for (int rank = 1; rank < SIZE; rank++) {
    CHECK_EQ(1, fake_count(team.fake, rank, FLEET_STOP, NULL), "rank %d is told once", rank);
    CHECK_EQ(1, fake_count(team.fake, rank, FLEET_ALONE, NULL), "rank %d gets no more", rank);
    CHECK_EQ(DONE, team.side.states[rank - 1], "what rank %d has counts", rank);
  }
  CHECK_EQ(OPEN, team.side.states[2], "the last task was not begun");
  team_close(&team);
}

static void crew_task_begin(struct crew crew, const struct bench_case *bench) {
  static struct template *templates[1]; /* the crew keeps them */
  static const struct search_space space = {.templates = templates, .count = 1};
  templates[0] = bench->template;
  const struct task task = {.stencil = bench->stencil,
                            .analysis = bench->analysis,
                            .stencil_text = "name: test",
                            .grid = {{64, 48, 40}},
                            .coefficients = case_coefficients,
                            .launch_steps = 1};
  const struct crew_task crew_task = {.task = &task, .templates = templates, .template_count = 1};
  const struct crew_start start = {.space = &space};
  CHECK_OK(crew.table->begin(crew.state, &crew_task));
  CHECK_OK(crew.table->start(crew.state, &start));
}

/* Open a team with two members that have tasks of their own, and begin a task of the crew. */
static struct crew crew_open(struct team *team, struct bench_case *bench) {
  team_open(team, 2);
  case_load(bench);
  const struct crew crew = leader_crew(team->leader);
  crew_task_begin(crew, bench);
  return crew;
}

static void say_ready(struct team *team, int rank, bool is_ready, const char *why) {
  struct text *ready = fake_say(team->fake, rank, FLEET_READY, 1);
  pack_u64(ready, is_ready);
  pack_text(ready, why);
}

/* What a member said of the crew's task is no reason in a task of its own. */
TEST(a_member_that_is_lost_alone_is_lost_for_its_newest_reason) {
  struct bench_case bench;
  struct team team;
  struct crew_report report;
  const struct crew crew = crew_open(&team, &bench);
  say_done(&team, 1, true, false, "rows");
  CHECK_OK(leader_look(team.leader));
  team.side.offered = TASKS;
  say_ready(&team, 1, false, "its GPU has too little memory");
  CHECK_OK(leader_look(team.leader));
  CHECK_TEXT("task 2", newest(&team, 1), "it has a task of its own");
  fake_gone(team.fake, 1);
  CHECK_OK(leader_look(team.leader));
  CHECK_TEXT("its process has ended", team.side.why, "why that task is open again");
  CHECK_OK(crew.table->end(crew.state, &report));
  case_free(&bench);
  team_close(&team);
}

TEST(a_member_that_finds_no_task_joins_the_crew) {
  struct bench_case bench;
  struct team team;
  struct crew_report report;
  const struct crew crew = crew_open(&team, &bench);
  CHECK_EQ(0, fake_count(team.fake, 1, FLEET_TASK, NULL), "who has a task of its own is left alone");
  say_done(&team, 1, true, false, "rows");
  CHECK_OK(leader_look(team.leader));
  CHECK_EQ(1, fake_count(team.fake, 1, FLEET_TASK, NULL), "it is given the crew's");
  say_ready(&team, 1, true, "");
  CHECK_OK(leader_look(team.leader));
  CHECK_EQ(1, fake_count(team.fake, 1, FLEET_START, NULL), "and begins to search");
  CHECK_EQ(3, crew.table->room(crew.state), "it wants variants");
  CHECK_OK(crew.table->stop(crew.state));
  say_done(&team, 2, true, false, "rows");
  CHECK_OK(leader_look(team.leader));
  CHECK_EQ(0, fake_count(team.fake, 2, FLEET_TASK, NULL), "nobody comes when the search is over");
  CHECK_OK(crew.table->end(crew.state, &report));
  CHECK_EQ(2, report.count, "the leader and one member took part");
  CHECK_EQ(0, fake_count(team.fake, 2, FLEET_END, NULL), "the other one is not told of its end");
  case_free(&bench);
  team_close(&team);
}

TEST(a_result_that_nobody_takes_any_more_is_dropped) {
  struct team team;
  bool had;
  team_open(&team, 2);
  leader_offer_alone(team.leader, NULL);
  say_done(&team, 1, true, false, "rows");
  CHECK_OK(leader_look(team.leader));
  CHECK_EQ(BEGUN, team.side.states[0], "nobody is told");
  fake_gone(team.fake, 2);
  CHECK_OK(leader_await_alone(team.leader, &had));
  CHECK_OK(leader_await_alone(team.leader, &had));
  CHECK(!had, "nobody runs a task alone");
  team_close(&team);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_member_has_a_task_and_then_the_next_one),
      cmocka_unit_test(a_task_whose_member_cannot_do_it_goes_to_another),
      cmocka_unit_test(a_leader_that_is_to_stop_stops_all_and_takes_what_they_have),
      cmocka_unit_test(a_member_that_is_lost_alone_is_lost_for_its_newest_reason),
      cmocka_unit_test(a_member_that_finds_no_task_joins_the_crew),
      cmocka_unit_test(a_result_that_nobody_takes_any_more_is_dropped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
