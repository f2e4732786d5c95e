/* limit.c: limits of waits, which an environment variable can change. */
#include "base/limit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/number.h"

double limit_ms_named(const char *variable, double usual_s) {
  const double ms_per_s = 1e3;
  const char *text = getenv(variable), *end = NULL;
  const double seconds = text ? number_read(text, &end) : usual_s;
  const bool is_number = end && end != text && *end == '\0' && seconds >= 0;
  return ms_per_s * (is_number ? seconds : usual_s);
}
