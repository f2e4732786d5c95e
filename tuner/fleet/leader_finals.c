/* leader_finals.c: the final rounds on all GPUs, and the report of a task. */
#include "tuner/fleet/leader_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

halotune_status crew_finals_begin(void *state, const struct proposal *proposals, int count, uint64_t seed) {
  struct leader *leader = state;
  struct text message = {0};
  halotune_status status = HALOTUNE_OK;
  leader->finalists = count;
  fleet_head_write(&message, FLEET_FINALS, leader->task);
  pack_u64(&message, seed);
  pack_u64(&message, (uint64_t)count);
  for (int i = 0; i < count; i++) fleet_proposal_write(&message, &proposals[i]);
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    struct member *member = &leader->members[rank];
    free(member->times_ms); /* those of earlier finalists, also of a member that is gone */
    member->times_ms = NULL;
    if (member->state != MEMBER_SETTLED || member->is_left_out) continue;
    struct text copy = {0};
    text_add(&copy, message.bytes, message.length);
    member->state = MEMBER_IN_FINALS;
    member->heard_ms = leader_now_ms(leader);
    status = leader_send(leader, rank, &copy);
  }
  text_free(&message);
  return status;
}

halotune_status leader_take_times(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  if (member->state != MEMBER_IN_FINALS || unpack_u64(in) != (uint64_t)leader->finalists)
    return leader_hears_nonsense(leader, rank);
  double *times_ms = calloc((size_t)leader->finalists + 1, sizeof *times_ms);
  if (!times_ms) return fail_memory();
  for (int i = 0; i < leader->finalists; i++) {
    times_ms[i] = unpack_double(in);
    if (!fleet_is_time(times_ms[i])) times_ms[i] = NAN;
  }
  if (in->failed) {
    free(times_ms);
    return leader_hears_nonsense(leader, rank);
  }
  free(member->times_ms);
  member->times_ms = times_ms;
  member->state = MEMBER_SETTLED;
  return HALOTUNE_OK;
}

static bool has_times(const struct member *member) { return member->times_ms && !member->is_left_out; }

/* Whether the device's times of the finalists count. If the device was left out, they count only if there are no
 * others. */
static bool device_counts(const struct leader *leader) {
  bool is_alone = true;
  for (int rank = 1; rank < leader->size; rank++) is_alone = is_alone && !has_times(&leader->members[rank]);
  return is_alone || !leader->device_why[0];
}

halotune_status crew_finals_take(void *state, const double *own_ms, double *weights) {
  struct leader *leader = state;
  halotune_status status = leader_await_nobody(leader, MEMBER_IN_FINALS);
  if (status != HALOTUNE_OK) return status;
  const bool counts = device_counts(leader);
  int unit = 0; /* the finalist with which all are compared: one that every GPU has */
  while (unit < leader->finalists) {
    bool has_all = !isnan(own_ms[unit]);
    for (int rank = 1; rank < leader->size; rank++) {
      const struct member *member = &leader->members[rank];
      has_all = has_all && (!has_times(member) || !isnan(member->times_ms[unit]));
    }
    if (has_all) break;
    unit++;
  }
  for (int i = 0; i < leader->finalists && unit < leader->finalists; i++) {
    const double own = own_ms[i] / own_ms[unit];
    double sum = counts ? own : 0;
    int count = counts;
    for (int rank = 1; rank < leader->size; rank++) {
      const struct member *member = &leader->members[rank];
      if (!has_times(member) || isnan(member->times_ms[i])) continue;
      sum += member->times_ms[i] / member->times_ms[unit];
      count++;
    }
    if (count > 0 && !isnan(sum)) weights[i] = sum / count / own;
  }
  return HALOTUNE_OK;
}

void crew_won(void *state, int finalist, double own_ms, struct text *words) {
  struct leader *leader = state;
  const bool counts = device_counts(leader);
  double least = counts ? own_ms : INFINITY, most = counts ? own_ms : 0;
  int count = counts;
  leader->winner = finalist;
  leader->winner_own_ms = own_ms;
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    if (!has_times(member) || isnan(member->times_ms[finalist])) continue;
    least = fmin(least, member->times_ms[finalist]);
    most = fmax(most, member->times_ms[finalist]);
    count++;
  }
  leader->spread = count > 1 ? most / least - 1 : NAN;
  if (count > 1)
    text_printf(words, "on %d GPUs the winner took %.5g to %.5g ms, a spread of %.2f %%\n", count, least, most,
                leader->spread * 100);
  if (leader->device_why[0])
    text_printf(words, "the leader (%s) was left out: %s\n", leader->options.own.uuid, leader->device_why);
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    if (member->why[0] && !member->is_uncounted)
      text_printf(words, "member %d (%s) was left out: %s\n", rank, member->hello.uuid, member->why);
  }
}

static struct crew_gpu gpu_of(const struct leader *leader, const struct member *member) {
  struct crew_gpu gpu = {.results = member->results, .factor = leader_factor(leader, member), .winner_ms = NAN};
  snprintf(gpu.name, sizeof gpu.name, "%.*s", (int)sizeof gpu.name - 1, member->hello.device);
  snprintf(gpu.uuid, sizeof gpu.uuid, "%s", member->hello.uuid);
  snprintf(gpu.host, sizeof gpu.host, "%s", member->hello.host);
  snprintf(gpu.left_out, sizeof gpu.left_out, "%s", member->why);
  if (has_times(member) && leader->winner >= 0) gpu.winner_ms = member->times_ms[leader->winner];
  return gpu;
}

static void report_crew(const struct leader *leader, struct crew_report *out) {
  const struct fleet_hello *own = &leader->options.own;
  *out = (struct crew_report){.count = 1, .shown = 1, .lost = leader->lost, .spread = leader->spread};
  struct crew_gpu *device = &out->gpus[0];
  *device = (struct crew_gpu){.factor = NAN, .winner_ms = leader->winner >= 0 ? leader->winner_own_ms : NAN};
  snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1, own->device);
  snprintf(device->uuid, sizeof device->uuid, "%s", own->uuid);
  snprintf(device->host, sizeof device->host, "%s", own->host);
  snprintf(device->left_out, sizeof device->left_out, "%s", leader->device_why);
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    if (member->is_uncounted || member->state == MEMBER_UNKNOWN) continue;
    if (member->is_late && member->state == MEMBER_PREPARING) continue; /* the member came too late */
    out->count++;
    /* the device's time, with which others are compared */
    if (!isnan(leader_factor(leader, member))) device->factor = 1;
    if (out->shown < CREW_MOST_SHOWN) out->gpus[out->shown++] = gpu_of(leader, member);
  }
}

halotune_status crew_end(void *state, struct crew_report *out) {
  struct leader *leader = state;
  halotune_status status = HALOTUNE_OK;
  if (out) report_crew(leader, out);
  leader_forget_away(leader);
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    struct member *member = &leader->members[rank];
    free(member->times_ms);
    member->times_ms = NULL;
    if (member->state == MEMBER_GONE || member->state == MEMBER_UNKNOWN || member->state == MEMBER_IDLE ||
        member->state == MEMBER_ALONE)
      continue;
    member->state = MEMBER_IDLE;
    status = leader_send_word(leader, rank, FLEET_END);
  }
  leader->is_started = leader->is_open = false;
  leader->task++; /* answers that are still on their way now belong to no current task */
  return status;
}
