/* explain_counters.c: reads a table of the profiler. Its rows are: names of columns, units, one row for each launch. */
#include "tuner/cli/explain/explain_counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"

enum { MOST_BYTES = 1 << 26, FIELD_BYTES = 256 };

#define AS_NAME(member, what, metric) what,
const char *const counter_names[COUNTERS] = {COUNTER_UNITS(AS_NAME)};
#undef AS_NAME
#define AS_METRIC(member, what, metric) metric,
static const char *const metrics[COUNTERS] = {COUNTER_UNITS(AS_METRIC)};
#undef AS_METRIC

/* Read the next field of a row, "1,234.5" with its quotes, cut where it is longer than `out`. `*row` is NULL behind the
 * last one. */
static bool next_field(const char **row, char out[FIELD_BYTES]) {
  const char *at = *row;
  size_t length = 0;
  if (!at || *at != '"') return false;
  for (at++; *at && *at != '\n' && (*at != '"' || at[1] == '"'); at++) {
    if (*at == '"') at++; /* two quotes are one */
    if (length + 1 < FIELD_BYTES) out[length++] = *at;
  }
  out[length] = '\0';
  if (*at == '"') at++;
  *row = *at == ',' ? at + 1 : NULL;
  return true;
}

/* A number without the commas between its digits; NAN for another text. */
static double field_number(const char *field) {
  char digits[FIELD_BYTES];
  size_t length = 0;
  const char *end;
  for (; *field; field++) {
    if (*field != ',') digits[length++] = *field;
  }
  digits[length] = '\0';
  const double number = number_read(digits, &end);
  return end > digits && !*end ? number : NAN;
}

static void take_stall(const char *name, double value, struct counters *out) {
  static const char before[] = "smsp__average_warps_issue_stalled_", behind[] = "_per_issue_active";
  const char *reason = strncmp(name, before, sizeof before - 1) == 0 ? name + sizeof before - 1 : NULL;
  const char *end = reason ? strstr(reason, behind) : NULL;
  if (!end || !isfinite(value) || value <= out->waiting || strncmp(reason, "selected", 8) == 0) return;
  out->waiting = value;
  snprintf(out->reason, sizeof out->reason, "%.*s", (int)(end - reason), reason);
  for (char *letter = out->reason; *letter; letter++) {
    if (*letter == '_') *letter = ' ';
  }
}

/* Read a launch if it is one of the stencil. Returns whether it is, and has a known unit. */
static bool take_launch(const char *names, const char *row, const char *stencil, struct counters *out) {
  char name[FIELD_BYTES], value[FIELD_BYTES];
  bool is_of_stencil = false, is_known = false;
  const size_t length = strlen(stencil);
  *out = (struct counters){.time_us = NAN, .waiting = -INFINITY};
  for (int i = 0; i < COUNTERS; i++) out->percent[i] = NAN;
  while (next_field(&names, name) && next_field(&row, value)) {
    const double number = field_number(value);
    if (strcmp(name, "Kernel Name") == 0) is_of_stencil = strncmp(value, stencil, length) == 0 && value[length] == '_';
    if (strcmp(name, "gpu__time_duration.sum") == 0) out->time_us = number * 1e-3;
    for (int i = 0; i < COUNTERS; i++) {
      if (strcmp(name, metrics[i]) != 0 || !isfinite(number)) continue;
      out->percent[i] = number;
      is_known = true;
    }
    take_stall(name, number, out);
  }
  return is_of_stencil && is_known;
}

halotune_status counters_read(const char *path, const char *stencil, struct counters *out) {
  char *bytes = NULL;
  size_t length;
  const char *names = NULL;
  int rows = 0;
  halotune_status status = file_read(path, MOST_BYTES, &bytes, &length);
  if (status != HALOTUNE_OK) return status;
  bool found = false;
  for (const char *line = bytes; line && !found; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    if (*line != '"') continue; /* what the profiler says beside the table */
    if (rows++ == 0) names = line;
    else if (rows > 2) found = take_launch(names, line, stencil, out);
  }
  if (!names)
    status = fail(HALOTUNE_PARSE, "%s: there is no table of counters: write it with ncu --csv --page raw", path);
  else if (!found)
    status = fail(HALOTUNE_NOT_FOUND, "%s: there is no launch of %s with counters that explain knows (docs/output.md)",
                  path, stencil);
  free(bytes);
  return status;
}
