/* explain_counters.c: reads a table of the profiler. Its rows are: names of columns, units, one row for each launch. */
#include "tuner/cli/explain/explain_counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/memory/array.h"
#include "base/numbers/number.h"
#include "base/text/text.h"

enum { MOST_BYTES = 1 << 26, FIELD_BYTES = 256 };

/* The names and units of columns are read for each launch. All of that takes some seconds at most: enough for 10,000
 * launches with all counters. */
static const long most_head_bytes = 1L << 30;

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

/* Convert a number to nanoseconds, bytes or percent by the unit above it. With any other unit it stays as it is. */
static double in_base_unit(double number, const char *unit) {
  static const struct {
    const char *name;
    double factor;
  } units[] = {{"us", 1e3}, {"usecond", 1e3}, {"ms", 1e6},          {"msecond", 1e6},
               {"s", 1e9},  {"second", 1e9},  {"Kbyte/block", 1e3}, {"Mbyte/block", 1e6}};
  for (size_t i = 0; i < COUNT(units); i++) {
    if (strcmp(unit, units[i].name) == 0) return number * units[i].factor;
  }
  return number;
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

/* Add "blocks (4, 32, 64), not (4, 32, 128)" where they differ. */
static void add_extents(const char *what, const char *found, const int64_t wanted[3], struct text *differences) {
  char text[FIELD_BYTES];
  snprintf(text, sizeof text, "(%lld, %lld, %lld)", (long long)wanted[0], (long long)wanted[1], (long long)wanted[2]);
  if (strcmp(found, text) != 0)
    text_printf(differences, "%s%s %s, not %s", differences->length ? "; " : "", what, found, text);
}

static void add_whole(const char *what, double found, int64_t wanted, double tolerance, struct text *differences) {
  if (!(fabs(found - (double)wanted) <= tolerance * (double)wanted))
    text_printf(differences, "%s%.10g %s, not %lld", differences->length ? "; " : "", found, what, (long long)wanted);
}

/* Add how a column's value differs from the winner's. */
static void compare_column(const char *name, const char *value, const char *unit, const struct counted_launch *winner,
                           struct text *differences) {
  const double number = in_base_unit(field_number(value), unit);
  if (strcmp(name, "Block Size") == 0) add_extents("threads", value, winner->block, differences);
  if (strcmp(name, "Grid Size") == 0) add_extents("blocks", value, winner->blocks, differences);
  if (strcmp(name, "launch__registers_per_thread") == 0)
    add_whole("registers", number, winner->registers, 0, differences);
  /* the value is rounded if it is in kilobytes */
  if (strcmp(name, "launch__shared_mem_per_block_dynamic") == 0)
    add_whole("bytes of shared memory", number, winner->shared_bytes, 0.01, differences);
  if (strcmp(name, "CC") == 0 && lround(number * 10) != winner->capability)
    text_printf(differences, "%scompute capability %s, not %lld.%lld", differences->length ? "; " : "", value,
                (long long)winner->capability / 10, (long long)winner->capability % 10);
  if (strcmp(name, "device__attribute_display_name") == 0 && strcmp(value, winner->gpu) != 0)
    text_printf(differences, "%sGPU %s, not %s", differences->length ? "; " : "", value, winner->gpu);
}

/* One launch of the table. */
struct launch_row {
  char kernel[FIELD_BYTES];
  struct text differences; /* differences from the winner's launch, without the kernel's name; "" for none */
  bool has_extents, has_counter;
};

static void read_launch(const char *names, const char *units, const char *row, const struct counted_launch *winner,
                        struct launch_row *launch, struct counters *out) {
  char name[FIELD_BYTES], unit[FIELD_BYTES], value[FIELD_BYTES];
  *launch = (struct launch_row){0};
  *out = (struct counters){.time_us = NAN, .waiting = -INFINITY};
  for (int i = 0; i < COUNTERS; i++) out->percent[i] = NAN;
  while (next_field(&names, name) && next_field(&units, unit) && next_field(&row, value)) {
    const double number = field_number(value);
    if (strcmp(name, "Kernel Name") == 0) /* without its parameters */
      snprintf(launch->kernel, sizeof launch->kernel, "%.*s", (int)strcspn(value, "("), value);
    if (strcmp(name, "Grid Size") == 0) launch->has_extents = true;
    if (strcmp(name, "gpu__time_duration.sum") == 0) out->time_us = in_base_unit(number, unit) * 1e-3;
    compare_column(name, value, unit, winner, &launch->differences);
    for (int i = 0; i < COUNTERS; i++) {
      if (strcmp(name, metrics[i]) != 0 || !isfinite(number)) continue;
      out->percent[i] = number;
      launch->has_counter = true;
    }
    take_stall(name, number, out);
  }
}

/* Set the detail: how the launch that is most like the winner's differs from it. */
static halotune_status fail_launch(const char *path, const struct counted_launch *winner,
                                   const struct launch_row *row) {
  static const char remedy[] = "profile the winner as docs/output.md tells";
  if (!*row->kernel) return fail(HALOTUNE_NOT_FOUND, "%s: there is no launch in this table: %s", path, remedy);
  if (strcmp(row->kernel, winner->kernel) != 0)
    return fail(HALOTUNE_NOT_FOUND, "%s: there is no launch of the winner's kernel %s, but one of %s: %s", path,
                winner->kernel, row->kernel, remedy);
  if (!row->has_extents)
    return fail(HALOTUNE_NOT_FOUND, "%s: there is no column \"Grid Size\", so that nothing tells which variant ran: %s",
                path, remedy);
  if (row->differences.length)
    return fail(HALOTUNE_NOT_FOUND, "%s: this launch of %s is not the winner's: %s: %s", path, winner->kernel,
                text_string(&row->differences), remedy);
  return fail(HALOTUNE_NOT_FOUND, "%s: the launch of %s has no counters that explain knows (docs/output.md)", path,
              winner->kernel);
}

/* Find the winner's launch among the rows from `line` on. */
static halotune_status find_launch(const char *path, const char *names, const char *units, const char *line,
                                   const struct counted_launch *winner, struct counters *out) {
  struct launch_row closest = {0}, row;
  long left = most_head_bytes;
  bool found = false;
  for (; line && !found; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    if (*line != '"') continue;
    left -= (long)(strcspn(names, "\n") + strcspn(units, "\n"));
    if (left < 0) {
      text_free(&closest.differences);
      return fail(HALOTUNE_PARSE, "%s: this table is too large: profile fewer launches, or fewer counters", path);
    }
    read_launch(names, units, line, winner, &row, out);
    const bool is_kernel = strcmp(row.kernel, winner->kernel) == 0;
    found = is_kernel && row.has_extents && row.has_counter && text_ok(&row.differences) && row.differences.length == 0;
    const bool is_closer = !*closest.kernel || (is_kernel && strcmp(closest.kernel, winner->kernel) != 0);
    text_free(is_closer ? &closest.differences : &row.differences);
    if (is_closer) closest = row;
  }
  const halotune_status status = found ? HALOTUNE_OK : fail_launch(path, winner, &closest);
  text_free(&closest.differences);
  return status;
}

halotune_status counters_read(const char *path, const struct counted_launch *winner, struct counters *out) {
  char *bytes = NULL;
  size_t length;
  const char *head[2] = {NULL, NULL}; /* the names of the columns, and their units */
  int rows = 0;
  halotune_status status = file_read(path, MOST_BYTES, &bytes, &length);
  if (status != HALOTUNE_OK) return status;
  const char *line = bytes;
  for (; line && rows < 2; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    if (*line == '"') head[rows++] = line; /* the other lines are messages of the profiler, not part of the table */
  }
  if (rows < 2)
    status = fail(HALOTUNE_PARSE, "%s: there is no table of counters: write it with ncu --csv --page raw", path);
  else status = find_launch(path, head[0], head[1], line, winner, out);
  free(bytes);
  return status;
}
