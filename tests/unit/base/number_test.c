/* number_test.c: numbers are read from texts and written to them. */
#include "base/numbers/number.h"
#include "tests/unit/locales.h"

static const struct {
  double number;
  const char *text;
} numbers[] = {
    {0, "0"},
    {0.1, "0.1"},
    {1, "1"},
    {-2, "-2"},
    {0, "0"},
    {-0.0, "-0"},
    {10, "10"},
    {999999999999999, "999999999999999"},
    {1e15, "1e+15"},
    {1e-8, "1e-08"},
    {1e300, "1e+300"},
    {0.1 + 0.2, "0.30000000000000004"},
    {1.0 / 3, "0.3333333333333333"},
    {123456789012345678.0, "1.2345678901234568e+17"},
    {0x1p-1074, "4.94065645841247e-324"},
};

static const struct {
  float number;
  const char *text;
} floats[] = {
    {0.1f, "0.1"}, {0.3241f, "0.3241"}, {16777217.0f, "16777216"}, {1.17549435e-38f, "1.17549435e-38"}, {3.0f, "3"},
};

static void check_numbers(const char *locale) {
  char text[NUMBER_TEXT_BYTES];
  const char *end;
  for (size_t i = 0; i < COUNT(numbers); i++) {
    number_write(numbers[i].number, text);
    CHECK_TEXT(numbers[i].text, text, "row %zu in %s", i, locale);
    CHECK(number_read(text, &end) == numbers[i].number, "row %zu in %s reads back", i, locale);
    CHECK_EQ('\0', *end, "row %zu in %s is read to its end", i, locale);
  }
  for (size_t i = 0; i < COUNT(floats); i++) {
    float_write(floats[i].number, text);
    CHECK((float)number_read(text, NULL) == floats[i].number, "float %zu in %s: %s", i, locale, text);
    if (strlen(floats[i].text) <= strlen("0.3241")) CHECK_TEXT(floats[i].text, text, "float %zu in %s", i, locale);
  }
}

TEST(numbers_have_the_fewest_digits_that_read_back) { check_numbers("the locale C"); }

TEST(numbers_have_a_point_in_every_locale) {
  comma_locale_begin();
  check_numbers("a locale with commas");
  comma_locale_end();
}

TEST(a_number_ends_where_another_character_stands) {
  static const struct {
    const char *text;
    double number;
    size_t length;
  } rows[] = {
      {"0.5,\"b\":1}", 0.5, 3}, {"1e3x", 1000, 3}, {" 2", 2, 2}, {"planes", NAN, 0}, {"", NAN, 0}, {"-", NAN, 0},
      {",5", NAN, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const char *end = NULL;
    double number = number_read(rows[i].text, &end);
    CHECK(number == rows[i].number || (isnan(number) && isnan(rows[i].number)), "row %zu: %g", i, number);
    CHECK_EQ(rows[i].length, end - rows[i].text, "row %zu", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_have_the_fewest_digits_that_read_back),
      cmocka_unit_test(numbers_have_a_point_in_every_locale),
      cmocka_unit_test(a_number_ends_where_another_character_stands),
  };
  return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
