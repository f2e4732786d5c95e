/* tune_options.c: turns options into numbers. */
#include "tuner/cli/tune/tune_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/numbers/number.h"
#include "tuner/cli/options/option_set.h"

enum { DEFAULT_BUDGET_S = 60 };

/* The values of --measure. */
enum { MEASURE_SHORT, MEASURE_FULL };
static const char *const measure_names[] = {"short", "full"};

static halotune_status option_share(const struct invocation *invocation, const char *name, double *out) {
  const char *value = option_value(invocation, name);
  const char *end;
  *out = 0;
  if (!value) return HALOTUNE_OK;
  *out = number_read(value, &end);
  if (end > value && !*end && *out > 0 && *out < 10) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--%s takes a share of the roof such as 0.97, not '%s'", name, value);
}

static halotune_status option_strategy(const struct invocation *invocation, const struct strategy **out) {
  enum { MOST_STRATEGIES = 16 };
  const char *names[MOST_STRATEGIES];
  const char *name = option_value(invocation, "strategy");
  int count = 0, chosen = 0;
  for (; count < MOST_STRATEGIES && strategies[count]; count++) names[count] = strategies[count]->name;
  halotune_status status = word_find("--strategy", name ? name : "model", names, count, &chosen);
  *out = strategies[chosen];
  return status;
}

/* Read --budget. With "none", time does not end a search; --max-variants, --good-enough or the end of the space
 * does. */
static halotune_status option_budget(const struct invocation *invocation, double *out_s) {
  const char *value = option_value(invocation, "budget");
  *out_s = INFINITY;
  if (value && strcmp(value, "none") == 0) return HALOTUNE_OK;
  return option_seconds(invocation, "budget", DEFAULT_BUDGET_S, out_s);
}

halotune_status tune_options_read(const struct invocation *invocation, double start_ms, struct tune_options *out) {
  double deadline_s;
  long seed, in_flight;
  int cache, objective, measure;
  halotune_status status;
  *out = (struct tune_options){.launch = -1};
  if ((status = option_strategy(invocation, &out->strategy)) != HALOTUNE_OK) return status;
  if ((status = option_budget(invocation, &out->budget_s)) != HALOTUNE_OK) return status;
  if ((status = option_seconds(invocation, "deadline", INFINITY, &deadline_s)) != HALOTUNE_OK) return status;
  if ((status = option_whole(invocation, "max-variants", 1, 1L << 40, 0, &out->max_variants)) != HALOTUNE_OK)
    return status;
  if ((status = option_whole(invocation, "in-flight", 1, TUNE_MOST_IN_FLIGHT, 0, &in_flight)) != HALOTUNE_OK)
    return status;
  if ((status = option_whole(invocation, "seed", 0, 1L << 62, 1, &seed)) != HALOTUNE_OK) return status;
  if ((status = option_share(invocation, "good-enough", &out->good_enough)) != HALOTUNE_OK) return status;
  status = option_word(invocation, "launch", launch_mode_names, LAUNCH_MODE_COUNT, -1, &out->launch);
  if (status == HALOTUNE_OK)
    status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, CACHE_STEADY, &cache);
  if (status == HALOTUNE_OK)
    status = option_word(invocation, "objective", objective_names, OBJECTIVE_COUNT, OBJECTIVE_TIME, &objective);
  if (status == HALOTUNE_OK)
    status = option_word(invocation, "measure", measure_names, COUNT(measure_names), MEASURE_SHORT, &measure);
  if (status != HALOTUNE_OK) return status;
  out->in_full = measure == MEASURE_FULL;
  out->objective = (enum objective)objective;
  out->cache = (enum cache_mode)cache;
  out->deadline_ms = start_ms + deadline_s * 1e3;
  out->in_flight = (int)in_flight;
  out->seed = (uint64_t)seed;
  out->fresh = option_given(invocation, "fresh");
  out->no_hints = option_given(invocation, "no-hints");
  out->rematch = option_given(invocation, "rematch");
  if (out->fresh && out->rematch)
    return fail(HALOTUNE_ARGUMENT,
                "--fresh and --rematch exclude each other: --rematch measures variants of earlier runs");
  return HALOTUNE_OK;
}

halotune_status tune_set_open(const struct invocation *invocation, const struct templates *templates,
                              struct tune_set *out) {
  bool has_set = option_given(invocation, "set");
  size_t room = (size_t)templates->count + 1;
  *out = (struct tune_set){.list = calloc(room, sizeof *out->list)};
  if (has_set) out->fixed = calloc(room, sizeof *out->fixed);
  halotune_status status = out->list && (out->fixed || !has_set) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK && has_set) status = option_set_known(invocation, templates);
  for (int i = 0; i < templates->count && status == HALOTUNE_OK; i++) {
    struct fixed_parameters fixed;
    if (has_set) status = option_set(invocation, templates->list[i], fixed.is_fixed, &fixed.values);
    if (status == HALOTUNE_ARGUMENT && (templates->count > 1)) {
      status = HALOTUNE_OK; /* another template may have the parameter */
      continue;
    }
    if (status != HALOTUNE_OK) break;
    if (has_set) out->fixed[out->count] = fixed;
    out->list[out->count++] = templates->list[i];
  }
  if (status == HALOTUNE_OK && out->count == 0)
    status = fail(HALOTUNE_ARGUMENT, "no template has all parameters of --set with these values");
  if (status != HALOTUNE_OK) tune_set_free(out);
  return status;
}

void tune_set_free(struct tune_set *set) {
  free(set->list);
  free(set->fixed);
  *set = (struct tune_set){.count = 0};
}
