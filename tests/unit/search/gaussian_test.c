/* gaussian_test.c: a Gaussian process goes through its points, is unsure where it has none, and finds out which axes
 * matter. Variants of two templates have coordinates on the axes that they share. */
#include "tuner/search/strategy/gaussian.h"

#include <math.h>

#include "tests/unit/search/search_space.h"
#include "tuner/search/strategy/coordinates.h"

static const bool plain_axes[3] = {false, false, true};

static struct gaussian *process_make(void) {
  struct gaussian *gaussian;
  CHECK_OK(gaussian_make(3, plain_axes, &gaussian));
  return gaussian;
}

static void predict(struct gaussian *gaussian, const double at[], double *mean, double *deviation) {
  double solved[GAUSSIAN_MOST_POINTS];
  struct gaussian_place place = {.at = at, .solved = solved, .generation = -1};
  gaussian_predict(gaussian, &place, mean, deviation);
}

/* A smooth function of the first axis and a step of the category; the second axis changes nothing. */
static double truth(const double at[]) { return sin(3 * at[0]) + (at[2] > 0 ? 0.5 : 0); }

static void point_of(uint64_t number, double at[3]) {
  at[0] = unit_random(1, number);
  at[1] = unit_random(2, number);
  at[2] = (double)(number % 2);
}

TEST(it_learns_a_function_and_knows_where_it_knows_nothing) {
  struct gaussian *gaussian = process_make();
  double mean, deviation, at[3], error = 0;
  for (uint64_t i = 0; i < 40; i++) {
    point_of(i, at);
    at[0] /= 2; /* nothing is known of the other half */
    CHECK(gaussian_add(gaussian, at, truth(at)), "point %d", (int)i);
  }
  CHECK(gaussian_fit(gaussian, 40, 40), "fitted");
  for (uint64_t i = 0; i < 40; i++) {
    point_of(100 + i, at);
    at[0] /= 2;
    predict(gaussian, at, &mean, &deviation);
    error = fmax(error, fabs(mean - truth(at)));
    CHECK(deviation < 0.05, "point %d: %g", (int)i, deviation);
  }
  CHECK(error < 0.02, "error %g", error);
  const double far[3] = {1, 0.5, 0};
  predict(gaussian, far, &mean, &deviation);
  CHECK(deviation > 0.05, "far away: %g", deviation);
  gaussian_free(gaussian);
}

/* A place that was asked before more points came gives what a new one gives. */
TEST(places_follow_points_and_values) {
  struct gaussian *gaussian = process_make();
  double solved[GAUSSIAN_MOST_POINTS], at[3], mean, deviation, new_mean, new_deviation;
  const double asked[3] = {0.3, 0.3, 1};
  struct gaussian_place place = {.at = asked, .solved = solved, .generation = -1};
  for (uint64_t i = 0; i < 30; i++) {
    point_of(i, at);
    CHECK(gaussian_add(gaussian, at, truth(at)), "point %d", (int)i);
    if (i == 10) gaussian_change(gaussian, 4, 2);
    if (i == 20) CHECK(gaussian_fit(gaussian, 20, 10), "fitted");
    gaussian_predict(gaussian, &place, &mean, &deviation);
    predict(gaussian, asked, &new_mean, &new_deviation);
    CHECK_NEAR(new_mean, mean, 1e-9, "mean with %d points", (int)i);
    CHECK_NEAR(new_deviation, deviation, 1e-9, "deviation with %d points", (int)i);
  }
  gaussian_clear(gaussian);
  CHECK_EQ(0, gaussian_count(gaussian), "cleared");
  gaussian_free(gaussian);
}

TEST(what_cannot_be_fitted_is_refused) {
  struct gaussian *gaussian = process_make();
  const double at[3] = {0.5, 0.5, 0}, nowhere[3] = {NAN, 0, 0};
  double other[3];
  CHECK(!gaussian_fit(gaussian, 10, 10), "no points");
  for (uint64_t i = 0; i < 5; i++) {
    point_of(i, other);
    CHECK(gaussian_add(gaussian, other, 1), "point %d", (int)i);
  }
  CHECK(!gaussian_fit(gaussian, 10, 10), "equal values");
  CHECK(!gaussian_add(gaussian, nowhere, 1), "no number");
  CHECK_EQ(5, gaussian_count(gaussian), "it was left out");
  for (int i = 5; i < GAUSSIAN_MOST_POINTS; i++) CHECK(gaussian_add(gaussian, at, i), "the same place again: %d", i);
  CHECK(!gaussian_add(gaussian, at, 1), "full");
  gaussian_free(gaussian);
}

/* Points at one place give a matrix that the noise alone keeps from being singular. Values without end, a variance that
 * is no number and coordinates without end give none that can be factored. */
TEST(a_singular_matrix_is_refused_or_has_enough_noise) {
  static const struct {
    const char *what;
    double at, even, odd;
    bool is_added, is_fitted;
  } rows[] = {{"one place, different values", 0.5, 1, 2, true, true},
              {"one place, one value", 0.5, 1, 1, true, false},
              {"a time of zero, whose logarithm has no end", 0.5, -INFINITY, 1, true, false},
              {"values that are no numbers", 0.5, NAN, 1, true, false},
              {"a place without end", INFINITY, 1, 2, false, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct gaussian *gaussian = process_make();
    const double at[3] = {rows[i].at, rows[i].at, 0};
    double mean, deviation, other[3];
    for (int j = 0; j < 20; j++) {
      const bool is_added = gaussian_add(gaussian, at, j % 2 ? rows[i].odd : rows[i].even);
      CHECK_EQ(rows[i].is_added || j == 0, is_added, "%s: point %d", rows[i].what, j);
    }
    CHECK_EQ(rows[i].is_fitted, gaussian_fit(gaussian, 20, 20), "%s", rows[i].what);
    if (rows[i].is_fitted) {
      predict(gaussian, at, &mean, &deviation);
      CHECK_NEAR(1.5, mean, 0.01, "%s", rows[i].what);
      CHECK(isfinite(deviation), "%s: %g", rows[i].what, deviation);
    }
    /* It can be used again. */
    gaussian_clear(gaussian);
    for (uint64_t j = 0; j < 20; j++) {
      point_of(j, other);
      CHECK(gaussian_add(gaussian, other, truth(other)), "%s: new point %d", rows[i].what, (int)j);
    }
    CHECK(gaussian_fit(gaussian, 20, 20), "%s: a new process", rows[i].what);
    gaussian_free(gaussian);
  }
}

TEST(variants_of_two_templates_share_axes) {
  struct space_case c;
  struct coordinates coordinates;
  double first[GAUSSIAN_MOST_AXES], second[GAUSSIAN_MOST_AXES];
  space_open(&c);
  CHECK_OK(coordinates_make(&c.space, &coordinates));
  struct proposal proposal = {.template_index = 0, .configuration = configuration_default(c.templates[0])};
  coordinates_write(&coordinates, &c.space, &proposal, first);
  proposal = (struct proposal){.template_index = 1, .configuration = configuration_default(c.templates[1])};
  coordinates_write(&coordinates, &c.space, &proposal, second);
  /* bx is 4 of 1 to 32 in both: the second of five doublings. */
  CHECK_NEAR(0.4, first[0], 1e-12, "bx of the first");
  CHECK_NEAR(0.4, second[0], 1e-12, "bx of the second");
  /* by, bz, px, py, mode; load, unroll; six of numbers are categories, too; the template. */
  CHECK_EQ(8 + 6 + 1, coordinates.axes, "axes");
  CHECK(coordinates.is_category[5] && !coordinates.is_category[0], "a word is a category, a number is none");
  CHECK_NEAR(0.5, second[2], 1e-12, "bz, which the second template lacks");
  CHECK(first[coordinates.axes - 1] != second[coordinates.axes - 1], "the template");
  coordinates_free(&coordinates);
  space_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_learns_a_function_and_knows_where_it_knows_nothing),
      cmocka_unit_test(places_follow_points_and_values),
      cmocka_unit_test(what_cannot_be_fitted_is_refused),
      cmocka_unit_test(a_singular_matrix_is_refused_or_has_enough_noise),
      cmocka_unit_test(variants_of_two_templates_share_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
