/* static_cost_test.c: costs rank variants by what is known before a compile; a search begins with what costs less. */
#include "library/predict/static_cost.h"

#include <math.h>
#include <stdio.h>

#include "tests/unit/template/templates.h"
#include "tuner/search/strategy/draw.h"
#include "tuner/search/strategy/strategy.h"

/* A template whose formulas tell what its parameters cost, and a problem of 512^3 points. */
struct cost_case {
  struct template *template;
  struct bindings bindings;
  struct search_space space;
};

enum parameter_place { WIDTH, ROWS, LOADED, HALO };

/* over_read: a formula of HALO. */
static void cost_open(const char *over_read, struct cost_case *c) {
  char yaml[1024];
  double facts[FACT_COUNT];
  snprintf(yaml, sizeof yaml,
           "name: test\nabout: for tests\nparameters: {width: {values: [4, 8, 16, 32], default: 4, about: x}, rows: "
           "{values: [1, 2, 4, 64], default: 1, about: x}, loaded: {values: [1, 2, 4, 8], default: 1, about: x}, halo: "
           "{values: [0, 1, 2, 3], default: 0, about: x}}\nrules: []\nblock: [width, 16, 1]\n"
           "grid: [ceil(points_in_x/width), ceil(points_in_y/(16*rows)), points_in_z]\nshared_bytes: 0\n"
           "access: {loads_per_point: loaded, over_read: '%s'}\n",
           over_read);
  device_facts(facts);
  facts[FACT_dims] = 3;
  facts[FACT_inputs] = facts[FACT_outputs] = facts[FACT_staged] = facts[FACT_taps_on_axes] = 1;
  facts[FACT_element_bytes] = 4;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    facts[FACT_nx + axis] = facts[FACT_points_in_x + axis] = 512;
    facts[FACT_low_x + axis] = facts[FACT_high_x + axis] = 1;
  }
  facts[FACT_row] = 512;
  facts[FACT_plane] = 512 * 512;
  facts[FACT_max_registers] = 255;
  facts[FACT_registers_sm] = 65536;
  facts[FACT_multiprocessors] = 132;
  CHECK_OK(template_of_texts(yaml, "// nothing\n", &c->template));
  CHECK_OK(bindings_make(c->template, facts, &c->bindings));
  c->space = (struct search_space){.templates = &c->template, .bindings = &c->bindings, .count = 1};
}

static void cost_close(struct cost_case *c) {
  bindings_free(&c->bindings);
  template_free(c->template);
}

/* The cost where one parameter has another choice than the default. */
static double cost_with(struct cost_case *c, enum parameter_place parameter, int choice) {
  struct configuration configuration = configuration_default(c->template);
  configuration.choice[parameter] = (unsigned char)choice;
  bindings_configure(&c->bindings, &configuration);
  return static_cost_log(&c->bindings, c->space.weights);
}

TEST(what_takes_time_costs_more) {
  struct cost_case c;
  cost_open("1 + halo", &c);
  const double usual = cost_with(&c, WIDTH, 0);
  CHECK(isfinite(usual), "a cost");
  CHECK(cost_with(&c, HALO, 3) > usual, "more bytes");
  CHECK(cost_with(&c, LOADED, 3) > usual, "more loads");
  CHECK(cost_with(&c, WIDTH, 3) < usual, "wider rows, in fewer blocks");
  CHECK(cost_with(&c, ROWS, 1) < usual, "half as many blocks");
  CHECK(cost_with(&c, ROWS, 3) > cost_with(&c, ROWS, 2), "more points than a thread has registers for");
  cost_close(&c);
}

TEST(a_cost_leaves_the_bindings_as_they_were) {
  struct cost_case c;
  cost_open("1 + halo", &c);
  const double first = cost_with(&c, HALO, 1);
  CHECK(first == cost_with(&c, HALO, 1), "the same again");
  CHECK_EQ(512, (long)c.bindings.variables[FACT_points_in_y], "facts");
  cost_close(&c);
}

/* The mean cost of the first variants that a search proposes. */
static double mean_first_cost(struct cost_case *c) {
  enum { FIRST = 12, SEEDS = 8 };
  double sum = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct proposal proposal;
    void *model;
    CHECK_OK(strategy_model.open(&c->space, seed, &model));
    for (int i = 0; i < FIRST; i++) {
      bool have;
      CHECK_OK(strategy_model.next(model, &proposal, &have));
      CHECK(have, "a variant");
      bindings_configure(&c->bindings, &proposal.configuration);
      sum += static_cost_log(&c->bindings, c->space.weights) / (FIRST * SEEDS);
    }
    strategy_model.close(model);
  }
  return sum;
}

TEST(a_search_begins_with_what_costs_less) {
  struct cost_case c;
  struct proposal_list any;
  double mean = 0;
  cost_open("1 + halo", &c);
  CHECK_OK(draw_variants(&c.space, 256, 1, &any));
  for (long i = 0; i < any.count; i++) {
    bindings_configure(&c.bindings, &any.list[i].configuration);
    mean += static_cost_log(&c.bindings, c.space.weights) / (double)any.count;
  }
  const double first = mean_first_cost(&c);
  CHECK(first < mean - 0.05, "the first cost %.3f, all %.3f", first, mean);
  proposals_free(&any);
  cost_close(&c);
}

/* With weights of which each is the contrary of the built-in one, the search begins with what these call cheap. */
TEST(a_search_begins_with_what_learnt_weights_call_cheap) {
  struct cost_case c;
  struct static_weights contrary;
  double firsts[2];
  for (int f = 0; f < STATIC_COST_FEATURES; f++) contrary.of[f] = -static_weights_built_in.of[f];
  for (int i = 0; i < 2; i++) {
    cost_open("1 + halo", &c);
    c.space.weights = i == 0 ? NULL : &contrary;
    firsts[i] = mean_first_cost(&c);
    cost_close(&c);
  }
  /* Costs are sums: by the contrary weights, the firsts of the built-in ones cost -firsts[0]. */
  CHECK(firsts[1] < -firsts[0] - 0.1, "%.3f, not %.3f", firsts[1], -firsts[0]);
}

/* A formula without a number, and one with a huge number, neither end the search nor make it propose anything twice. */
TEST(a_search_survives_costs_that_are_nonsense) {
  static const char *const formulas[] = {"0/(halo - halo)", "1/(halo - halo)", "-1", "1e300*(1 + halo)",
                                         "halo > 1 ? 1/(halo - halo) : 1"};
  for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
    struct cost_case c;
    void *model;
    struct proposal proposal;
    struct visited visited = {.count = 0};
    bool have = true, is_new;
    cost_open(formulas[i], &c);
    CHECK_OK(strategy_model.open(&c.space, 1, &model));
    int results = 0;
    for (; results < 64; results++) {
      CHECK_OK(strategy_model.next(model, &proposal, &have));
      if (!have) break;
      CHECK_OK(visited_add(&visited, &c.space, &proposal, &is_new));
      CHECK(is_new, "%s: twice", formulas[i]);
      CHECK_OK(strategy_model.tell(model, &proposal, 1 + proposal.configuration.choice[WIDTH]));
    }
    CHECK(results > 32, "%s: %d results", formulas[i], results);
    strategy_model.close(model);
    visited_free(&visited);
    cost_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_takes_time_costs_more),
      cmocka_unit_test(a_cost_leaves_the_bindings_as_they_were),
      cmocka_unit_test(a_search_begins_with_what_costs_less),
      cmocka_unit_test(a_search_begins_with_what_learnt_weights_call_cheap),
      cmocka_unit_test(a_search_survives_costs_that_are_nonsense),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
