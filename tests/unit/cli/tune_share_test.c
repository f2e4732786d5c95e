/* tune_share_test.c: how a team divides its tasks, and how rows of a member come to its leader. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "db/store/lost_member_run.h"
#include "tests/unit/fleet/fake_members.h"
#include "tests/unit/stores.h"
#include "tests/unit/unit.h"
#include "tuner/cli/tune/tune_share.h"
#include "tuner/cli/tune/tuned_message.h"

TEST(as_many_tasks_run_side_by_side_as_fill_the_team) {
  static const struct {
    int tasks, processes, side;
  } rows[] = {{5, 1, 0}, {1, 2, 0}, {2, 2, 2}, {3, 2, 2}, {8, 4, 8}, {11, 4, 8}, {3, 4, 0}, {0, 4, 0}, {300, 256, 256}};
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_EQ(rows[i].side, share_side_count(rows[i].tasks, rows[i].processes), "%d tasks, %d processes", rows[i].tasks,
             rows[i].processes);
}

TEST(the_most_expensive_task_comes_first) {
  struct analysis analysis = {.bytes_per_point = {[DTYPE_F32] = 8, [DTYPE_F64] = 16}};
  const struct planned_stencil stencil = {.loaded.analysis = &analysis};
  struct planned_task tasks[] = {
      {.stencil = &stencil, .dtype = DTYPE_F32, .grid = {{64, 64, 64}}},
      {.stencil = &stencil, .dtype = DTYPE_F32, .grid = {{16, 16, 16}}, .budget_s = 90},
      {.stencil = &stencil, .dtype = DTYPE_F64, .grid = {{64, 64, 64}}},
      {.stencil = &stencil, .dtype = DTYPE_F32, .grid = {{64, 64, 64}}, .budget_s = 60},
      {.stencil = &stencil, .dtype = DTYPE_F32, .grid = {{128, 64, 64}}, .budget_s = 10},
  };
  static const int want[] = {1, 2, 0, 3, 4}; /* budgets, then bytes, then the plan's order */
  const struct task_list plan = {.tasks = tasks, .task_count = (int)COUNT(tasks)};
  const struct tune_options options = {.budget_s = 60};
  int order[COUNT(tasks)];
  share_order(&plan, &options, order);
  for (size_t i = 0; i < COUNT(tasks); i++) CHECK_EQ(want[i], order[i], "place %zu", i);
}

static void rows_make(struct tuned_list *rows) {
  const struct planned_task planned = {.launch_steps = 0, .number = 7};
  for (int i = 0; i < 2; i++) {
    struct tuned *row = tuned_add(rows, &planned);
    CHECK(row, "memory");
    row->task.launch_steps = 1 + i;
    row->is_done = row->result.is_complete = row->result.winner.exists = true;
    row->result.tally = (struct tally){.tried = 40 + i, .outcomes[OUTCOME_WRONG] = 3};
    row->result.winner.timing = (struct timing){.sample_count = 20, .median_ms = 0.5, .minimum_ms = 0.4};
    row->result.winner.roof_ratio = NAN;
    snprintf(row->result.reason, sizeof row->result.reason, "interrupted");
    snprintf(row->result.winner.parameters, sizeof row->result.winner.parameters, "block_x=%d", 32 << i);
  }
}

TEST(rows_of_a_member_come_to_its_leader_whole) {
  const struct planned_task planned = {.number = 7};
  struct tuned_list from = {.count = 0}, to = {.count = 0};
  struct text text = {0};
  rows_make(&from);
  CHECK_OK(tuned_write(&text, &from));
  struct unpack in = {.at = text.bytes, .left = text.length};
  CHECK(tuned_read(&in, &planned, &to), "they can be read");
  CHECK_EQ(2, to.count, "rows");
  for (int i = 0; i < to.count; i++) {
    const struct tuned *row = &to.rows[i];
    CHECK_EQ(7, row->task.number, "row %d: the task", i);
    CHECK_EQ(1 + i, row->task.launch_steps, "row %d: steps", i);
    CHECK(row->is_done && row->result.is_complete && row->result.winner.exists && !row->is_optional, "row %d: flags",
          i);
    CHECK_EQ(40 + i, row->result.tally.tried, "row %d: tried", i);
    CHECK_EQ(3, row->result.tally.outcomes[OUTCOME_WRONG], "row %d: outcomes", i);
    CHECK_NEAR(0.5, row->result.winner.timing.median_ms, 0, "row %d: time", i);
    CHECK(isnan(row->result.winner.roof_ratio), "row %d: no roof", i);
    CHECK_TEXT("interrupted", row->result.reason, "row %d", i);
    CHECK_TEXT(i == 0 ? "block_x=32" : "block_x=64", row->result.winner.parameters, "row %d", i);
  }
  for (size_t length = 0; length < text.length; length++) {
    struct unpack cut = {.at = text.bytes, .left = length};
    to.count = 0;
    CHECK(!tuned_read(&cut, &planned, &to), "cut to %zu bytes it is none", length);
  }
  free(from.rows);
  free(to.rows);
  text_free(&text);
}

TEST(numbers_that_no_row_has_are_refused) {
  const struct planned_task planned = {.number = 0};
  struct tuned_list from = {.count = 0}, to = {.count = 0};
  rows_make(&from);
  static const int rows[] = {-1, 1 << 20};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    from.rows[0].task.launch_steps = rows[i];
    CHECK_OK(tuned_write(&text, &from));
    struct unpack in = {.at = text.bytes, .left = text.length};
    CHECK(!tuned_read(&in, &planned, &to), "%d steps", rows[i]);
    text_free(&text);
  }
  free(from.rows);
  free(to.rows);
}

TEST(more_rows_than_a_leader_takes_are_an_error) {
  const struct planned_task planned = {.number = 0};
  struct tuned_list from = {.count = 0}, to = {.count = 0};
  for (int most = 64, i = 0; i <= most; i++) {
    struct text text = {0};
    CHECK(tuned_add(&from, &planned), "memory");
    CHECK_EQ(i < most ? HALOTUNE_OK : HALOTUNE_ARGUMENT, tuned_write(&text, &from), "%d rows", i + 1);
    struct unpack in = {.at = text.bytes, .left = text.length};
    to.count = 0;
    CHECK_EQ(i < most, tuned_read(&in, &planned, &to), "%d rows are read", i + 1);
    text_free(&text);
  }
  free(from.rows);
  free(to.rows);
}

enum { TASKS = 4, PROCESSES = 2 };

static double late_ms(void *state) { return *(double *)state; }

/* A leader and a member, which share tasks of one stencil through a database. */
struct team {
  struct work work;
  struct bench_case bench;
  struct store *store, *broken;
  struct fake_link *fake;
  struct fleet_link link;
  struct leader *leader;
  struct planned_stencil stencil;
  struct planned_task list[TASKS];
  struct task_list plan;
  struct tune_set set;
  struct backend table;
  struct tune_setup setup;
  struct tune_options options;
  struct site_run site;
  struct tune_tasks tasks;
  struct tuned_list rows;
  volatile sig_atomic_t stop;
  double at_ms; /* by the backend's clock */
};

static void team_open(struct team *team) {
  struct text words = {0};
  *team = (struct team){.work = work_begin(), .fake = calloc(1, sizeof *team->fake), .table = {.now_ms = late_ms}};
  CHECK(team->fake, "memory");
  case_load(&team->bench);
  CHECK_OK(store_open(team->work.path, STORE_WRITE, &team->store));
  team->stencil.loaded = (struct loaded){
      .text = team->bench.stencil_text, .stencil = team->bench.stencil, .analysis = team->bench.analysis};
  for (int i = 0; i < TASKS; i++)
    team->list[i] = (struct planned_task){
        .stencil = &team->stencil, .grid = {{64, 64, 64 - 8 * i}}, .launch_steps = 1, .number = i};
  team->plan = (struct task_list){.tasks = team->list, .task_count = TASKS};
  team->setup.tools.store = team->store;
  team->setup.backend = (struct backend_handle){.table = &team->table, .state = &team->at_ms};
  snprintf(team->setup.backend.facts.device.uuid, sizeof team->setup.backend.facts.device.uuid, "GPU-0");
  team->options = (struct tune_options){.budget_s = 60, .deadline_ms = 1000000, .host = "host"};
  team->tasks = (struct tune_tasks){
      .setup = &team->setup, .plan = &team->plan, .set = &team->set, .options = &team->options, .stop = &team->stop};
  team->link = (struct fleet_link){.table = &fake_table, .state = team->fake, .size = PROCESSES};
  const struct leader_options options = {.link = &team->link,
                                         .own = fake_hello(0),
                                         .patience_ms = 1000,
                                         .stop = &team->stop,
                                         .time = {fake_now_ms, team->fake}};
  const struct fleet_hello hello = fake_hello(1);
  CHECK_OK(leader_open(&options, &team->leader));
  fleet_hello_write(fake_say(team->fake, 1, FLEET_HELLO, 0), &hello);
  CHECK_EQ(1, leader_gather(team->leader, 100, &words), "it takes part: %s", text_string(&words));
  text_free(&words);
}

static void team_close(struct team *team) {
  leader_close(team->leader);
  fake_free(team->fake);
  free(team->fake);
  free(team->rows.rows);
  store_close(team->store);
  store_close(team->broken);
  case_free(&team->bench);
  work_end(&team->work);
}

TEST(after_the_deadline_members_begin_no_task_either) {
  struct team team;
  team_open(&team);
  team.at_ms = team.options.deadline_ms;
  CHECK_OK(tune_tasks_run(&team.tasks, team.leader, &team.rows));
  CHECK_EQ(0, fake_count(team.fake, 1, FLEET_ALONE, NULL), "the member gets none");
  CHECK_EQ(TASKS, team.rows.count, "each task has a row");
  for (int i = 0; i < team.rows.count; i++) CHECK(!team.rows.rows[i].is_done, "task %d was not begun", i);
  team_close(&team);
}

/* The leader fails while the member has a task of its own and one task is left. */
TEST(where_the_leader_cannot_go_on_a_member_ends_its_task_and_begins_no_other) {
  static const char *const rows[] = {"ends", "dies", "answers a status that is none"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct team team;
    char path[160];
    struct tuned_list of_member = {.count = 0};
    team_open(&team);
    snprintf(path, sizeof path, "%s/broken.db", team.work.folder);
    CHECK_OK(store_open(path, STORE_WRITE, &team.broken));
    CHECK_EQ(SQLITE_OK,
             sqlite3_exec(store_connection(team.broken), "pragma foreign_keys = off; drop table run", NULL, NULL, NULL),
             "%s", sqlite3_errmsg(store_connection(team.broken)));
    team.site = (struct site_run){.store = team.broken, .facts = &team.setup.backend.facts, .options = &team.options};
    team.tasks.site = &team.site;
    CHECK(tuned_add(&of_member, &team.list[1]), "memory");
    of_member.rows[0].is_done = true;
    if (i == 1) {
      fake_gone(team.fake, 1);
    } else {
      struct text *text = fake_say(team.fake, 1, FLEET_DONE, 0);
      pack_u64(text, 1);
      pack_u64(text, 0);
      pack_text(text, "");
      pack_u64(text, i == 2 ? 4711 : HALOTUNE_OK);
      CHECK_OK(tuned_write(text, &of_member));
    }
    team.fake->said_after = 2; /* until the member was welcome, and has a task */
    CHECK_EQ(HALOTUNE_DB, tune_tasks_run(&team.tasks, team.leader, &team.rows), "%s: %s", rows[i], fail_text());
    CHECK_EQ(1, fake_count(team.fake, 1, FLEET_ALONE, NULL), "%s: the member gets one", rows[i]);
    int done = 0;
    for (int k = 0; k < team.rows.count; k++) done += team.rows.rows[k].is_done;
    CHECK_EQ(i == 0 ? 2 : 1, done, "%s: what it did counts, beside the leader's task, which failed", rows[i]);
    CHECK_EQ(TASKS, team.rows.count, "%s: each task has a row", rows[i]);
    free(of_member.rows);
    team_close(&team);
  }
}

/* The problem of the team's first task with a number of steps, on the GPU with this identity. */
static int64_t problem_with(const struct team *team, const char *uuid, int steps) {
  struct device_facts facts = case_device;
  snprintf(facts.uuid, sizeof facts.uuid, "%s", uuid);
  const struct problem_key key = {store_device(team->store, &facts, false),
                                  team->bench.stencil_id,
                                  DTYPE_F32,
                                  {{512, 256, 128}},
                                  LAUNCH_STREAM,
                                  CACHE_STEADY,
                                  false,
                                  steps};
  const int64_t problem = store_problem(team->store, &key);
  CHECK(problem > 0, "%s", fail_text());
  return problem;
}

/* A GPU has a winner with single steps. A run with two steps began behind it. */
TEST(a_task_whose_search_of_steps_was_lost_is_missing) {
  static const struct {
    const char *what, *change; /* SQL */
    bool ends, goes_on, is_missing;
  } rows[] = {
      {"goes on", "", false, false, true},
      {"was lost", "", true, false, true},
      {"was stopped", "update run set reason = 'interrupted' where id = 2", true, false, false},
      {"was lost elsewhere", "update origin set kind = 'imported'", true, false, false},
      {"was lost, and ended by another GPU", "update run set started = '2026-01-01T00:00:00.000Z'", true, true, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct team team;
    char *error = NULL;
    int done;
    team_open(&team);
    case_put(&team.bench, team.store, 512);
    case_tune(&team.bench, team.store, 1, 1, 0.5);
    team.bench.problem = problem_with(&team, case_device.uuid, 2);
    const int64_t run = case_run(&team.bench, team.store, "580.1");
    if (rows[i].ends) CHECK_OK(store_run_lose(team.store, run, "its process has ended"));
    CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(team.store), rows[i].change, NULL, NULL, &error), "%s", error);
    if (rows[i].goes_on) {
      team.bench.problem = problem_with(&team, "GPU-2", 2);
      CHECK_OK(store_adopt_lost(team.store, team.bench.problem));
      CHECK_OK(store_run_end(team.store, case_run(&team.bench, team.store, "580.1"), &case_end));
    }
    struct planned_task task = {.stencil = &team.stencil, .dtype = DTYPE_F32, .grid = {{512, 256, 128}}};
    struct task_list plan = {.tasks = &task, .task_count = 1};
    const struct backend_facts facts = {.device = case_device};
    team.options.launch = LAUNCH_STREAM;
    team.options.cache = CACHE_STEADY;
    const struct site_run site = {.store = team.store, .facts = &facts, .options = &team.options};
    CHECK_OK(site_keep_missing(&site, &plan, &done));
    CHECK_EQ(rows[i].is_missing, plan.task_count, "the run %s: the task is missing", rows[i].what);
    CHECK_EQ(!rows[i].is_missing, done, "the run %s: the task is done", rows[i].what);
    team_close(&team);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_tasks_run_side_by_side_as_fill_the_team),
      cmocka_unit_test(the_most_expensive_task_comes_first),
      cmocka_unit_test(rows_of_a_member_come_to_its_leader_whole),
      cmocka_unit_test(numbers_that_no_row_has_are_refused),
      cmocka_unit_test(more_rows_than_a_leader_takes_are_an_error),
      cmocka_unit_test(after_the_deadline_members_begin_no_task_either),
      cmocka_unit_test(where_the_leader_cannot_go_on_a_member_ends_its_task_and_begins_no_other),
      cmocka_unit_test(a_task_whose_search_of_steps_was_lost_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
