/* limit.c: limits of waits, which an environment variable can change. */
#include "base/system/limit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/numbers/number.h"

/* Read the variable, if it is set and not empty. Returns false if its text is not a number of seconds. */
static bool seconds_read(const char *variable, double *seconds) {
  const double most_s = 1e9; /* 30 years */
  const char *text = getenv(variable), *end;
  if (!text || !*text) return true;
  const double given_s = number_read(text, &end);
  if (end == text || *end || !(given_s >= 0 && given_s <= most_s)) return false;
  *seconds = given_s;
  return true;
}

double limit_ms_named(const char *variable, double usual_s) {
  const double ms_per_s = 1e3;
  (void)seconds_read(variable, &usual_s);
  return ms_per_s * usual_s;
}

halotune_status limit_check_named(const char *variable) {
  double seconds;
  if (seconds_read(variable, &seconds)) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "$%s is '%s'; it must be a number of seconds, such as 600 or 0.5", variable,
              getenv(variable));
}
