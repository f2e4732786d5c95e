/* search_parts_test.c: the parts of strategies and phases. */
#include <limits.h>

#include "tests/unit/search/search_space.h"
#include "tuner/search/run/schedule.h"
#include "tuner/search/strategy/draw.h"
#include "tuner/search/strategy/effects.h"
#include "tuner/search/strategy/neighbours.h"
#include "tuner/search/variants/proposals.h"
#include "tuner/search/variants/timed_variants.h"

TEST(a_variant_is_visited_once) {
  struct space_case c;
  struct visited visited = {.count = 0};
  struct proposal_list drawn;
  bool is_new;
  space_open(&c);
  CHECK_OK(draw_variants(&c.space, 1L << 40, 1, &drawn));
  CHECK_EQ(c.size, drawn.count, "all are drawn");
  for (long i = 0; i < drawn.count; i++) {
    CHECK(!visited_has(&visited, &c.space, &drawn.list[i]), "%ld is new", i);
    CHECK_OK(visited_add(&visited, &c.space, &drawn.list[i], &is_new));
    CHECK(is_new, "%ld is added", i);
  }
  for (long i = 0; i < drawn.count; i++) {
    CHECK(visited_has(&visited, &c.space, &drawn.list[i]), "%ld is there", i);
    CHECK_OK(visited_add(&visited, &c.space, &drawn.list[i], &is_new));
    CHECK(!is_new, "%ld is not added again", i);
  }
  CHECK_EQ(drawn.count, (long)visited.count, "count");
  proposals_free(&drawn);
  visited_free(&visited);
  space_close(&c);
}

/* If visited_add reported the variant as known, the search would end as complete. */
TEST(a_variant_that_there_is_no_memory_for_is_not_known) {
  struct space_case c;
  const struct proposal proposal = {.template_index = 0};
  struct visited full = {.count = INT_MAX, .capacity = INT_MAX}; /* the longest possible list */
  bool is_new = false;
  space_open(&c);
  CHECK_EQ(HALOTUNE_MEMORY, visited_add(&full, &c.space, &proposal, &is_new), "%s", fail_text());
  CHECK(is_new, "it was not there");
  set_free(&full.set);
  space_close(&c);
}

TEST(a_sample_takes_turns_and_is_shuffled) {
  struct space_case c;
  struct proposal_list drawn, again;
  space_open(&c);
  CHECK_OK(draw_variants(&c.space, 50, 9, &drawn));
  CHECK_OK(draw_variants(&c.space, 50, 9, &again));
  CHECK_EQ(50 * TEMPLATES, drawn.count, "so many of each");
  CHECK(memcmp(drawn.list, again.list, (size_t)drawn.count * sizeof *drawn.list) == 0, "repeatable");
  int rising = 0;
  for (long i = 0; i < drawn.count; i++) {
    CHECK_EQ(i % TEMPLATES, drawn.list[i].template_index, "turn %ld", i);
    CHECK(space_keeps(&c, &drawn.list[i]), "variant %ld", i);
    if (i >= TEMPLATES) {
      rising += memcmp(drawn.list[i - TEMPLATES].configuration.choice, drawn.list[i].configuration.choice,
                       MAX_PARAMETERS) < 0;
    }
  }
  CHECK(drawn.capacity >= drawn.count, "room for all that are in the list, which may grow");
  CHECK(rising > 25 && rising < 75, "%d of 98 follow each other in the order of the space", rising);
  proposals_free(&again);
  proposals_free(&drawn);
  space_close(&c);
}

struct neighbourhood {
  struct space_case *c;
  struct configuration centre;
  int count, pairs;
};

static void look_at(void *context, const struct configuration *neighbour) {
  struct neighbourhood *n = context;
  struct proposal proposal = {.template_index = 0, .configuration = *neighbour};
  int changes = 0;
  for (int i = 0; i < n->c->templates[0]->parameter_count; i++) changes += neighbour->choice[i] != n->centre.choice[i];
  CHECK(changes == 1 || changes == 2, "%d changes", changes);
  CHECK(space_keeps(n->c, &proposal), "the rules keep it");
  n->count++;
  n->pairs += changes == 2;
}

/* In the first template, bx has 6 values, by 5, bz 4, px 3, py 3, mode 3. */
TEST(neighbours_differ_in_one_parameter_or_in_two_that_rules_tie) {
  struct space_case c;
  space_open(&c);
  struct neighbourhood n = {.c = &c};
  neighbours_visit(&c.bindings[0], NULL, &n.centre, look_at, &n); /* all ones: the rules allow each change */
  CHECK_EQ(5 + 4 + 3 + 2 + 2 + 2, n.count, "in the corner");
  CHECK_EQ(0, n.pairs, "no pairs there");
  n = (struct neighbourhood){.c = &c,
                             /* bx*by = 128 and px*py = 8: both rules are at their limit */
                             .centre = {{5, 2, 0, 2, 1, 0}}};
  neighbours_visit(&c.bindings[0], NULL, &n.centre, look_at, &n);
  CHECK(n.pairs > 0, "a change that a rule forbids goes with another one");
  const bool fixed[MAX_PARAMETERS] = {true, true, true, true, true, false};
  n = (struct neighbourhood){.c = &c};
  neighbours_visit(&c.bindings[0], fixed, &n.centre, look_at, &n);
  CHECK_EQ(2, n.count, "only what is not fixed changes");
  space_close(&c);
}

TEST(effects_tell_good_values_from_bad_ones) {
  struct space_case c;
  struct effects effects;
  struct proposal_list drawn;
  space_open(&c);
  memset(&effects, 0, sizeof effects);
  struct configuration any = configuration_default(c.templates[0]);
  CHECK_NEAR(0, effects_expect(&effects, c.templates[0], &any), 0, "nothing is known");
  CHECK_OK(draw_variants(&c.space, 400, 3, &drawn));
  double worst = 0;
  for (long i = 0; i < drawn.count; i++) {
    if (drawn.list[i].template_index == 0) {
      effects_add(&effects, c.templates[0], &drawn.list[i].configuration, log(made_up_ms(&c, &drawn.list[i], 5, 0)));
    }
  }
  for (long i = 0; i < drawn.count; i++) {
    if (drawn.list[i].template_index != 0) continue;
    double error = effects_expect(&effects, c.templates[0], &drawn.list[i].configuration) -
                   log(made_up_ms(&c, &drawn.list[i], 5, 0));
    worst = fmax(worst, fabs(error));
  }
  CHECK(worst < 0.15, "times without interactions are expected to %g", worst);
  struct configuration other = any;
  other.choice[1] = 2;
  CHECK_NEAR(effects_expect(&effects, c.templates[0], &other) - effects_expect(&effects, c.templates[0], &any),
             effects_change(&effects, 1, any.choice[1], 2), 1e-12, "a change is the difference");
  proposals_free(&drawn);
  space_close(&c);
}

static struct timed_variant timed_of(int64_t variant, int template, int choice, double median_ms, double scale) {
  struct timed_variant timed = {
      .proposal = {.template_index = template}, .variant = variant, .median_ms = median_ms, .scale = scale};
  timed.proposal.configuration.choice[0] = (unsigned char)choice;
  return timed;
}

TEST(the_best_time_is_that_of_the_list) {
  static const struct {
    int64_t variant;
    double median_ms, scale, best_ms;
  } rows[] = {{1, 3, 1, 3}, {2, 2, 1, 2}, {3, 2.2, 1.25, 1.76}, {3, 2.5, 1.25, 2}, {2, 4, 1, 2}, {4, 9, 1, 2}};
  struct timed_list timed = {.count = 0};
  CHECK(isinf(timed_best_ms(&timed)), "none");
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct timed_variant one = timed_of(rows[i].variant, 0, 0, rows[i].median_ms, rows[i].scale);
    CHECK_OK(timed_put(&timed, &one));
    CHECK_NEAR(rows[i].best_ms, timed_best_ms(&timed), 1e-12, "row %zu", i);
  }
  CHECK_EQ(4, timed.count, "one that comes again takes its own place");
  timed_remove(&timed, 3);
  timed_remove(&timed, 77);
  CHECK_EQ(3, timed.count, "removed");
  CHECK_NEAR(3, timed_best_ms(&timed), 1e-12, "without the best");
  timed_free(&timed);
}

TEST(order_is_that_of_the_space) {
  struct timed_list timed = {.count = 0};
  for (int i = 0; i < 12; i++) {
    struct timed_variant one = timed_of(i, (11 - i) / 4, (7 * i) % 4, 1, 1);
    CHECK_OK(timed_put(&timed, &one));
  }
  timed_sort(&timed);
  for (int i = 0; i < 12; i++) {
    CHECK_EQ(i / 4, timed.list[i].proposal.template_index, "%d", i);
    CHECK_EQ(i % 4, timed.list[i].proposal.configuration.choice[0], "%d", i);
  }
  timed_free(&timed);
}

static double no_time(void *state) {
  (void)state;
  return 0;
}

/* A search needs half of its budget, 10 s at most, and 2 s behind it; what is read before leaves 2 s for the set-up. */
TEST(a_deadline_leaves_time_to_read_and_to_search) {
  static const struct {
    double deadline_ms, budget_s;
    bool reads, searches;
  } rows[] = {
      {INFINITY, 6, true, true},       {INFINITY, INFINITY, true, true}, {7000, 6, true, true},
      {6999, 6, false, true},          {5000, 6, false, true},           {4999, 6, false, false},
      {14000, INFINITY, true, true},   {13999, INFINITY, false, true},   {12000, 60, false, true},
      {11999, INFINITY, false, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_EQ(rows[i].reads, schedule_leaves_reading(rows[i].deadline_ms, rows[i].budget_s, 0), "row %zu", i);
    CHECK_EQ(rows[i].searches, schedule_leaves_time(rows[i].deadline_ms, rows[i].budget_s, 0), "row %zu", i);
  }
}

/* What is kept for the finals follows the newest estimate, and is never more than at first. */
TEST(the_search_ends_as_the_newest_estimate_of_the_finals_says) {
  static const struct {
    double budget_s, finals_ms[3], search_end_ms[4];
    bool has_long_search;
  } rows[] = {
      {100, {1000, 2500, 500}, {80000, 99000, 97500, 99500}, false},
      {100, {1000, 30000, 20000}, {80000, 99000, 80000, 80000}, false},
      {4, {3000, 1000, 2500}, {2000, 2000, 3000, 2000}, false},
      {4, {3000, 500, 2500}, {3200, 3200, 3500, 3200}, true},
      {INFINITY, {1000, 2500, 500}, {INFINITY, INFINITY, INFINITY, INFINITY}, false},
  };
  const struct time_source time = {.now_ms = no_time};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct schedule schedule = schedule_start(&time, NULL, INFINITY);
    schedule_divide(&schedule, rows[i].budget_s, rows[i].has_long_search);
    for (int j = 0; j < 4; j++) {
      if (j > 0) schedule_keep_for_finals(&schedule, rows[i].finals_ms[j - 1]);
      CHECK(rows[i].search_end_ms[j] == schedule.search_end_ms, "row %zu, estimate %d: %g ms", i, j,
            schedule.search_end_ms);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_variant_is_visited_once),
      cmocka_unit_test(a_variant_that_there_is_no_memory_for_is_not_known),
      cmocka_unit_test(a_sample_takes_turns_and_is_shuffled),
      cmocka_unit_test(neighbours_differ_in_one_parameter_or_in_two_that_rules_tie),
      cmocka_unit_test(effects_tell_good_values_from_bad_ones),
      cmocka_unit_test(the_best_time_is_that_of_the_list),
      cmocka_unit_test(order_is_that_of_the_space),
      cmocka_unit_test(a_deadline_leaves_time_to_read_and_to_search),
      cmocka_unit_test(the_search_ends_as_the_newest_estimate_of_the_finals_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
