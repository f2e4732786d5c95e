/* run_problem.c: reads the coefficients of a run, and says which buffer holds a result. */
#include "tuner/cli/run/run_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/nearest.h"

static int coefficient_find(const struct stencil *stencil, const char *name, size_t length) {
  for (int i = 0; i < stencil->coefficient_count; i++) {
    if (strlen(stencil->coefficients[i].name) == length && strncmp(stencil->coefficients[i].name, name, length) == 0)
      return i;
  }
  return -1;
}

static halotune_status fail_unknown(const struct stencil *stencil, const char *name, size_t length) {
  struct nearest nearest = nearest_to(name, length);
  if (stencil->coefficient_count == 0)
    return fail(HALOTUNE_ARGUMENT, "%s has no coefficients for --set", stencil->name);
  for (int i = 0; i < stencil->coefficient_count; i++) nearest_try(&nearest, stencil->coefficients[i].name);
  return fail(HALOTUNE_ARGUMENT, "%s has no coefficient '%.*s'%s", stencil->name, (int)length, name, nearest.question);
}

/* Read one NAME=VALUE. */
static halotune_status set_one(const struct stencil *stencil, const char *item, size_t length, double *given) {
  const char *equals = memchr(item, '=', length), *end;
  if (!equals) return fail(HALOTUNE_ARGUMENT, "--set takes NAME=VALUE,..., not '%.*s'", (int)length, item);
  const size_t name = (size_t)(equals - item);
  const int at = coefficient_find(stencil, item, name);
  if (at < 0) return fail_unknown(stencil, item, name);
  if (!isnan(given[at])) return fail(HALOTUNE_ARGUMENT, "--set gives '%.*s' twice", (int)name, item);
  given[at] = number_read(equals + 1, &end);
  if (end == item + length && end > equals + 1 && isfinite(given[at])) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--set %.*s: '%.*s' is not a number such as 0.25", (int)name, item,
              (int)(length - name - 1), equals + 1);
}

halotune_status run_coefficients(const struct invocation *invocation, struct run_problem *problem) {
  const struct stencil *stencil = problem->loaded.stencil;
  const size_t count = (size_t)stencil->coefficient_count + 1;
  const char *rest = option_value(invocation, "set"), *item;
  double *given = calloc(count, sizeof *given);
  size_t length;
  halotune_status status = given ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < stencil->coefficient_count && given; i++) given[i] = NAN;
  while (status == HALOTUNE_OK && (item = list_next(&rest, &length))) status = set_one(stencil, item, length, given);
  if (status == HALOTUNE_OK && !(problem->coefficients = calloc(count, sizeof *problem->coefficients)))
    status = fail_memory();
  if (status == HALOTUNE_OK) status = stencil_coefficients_with(stencil, &problem->grid, given, problem->coefficients);
  free(given);
  return status;
}

halotune_status run_check_stop(const struct run_problem *problem) {
  return *problem->stop ? fail(HALOTUNE_CANCELLED, "stopped") : HALOTUNE_OK;
}

struct input_layout run_input_layout(const struct run_problem *problem, int input) {
  const struct loaded *loaded = &problem->loaded;
  const struct domain domain = domain_dense(loaded->stencil, loaded->analysis, &problem->grid);
  return input_layout_of(loaded->stencil, input, problem->dtype, &domain);
}

int run_result_count(const struct stencil *stencil) { return stencil->output_count + stencil->input_count; }

const char *run_result_name(const struct stencil *stencil, int result) {
  const int input = result - stencil->output_count;
  return input < 0 ? stencil->outputs[result] : stencil->inputs[input];
}

int run_result_place(const struct stencil *stencil, const struct analysis *analysis, int result) {
  if (result >= stencil->output_count) return result - stencil->output_count;
  for (int i = 0; i < stencil->iterate_count && analysis->can_iterate; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    if (entry->from_output && entry->from == result) return entry->to;
  }
  return stencil->input_count + result;
}
