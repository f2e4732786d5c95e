/* templates_behind.h: the best time of each template, and which templates are far behind the best of all. */
#ifndef SEARCH_STRATEGY_TEMPLATES_BEHIND_H
#define SEARCH_STRATEGY_TEMPLATES_BEHIND_H

#include <stdbool.h>

#include "base/fail.h"

/* Start with template_times_make, end with template_times_free. */
struct template_times {
  int count;
  double best_log_time, *best_of; /* the best of all variants, and the best of each template; INFINITY at first */
  long *timed_of;                 /* variants of each template that have a time */
};

/* Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status template_times_make(int templates, struct template_times *out);
void template_times_free(struct template_times *times);

/* Tell the time of one more variant of a template. Returns whether it is the best of all. */
bool template_times_add(struct template_times *times, int template, double log_time);

/* Whether a template's best takes more than 10 times as long as the best of all, and whether this is certain: the
 * logarithm of the ratio, times the number of its variants that have a time, exceeds the logarithm of 1000. Three
 * variants that take 10 times as long are enough, or two that take 32 times as long, or one that takes 1000 times as
 * long. */
bool template_is_far_behind(const struct template_times *times, int template);

/* Whether a template's best is less than 40 % slower than the best of all. */
bool template_is_near(const struct template_times *times, int template);

#endif
