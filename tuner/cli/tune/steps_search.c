/* steps_search.c: chooses the next turn from the times of earlier turns. */
#include "tuner/cli/tune/steps_search.h"

#include <math.h>

struct steps_shares steps_shares_of(double budget_s, bool is_small) {
  const double single = 0.25, single_of_small = 0.40, all_scouts = 0.48, scout_s = 3;
  const int most_scouts = 6;
  if (is_small) return (struct steps_shares){.single = single_of_small};
  const double scout = fmax(STEPS_SCOUT_SHARE, scout_s / budget_s);
  return (struct steps_shares){single, scout, (int)fmin(most_scouts, all_scouts / scout)};
}

static bool is_tried(const struct steps_search *s, int at) { return s->step_ms[at] > 0; }

/* The place of the best number that was tried; -1 if none has a winner. */
static int best_place(const struct steps_search *s) {
  int best = -1;
  for (int i = 0; i < s->count; i++) {
    if (is_tried(s, i) && isfinite(s->step_ms[i]) && (best < 0 || s->step_ms[i] < s->step_ms[best])) best = i;
  }
  return best;
}

static int last_tried(const struct steps_search *s) {
  int at = s->count - 1;
  while (at >= 0 && !is_tried(s, at)) at--;
  return at;
}

/* The place behind the last number that is worth a scout, if `best` is the place of the best one. */
static int end_of_scouts(const struct steps_search *s, int best) {
  int end = s->count;
  if (best < 0 || s->most[best] == 0) return end;
  while (end > best + 1 && s->offered[end - 1] > s->most[best]) end--;
  return end;
}

/* Whether the time of a step fell so far from one number to the next that numbers between them are hardly faster. */
static bool is_steep(const struct steps_search *s, int from, int to) {
  const double steep = 0.75;
  return s->step_ms[to] < steep * s->step_ms[from];
}

/* The place of the number to scout next; -1 if there is none. */
static int next_scout(const struct steps_search *s) {
  const double most_beside_last = 0.1; /* a larger share is not spent beside the largest number after a steep fall */
  const int best = best_place(s), last = last_tried(s), end = end_of_scouts(s, best);
  if (last < 0) return 0;
  int next = last + 1;
  while (next < end && s->offered[next] < 2 * s->offered[last]) next++;
  if (best == last && next < end) return next; /* the time a step still falls */
  if (best < 0) return -1;
  int below = best - 1, above = best + 1;
  while (below >= 0 && !is_tried(s, below)) below--;
  while (above < end && !is_tried(s, above)) above++;
  if (best == last && s->shares.scout > most_beside_last) {
    const bool is_worth_it = best - below > 1 && below >= 0 && !is_steep(s, below, best);
    return is_worth_it ? (best + below) / 2 : -1;
  }
  if (above - best > 1 && above - best >= best - below) return (best + above) / 2;
  return best - below > 1 ? (best + below) / 2 : -1;
}

/* The place of the number that databases know, if it was not tried yet; else -1. */
static int known_place(const struct steps_search *s) {
  for (int i = 0; i < s->count; i++) {
    if (s->offered[i] == s->known && !is_tried(s, i)) return i;
  }
  return -1;
}

bool steps_search_next(struct steps_search *s, struct steps_turn *out) {
  if (s->is_over) return false;
  const int known = known_place(s); /* the last scout is kept for it */
  if (s->is_small) {
    s->is_over = true;
    if (known >= 0) *out = (struct steps_turn){s->known, 1 - s->shares.single, 0, false};
    return known >= 0;
  }
  int scout = s->scouted < s->shares.scouts - (known >= 0) ? next_scout(s) : -1;
  if (scout < 0 || scout >= s->count) scout = known;
  if (scout >= 0 && scout < s->count) {
    *out = (struct steps_turn){s->offered[scout], s->shares.scout, 0, true};
    return true;
  }
  s->is_over = true;
  const int best = best_place(s);
  const double left = 1 - s->shares.single - s->scouted * s->shares.scout;
  const bool has_single = s->count > 0 && s->single_ms > 0 && isfinite(s->single_ms);
  if (has_single && (best < 0 || s->single_ms <= s->step_ms[best])) {
    *out = (struct steps_turn){1, left, s->shares.single, false};
    return true;
  }
  if (best < 0) return false;
  *out = (struct steps_turn){s->offered[best], left, s->shares.scout, false};
  return true;
}

void steps_search_tell(struct steps_search *s, int steps, double step_ms, int most) {
  if (steps == 1) s->single_ms = step_ms;
  for (int i = 0; i < s->count; i++) {
    if (s->offered[i] != steps) continue;
    s->scouted += !is_tried(s, i);
    s->step_ms[i] = step_ms;
    s->most[i] = most;
  }
}
