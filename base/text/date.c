/* date.c: the calendar, without the C library's: its functions depend on the time zone, or are not everywhere. */
#include "base/text/date.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Read two digits and the character behind them. The loops of a general form would take most of the time of opening
 * a database. Returns the number; below 0 for anything else. */
static int two_digits(const char *text, char behind) {
  const unsigned tens = (unsigned)(text[0] - '0'), ones = tens <= 9 ? (unsigned)(text[1] - '0') : tens;
  return ones <= 9 && (behind == '\0' || text[2] == behind) ? (int)(10 * tens + ones) : -1;
}

static bool is_end(const char *text) {
  if (*text == '.') {
    const char *digits = ++text;
    while (*text >= '0' && *text <= '9') text++;
    if (text == digits) return false;
  }
  return text[0] == 'Z' && text[1] == '\0';
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

/* Whole milliseconds of the second in which a date lies. */
static int milliseconds_of(const char *date) {
  const char *at = strchr(date, '.');
  int milliseconds = 0;
  for (int weight = 100; at && weight > 0 && at[1] >= '0' && at[1] <= '9'; weight /= 10, at++)
    milliseconds += weight * (at[1] - '0');
  return milliseconds;
}

static void put_digits(char *at, long number, int count) {
  for (int i = count - 1; i >= 0; i--, number /= 10) at[i] = (char)('0' + number % 10);
}

/* Write a number of days since 1970 as year, month and day. Years begin in March, and 400 of them have as many days as
 * any other 400. */
static bool put_day(char *at, long days) {
  enum { DAYS_OF_400 = 146097, DAYS_OF_100 = 36524, DAYS_OF_4 = 1461, TO_MARCH_0 = 719468 };
  const long since = days + TO_MARCH_0, era = since / DAYS_OF_400, day = since % DAYS_OF_400;
  const long year = (day - day / (DAYS_OF_4 - 1) + day / DAYS_OF_100 - day / (DAYS_OF_400 - 1)) / 365;
  const long of_year = day - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  const long written = 400 * era + year + (month >= 10);
  if (since < 0 || written > 9999) return false;
  put_digits(at, written, 4);
  put_digits(at + 5, month < 10 ? month + 3 : month - 9, 2);
  put_digits(at + 8, of_year - (153 * month + 2) / 5 + 1, 2);
  return true;
}

bool date_later(const char *date, double seconds, char out[DATE_TEXT_BYTES]) {
  static const double most_s = 1e12; /* more than the years that have four digits */
  static const long day_ms = 86400000;
  char text[DATE_TEXT_BYTES] = "0000-00-00T00:00:00.000Z";
  const double start_s = date_seconds(date);
  if (isnan(start_s) || !(fabs(seconds) < most_s)) return false;
  const long long ms = llround(1000 * start_s + milliseconds_of(date) + round(1000 * seconds));
  const long of_day = (long)((ms % day_ms + day_ms) % day_ms);
  if (!put_day(text, (long)((ms - of_day) / day_ms))) return false;
  put_digits(text + 11, of_day / 3600000, 2);
  put_digits(text + 14, of_day / 60000 % 60, 2);
  put_digits(text + 17, of_day / 1000 % 60, 2);
  put_digits(text + 20, of_day % 1000, 3);
  memcpy(out, text, sizeof text);
  return true;
}

void date_now(char out[DATE_TEXT_BYTES]) {
  enum { MS_OF_S = 1000, NS_OF_MS = 1000000 };
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const long ms = now.tv_nsec / NS_OF_MS;
  /* It fails from the year 10000 on. */
  if (!date_later("1970-01-01", (double)now.tv_sec + (double)ms / MS_OF_S, out)) out[0] = '\0';
}
