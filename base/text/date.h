/* date.h: dates as texts, in UTC: "2026-11-21" or "2026-11-21T12:00:00Z", also with fractions of a second. */
#ifndef BASE_DATE_H
#define BASE_DATE_H

/* Seconds since 1970; NaN for a text that has another form, or names no such month, day or time. Fractions of a second
 * do not count. */
double date_seconds(const char *date);

#endif
