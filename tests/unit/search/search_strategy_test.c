/* search_strategy_test.c: strategies never propose a variant twice, nor one that the rules exclude, and repeat
 * themselves for the same seed. The local strategy finds the best variant sooner than random search. The model is
 * nearer to it after as many results. */
#include "stencil/template/template_read.h"
#include "tests/unit/search/search_space.h"
#include "tuner/search/strategy/draw.h"
#include "tuner/search/variants/proposals.h"

/* Get the next variant of a strategy. Returns false if there is none left. */
static bool next_of(const struct strategy *strategy, void *state, struct proposal *out) {
  bool have;
  CHECK_OK(strategy->next(state, out, &have));
  return have;
}

static bool is_new_in(struct visited *visited, const struct space_case *c, const struct proposal *proposal) {
  bool is_new;
  CHECK_OK(visited_add(visited, &c->space, proposal, &is_new));
  return is_new;
}

enum { AHEAD = 24, SEEDS = 11 }; /* AHEAD: variants that are proposed before the result of the first one is known */

/* A run of a strategy on made-up times, as in the tuner: results come late. */
struct trip {
  struct proposal list[8192];
  double times_ms[8192];
  long count;
};

static void travel(struct space_case *c, const struct strategy *strategy, uint64_t seed, uint64_t key,
                   double ruggedness, long most, struct trip *trip) {
  void *state;
  trip->count = 0;
  CHECK_OK(strategy->open(&c->space, seed, &state));
  while (trip->count < most && next_of(strategy, state, &trip->list[trip->count])) {
    trip->times_ms[trip->count] = made_up_ms(c, &trip->list[trip->count], key, ruggedness);
    long told = trip->count - AHEAD;
    if (told >= 0) CHECK_OK(strategy->tell(state, &trip->list[told], trip->times_ms[told]));
    trip->count++;
  }
  strategy->close(state);
}

static struct trip one, other;

TEST(no_variant_is_proposed_twice_nor_against_the_rules) {
  struct space_case c;
  space_open(&c);
  for (int i = 0; strategies[i]; i++) {
    struct visited visited = {.count = 0};
    travel(&c, strategies[i], 3, 5, 0.3, (long)COUNT(one.list), &one);
    for (long k = 0; k < one.count; k++) {
      CHECK(is_new_in(&visited, &c, &one.list[k]), "%s: number %ld was there before", strategies[i]->name, k);
      CHECK(space_keeps(&c, &one.list[k]), "%s: number %ld", strategies[i]->name, k);
    }
    /* The space is so small that each strategy finds all of it, unless it ends early. */
    CHECK(one.count == c.size || (strategies[i]->ends_early && one.count < c.size), "%s", strategies[i]->name);
    visited_free(&visited);
  }
  space_close(&c);
}

TEST(each_strategy_says_why_it_proposes) {
  struct space_case c;
  struct proposal_list drawn;
  space_open(&c);
  CHECK_OK(draw_variants(&c.space, 1, 11, &drawn));
  c.space.hints = drawn.list;
  c.space.hint_count = c.space.known_hints = 1;
  for (int i = 0; strategies[i]; i++) {
    const struct strategy *strategy = strategies[i];
    struct proposal proposal;
    void *opened;
    CHECK_OK(strategy->open(&c.space, 3, &opened));
    for (long k = 0; k < 60 && next_of(strategy, opened, &proposal); k++) {
      const char *why = strategy->why ? strategy->why(opened) : "";
      CHECK(why[0], "%s: number %ld", strategy->name, k);
      CHECK_EQ(k == 0 && strategy->takes_hints, strcmp(why, "hint") == 0, "%s: number %ld: %s", strategy->name, k, why);
      CHECK_OK(strategy->tell(opened, &proposal, made_up_ms(&c, &proposal, 5, 0.3)));
    }
    strategy->close(opened);
  }
  proposals_free(&drawn);
  space_close(&c);
}

TEST(hints_come_first_and_once) {
  struct space_case c;
  struct proposal_list drawn;
  space_open(&c);
  CHECK_OK(draw_variants(&c.space, 4, 11, &drawn));
  c.space.hints = drawn.list;
  c.space.hint_count = drawn.count;
  size_t bytes = (size_t)drawn.count * sizeof *drawn.list;
  for (int i = 0; strategies[i]; i++) {
    struct visited visited = {.count = 0};
    travel(&c, strategies[i], 3, 5, 0.3, (long)COUNT(one.list), &one);
    CHECK_EQ(strategies[i]->takes_hints, memcmp(one.list, drawn.list, bytes) == 0, "%s", strategies[i]->name);
    for (long k = 0; k < one.count; k++)
      CHECK(is_new_in(&visited, &c, &one.list[k]), "%s: number %ld was there before", strategies[i]->name, k);
    CHECK(one.count == c.size || strategies[i]->ends_early, "%s: all of the space", strategies[i]->name);
    visited_free(&visited);
  }
  CHECK(!strategy_exhaustive.takes_hints && strategy_random.takes_hints && strategy_local.takes_hints,
        "who takes them");
  proposals_free(&drawn);
  space_close(&c);
}

TEST(a_seed_decides_all) {
  struct space_case c;
  space_open(&c);
  for (int i = 0; strategies[i]; i++) {
    travel(&c, strategies[i], 7, 5, 0.3, 150, &one);
    travel(&c, strategies[i], 7, 5, 0.3, 150, &other);
    CHECK_EQ(one.count, other.count, "%s: the same seed", strategies[i]->name);
    CHECK(memcmp(one.list, other.list, (size_t)one.count * sizeof *one.list) == 0, "%s: the same seed",
          strategies[i]->name);
    travel(&c, strategies[i], 8, 5, 0.3, 150, &other);
    CHECK(memcmp(one.list, other.list, (size_t)one.count * sizeof *one.list) != 0, "%s: another seed",
          strategies[i]->name);
  }
  space_close(&c);
}

TEST(all_templates_have_their_turn) {
  struct space_case c;
  space_open(&c);
  for (int i = 0; strategies[i]; i++) {
    int of[TEMPLATES] = {0};
    travel(&c, strategies[i], 2, 5, 0.3, 40, &one);
    for (long k = 0; k < one.count; k++) of[one.list[k].template_index]++;
    for (int t = 0; t < TEMPLATES; t++)
      CHECK(of[t] >= (strategies[i]->ends_early ? 8 : 15), "%s: template %d has %d of 40", strategies[i]->name, t,
            of[t]);
  }
  space_close(&c);
}

/* Of the first random variants, count those of the second template, after `told` of its variants were slower by this
 * factor. */
static int random_of_slower(struct space_case *c, double slower, long told) {
  enum { FIRST_RANDOM = 40 };
  struct proposal proposal;
  void *state;
  int of_slower = 0;
  CHECK_OK(strategy_local.open(&c->space, 3, &state));
  travel(c, &strategy_random, 5, 5, 0, 100, &one);
  for (long k = 0, fast = 0, slow = 0; k < one.count; k++) {
    const bool is_slow = one.list[k].template_index == 1;
    long *count = is_slow ? &slow : &fast;
    if ((*count)++ < told) CHECK_OK(strategy_local.tell(state, &one.list[k], is_slow ? slower : 1));
  }
  for (int k = 0; k < FIRST_RANDOM; k++) {
    CHECK(next_of(&strategy_local, state, &proposal), "number %d", k);
    of_slower += proposal.template_index == 1;
  }
  strategy_local.close(state);
  return of_slower;
}

TEST(templates_that_are_far_behind_come_last) {
  static const struct {
    double slower;
    long told;
    bool is_behind;
  } rows[] = {{1001, 1, true}, {900, 1, false},  {33, 2, true},    {31, 2, false},
              {10.1, 3, true}, {10.1, 2, false}, {9.9, 40, false}, {1.5, 40, false}};
  struct space_case c;
  space_open(&c);
  for (size_t i = 0; i < COUNT(rows); i++) {
    const int got = random_of_slower(&c, rows[i].slower, rows[i].told);
    CHECK(rows[i].is_behind ? got == 0 : got >= 15, "row %zu: %d", i, got);
  }
  /* They are proposed in the end. */
  void *local;
  long count = 0;
  CHECK_OK(strategy_local.open(&c.space, 3, &local));
  for (struct proposal proposal; next_of(&strategy_local, local, &proposal); count++) {
    const double slower = proposal.template_index == 1 ? 5000 : 1;
    CHECK_OK(strategy_local.tell(local, &proposal, slower * made_up_ms(&c, &proposal, 5, 0.3)));
  }
  CHECK_EQ(c.size, count, "all of the space");
  strategy_local.close(local);
  space_close(&c);
}

TEST(what_is_fixed_stays) {
  struct space_case c;
  struct fixed_parameters fixed[TEMPLATES];
  space_open(&c);
  memset(fixed, 0, sizeof fixed);
  for (int t = 0; t < TEMPLATES; t++) {
    fixed[t].values = configuration_default(c.templates[t]);
    fixed[t].is_fixed[0] = true; /* bx */
    fixed[t].values.choice[0] = 3;
  }
  c.space.fixed = fixed;
  long size = 0;
  for (int t = 0; t < TEMPLATES; t++)
    space_walk(&c.bindings[t], fixed[t].is_fixed, &fixed[t].values, count_one, &size, NULL);
  for (int i = 0; strategies[i]; i++) {
    travel(&c, strategies[i], 2, 5, 0.3, (long)COUNT(one.list), &one);
    CHECK(one.count == size || strategies[i]->ends_early, "%s", strategies[i]->name);
    for (long k = 0; k < one.count; k++)
      CHECK_EQ(3, one.list[k].configuration.choice[0], "%s: number %ld", strategies[i]->name, k);
  }
  space_close(&c);
}

/* The number of variants until one is within this share of the best. */
static long tries_to(const struct trip *trip, double best_ms, double share) {
  for (long i = 0; i < trip->count; i++) {
    if (trip->times_ms[i] <= best_ms * (1 + share)) return i + 1;
  }
  return trip->count + 1;
}

static double best_of(const struct trip *trip) {
  double best_ms = INFINITY;
  for (long i = 0; i < trip->count; i++) best_ms = fmin(best_ms, trip->times_ms[i]);
  return best_ms;
}

static int compare_longs(const void *left, const void *right) {
  long a = *(const long *)left, b = *(const long *)right;
  return (a > b) - (a < b);
}

/* The median over seeds, each with different times. */
static long median_tries(struct space_case *c, const struct strategy *strategy, double ruggedness, double share) {
  long tries[SEEDS];
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    travel(c, strategy, seed, 50 + seed, ruggedness, (long)COUNT(one.list), &one);
    tries[seed] = tries_to(&one, best_of(&one), share);
  }
  qsort(tries, SEEDS, sizeof *tries, compare_longs);
  return tries[SEEDS / 2];
}

TEST(looking_around_finds_the_best_sooner_than_chance) {
  static const struct {
    const char *name;
    double ruggedness, share;
    long most; /* tries of the local strategy, as a median */
  } rows[] = {{"separable", 0, 0, 300}, {"some ruggedness", 0.1, 0, 500}, {"much ruggedness", 0.5, 0, 900}};
  struct space_case c;
  space_open(&c);
  for (size_t i = 0; i < COUNT(rows); i++) {
    long local = median_tries(&c, &strategy_local, rows[i].ruggedness, rows[i].share);
    long random = median_tries(&c, &strategy_random, rows[i].ruggedness, rows[i].share);
    CHECK(local <= rows[i].most && 2 * local <= random, "%s: local %ld, random %ld of %ld", rows[i].name, local, random,
          c.size);
    if (getenv("SHOW")) print_message("# %s: local %ld, random %ld of %ld\n", rows[i].name, local, random, c.size);
  }
  space_close(&c);
}

/* Made-up times that break models. */
static double equal_ms(const struct proposal *proposal, long number) {
  (void)proposal, (void)number;
  return 1;
}
static double never_ms(const struct proposal *proposal, long number) {
  (void)proposal, (void)number;
  return INFINITY;
}
/* A clock that does not move: the logarithm has no end, and the matrix of such times cannot be factored. */
static double zero_ms(const struct proposal *proposal, long number) {
  (void)proposal;
  return number % 3 ? 1 : 0;
}
/* Slower than any number of doublings explains: variants next to each other differ by a factor of 1e12. */
static double wild_ms(const struct proposal *proposal, long number) {
  (void)proposal;
  return number % 2 ? 1e-6 : 1e6;
}

/* The model has nothing to learn from these times: it goes on with another strategy, which finds all of the space, and
 * says so. Where it can be fitted to nonsense, it goes on as well as it can. */
TEST(a_model_that_cannot_be_fitted_is_given_up) {
  static const struct {
    const char *name;
    double (*time_ms)(const struct proposal *proposal, long number);
    const char *remark;
  } rows[] = {{"all equal", equal_ms, "times are equal"},
              {"zero", zero_ms, "their matrix is singular"},
              {"no valid variant", never_ms, "too few variants work"},
              {"wild", wild_ms, ""}};
  struct space_case c;
  space_open(&c);
  for (size_t i = 0; i < COUNT(rows); i++) {
    void *model;
    long count = 0;
    struct visited visited = {.count = 0};
    CHECK_OK(strategy_model.open(&c.space, 3, &model));
    for (struct proposal proposal; count < 400 && next_of(&strategy_model, model, &proposal); count++) {
      CHECK(is_new_in(&visited, &c, &proposal), "%s: number %ld was there before", rows[i].name, count);
      CHECK_OK(strategy_model.tell(model, &proposal, rows[i].time_ms(&proposal, count)));
    }
    CHECK(count == 400 || !rows[i].remark[0], "%s: ended after %ld", rows[i].name, count);
    CHECK(strstr(strategy_model.remark(model), rows[i].remark), "%s: '%s'", rows[i].name, strategy_model.remark(model));
    strategy_model.close(model);
    visited_free(&visited);
  }
  /* A space of one variant. */
  const struct proposal only = {.template_index = 1, .configuration = configuration_default(c.templates[1])};
  struct proposal got;
  void *model;
  c.space.only = &only;
  c.space.only_count = 1;
  CHECK_OK(strategy_model.open(&c.space, 3, &model));
  CHECK(next_of(&strategy_model, model, &got) && proposal_equals(&c.space, &only, &got), "the only one");
  CHECK_OK(strategy_model.tell(model, &got, 1));
  CHECK(!next_of(&strategy_model, model, &got), "no more");
  strategy_model.close(model);
  space_close(&c);
}

/* What is left of the time of the best after so many results, as the mean of the seeds. */
static double mean_share(struct space_case *c, const struct strategy *strategy, double ruggedness, long results) {
  double sum = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    travel(c, &strategy_random, 1, 50 + seed, ruggedness, (long)COUNT(one.list), &one);
    const double best_ms = best_of(&one);
    travel(c, strategy, seed, 50 + seed, ruggedness, results, &one);
    sum += best_ms / best_of(&one);
  }
  return sum / SEEDS;
}

TEST(a_model_finds_good_variants_sooner) {
  struct space_case c;
  space_open(&c);
  const double model = mean_share(&c, &strategy_model, 0.1, 100), local = mean_share(&c, &strategy_local, 0.1, 100);
  if (getenv("SHOW")) print_message("# model %.3f, local %.3f\n", model, local);
  CHECK(model > 0.97 && model > local, "model %.3f, local %.3f", model, local);
  space_close(&c);
}

/* What another GPU is said to have measured. */
enum rumour { SIMILAR, OPPOSITE, FAST_FAIL, ALL_FAILED, ONE_VARIANT, RUMOURS };

struct rumours {
  struct space_case *c;
  enum rumour rumour;
  uint64_t key;
  struct known_variant *list;
  long count;
  int template;
};

static bool add_rumour(void *context, const struct configuration *configuration) {
  struct rumours *r = context;
  struct known_variant *known = &r->list[r->count++];
  *known = (struct known_variant){.proposal = {.template_index = r->template, .configuration = *configuration}};
  const double time_ms = made_up_ms(r->c, &known->proposal, r->key, 0.1);
  known->log_time = r->rumour == ALL_FAILED ? INFINITY : log(time_ms / 0.1);
  if (r->rumour == OPPOSITE && isfinite(time_ms)) known->log_time = -log(time_ms / 10);
  /* What fails here, because its registers do not suffice, was the fastest there. */
  if (r->rumour == FAST_FAIL) known->log_time = isfinite(made_up_ms(r->c, &known->proposal, r->key, 0.2)) ? 1 : 0;
  return r->rumour != ONE_VARIANT || r->count < 1;
}

/* The share of the best after so many results, with such rumours. */
static double share_with(struct space_case *c, enum rumour rumour, long results) {
  static const char *const sources[] = {"another GPU"};
  double sum = 0;
  struct rumours r = {.c = c, .rumour = rumour, .list = malloc((size_t)c->size * sizeof *r.list)};
  for (uint64_t seed = 0; seed < 4; seed++) {
    r.key = 50 + seed;
    r.count = 0;
    for (r.template = 0; r.template <TEMPLATES; r.template ++)
      space_walk(&c->bindings[r.template], NULL, NULL, add_rumour, &r, NULL);
    travel(c, &strategy_random, 1, 50 + seed, 0.2, (long)COUNT(one.list), &one);
    const double best_ms = best_of(&one);
    c->space.known = (struct known_variants){r.list, r.count, sources};
    travel(c, &strategy_model, seed, 50 + seed, 0.2, results, &one);
    c->space.known = (struct known_variants){.count = 0};
    sum += best_ms / best_of(&one) / 4;
  }
  free(r.list);
  return sum;
}

/* What is known of another GPU leads soon to what is fast. Where it misleads, the search comes there later. */
TEST(a_model_learns_from_other_problems) {
  static const double least[RUMOURS] = {0.97, 0.93, 0.9, 0.93, 0.93};
  struct space_case c;
  space_open(&c);
  for (enum rumour rumour = 0; rumour < RUMOURS; rumour++) {
    const double share = share_with(&c, rumour, rumour == SIMILAR ? 30 : 120);
    if (getenv("SHOW")) print_message("# rumour %d: %.3f\n", rumour, share);
    CHECK(share >= least[rumour], "rumour %d: %.3f", rumour, share);
  }
  space_close(&c);
}

/* The whole space has no ruggedness, so a model is soon sure. It ends only after random variants have agreed. */
TEST(a_search_that_can_gain_no_more_ends_and_says_so) {
  struct space_case c;
  struct proposal proposal;
  void *model;
  long count = 0;
  double best_ms = INFINITY, least_ms = INFINITY;
  space_open(&c);
  CHECK_OK(strategy_model.open(&c.space, 3, &model));
  for (; next_of(&strategy_model, model, &proposal); count++) {
    const double time_ms = made_up_ms(&c, &proposal, 5, 0);
    best_ms = fmin(best_ms, time_ms);
    CHECK_OK(strategy_model.tell(model, &proposal, time_ms));
  }
  travel(&c, &strategy_random, 1, 5, 0, (long)COUNT(one.list), &one);
  least_ms = best_of(&one);
  CHECK(count > 60 && count < c.size / 4, "ended after %ld of %ld", count, c.size);
  CHECK(best_ms < least_ms * 1.01, "%g of %g", least_ms, best_ms);
  CHECK(strstr(strategy_model.remark(model), "ended early"), "'%s'", strategy_model.remark(model));
  CHECK(strategy_model.why(model)[0], "why");
  strategy_model.close(model);
  space_close(&c);
}

/* The best variant is a random one, and far from all others. Eight random ones must agree after it. */
TEST(a_random_variant_does_not_agree_with_itself) {
  struct space_case c;
  struct proposal proposal;
  void *model;
  double best_ms = INFINITY;
  bool has_lucky = false;
  int agreed = 0;
  space_open(&c);
  CHECK_OK(strategy_model.open(&c.space, 3, &model));
  for (long count = 0; next_of(&strategy_model, model, &proposal); count++) {
    const bool is_random = strncmp(strategy_model.why(model), "random", strlen("random")) == 0;
    const bool is_lucky = is_random && !has_lucky && count > 60;
    const double time_ms = is_lucky ? best_ms * 0.5 : made_up_ms(&c, &proposal, 5, 0);
    has_lucky |= is_lucky;
    agreed = time_ms < best_ms * 0.998 ? 0 : agreed + is_random;
    best_ms = fmin(best_ms, time_ms);
    CHECK_OK(strategy_model.tell(model, &proposal, time_ms));
  }
  CHECK(has_lucky, "there was one");
  CHECK(strstr(strategy_model.remark(model), "ended early"), "'%s'", strategy_model.remark(model));
  CHECK(agreed >= 8, "%d", agreed);
  strategy_model.close(model);
  space_close(&c);
}

/* --- templates that estimate the work of their variants ----------------------------------------------------------- */

/* What a template says of its variants' work, where their times are in truth those of estimated_ms. */
enum estimate { NO_ESTIMATE, TRUE_ESTIMATE, OPPOSITE_ESTIMATE, ESTIMATES };

static void space_open_estimated(struct space_case *c, enum estimate estimate) {
  static const char *const work[ESTIMATES] = {
      "", ", work: '(1 + fabs(a - 6))*(2 + fabs(b - 2))*(3 + fabs(c - 7))*(3 + d)'",
      ", work: '1/((1 + fabs(a - 6))*(2 + fabs(b - 2))*(3 + fabs(c - 7))*(3 + d))'"};
  char yaml[1024];
  double facts[FACT_COUNT];
  snprintf(
      yaml, sizeof yaml,
      "name: test\nabout: for tests\nparameters: {a: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}, b: "
      "{values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}, c: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, "
      "about: x}, d: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 8, about: x}}\nrules: []\nblock: [1, 1, 1]\n"
      "grid: [1, 1, 1]\nshared_bytes: 0\naccess: {loads_per_point: 1, over_read: 1, computing_share: 1%s}\n",
      work[estimate]);
  device_facts(facts);
  *c = (struct space_case){.size = 0};
  CHECK_OK(template_of_texts(yaml, "// nothing\n", &c->templates[0]));
  CHECK_OK(bindings_make(c->templates[0], facts, &c->bindings[0]));
  c->space = (struct search_space){.templates = c->templates, .bindings = c->bindings, .count = 1, .has_steps = true};
}

static void space_close_estimated(struct space_case *c) {
  bindings_free(&c->bindings[0]);
  template_free(c->templates[0]);
}

static double estimated_ms(const struct proposal *proposal, uint64_t key) {
  const unsigned char *v = proposal->configuration.choice;
  const double work = (1 + abs(v[0] - 5)) * (2.0 + abs(v[1] - 1)) * (3 + abs(v[2] - 6)) * (4 + v[3]);
  uint64_t own = key;
  for (int i = 0; i < 4; i++) own = random_bits(own, v[i]);
  return work * (1 + 0.2 * unit_random(own, 0));
}

static double mean_ms(const struct proposal_list *list) {
  double sum = 0;
  for (long i = 0; i < list->count; i++) sum += estimated_ms(&list->list[i], 1);
  return sum / (double)list->count;
}

TEST(light_variants_are_drawn_where_templates_estimate_work) {
  for (enum estimate estimate = NO_ESTIMATE; estimate < ESTIMATES; estimate++) {
    enum { LIGHT = 64 };
    struct space_case c;
    struct proposal_list any, light;
    struct visited visited = {.count = 0};
    space_open_estimated(&c, estimate);
    CHECK_OK(draw_variants(&c.space, LIGHT * DRAW_GROUP, 7, &any));
    CHECK_OK(draw_light(&c.space, LIGHT, 7, &light));
    CHECK_EQ(LIGHT * DRAW_GROUP, any.count, "all that were asked for");
    CHECK_EQ(estimate == NO_ESTIMATE ? LIGHT * DRAW_GROUP / DRAW_COST_GROUP : LIGHT, light.count, "one of each group");
    for (long i = 0; i < light.count; i++)
      CHECK(is_new_in(&visited, &c, &light.list[i]), "number %ld was there before", i);
    const double share = mean_ms(&light) / mean_ms(&any);
    const bool is_as_said = estimate == TRUE_ESTIMATE       ? share < 0.3
                            : estimate == OPPOSITE_ESTIMATE ? share > 2
                                                            : share > 0.8 && share < 1.25;
    CHECK(is_as_said, "estimate %d: light ones take %.2f of the time of all", (int)estimate, share);
    visited_free(&visited);
    proposals_free(&any);
    proposals_free(&light);
    space_close_estimated(&c);
  }
}

/* Templates that do not estimate work come less often, unless launches make single steps. */
TEST(templates_without_an_estimate_take_part_in_every_fourth_turn) {
  enum { LIGHT = 64, FIRST = 10 };
  struct space_case plain, c;
  struct proposal_list light;
  long of_plain = 0, all_of_plain = 0, of_single = 0;
  space_open_estimated(&plain, NO_ESTIMATE);
  space_open_estimated(&c, TRUE_ESTIMATE);
  c.templates[1] = plain.templates[0];
  c.bindings[1] = plain.bindings[0];
  c.space.count = 2;
  CHECK_OK(draw_light(&c.space, LIGHT, 7, &light));
  for (long i = 0; i < light.count; i++) {
    of_plain += i < FIRST && light.list[i].template_index == 1;
    all_of_plain += light.list[i].template_index == 1;
  }
  CHECK_EQ(2, of_plain, "of the first %d", FIRST);
  proposals_free(&light);
  c.space.has_steps = false;
  CHECK_OK(draw_light(&c.space, LIGHT, 7, &light));
  for (long i = 0; i < FIRST; i++) of_single += light.list[i].template_index == 1;
  CHECK_EQ(FIRST / 2, of_single, "single steps: of the first %d", FIRST);
  proposals_free(&light);
  c.space.has_steps = true;
  CHECK_OK(draw_light(&c.space, LIGHT, 7, &light));
  CHECK_EQ(LIGHT * DRAW_GROUP / DRAW_COST_GROUP, all_of_plain, "one of each group");
  CHECK_EQ(LIGHT * DRAW_GROUP / DRAW_COST_GROUP + LIGHT, light.count, "and those of the other");
  proposals_free(&light);
  space_close_estimated(&c);
  space_close_estimated(&plain);
}

/* The share of the best that the model has found after so many results. */
static double share_estimated(enum estimate estimate, int results) {
  double sum = 0;
  for (uint64_t seed = 0; seed < 4; seed++) {
    struct space_case c;
    struct proposal proposal;
    struct configuration *all;
    long count;
    void *model;
    double found_ms = INFINITY, best_ms = INFINITY;
    space_open_estimated(&c, estimate);
    CHECK_OK(space_sample(&c.bindings[0], NULL, NULL, 5000, 1, &all, &count));
    for (long i = 0; i < count; i++)
      best_ms = fmin(best_ms, estimated_ms(&(struct proposal){.configuration = all[i]}, seed));
    free(all);
    CHECK_OK(strategy_model.open(&c.space, seed, &model));
    for (int i = 0; i < results && next_of(&strategy_model, model, &proposal); i++) {
      const double time_ms = estimated_ms(&proposal, seed);
      found_ms = fmin(found_ms, time_ms);
      CHECK_OK(strategy_model.tell(model, &proposal, time_ms));
    }
    strategy_model.close(model);
    space_close_estimated(&c);
    sum += best_ms / found_ms / 4;
  }
  return sum;
}

/* A true estimate leads at once to what is fast. Where it misleads, the search comes there later. */
TEST(a_model_begins_with_what_templates_estimate) {
  const double none = share_estimated(NO_ESTIMATE, 24), told = share_estimated(TRUE_ESTIMATE, 24),
               misled = share_estimated(OPPOSITE_ESTIMATE, 120);
  if (getenv("SHOW"))
    print_message("# after 24: %.3f, with an estimate %.3f; misled, after 120: %.3f\n", none, told, misled);
  CHECK(told > 0.95 && told > none + 0.1, "after 24 results: %.3f, with an estimate %.3f", none, told);
  CHECK(misled > 0.85, "misled, after 120 results: %.3f", misled);
}

TEST(strategies_are_found_by_name) {
  CHECK(strategy_find("local") == &strategy_local && strategy_find("exhaustive") == &strategy_exhaustive, "names");
  CHECK(!strategy_find("clever"), "an unknown one");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_variant_is_proposed_twice_nor_against_the_rules),
      cmocka_unit_test(each_strategy_says_why_it_proposes),
      cmocka_unit_test(hints_come_first_and_once),
      cmocka_unit_test(a_seed_decides_all),
      cmocka_unit_test(all_templates_have_their_turn),
      cmocka_unit_test(templates_that_are_far_behind_come_last),
      cmocka_unit_test(what_is_fixed_stays),
      cmocka_unit_test(looking_around_finds_the_best_sooner_than_chance),
      cmocka_unit_test(a_model_that_cannot_be_fitted_is_given_up),
      cmocka_unit_test(a_model_finds_good_variants_sooner),
      cmocka_unit_test(a_model_learns_from_other_problems),
      cmocka_unit_test(a_search_that_can_gain_no_more_ends_and_says_so),
      cmocka_unit_test(a_random_variant_does_not_agree_with_itself),
      cmocka_unit_test(light_variants_are_drawn_where_templates_estimate_work),
      cmocka_unit_test(templates_without_an_estimate_take_part_in_every_fourth_turn),
      cmocka_unit_test(a_model_begins_with_what_templates_estimate),
      cmocka_unit_test(strategies_are_found_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
