/* number.c: strtod and printf in the "C" locale. A program that uses the library may have set a locale with a decimal
 * comma, which reads "0.5" as 0. */
#include "base/numbers/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t c_locale; /* 0 if there was no memory for it */

static void c_locale_make(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double number_read(const char *text, const char **end) {
  char *behind = NULL;
  pthread_once(&once, c_locale_make);
  double number = c_locale ? strtod_l(text, &behind, c_locale) : NAN;
  const bool is_number = behind && behind != text;
  if (end) *end = is_number ? behind : text;
  return is_number ? number : NAN;
}

/* Write %g with this many digits, and a point in place of the locale's decimal separator. */
static void digits_write(double number, int digits, char text[NUMBER_TEXT_BYTES]) {
  const char *separator = localeconv()->decimal_point;
  const size_t length = strlen(separator);
  snprintf(text, NUMBER_TEXT_BYTES, "%.*g", digits, number);
  char *at = length > 0 ? strstr(text, separator) : NULL;
  if (!at) return;
  *at = '.';
  memmove(at + 1, at + length, strlen(at + length) + 1);
}

/* Write a whole number of at most 15 digits like %.15g. Most numbers are such. Returns false for others. */
static bool whole_write(double number, char text[NUMBER_TEXT_BYTES]) {
  const double most = 999999999999999;
  if (!(number >= 0 && number <= most) || signbit(number) || number != floor(number)) return false;
  char digits[16];
  size_t count = 0;
  long long left = (long long)number;
  do {
    digits[count++] = (char)('0' + left % 10);
    left /= 10;
  } while (left > 0);
  for (size_t i = 0; i < count; i++) text[i] = digits[count - 1 - i];
  text[count] = '\0';
  return true;
}

void number_write(double number, char text[NUMBER_TEXT_BYTES]) {
  enum { FEWEST = 15, MOST = 17 }; /* 17 digits always read back as the same double */
  if (whole_write(number, text)) return;
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
