/* number.c: strtod and printf in the "C" locale. A program that uses us may have set a locale with a comma for a point,
 * which reads "0.5" as 0. */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t c_locale; /* 0 where the system has no memory for one */

static void c_locale_make(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double number_read(const char *text, const char **end) {
  char *behind = NULL;
  pthread_once(&once, c_locale_make);
  double number = c_locale ? strtod_l(text, &behind, c_locale) : NAN;
  const bool is_number = behind && behind != text;
  if (end) *end = is_number ? behind : text;
  return is_number ? number : NAN;
}

/* %g with so many digits, and a point where the locale has something else. */
static void digits_write(double number, int digits, char text[NUMBER_TEXT_BYTES]) {
  const char *separator = localeconv()->decimal_point;
  const size_t length = strlen(separator);
  snprintf(text, NUMBER_TEXT_BYTES, "%.*g", digits, number);
  char *at = length > 0 ? strstr(text, separator) : NULL;
  if (!at) return;
  *at = '.';
  memmove(at + 1, at + length, strlen(at + length) + 1);
}

void number_write(double number, char text[NUMBER_TEXT_BYTES]) {
  enum { FEWEST = 15, MOST = 17 }; /* 17 digits always read back the same */
  for (int digits = FEWEST; digits <= MOST; digits++) {
    digits_write(number, digits, text);
    if (number_read(text, NULL) == number) return;
  }
}

void float_write(float number, char text[NUMBER_TEXT_BYTES]) {
  enum { FEWEST = 6, MOST = 9 };
  for (int digits = FEWEST; digits <= MOST; digits++) {
    digits_write((double)number, digits, text);
    if ((float)number_read(text, NULL) == number) return;
  }
}
