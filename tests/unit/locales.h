/* locales.h: locales with a decimal comma, and with other capitals, for tests of code that must not depend on them. */
#ifndef TESTS_UNIT_LOCALES_H
#define TESTS_UNIT_LOCALES_H

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

/* Make a locale with a command in a folder of its own, which ends with the name of the locale, and set it for a
 * category. Skip the test if this machine has no localedef or no charmaps. */
static inline void made_locale_begin(int category, const char *make, const char *name) {
  char folder[] = "/tmp/halotune-locale-XXXXXX", command[256];
  CHECK(mkdtemp(folder), "%s", folder);
  snprintf(command, sizeof command, "cd %s && %s ./%s >log 2>&1", folder, make, name);
  int made = system(command); /* 1 for warnings, because all other categories are missing */
  setenv("LOCPATH", folder, 1);
  const char *set = setlocale(category, name);
  unsetenv("LOCPATH");
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK_EQ(0, system(command), "%s", command);
  if (set) return;
  print_message("# no %s locale: localedef ended with %d\n", name, made);
  skip();
}

/* Set a locale with a decimal comma. The test must call comma_locale_end(). */
static inline void comma_locale_begin(void) {
  made_locale_begin(LC_NUMERIC,
                    "printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\nEND "
                    "LC_NUMERIC\\n' >source && localedef -c -i source",
                    "comma");
  CHECK_TEXT(",", localeconv()->decimal_point, "the locale is in force");
}

static inline void comma_locale_end(void) { setlocale(LC_NUMERIC, "C"); }

/* Set a locale in which each byte is a character: the capital of i is not I, and the second byte of a multiplication
 * sign in UTF-8 is a control character. The test must call turkish_locale_end(). */
static inline void turkish_locale_begin(void) {
  made_locale_begin(LC_CTYPE, "localedef -c -f ISO-8859-9 -i tr_TR", "bytes");
  CHECK_EQ(0xDD, toupper('i'), "the locale is in force");
}

static inline void turkish_locale_end(void) { setlocale(LC_CTYPE, "C"); }

#endif
