/* date_test.c: texts that are dates, and texts that are not. */
#include "base/text/date.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/memory/array.h"
#include "tests/unit/unit.h"

TEST(a_date_is_a_number_of_seconds_or_none) {
  static const struct {
    const char *text;
    double seconds; /* below 0: the text is no date */
  } rows[] = {
      {"1970-01-01", 0},
      {"1970-01-01T00:00:00Z", 0},
      {"2026-11-21", 1795219200},
      {"2026-11-21T12:38:50Z", 1795264730},
      {"2026-11-21T12:38:50.123Z", 1795264730},
      {"2000-02-29", 951782400},
      {"2024-12-31T23:59:60Z", 1735689600},
      {"2100-02-29", -1},
      {"2023-02-29", -1},
      {"2026-04-31", -1},
      {"2026-13-01", -1},
      {"2026-00-10", -1},
      {"2026-10-00", -1},
      {"2026-11-21T", -1},
      {"2026-11-21T12:38:50", -1},
      {"2026-11-21T12:38:50.Z", -1},
      {"2026-11-21T24:00:00Z", -1},
      {"2026-11-21T12:60:00Z", -1},
      {"2026-11-21T12:38:50Z ", -1},
      {"2026-1-21", -1},
      {"later", -1},
      {"", -1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const double got = date_seconds(rows[i].text);
    if (rows[i].seconds < 0) CHECK(isnan(got), "'%s': %g", rows[i].text, got);
    else CHECK_NEAR(rows[i].seconds, got, 0.5, "'%s'", rows[i].text);
  }
}

TEST(a_later_date_has_milliseconds) {
  static const struct {
    const char *date;
    double seconds;
    const char *later; /* NULL: there is none */
  } rows[] = {
      {"1970-01-01", 0, "1970-01-01T00:00:00.000Z"},
      {"2026-11-21T12:38:50.123Z", 0, "2026-11-21T12:38:50.123Z"},
      {"2026-11-21T12:38:50.1Z", 0.0234, "2026-11-21T12:38:50.123Z"},
      {"2026-11-21T12:38:50.1239Z", 0, "2026-11-21T12:38:50.123Z"},
      {"2026-11-21T12:38:50Z", 9.8766, "2026-11-21T12:38:59.877Z"},
      {"2024-02-28T23:59:59.500Z", 0.5, "2024-02-29T00:00:00.000Z"},
      {"2023-02-28T23:59:59.500Z", 0.5, "2023-03-01T00:00:00.000Z"},
      {"2000-02-29", 366 * 86400.0, "2001-03-01T00:00:00.000Z"},
      {"1999-12-31T23:59:59Z", 1, "2000-01-01T00:00:00.000Z"},
      {"1970-01-01", -0.001, "1969-12-31T23:59:59.999Z"},
      {"0001-01-01", 0, "0001-01-01T00:00:00.000Z"},
      {"9999-12-31T23:59:59.999Z", 0, "9999-12-31T23:59:59.999Z"},
      {"9999-12-31T23:59:59.999Z", 0.001, NULL},
      {"2026-11-21", 1e300, NULL},
      {"2026-11-21", NAN, NULL},
      {"2026-11-21T12:38:50", 0, NULL},
      {"later", 0, NULL},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char later[DATE_TEXT_BYTES] = "as it was";
    CHECK_EQ(rows[i].later != NULL, date_later(rows[i].date, rows[i].seconds, later), "row %zu", i);
    CHECK_TEXT(rows[i].later ? rows[i].later : "as it was", later, "row %zu", i);
  }
}

/* Days of 400 years, in order: each is one day after the one before. */
TEST(each_day_follows_the_one_before) {
  char day[DATE_TEXT_BYTES] = "1900-01-01T00:00:00.000Z";
  for (int i = 0; i < 146097; i++) {
    char next[DATE_TEXT_BYTES];
    CHECK(date_later(day, 86400, next), "%s", day);
    CHECK_NEAR(date_seconds(day) + 86400, date_seconds(next), 0, "%s", day);
    CHECK(strcmp(next, day) > 0, "%s after %s", next, day);
    memcpy(day, next, sizeof day);
  }
  CHECK_TEXT("2300-01-01T00:00:00.000Z", day, "400 years");
}

TEST(the_present_date_is_that_of_the_clock) {
  char now[DATE_TEXT_BYTES];
  const time_t before_s = time(NULL);
  date_now(now);
  CHECK_EQ(DATE_TEXT_BYTES - 1, strlen(now), "%s", now);
  CHECK(date_seconds(now) >= (double)before_s - 1, "%s", now); /* time() may be a tick ahead */
  CHECK(date_seconds(now) <= (double)time(NULL) + 1, "%s", now);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_date_is_a_number_of_seconds_or_none), cmocka_unit_test(a_later_date_has_milliseconds),
      cmocka_unit_test(each_day_follows_the_one_before), cmocka_unit_test(the_present_date_is_that_of_the_clock)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
