/* comma_locale.h: a locale that writes one half as "0,5", for tests of code that must not depend on the locale. */
#ifndef TESTS_UNIT_COMMA_LOCALE_H
#define TESTS_UNIT_COMMA_LOCALE_H

#include <locale.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

/* Make the locale with localedef and set it. Skip the test if this machine has no localedef or no charmaps. The test
 * must call comma_locale_end(). */
static inline void comma_locale_begin(void) {
  char folder[] = "/tmp/halotune-locale-XXXXXX", command[256];
  CHECK(mkdtemp(folder), "%s", folder);
  snprintf(
      command, sizeof command,
      "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\nEND LC_NUMERIC\\n' >source"
      " && localedef -c -i source ./comma >log 2>&1",
      folder);
  int made = system(command); /* 1 for warnings, because all other categories are missing */
  setenv("LOCPATH", folder, 1);
  const char *set = setlocale(LC_NUMERIC, "comma");
  unsetenv("LOCPATH");
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK_EQ(0, system(command), "%s", command);
  if (!set) {
    print_message("# no comma locale: localedef ended with %d\n", made);
    skip();
  }
  CHECK_TEXT(",", localeconv()->decimal_point, "the locale is in force");
}

static inline void comma_locale_end(void) { setlocale(LC_NUMERIC, "C"); }

#endif
