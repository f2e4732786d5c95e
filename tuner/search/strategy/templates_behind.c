/* templates_behind.c: keeps best times as logarithms. */
#include "tuner/search/strategy/templates_behind.h"

#include <math.h>
#include <stdlib.h>

static const double near_below = 0.336; /* the logarithm of 1.4 */
static const double behind_above = 2.302, behind_for_sure = 6.9;

halotune_status template_times_make(int templates, struct template_times *out) {
  const size_t room = (size_t)templates + 1;
  *out = (struct template_times){.count = templates,
                                 .best_log_time = INFINITY,
                                 .best_of = malloc(room * sizeof *out->best_of),
                                 .timed_of = calloc(room, sizeof *out->timed_of)};
  if (!out->best_of || !out->timed_of) return fail_memory();
  for (int i = 0; i < templates; i++) out->best_of[i] = INFINITY;
  return HALOTUNE_OK;
}

void template_times_free(struct template_times *times) {
  free(times->best_of);
  free(times->timed_of);
  *times = (struct template_times){.count = 0};
}

bool template_times_add(struct template_times *times, int template, double log_time) {
  const bool is_best = log_time < times->best_log_time;
  times->timed_of[template]++;
  times->best_of[template] = fmin(times->best_of[template], log_time);
  times->best_log_time = fmin(times->best_log_time, log_time);
  return is_best;
}

bool template_is_far_behind(const struct template_times *times, int template) {
  const double timed = (double)times->timed_of[template];
  if (timed == 0) return false;
  const double behind = times->best_of[template] - times->best_log_time;
  return behind > behind_above && timed * behind > behind_for_sure;
}

bool template_is_near(const struct template_times *times, int template) {
  return times->best_of[template] < times->best_log_time + near_below;
}
