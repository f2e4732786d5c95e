/* option_value.c: a number and a unit. */
#include "tuner/cli/options/option_value.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

halotune_status option_seconds(const struct invocation *invocation, const char *name, double otherwise, double *out) {
  static const struct {
    const char *text;
    double seconds;
  } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  const char *value = option_value(invocation, name);
  char *end;
  *out = otherwise;
  if (!value) return HALOTUNE_OK;
  double number = strtod(value, &end);
  for (size_t i = 0; end > value && i < sizeof units / sizeof *units; i++) {
    if (strcmp(end, units[i].text) != 0 || !(number > 0) || !isfinite(number)) continue;
    *out = number * units[i].seconds;
    return HALOTUNE_OK;
  }
  return fail(HALOTUNE_ARGUMENT, "--%s takes a time such as 90s, 5m or 1h, not '%s'", name, value);
}

halotune_status option_milliseconds(const struct invocation *invocation, const char *name, int otherwise_ms, int *out) {
  double seconds;
  halotune_status status = option_seconds(invocation, name, otherwise_ms * 1e-3, &seconds);
  if (status == HALOTUNE_OK) *out = seconds * 1e3 < INT_MAX ? (int)ceil(seconds * 1e3) : INT_MAX;
  return status;
}
