/* leader_speed.c: compares the speeds of a team's GPUs, and leaves out one that is too slow. */
#include "tuner/fleet/leader_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tuner/measure/sampling/statistics.h"

double leader_factor(const struct leader *leader, const struct member *member) {
  const struct fleet_hello *hello = &member->hello;
  if (hello->is_emulation) return NAN; /* its times say nothing */
  return member->anchor_ms / leader->own_anchor_ms;
}

/* How slow a member's GPU is now, relative to the device at the beginning of the search. */
static double member_slowness(const struct leader *leader, const struct member *member) {
  return leader_factor(leader, member) * member->scale;
}

/* The median slowness of the team's GPUs, which include the leader's own.
 *   out  NaN if no member has sent the time of its anchor */
static halotune_status find_median(const struct leader *leader, double *out) {
  int count = 0;
  double *all = calloc((size_t)leader->size + 1, sizeof *all);
  if (!all) return fail_memory();
  all[count++] = leader->own_scale;
  for (int r = 1; r < leader->size; r++) {
    const struct member *other = &leader->members[r];
    if (other->state == MEMBER_GONE || other->is_uncounted || other->is_left_out ||
        isnan(member_slowness(leader, other)))
      continue;
    all[count++] = member_slowness(leader, other);
  }
  *out = count > 2 ? median_of(all, count) : count == 2 ? fmin(all[0], all[1]) : NAN;
  free(all);
  return HALOTUNE_OK;
}

static void words_of_slow(double ratio, char out[WORDS_BYTES]) {
  snprintf(out, WORDS_BYTES, "it is %.1f %% slower than the team's median", (ratio - 1) * 100);
}

/* Leave the device out of the search where the others are faster. */
static void judge_device(struct leader *leader, double median) {
  if (leader->device_why[0] || !(leader->own_scale > FLEET_SLOW_RATIO * median)) return;
  words_of_slow(leader->own_scale / median, leader->device_why);
}

halotune_status leader_judge_member(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  const double own = member_slowness(leader, member);
  double median;
  if (isnan(own) || member->is_left_out) return HALOTUNE_OK;
  const halotune_status status = find_median(leader, &median);
  if (status != HALOTUNE_OK) return status;
  judge_device(leader, median);
  if (!(own > FLEET_SLOW_RATIO * median)) return HALOTUNE_OK;
  member->is_left_out = true;
  words_of_slow(own / median, member->why);
  return leader_take_from(leader, rank);
}

void crew_anchored(void *state, double anchor_ms) { ((struct leader *)state)->own_anchor_ms = anchor_ms; }

halotune_status crew_device_scaled(void *state, double scale) {
  struct leader *leader = state;
  double median;
  leader->own_scale = scale;
  const halotune_status status = find_median(leader, &median);
  if (status == HALOTUNE_OK) judge_device(leader, median);
  return status;
}
