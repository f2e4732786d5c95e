/* date.h: dates as texts, in UTC: "2026-11-21" or "2026-11-21T12:00:00Z", also with fractions of a second. */
#ifndef BASE_DATE_H
#define BASE_DATE_H

#include <stdbool.h>

/* The bytes of "2026-11-21T12:00:00.000Z". */
enum { DATE_TEXT_BYTES = 25 };

/* Seconds since 1970; NaN for a text that has another form, or names no such month, day or time. Fractions of a second
 * do not count. */
double date_seconds(const char *date);

/* Write the date so many seconds after another one, with milliseconds.
 * Returns false, and writes nothing, if `date` is none, or if the new year has not four digits. */
bool date_later(const char *date, double seconds, char out[DATE_TEXT_BYTES]);

/* Write the present date, with milliseconds, so that two runs differ. */
void date_now(char out[DATE_TEXT_BYTES]);

#endif
