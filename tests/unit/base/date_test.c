/* date_test.c: texts that are dates, and texts that are not. */
#include "base/text/date.h"

#include <math.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_date_is_a_number_of_seconds_or_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
