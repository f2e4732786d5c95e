/* option_value_test.c: which values each reader of options accepts and refuses. */
#include "tests/unit/locales.h"
#include "tuner/cli/options/option_value.h"

static const struct option_row options[] = {
    {"dtype", "TYPE", ""},  {"grid", "NX,NY,NZ", ""}, {"budget", "TIME", ""},
    {"launch", "MODE", ""}, {"date", "DATE", ""},     {0},
};
static const struct command command = {.name = "test", .options = options};

/* An invocation with one option. */
static struct invocation given(const char *name, const char *value) {
  struct invocation invocation = {.command = &command};
  for (int i = 0; options[i].name; i++) {
    if (strcmp(options[i].name, name) == 0) invocation.values[i] = value;
  }
  return invocation;
}

TEST(a_grid_has_commas_or_crosses) {
  static const struct {
    const char *text;
    int numbers;
    long n[MAX_DIMS];
  } rows[] = {
      {"512,256,64", 3, {512, 256, 64}},
      {"512x256x64", 3, {512, 256, 64}},
      {"512x256", 2, {512, 256, 1}},
      {"4096", 1, {4096, 1, 1}},
      {"", 0, {0}},
      {"8,8,8,", 0, {0}},
      {"8,8,8,8", 0, {0}},
      {"8,,8", 0, {0}},
      {"8;8", 0, {0}},
      {" 8", 0, {0}},
      {"+8", 0, {0}},
      {"0,8", 0, {0}},
      {"8x-8", 0, {0}},
      {"2147483649", 0, {0}},
      {"99999999999999999999", 0, {0}},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct grid grid;
    CHECK_EQ(rows[i].numbers, grid_read(rows[i].text, &grid), "'%s'", rows[i].text);
    for (int axis = 0; axis < MAX_DIMS && rows[i].numbers > 0; axis++) {
      CHECK_EQ(rows[i].n[axis], grid.n[axis], "'%s', axis %d", rows[i].text, axis);
    }
  }
}

TEST(a_date_has_the_form_of_the_database) {
  static const struct {
    const char *text;
    halotune_status want;
  } rows[] = {
      {"2026-11-21", HALOTUNE_OK},
      {"2026-11-21T12:00:00Z", HALOTUNE_OK},
      {"2026-11-21T12:00:00.5Z", HALOTUNE_OK},
      {"2026-11-31", HALOTUNE_ARGUMENT},
      {"2026-11", HALOTUNE_ARGUMENT},
      {"21.11.2026", HALOTUNE_ARGUMENT},
      {"yesterday", HALOTUNE_ARGUMENT},
      {"", HALOTUNE_ARGUMENT},
  };
  const char *date;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct invocation invocation = given("date", rows[i].text);
    CHECK_EQ(rows[i].want, option_date(&invocation, "date", &date), "'%s'", rows[i].text);
  }
  struct invocation none = given("date", NULL);
  CHECK_EQ(HALOTUNE_OK, option_date(&none, "date", &date), "no date");
  CHECK(!date, "no date");
}

TEST(a_word_is_found_or_the_nearest_one_named) {
  static const char *const words[] = {"local", "random", "exhaustive"};
  int at = -1;
  CHECK_EQ(HALOTUNE_OK, word_find("--strategy", "random", words, COUNT(words), &at), "random");
  CHECK_EQ(1, at, "random");
  CHECK_EQ(HALOTUNE_ARGUMENT, word_find("--strategy", "randon", words, COUNT(words), &at), "randon");
  CHECK_TEXT("--strategy takes local, random or exhaustive, not 'randon'; did you mean 'random'?", fail_text(),
             "randon");
  CHECK_EQ(HALOTUNE_ARGUMENT, word_find("--backend", "cuda", (const char *const[]){"host"}, 1, &at), "cuda");
  CHECK_TEXT("--backend takes host, not 'cuda'", fail_text(), "a list of one word");
}

TEST(a_list_has_items_between_commas) {
  static const struct {
    const char *list, *want;
  } rows[] = {{"a", "a|"}, {"a=1,b=2", "a=1|b=2|"}, {"a,,b", "a||b|"}, {"a,", "a|"}, {",a", "|a|"}, {"", ""},
              {NULL, ""}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char got[32] = "";
    size_t length;
    for (const char *rest = rows[i].list, *item; (item = list_next(&rest, &length));) {
      snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s|", (int)length, item);
    }
    CHECK_TEXT(rows[i].want, got, "row %zu", i);
  }
}

TEST(an_option_that_is_absent_has_its_default) {
  const struct invocation none = {.command = &command};
  static const char *const words[] = {"stream", "graph"};
  int at = 0;
  double seconds;
  CHECK_EQ(HALOTUNE_OK, option_word(&none, "launch", words, COUNT(words), -1, &at), "no --launch");
  CHECK_EQ(-1, at, "no --launch");
  CHECK_EQ(HALOTUNE_OK, option_seconds(&none, "budget", 60, &seconds), "no --budget");
  CHECK_NEAR(60, seconds, 0, "no --budget");
  CHECK(!option_given(&none, "grid"), "no --grid");
  CHECK(!option_given(&none, "fresh"), "an option that the command does not have");
}

TEST(element_types_are_one_or_all_and_no_other_word) {
  static const struct {
    const char *text;
    bool otherwise;
    halotune_status want;
    bool f32, f64;
  } rows[] = {
      {"f32", true, HALOTUNE_OK, true, false},     {"f64", false, HALOTUNE_OK, false, true},
      {"all", false, HALOTUNE_OK, true, true},     {NULL, true, HALOTUNE_OK, true, true},
      {NULL, false, HALOTUNE_OK, false, false},    {"f16", true, HALOTUNE_ARGUMENT, false, false},
      {"", true, HALOTUNE_ARGUMENT, false, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct invocation invocation = given("dtype", rows[i].text);
    bool named[DTYPE_COUNT] = {false};
    CHECK_EQ(rows[i].want, option_dtypes(&invocation, rows[i].otherwise, named), "row %zu", i);
    if (rows[i].want != HALOTUNE_OK) continue;
    CHECK_EQ(rows[i].f32, named[DTYPE_F32], "row %zu", i);
    CHECK_EQ(rows[i].f64, named[DTYPE_F64], "row %zu", i);
  }
}

TEST(times_have_units) {
  static const struct {
    const char *text;
    halotune_status want;
    double seconds;
  } rows[] = {
      {"90", HALOTUNE_OK, 90},       {"90s", HALOTUNE_OK, 90},     {"1.5m", HALOTUNE_OK, 90},
      {"2h", HALOTUNE_OK, 7200},     {"", HALOTUNE_ARGUMENT, 0},   {"0s", HALOTUNE_ARGUMENT, 0},
      {"-5", HALOTUNE_ARGUMENT, 0},  {"5d", HALOTUNE_ARGUMENT, 0}, {"inf", HALOTUNE_ARGUMENT, 0},
      {"nan", HALOTUNE_ARGUMENT, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct invocation invocation = given("budget", rows[i].text);
    double seconds = 0;
    CHECK_EQ(rows[i].want, option_seconds(&invocation, "budget", 60, &seconds), "'%s'", rows[i].text);
    if (rows[i].want == HALOTUNE_OK) CHECK_NEAR(rows[i].seconds, seconds, 0, "'%s'", rows[i].text);
  }
}

/* "1.5m" must not depend on LC_NUMERIC. */
TEST(a_time_has_a_point_in_every_locale) {
  const struct invocation invocation = given("budget", "1.5m");
  double seconds = 0;
  comma_locale_begin();
  halotune_status status = option_seconds(&invocation, "budget", 60, &seconds);
  comma_locale_end();
  CHECK_OK(status);
  CHECK_NEAR(90, seconds, 0, "1.5m");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_grid_has_commas_or_crosses),
      cmocka_unit_test(a_date_has_the_form_of_the_database),
      cmocka_unit_test(a_word_is_found_or_the_nearest_one_named),
      cmocka_unit_test(a_list_has_items_between_commas),
      cmocka_unit_test(an_option_that_is_absent_has_its_default),
      cmocka_unit_test(element_types_are_one_or_all_and_no_other_word),
      cmocka_unit_test(times_have_units),
      cmocka_unit_test(a_time_has_a_point_in_every_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
