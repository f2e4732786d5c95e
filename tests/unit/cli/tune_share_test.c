/* tune_share_test.c: how a team divides its tasks, and how rows of a member come to its leader. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

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
  const struct tune_plan plan = {.tasks = tasks, .task_count = (int)COUNT(tasks)};
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
  tuned_write(&text, &from);
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
    tuned_write(&text, &from);
    struct unpack in = {.at = text.bytes, .left = text.length};
    CHECK(!tuned_read(&in, &planned, &to), "%d steps", rows[i]);
    text_free(&text);
  }
  free(from.rows);
  free(to.rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_tasks_run_side_by_side_as_fill_the_team),
      cmocka_unit_test(the_most_expensive_task_comes_first),
      cmocka_unit_test(rows_of_a_member_come_to_its_leader_whole),
      cmocka_unit_test(numbers_that_no_row_has_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
