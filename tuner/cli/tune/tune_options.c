/* tune_options.c: options to numbers. */
#include "tuner/cli/tune/tune_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/cli/options/option_value.h"

enum { DEFAULT_BUDGET_S = 60 };

static halotune_status option_share(const struct invocation *invocation, const char *name, double *out) {
  const char *value = option_value(invocation, name);
  char *end;
  *out = 0;
  if (!value) return HALOTUNE_OK;
  *out = strtod(value, &end);
  if (end > value && !*end && *out > 0 && *out < 10) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--%s takes a share of the roof such as 0.97, not '%s'", name, value);
}

/* The position of an option's word in a list; -1 where it was not given. */
static halotune_status option_word(const struct invocation *invocation, const char *name, const char *const *words,
                                   int count, int *out) {
  const char *value = option_value(invocation, name);
  *out = -1;
  for (int i = 0; i < count && value; i++) {
    if (strcmp(value, words[i]) == 0) *out = i;
  }
  if (!value || *out >= 0) return HALOTUNE_OK;
  struct text text = {0};
  for (int i = 0; i < count; i++) text_printf(&text, "%s%s", i ? ", " : "", words[i]);
  halotune_status status = fail(HALOTUNE_ARGUMENT, "--%s is one of %s, not '%s'", name, text_string(&text), value);
  text_free(&text);
  return status;
}

static halotune_status option_strategy(const struct invocation *invocation, const struct strategy **out) {
  const char *name = option_value(invocation, "strategy");
  *out = strategy_find(name ? name : "local");
  if (*out) return HALOTUNE_OK;
  struct text text = {0};
  for (int i = 0; strategies[i]; i++) text_printf(&text, "%s%s", i ? ", " : "", strategies[i]->name);
  halotune_status status = fail(HALOTUNE_ARGUMENT, "--strategy is one of %s, not '%s'", text_string(&text), name);
  text_free(&text);
  return status;
}

halotune_status tune_options_read(const struct invocation *invocation, double start_ms, struct tune_options *out) {
  double deadline_s;
  long seed;
  int cache;
  halotune_status status;
  *out = (struct tune_options){.launch = -1};
  if ((status = option_strategy(invocation, &out->strategy)) != HALOTUNE_OK) return status;
  if ((status = option_seconds(invocation, "budget", DEFAULT_BUDGET_S, &out->budget_s)) != HALOTUNE_OK) return status;
  if ((status = option_seconds(invocation, "deadline", INFINITY, &deadline_s)) != HALOTUNE_OK) return status;
  if ((status = option_whole(invocation, "max-variants", 1, 1L << 40, 0, &out->max_variants)) != HALOTUNE_OK)
    return status;
  if ((status = option_whole(invocation, "seed", 0, 1L << 62, 1, &seed)) != HALOTUNE_OK) return status;
  if ((status = option_share(invocation, "good-enough", &out->good_enough)) != HALOTUNE_OK) return status;
  status = option_word(invocation, "launch", launch_mode_names, LAUNCH_MODE_COUNT, &out->launch);
  if (status == HALOTUNE_OK) status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, &cache);
  if (status != HALOTUNE_OK) return status;
  out->cache = cache < 0 ? CACHE_STEADY : (enum cache_mode)cache;
  out->deadline_ms = start_ms + deadline_s * 1e3;
  out->seed = (uint64_t)seed;
  out->fresh = option_value(invocation, "fresh") != NULL;
  out->no_hints = option_value(invocation, "no-hints") != NULL;
  out->rematch = option_value(invocation, "rematch") != NULL;
  if (out->fresh && out->rematch) return fail(HALOTUNE_ARGUMENT, "--fresh forgets what --rematch is about");
  return HALOTUNE_OK;
}

halotune_status tune_set_open(const struct invocation *invocation, const struct templates *templates,
                              struct tune_set *out) {
  bool has_set = option_value(invocation, "set") != NULL;
  size_t room = (size_t)templates->count + 1;
  *out = (struct tune_set){.list = calloc(room, sizeof *out->list)};
  if (has_set) out->fixed = calloc(room, sizeof *out->fixed);
  halotune_status status = out->list && (out->fixed || !has_set) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK && has_set) status = option_set_known(invocation, templates);
  for (int i = 0; i < templates->count && status == HALOTUNE_OK; i++) {
    struct fixed_parameters fixed;
    if (has_set) status = option_set(invocation, templates->list[i], fixed.is_fixed, &fixed.values);
    if (status == HALOTUNE_ARGUMENT && (templates->count > 1)) {
      status = HALOTUNE_OK; /* another template may have it */
      continue;
    }
    if (status != HALOTUNE_OK) break;
    if (has_set) out->fixed[out->count] = fixed;
    out->list[out->count++] = templates->list[i];
  }
  if (status == HALOTUNE_OK && out->count == 0)
    status = fail(HALOTUNE_ARGUMENT, "no template has all that --set names, with these values");
  if (status != HALOTUNE_OK) tune_set_free(out);
  return status;
}

void tune_set_free(struct tune_set *set) {
  free(set->list);
  free(set->fixed);
  *set = (struct tune_set){.count = 0};
}
