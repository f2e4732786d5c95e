/* date.c: the calendar, without the C library's: its functions depend on the time zone, or are not everywhere. */
#include "base/text/date.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Read two digits and the character behind them. The loops of a general form would take most of the time of opening
 * a database. Returns the number; below 0 for anything else. */
static int two_digits(const char *text, char behind) {
  const unsigned tens = (unsigned)(text[0] - '0'), ones = tens <= 9 ? (unsigned)(text[1] - '0') : tens;
  return ones <= 9 && (behind == '\0' || text[2] == behind) ? (int)(10 * tens + ones) : -1;
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
  static const double day_s = 86400, hour_s = 3600, minute_s = 60;
  static const int days_of[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int century = two_digits(date, '\0'), of_century = century < 0 ? -1 : two_digits(date + 2, '-');
  const int month = of_century < 0 ? -1 : two_digits(date + 5, '-'), day = month < 0 ? -1 : two_digits(date + 8, '\0');
  if (day < 0) return NAN;
  const int year = 100 * century + of_century;
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month < 1 || month > 12 || day < 1 || day > days_of[month - 1] || (month == 2 && day > 28 + is_leap)) return NAN;
  const long y = year - (month <= 2), months = (month + 9) % 12;
  const long days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * months + 2) / 5 + day - 1 - 719468;
  const char *time = date + sizeof "0000-00-00" - 1;
  if (*time == '\0') return (double)days * day_s;
  const int hour = *time == 'T' ? two_digits(time + 1, ':') : -1, minute = hour < 0 ? -1 : two_digits(time + 4, ':');
  const int second = minute < 0 ? -1 : two_digits(time + 7, '\0');
  if (second < 0 || !is_end(time + sizeof "T00:00:00" - 1)) return NAN;
  if (hour > 23 || minute > 59 || second > 60) return NAN;
  return (double)days * day_s + hour * hour_s + minute * minute_s + second;
}
