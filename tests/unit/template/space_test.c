/* space_test.c: walking and sampling the spaces of templates. */
#include "stencil/template/space.h"
#include "stencil/template/template_read.h"

#include <limits.h>

#include "tests/unit/template/templates.h"

/* 3*4*2*5 = 120 combinations. The rules name their parameters in no order. */
static const char parameters[] =
    "a: {values: [1, 2, 3], default: 1, about: x}, b: {values: [1, 2, 4, 8], default: 1, about: x}, "
    "mode: {values: [flat, edge], default: flat, about: x}, c: {values: [0, 1, 2, 3, 4], default: 0, about: x}";
static const char rules[] =
    "{keep: 'c + a < 7', otherwise: x}, {keep: 'dims == 3', otherwise: x}, {keep: 'mode == flat || b > 1', otherwise: x}, "
    "{keep: 'a*b <= 12', otherwise: x}, {keep: 'c != 2', otherwise: x}, {keep: 'a*b % 2 == 0 || mode == edge', otherwise: x}";

struct fixture {
  struct template *template;
  struct bindings bindings;
};

static void open_fixture(struct fixture *f, const char *with_rules) {
  double facts[FACT_COUNT];
  device_facts(facts);
  facts[FACT_dims] = 3;
  CHECK_OK(template_of_rules(parameters, with_rules, &f->template));
  CHECK_OK(bindings_make(f->template, facts, &f->bindings));
}

static void close_fixture(struct fixture *f) {
  bindings_free(&f->bindings);
  template_free(f->template);
}

struct list {
  struct configuration configurations[256];
  long count, limit; /* limit: the walk ends at this count */
};

static bool list_configuration(void *context, const struct configuration *configuration) {
  struct list *list = context;
  list->configurations[list->count++] = *configuration;
  return list->count < list->limit;
}

/* The rule that removes a configuration: of those that it breaks, the one that can be tested first. */
static int rule_that_removes(const struct fixture *f, const struct configuration *configuration) {
  struct bindings bindings = f->bindings;
  int found = -1;
  bindings_configure(&bindings, configuration);
  for (int i = 0; i < f->template->rule_count; i++) {
    const struct rule *rule = &f->template->rules[i];
    if (bindings_keep(&bindings, rule)) continue;
    if (found < 0 || rule->last_parameter < f->template->rules[found].last_parameter) found = i;
  }
  return found;
}

TEST(a_walk_finds_what_trying_all_finds) {
  struct fixture f;
  struct list list = {.limit = 1000};
  struct space_counts counts;
  long removed[MAX_RULES] = {0}, used[MAX_PARAMETERS][MAX_VALUES] = {{0}}, kept = 0;
  open_fixture(&f, rules);
  space_walk(&f.bindings, NULL, NULL, list_configuration, &list, &counts);
  for (int i = 0; i < 120; i++) { /* the last parameter changes fastest */
    struct configuration c = {
        {(unsigned char)(i / 40), (unsigned char)(i / 10 % 4), (unsigned char)(i / 5 % 2), (unsigned char)(i % 5)}};
    int rule = rule_that_removes(&f, &c);
    if (rule >= 0) {
      removed[rule]++;
      continue;
    }
    CHECK(kept < list.count && memcmp(&c, &list.configurations[kept], 4) == 0, "configuration %d is number %ld", i,
          kept);
    for (int p = 0; p < 4; p++) used[p][c.choice[p]]++;
    kept++;
  }
  CHECK(kept > 10 && kept < 110, "%ld kept", kept);
  CHECK_EQ(kept, list.count, "visited");
  CHECK_EQ(kept, counts.kept, "kept");
  CHECK_NEAR(120, counts.raw, 0, "raw");
  for (int r = 0; r < f.template->rule_count; r++) CHECK_NEAR(removed[r], counts.removed[r], 0, "rule %d", r);
  CHECK(memcmp(used, counts.used, sizeof used) == 0, "use of values");
  close_fixture(&f);
}

TEST(a_walk_can_be_ended) {
  struct fixture f;
  struct list list = {.limit = 7};
  open_fixture(&f, rules);
  space_walk(&f.bindings, NULL, NULL, list_configuration, &list, NULL);
  CHECK_EQ(7, list.count, "visited");
  close_fixture(&f);
}

TEST(fixed_parameters_keep_their_values) {
  struct fixture f;
  struct space_counts all, part;
  long sum = 0;
  const bool fixed[MAX_PARAMETERS] = {false, true};
  open_fixture(&f, rules);
  space_walk(&f.bindings, NULL, NULL, NULL, NULL, &all);
  for (int value = 0; value < 4; value++) {
    struct configuration from = {{0, (unsigned char)value}};
    space_walk(&f.bindings, fixed, &from, NULL, NULL, &part);
    CHECK_EQ(all.used[1][value], part.kept, "value %d", value);
    CHECK_NEAR(30, part.raw, 0, "value %d", value);
    sum += part.kept;
  }
  CHECK_EQ(all.kept, sum, "the parts are the whole");
  close_fixture(&f);
}

TEST(a_rule_on_facts_alone_refuses_a_stencil) {
  struct fixture f;
  struct space_counts counts;
  open_fixture(&f, rules);
  CHECK(!space_refusal(&f.bindings), "three dimensions");
  f.bindings.variables[FACT_dims] = 2;
  CHECK(space_refusal(&f.bindings) == &f.template->rules[1], "two dimensions");
  space_walk(&f.bindings, NULL, NULL, NULL, NULL, &counts);
  CHECK_EQ(0, counts.kept, "kept");
  CHECK_NEAR(120, counts.removed[1], 0, "removed");
  close_fixture(&f);
}

static int changes_between(const struct configuration *left, const struct configuration *right) {
  int changes = 0;
  for (int i = 0; i < 4; i++) changes += left->choice[i] != right->choice[i];
  return changes;
}

/* The distance of a value from the wanted one, in steps of the template's order. Of two equally distant values the
 * earlier one is nearer. */
static int steps_away(int wanted, int value) {
  return value < wanted ? 2 * (wanted - value) - 1 : 2 * (value - wanted);
}

/* Whether `one` is nearer than `other`: by the number of changes, then by the first parameter in which they differ. */
static bool is_nearer(const struct configuration *from, const struct configuration *one,
                      const struct configuration *other) {
  int changes = changes_between(from, one), others = changes_between(from, other);
  if (changes != others) return changes < others;
  for (int i = 0; i < 4; i++) {
    int away = steps_away(from->choice[i], one->choice[i]), others_away = steps_away(from->choice[i], other->choice[i]);
    if (away != others_away) return away < others_away;
  }
  return false;
}

/* For each of the 120 configurations and each set of fixed parameters, compare with the result of trying all
 * configurations. */
TEST(the_nearest_configuration_changes_the_fewest_values) {
  struct fixture f;
  struct list list = {.limit = 1000};
  long unchanged = 0, mended = 0, broken = 0;
  open_fixture(&f, rules);
  space_walk(&f.bindings, NULL, NULL, list_configuration, &list, NULL);
  for (int i = 0; i < 120 * 16; i++) {
    int at = i / 16;
    const bool fixed[MAX_PARAMETERS] = {i & 1, i & 2, i & 4, i & 8};
    struct configuration from = {
        {(unsigned char)(at / 40), (unsigned char)(at / 10 % 4), (unsigned char)(at / 5 % 2), (unsigned char)(at % 5)}};
    struct configuration found = from, best = from;
    int least = 5;
    for (long k = 0; k < list.count; k++) {
      const struct configuration *other = &list.configurations[k];
      bool allowed = true;
      for (int p = 0; p < 4; p++) allowed = allowed && (!fixed[p] || other->choice[p] == from.choice[p]);
      if (!allowed || (least < 5 && !is_nearer(&from, other, &best))) continue;
      least = changes_between(&from, other);
      best = *other;
    }
    const struct rule *rule = space_nearest(&f.bindings, fixed, &found);
    CHECK_EQ(least == 5, rule != NULL, "configuration %d, fixed %d", at, i % 16);
    CHECK_EQ(0, changes_between(&best, &found), "configuration %d, fixed %d", at, i % 16);
    unchanged += least == 0;
    mended += least > 0 && least < 5;
    broken += least == 5;
  }
  CHECK(unchanged > 100 && mended > 100 && broken > 100, "%ld unchanged, %ld mended, %ld broken", unchanged, mended,
        broken);
  close_fixture(&f);
}

/* If several rules are broken, the named one is a rule that fixed values break, or the first. */
TEST(a_rule_that_fixed_values_break_is_named) {
  struct fixture f;
  struct configuration configuration = {{2, 3, 0, 2}}; /* breaks a*b <= 12, and c != 2 */
  const bool c_fixed[MAX_PARAMETERS] = {false, false, false, true};
  open_fixture(&f, rules);
  CHECK(space_nearest(&f.bindings, c_fixed, &configuration) == &f.template->rules[4], "c != 2");
  CHECK_EQ(2, configuration.choice[0], "unchanged");
  f.bindings.variables[FACT_dims] = 2;
  CHECK(space_nearest(&f.bindings, NULL, &configuration) == &f.template->rules[1], "a fact");
  close_fixture(&f);
}

/* Spaces with one part, with two parts whose parameters alternate, with parts of one parameter each; one with fixed
 * values; and an empty one. */
static const struct {
  const char *rules;
  bool fixed[MAX_PARAMETERS];
  struct configuration from;
  long size;
} spaces[] = {
    {rules, {false}, {{0}}, 56},
    {"{keep: 'c + a < 7', otherwise: x}, {keep: 'mode == flat || b > 1', otherwise: x}", {false}, {{0}}, 98},
    {"{keep: 'dims == 3', otherwise: x}, {keep: 'c != 2', otherwise: x}", {false}, {{0}}, 96},
    {rules, {true, false, true, false}, {{1, 0, 1, 0}}, 8},
    {"{keep: 'a*c > 12', otherwise: x}", {false}, {{0}}, 0},
};

static void list_space(struct fixture *f, size_t which, struct list *list) {
  *list = (struct list){.limit = 1000};
  open_fixture(f, spaces[which].rules);
  space_walk(&f->bindings, spaces[which].fixed, &spaces[which].from, list_configuration, list, NULL);
  CHECK_EQ(spaces[which].size, list->count, "space %zu", which);
}

static long draw_sample(struct fixture *f, size_t which, long wanted, uint64_t seed, struct configuration **sample) {
  long count;
  CHECK_OK(space_sample(&f->bindings, spaces[which].fixed, &spaces[which].from, wanted, seed, sample, &count));
  CHECK_EQ(count == 0, *sample == NULL, "space %zu: %ld drawn", which, count);
  return count;
}

TEST(a_sample_is_in_order_without_repeats_and_repeatable) {
  static const long wanted[] = {-1, 0, 1, 5, 20, 55, 1000, LONG_MAX};
  for (size_t i = 0; i < COUNT(wanted) * COUNT(spaces); i++) {
    struct fixture f;
    struct list list;
    struct configuration *first, *again;
    long most = wanted[i / COUNT(spaces)] > 0 ? wanted[i / COUNT(spaces)] : 0, at = 0;
    list_space(&f, i % COUNT(spaces), &list);
    long count = draw_sample(&f, i % COUNT(spaces), wanted[i / COUNT(spaces)], 42, &first);
    CHECK_EQ(count, draw_sample(&f, i % COUNT(spaces), wanted[i / COUNT(spaces)], 42, &again), "row %zu: the same seed",
             i);
    CHECK_EQ(most < list.count ? most : list.count, count, "row %zu", i);
    for (long k = 0; k < count; k++, at++) {
      CHECK(memcmp(&first[k], &again[k], sizeof *first) == 0, "row %zu: the same seed", i);
      while (at < list.count && memcmp(&first[k], &list.configurations[at], sizeof *first) != 0) at++;
      CHECK(at < list.count, "row %zu: number %ld is in the space, behind the one before", i, k);
    }
    free(first);
    free(again);
    close_fixture(&f);
  }
}

/* A choice is a byte: a list of the most values has its last one in samples drawn at random and in a walk. */
TEST(the_last_of_the_most_values_is_drawn) {
  static const long wanted[] = {2000, 60000}; /* of 65280: at random, and in a walk */
  char values[1024], lists[4096];
  double facts[FACT_COUNT];
  struct template *template;
  struct bindings bindings;
  struct configuration last = {{MAX_VALUES - 1, MAX_VALUES - 1}};
  size_t length = 0;
  for (int v = 1; v <= MAX_VALUES; v++)
    length += (size_t)snprintf(values + length, sizeof values - length, "%s%d", v > 1 ? "," : "", v);
  snprintf(lists, sizeof lists, "a: {values: [%s], default: 1, about: x}, b: {values: [%s], default: 2, about: x}",
           values, values);
  device_facts(facts);
  CHECK_OK(template_of_rules(lists, "{keep: a != b, otherwise: x}", &template));
  CHECK_OK(bindings_make(template, facts, &bindings));
  for (size_t i = 0; i < COUNT(wanted); i++) {
    long count, drawn[2] = {0};
    struct configuration *sample;
    CHECK_OK(space_sample(&bindings, NULL, NULL, wanted[i], 1, &sample, &count));
    CHECK_EQ(wanted[i], count, "row %zu", i);
    for (long k = 0; k < count; k++) {
      for (int p = 0; p < 2; p++) drawn[p] += sample[k].choice[p] == MAX_VALUES - 1;
    }
    CHECK(drawn[0] > 0 && drawn[1] > 0, "row %zu: %ld times in a, %ld times in b", i, drawn[0], drawn[1]);
    free(sample);
  }
  CHECK(space_nearest(&bindings, NULL, &last) == NULL, "one of the two changes");
  CHECK(last.choice[0] + last.choice[1] == 2 * MAX_VALUES - 3, "by one value: %d %d", last.choice[0], last.choice[1]);
  bindings_free(&bindings);
  template_free(template);
}

/* In 4000 samples each configuration is drawn equally often, within five standard deviations. Samples of 2 are drawn at
 * random, those of 20 in a walk. */
TEST(every_configuration_is_as_likely_as_any_other) {
  enum { SEEDS = 4000 };
  static const long wanted[] = {2, 6, 20};
  for (size_t row = 0; row < COUNT(spaces) * COUNT(wanted); row++) {
    const size_t i = row % COUNT(spaces);
    const long most = wanted[row / COUNT(spaces)];
    struct fixture f;
    struct list list;
    long drawn[256] = {0};
    list_space(&f, i, &list);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      struct configuration *sample;
      for (long k = 0, at = 0, count = draw_sample(&f, i, most, seed, &sample); k < count; k++, at++) {
        while (memcmp(&sample[k], &list.configurations[at], 4) != 0) at++;
        drawn[at]++;
      }
      free(sample);
    }
    double share = fmin(1, (double)most / (double)list.count), want = SEEDS * share,
           deviation = sqrt(SEEDS * share * (1 - share));
    for (long k = 0; k < list.count; k++)
      CHECK_NEAR(want, drawn[k], 5 * deviation, "space %zu, %ld drawn, configuration %ld", i, most, k);
    close_fixture(&f);
  }
}

/* 96 configurations have 4560 pairs. There are enough draws of two to expect each pair 20 times. Their chi-square has
 * 4559 degrees of freedom, and must be within five standard deviations of that number. */
TEST(every_pair_is_as_likely_as_any_other) {
  enum { SPACE = 2, SIZE = 96, PAIRS = SIZE * (SIZE - 1) / 2, EACH = 20, DRAWS = PAIRS * EACH };
  struct fixture f;
  struct list list;
  long drawn[SIZE][SIZE] = {{0}};
  double chi_square = 0;
  list_space(&f, SPACE, &list);
  for (uint64_t seed = 0; seed < DRAWS; seed++) {
    struct configuration *sample;
    long at[2], next = 0;
    CHECK_EQ(2, draw_sample(&f, SPACE, 2, seed, &sample), "seed %d", (int)seed);
    for (int k = 0; k < 2; k++) {
      while (memcmp(&sample[k], &list.configurations[next], 4) != 0) next++;
      at[k] = next++;
    }
    drawn[at[0]][at[1]]++;
    free(sample);
  }
  for (int i = 0; i < SIZE; i++) {
    for (int k = i + 1; k < SIZE; k++) chi_square += (double)((drawn[i][k] - EACH) * (drawn[i][k] - EACH)) / EACH;
  }
  CHECK_NEAR(PAIRS - 1, chi_square, 5 * sqrt(2.0 * (PAIRS - 1)), "of pairs");
  close_fixture(&f);
}

static bool count_visit(void *context, const struct configuration *configuration) {
  (void)configuration;
  ++*(long *)context;
  return true;
}

/* Each combination is tried up to its last parameter, since no rule removes it before. */
TEST(a_walk_visits_a_million_combinations) {
  static const char list[] = "values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], default: 1, about: x";
  char many[1024] = "";
  struct template *template;
  struct bindings bindings;
  struct space_counts counts;
  double facts[FACT_COUNT];
  long visited = 0;
  device_facts(facts);
  for (int i = 0; i < 6; i++) {
    size_t length = strlen(many);
    snprintf(many + length, sizeof many - length, "%sp%d: {%s}", i ? ", " : "", i, list);
  }
  CHECK_OK(template_of_rules(
      many,
      "{keep: 'p0*p1 <= 100', otherwise: x}, {keep: 'p1*p2*p3 + p0 <= 2000', otherwise: x}, "
      "{keep: 'p5 % 2 == 0 || p4*p3 >= 0', otherwise: x}, {keep: 'p0*p5 + p2*p4 <= 300', otherwise: x}",
      &template));
  CHECK_OK(bindings_make(template, facts, &bindings));
  space_walk(&bindings, NULL, NULL, count_visit, &visited, &counts);
  CHECK_EQ(1000000, visited, "kept");
  bindings_free(&bindings);
  template_free(template);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_walk_finds_what_trying_all_finds),
      cmocka_unit_test(a_walk_can_be_ended),
      cmocka_unit_test(fixed_parameters_keep_their_values),
      cmocka_unit_test(a_rule_on_facts_alone_refuses_a_stencil),
      cmocka_unit_test(the_nearest_configuration_changes_the_fewest_values),
      cmocka_unit_test(a_rule_that_fixed_values_break_is_named),
      cmocka_unit_test(a_sample_is_in_order_without_repeats_and_repeatable),
      cmocka_unit_test(every_configuration_is_as_likely_as_any_other),
      cmocka_unit_test(every_pair_is_as_likely_as_any_other),
      cmocka_unit_test(the_last_of_the_most_values_is_drawn),
      cmocka_unit_test(a_walk_visits_a_million_combinations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
