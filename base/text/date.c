/* date.c: the calendar, without the C library's: its functions depend on the time zone, or are not everywhere. */
#include "base/text/date.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* The number that two digits stand for; below 0 for anything else. */
static int two_digits(const char *text) {
  const unsigned tens = (unsigned)(text[0] - '0'), ones = (unsigned)(text[1] - '0');
  return tens <= 9 && ones <= 9 ? (int)(10 * tens + ones) : -1;
}

/* Whether a text begins with this form, in which 0 stands for a digit. */
static bool has_form(const char *text, const char *form) {
  for (; *form; text++, form++) {
    if (*form == '0' ? *text < '0' || *text > '9' : *text != *form) return false;
  }
  return true;
}

static bool is_end(const char *text) {
  if (*text == '.') {
    text++;
    if (strspn(text, "0123456789") == 0) return false;
    text += strspn(text, "0123456789");
  }
  return strcmp(text, "Z") == 0;
}

/* Years begin in March, so that a leap day is the last day of its year. */
double date_seconds(const char *date) {
  static const char day_form[] = "0000-00-00", time_form[] = "T00:00:00";
  static const double day_s = 86400, hour_s = 3600, minute_s = 60;
  static const int days_of[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (!has_form(date, day_form)) return NAN;
  const int year = 100 * two_digits(date) + two_digits(date + 2), month = two_digits(date + 5);
  const int day = two_digits(date + 8);
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month < 1 || month > 12 || day < 1 || day > days_of[month - 1] || (month == 2 && day > 28 + is_leap)) return NAN;
  const long y = year - (month <= 2), months = (month + 9) % 12;
  const long days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * months + 2) / 5 + day - 1 - 719468;
  const char *time = date + sizeof day_form - 1;
  if (*time == '\0') return (double)days * day_s;
  if (!has_form(time, time_form) || !is_end(time + sizeof time_form - 1)) return NAN;
  const int hour = two_digits(time + 1), minute = two_digits(time + 4), second = two_digits(time + 7);
  if (hour > 23 || minute > 59 || second > 60) return NAN;
  return (double)days * day_s + hour * hour_s + minute * minute_s + second;
}
