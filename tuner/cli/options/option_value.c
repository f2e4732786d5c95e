/* option_value.c: reads the values of options. */
#include "tuner/cli/options/option_value.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/numbers/number.h"
#include "base/text/date.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

const char *option_value(const struct invocation *invocation, const char *name) {
  const struct option_row *options = invocation->command->options;
  for (int i = 0; options[i].name; i++) {
    if (strcmp(options[i].name, name) == 0) return invocation->values[i];
  }
  return NULL;
}

bool option_given(const struct invocation *invocation, const char *name) {
  return option_value(invocation, name) != NULL;
}

void option_put(struct invocation *invocation, const char *name, const char *value) {
  const struct option_row *options = invocation->command->options;
  for (int i = 0; options[i].name; i++) {
    if (strcmp(options[i].name, name) == 0) invocation->values[i] = value;
  }
}

halotune_status option_whole(const struct invocation *invocation, const char *name, long low, long high, long otherwise,
                             long *out) {
  const char *value = option_value(invocation, name);
  char *end;
  *out = otherwise;
  if (!value) return HALOTUNE_OK;
  errno = 0;
  long number = strtol(value, &end, 10);
  if (end == value || *end || errno || number < low || number > high) {
    return fail(HALOTUNE_ARGUMENT, "--%s takes a whole number from %ld to %ld, not '%s'", name, low, high, value);
  }
  *out = number;
  return HALOTUNE_OK;
}

bool seconds_read(const char *text, double *out) {
  static const struct {
    const char *text;
    double seconds;
  } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  const char *end;
  const double number = number_read(text, &end);
  for (size_t i = 0; end > text && i < COUNT(units); i++) {
    if (strcmp(end, units[i].text) != 0 || !(number > 0) || !isfinite(number)) continue;
    *out = number * units[i].seconds;
    return true;
  }
  return false;
}

halotune_status option_seconds(const struct invocation *invocation, const char *name, double otherwise, double *out) {
  const char *value = option_value(invocation, name);
  *out = otherwise;
  if (!value || seconds_read(value, out)) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--%s takes a time such as 90s, 5m or 1h, not '%s'", name, value);
}

halotune_status option_milliseconds(const struct invocation *invocation, const char *name, int otherwise_ms, int *out) {
  double seconds;
  halotune_status status = option_seconds(invocation, name, otherwise_ms * 1e-3, &seconds);
  if (status == HALOTUNE_OK) *out = seconds * 1e3 < INT_MAX ? (int)ceil(seconds * 1e3) : INT_MAX;
  return status;
}

halotune_status word_find(const char *what, const char *word, const char *const *words, int count, int *out) {
  struct nearest nearest = nearest_to(word, strlen(word));
  struct text known = {0};
  for (int i = 0; i < count; i++) {
    if (strcmp(word, words[i]) == 0) {
      *out = i;
      text_free(&known);
      return HALOTUNE_OK;
    }
    nearest_try(&nearest, words[i]);
    text_printf(&known, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", words[i]);
  }
  halotune_status status =
      fail(HALOTUNE_ARGUMENT, "%s takes %s, not '%s'%s", what, text_string(&known), word, nearest.question);
  text_free(&known);
  return status;
}

halotune_status option_date(const struct invocation *invocation, const char *name, const char **out) {
  const char *value = option_value(invocation, name);
  *out = value;
  if (!value || !isnan(date_seconds(value))) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--%s takes a date such as 2026-11-21, in UTC, not '%s'", name, value);
}

halotune_status option_tolerance(const struct invocation *invocation, double otherwise, double *out) {
  const char *value = option_value(invocation, "tolerance"), *end;
  *out = otherwise;
  if (!value) return HALOTUNE_OK;
  *out = number_read(value, &end);
  if (*end == '%') *out /= 100, end++;
  if (*end == '\0' && *out >= 0 && *out <= 1) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--tolerance takes a share from 0 to 1, such as 0.02 or 2%%, not '%s'", value);
}

halotune_status option_word(const struct invocation *invocation, const char *name, const char *const *words, int count,
                            int otherwise, int *out) {
  char what[NEAREST_NAME_BYTES];
  const char *word = option_value(invocation, name);
  *out = otherwise;
  snprintf(what, sizeof what, "--%s", name);
  return word ? word_find(what, word, words, count, out) : HALOTUNE_OK;
}

halotune_status option_dtype(const struct invocation *invocation, const struct stencil *stencil, enum dtype *out) {
  int first = 0, named;
  while (first < DTYPE_COUNT - 1 && !stencil->dtypes[first]) first++;
  halotune_status status = option_word(invocation, "dtype", dtype_names, DTYPE_COUNT, first, &named);
  if (status != HALOTUNE_OK) return status;
  *out = (enum dtype)named;
  if (stencil->dtypes[named]) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--dtype %s: %s has no such element type", dtype_names[named], stencil->name);
}

halotune_status option_dtypes(const struct invocation *invocation, bool otherwise, bool named[DTYPE_COUNT]) {
  enum { ALL = DTYPE_COUNT };
  const char *words[DTYPE_COUNT + 1];
  int word;
  for (int i = 0; i < DTYPE_COUNT; i++) words[i] = dtype_names[i];
  words[ALL] = "all";
  halotune_status status = option_word(invocation, "dtype", words, DTYPE_COUNT + 1, otherwise ? ALL : -1, &word);
  for (int i = 0; i < DTYPE_COUNT; i++) named[i] = word == ALL || word == i;
  return status;
}

const char *list_next(const char **rest, size_t *length) {
  const char *item = *rest;
  if (!item || !*item) return NULL;
  *length = strcspn(item, ",");
  *rest = item + *length + (item[*length] == ',');
  return item;
}

int grid_read(const char *text, struct grid *out) {
  *out = (struct grid){{1, 1, 1}};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const size_t digits = strspn(text, "0123456789");
    errno = 0;
    out->n[axis] = strtol(text, NULL, 10);
    if (digits == 0 || errno != 0 || out->n[axis] < 1 || out->n[axis] > GRID_MOST_AXIS_POINTS) return 0;
    text += digits;
    if (*text == '\0') return axis + 1;
    if (*text != ',' && *text != 'x') return 0;
    text++;
  }
  return 0;
}

halotune_status option_grid(const struct invocation *invocation, const struct stencil *stencil, struct grid *out) {
  static const char *const examples[MAX_DIMS] = {"4096", "512,512", "64,64,64"};
  const char *text = option_value(invocation, "grid");
  *out = stencil->grids[0];
  if (!text) return HALOTUNE_OK;
  if (grid_read(text, out) != stencil->dims) {
    return fail(HALOTUNE_ARGUMENT, "--grid takes %d whole number%s from 1 to %ld for %s, such as %s, not '%s'",
                stencil->dims, PLURAL(stencil->dims), GRID_MOST_AXIS_POINTS, stencil->name, examples[stencil->dims - 1],
                text);
  }
  halotune_status status = stencil_check_grid(stencil, out, NULL);
  if (status != HALOTUNE_ARGUMENT) return status;
  char detail[FAIL_TEXT_BYTES / 2];
  snprintf(detail, sizeof detail, "%s", fail_text());
  return fail(HALOTUNE_ARGUMENT, "--grid %s: %s", text, detail);
}
