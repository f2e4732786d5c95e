/* steps_search_test.c: which numbers of time steps are tried, for known times of a step. */
#include "tuner/cli/tune/steps_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/text/text.h"
#include "tests/unit/unit.h"

enum { ROWS = 12 };

/* The time of a step is 1 plus the distance of the number of steps from the best one, on a scale of factors. Numbers
 * above `most` have no winner. The time of single steps is known if it is not 0. */
static const struct {
  int offered[ROWS + 1];
  int best, most;
  const char *turns; /* "STEPS:SHARE ..." in per cent */
  double single_ms;
  int known;    /* the number that databases know; 0: none. Negative: the same with a small budget; -1: none */
  int budget_s; /* 0: a long one */
  int offers;   /* the largest number that the winner's template offers; 0: not known */
} rows[] = {
    {{0}, 4, 99, "", 0, 0, 0, 0},
    {{2}, 4, 99, "2:6 2:69", 0, 0, 0, 0},
    {{2, 3, 4}, 4, 99, "2:6 4:6 3:6 4:57", 0, 0, 0, 0},
    {{2, 3, 4}, 2, 99, "2:6 4:6 3:6 2:57", 0, 0, 0, 0},
    {{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16}, 10, 99, "2:6 4:6 8:6 16:6 10:6 12:6 10:39", 0, 0, 0, 0},
    {{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16}, 16, 99, "2:6 4:6 8:6 16:6 10:6 12:6 16:39", 0, 0, 0, 0},
    {{2, 3, 4, 6, 8, 12, 16}, 16, 4, "2:6 4:6 8:6 6:6 3:6 4:45", 0, 0, 0, 0},
    {{2, 3, 4}, 2, 1, "2:6", 0, 0, 0, 0},
    {{2, 3, 4}, 2, 1, "2:6 1:69", 3, 0, 0, 0},
    {{2, 3, 4}, 2, 1, "2:6", INFINITY, 0, 0, 0},
    {{2, 3, 4}, 4, 99, "2:6 4:6 3:6 4:57", 1.5, 0, 0, 0},
    {{2, 3, 4}, 4, 99, "2:6 4:6 3:6 1:57", 0.9, 0, 0, 0},
    {{2, 3, 4}, 4, 99, "2:6 4:6 3:6 4:57", INFINITY, 0, 0, 0},
    {{0}, 4, 99, "", 1, 0, 0, 0},
    {{2, 3, 4}, 4, 99, "2:6 4:6 3:6 4:57", 0, 4, 0, 0},
    {{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16}, 2, 99, "2:6 4:6 3:6 12:6 2:51", 0, 12, 0, 0},
    {{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16}, 10, 99, "2:6 4:6 8:6 16:6 10:6 9:6 10:39", 0, 9, 0, 0},
    {{2, 3, 4}, 2, 99, "2:6 4:6 3:6 2:57", 0, 5, 0, 0}, /* no template offers it */
    {{2, 3, 4}, 4, 99, "3:60", 0, -3, 0, 0},
    {{2, 3, 4}, 4, 99, "3:60", 0.5, -3, 0, 0},
    {{2, 3, 4}, 4, 99, "", 0, -5, 0, 0},
    {{2, 3, 4}, 4, 99, "", 0, -1, 0, 0},
    {{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16}, 10, 99, "2:15 4:15 8:15 8:30", 0, 0, 20, 0},
    {{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16}, 10, 99, "2:15 4:15 10:15 10:30", 0, 10, 20, 0},
    {{2, 3, 4}, 2, 99, "2:15 4:15 3:15 2:30", 0, 0, 20, 0},
    {{2, 3, 4}, 2, 1, "2:15 1:60", 3, 0, 20, 0},
    {{2, 3, 4}, 4, 99, "2:18 4:18 4:40", 0, 0, 17, 0},
    {{2, 3, 4, 5, 6, 7, 8}, 8, 99, "2:10 4:10 8:10 6:10 8:35", 0, 0, 30, 0},
    {{2, 3, 4, 5, 6, 7, 8}, 8, 99, "2:11 4:11 8:11 8:43", 0, 0, 28, 0},
    {{2, 3, 4, 5, 6, 8, 12, 16}, 4, 99, "2:15 4:15 8:15 4:30", 0, 0, 20, 0},
    {{2, 3, 4, 5, 6, 8, 12, 16}, 4, 99, "2:15 4:15 4:45", 0, 0, 20, 6},
    {{2, 3, 4, 5, 6, 8, 12, 16}, 4, 99, "2:6 4:6 5:6 3:6 4:51", 0, 0, 0, 6},
    {{2, 3, 4, 5, 6, 8, 12, 16}, 16, 99, "2:6 4:6 8:6 5:6 6:6 8:45", 0, 0, 0, 8},
    {{2, 3, 4, 5, 6, 8, 12, 16}, 16, 99, "2:6 2:69", 0, 0, 0, 2},
};

TEST(steps_are_searched_in_turns) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    const double budget_s = rows[i].budget_s > 0 ? rows[i].budget_s : INFINITY;
    struct steps_search search = {.known = abs(rows[i].known),
                                  .is_small = rows[i].known < 0,
                                  .shares = steps_shares_of(budget_s, rows[i].known < 0)};
    struct steps_turn turn;
    struct text turns = {0};
    double spent = search.shares.single;
    bool is_known[STEPS_MOST + 1] = {[1] = true};
    while (rows[i].offered[search.count]) {
      search.offered[search.count] = rows[i].offered[search.count];
      search.count++;
    }
    if (rows[i].single_ms > 0) steps_search_tell(&search, 1, rows[i].single_ms, 0);
    while (steps_search_next(&search, &turn)) {
      text_printf(&turns, "%s%d:%.0f", turns.length ? " " : "", turn.steps, 100 * turn.share);
      spent += turn.share;
      CHECK_EQ(is_known[turn.steps], turn.earlier > 0, "row %zu", i);
      is_known[turn.steps] = true;
      steps_search_tell(&search, turn.steps,
                        turn.steps > rows[i].most ? INFINITY : 1 + fabs(log2((double)turn.steps / rows[i].best)),
                        rows[i].offers);
    }
    CHECK_TEXT(rows[i].turns, text_string(&turns), "row %zu", i);
    CHECK(spent <= 1 + 1e-9, "row %zu spends %g", i, spent);
    text_free(&turns);
  }
}

/* A budget of 20 s, whose scouts take much of it. */
static void check_small_budget(const double step_ms[6], const char *expected) {
  struct steps_search search = {.offered = {2, 3, 4, 5}, .count = 4, .shares = steps_shares_of(20, false)};
  struct steps_turn turn;
  struct text turns = {0};
  while (steps_search_next(&search, &turn)) {
    text_printf(&turns, "%s%d", turns.length ? " " : "", turn.steps);
    steps_search_tell(&search, turn.steps, step_ms[turn.steps], 5);
  }
  CHECK_TEXT(expected, text_string(&turns), "steps");
  text_free(&turns);
}

TEST(a_small_budget_looks_below_the_largest_number_only_if_the_time_hardly_fell) {
  check_small_budget((const double[6]){[2] = 0.167, 0.12, 0.097, 0.11}, "2 4 4");
  check_small_budget((const double[6]){[2] = 0.239, 0.213, 0.221, 0.285}, "2 4 3 3");
  check_small_budget((const double[6]){[2] = 0.239, 0.230, 0.221, 0.285}, "2 4 3 4");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_are_searched_in_turns),
      cmocka_unit_test(a_small_budget_looks_below_the_largest_number_only_if_the_time_hardly_fell)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
