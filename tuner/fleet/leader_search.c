/* leader_search.c: gives variants to members during a search, and takes their results. */
#include "tuner/fleet/leader_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/utf8.h"

halotune_status crew_begin(void *state, const struct crew_task *task) {
  struct leader *leader = state;
  halotune_status status = HALOTUNE_OK;
  if (task->template_count > FLEET_MOST_TEMPLATES)
    return fail(HALOTUNE_ARGUMENT, "a team takes at most %d templates, not %d: name fewer with --template",
                FLEET_MOST_TEMPLATES, task->template_count);
  leader->task++;
  leader->is_started = false;
  leader->device_why[0] = '\0';
  leader->own_scale = 1;
  leader->own_anchor_ms = leader->spread = NAN;
  leader->lost = leader->settled_count = leader->given_count = 0;
  leader->winner = -1;
  leader->task_message.length = 0;
  fleet_head_write(&leader->task_message, FLEET_TASK, leader->task);
  fleet_task_write(&leader->task_message, task);
  if (!text_ok(&leader->task_message)) return fail_memory();
  leader->is_open = true;
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    leader->members[rank].is_uncounted = true;
    if (leader->members[rank].state == MEMBER_IDLE) status = leader_send_task(leader, rank);
  }
  return status;
}

halotune_status leader_send_task(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  struct text copy = {0};
  text_add(&copy, leader->task_message.bytes, leader->task_message.length);
  member->state = MEMBER_PREPARING;
  member->heard_ms = leader_now_ms(leader);
  member->anchor_ms = NAN;
  member->scale = 1;
  member->results = 0;
  member->is_left_out = member->is_uncounted = false;
  member->is_late = leader->is_started;
  member->why[0] = '\0';
  return leader_send(leader, rank, &copy);
}

static halotune_status send_start(struct leader *leader, int rank) {
  struct text message = {0};
  fleet_head_write(&message, FLEET_START, leader->task);
  fleet_start_write(&message, &leader->start);
  leader->members[rank].state = MEMBER_SEARCHING;
  return leader_send(leader, rank, &message);
}

halotune_status crew_start(void *state, const struct crew_start *start) {
  struct leader *leader = state;
  halotune_status status = HALOTUNE_OK;
  leader->start = *start;
  leader->is_started = true;
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    if (leader->members[rank].state == MEMBER_READY) status = send_start(leader, rank);
  }
  return status;
}

halotune_status leader_take_ready(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  const bool is_ready = unpack_u64(in) == 1;
  const char *why = unpack_text(in);
  if (in->failed || member->state != MEMBER_PREPARING) return leader_hears_nonsense(leader, rank);
  member->state = is_ready ? MEMBER_READY : MEMBER_IDLE;
  if (!is_ready) printable_copy(member->why, sizeof member->why, why);
  return is_ready && leader->is_started ? send_start(leader, rank) : HALOTUNE_OK;
}

halotune_status leader_take_anchored(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  const double anchor_ms = unpack_double(in);
  if (in->failed || !(isnan(anchor_ms) || fleet_is_time(anchor_ms)))
    return leader_hears_nonsense(leader, rank); /* NaN: it has none */
  member->anchor_ms = anchor_ms;
  return leader_judge_member(leader, rank);
}

static int room_of(const struct member *member) {
  const bool takes_part = member->state == MEMBER_SEARCHING && !member->is_left_out;
  return takes_part && member->away < member->hello.room ? member->hello.room - member->away : 0;
}

int crew_room(void *state) {
  const struct leader *leader = state;
  int room = 0;
  for (int rank = 1; rank < leader->size; rank++) room += room_of(&leader->members[rank]);
  return room;
}

int crew_away(void *state) {
  const struct leader *leader = state;
  return leader->away + (int)(leader->back_count - leader->back_first);
}

int crew_device_most(void *state) {
  const struct leader *leader = state;
  return leader->device_why[0] ? 0 : leader->options.own.room;
}

/* The member with the most room for variants; 0 if none has room. Members with equal room take turns. */
static int choose_member(struct leader *leader) {
  int best = 0, most = 0;
  for (int i = 0; i < leader->size; i++) {
    const int rank = (leader->next + i) % leader->size;
    const int room = rank > 0 ? room_of(&leader->members[rank]) : 0;
    if (room <= most) continue;
    best = rank;
    most = room;
  }
  leader->next = best + 1;
  return best;
}

halotune_status crew_put(void *state, struct trial *trial, double best_ms) {
  struct leader *leader = state;
  struct text message = {0};
  const int rank = choose_member(leader);
  if (rank == 0 || !array_room(leader->given, leader->given_count, leader->given_capacity)) {
    trial_free(trial);
    return rank == 0 ? fail(HALOTUNE_ARGUMENT, "no member wants a variant") : fail_memory();
  }
  struct member *member = &leader->members[rank];
  trial->proposal.ticket = leader->given_count + 1;
  leader->given[leader->given_count++] = (struct given){trial->proposal, trial->template, trial, rank};
  if (member->away++ == 0) member->heard_ms = leader_now_ms(leader);
  leader->away++;
  fleet_head_write(&message, FLEET_VARIANT, leader->task);
  fleet_proposal_write(&message, &trial->proposal);
  pack_double(&message, best_ms);
  return leader_send(leader, rank, &message);
}

/* Give a trial a member's result, in the device's time. */
static halotune_status fill_trial(struct leader *leader, const struct member *member, const struct fleet_result *from,
                                  struct trial *trial) {
  const double factor = leader_factor(leader, member), divisor = factor > 0 ? factor : 1;
  struct measurement *result = &trial->result;
  struct timing *timing = &result->timing;
  *result = from->result;
  snprintf(trial->reason, sizeof trial->reason, "%s", from->result.reason);
  result->reason = trial->reason;
  /* processes of a team may share a GPU, and all emulations have one name */
  const bool is_own = strcmp(member->hello.uuid, leader->options.own.uuid) == 0;
  snprintf(result->gpu, sizeof result->gpu, "%s", is_own ? "" : member->hello.uuid);
  trial->is_over = true;
  trial->away_scale = from->scale;
  trial->has_code = from->has_code;
  trial->code = from->code;
  trial->generated.hash = from->source;
  double *const times_ms[] = {&timing->median_ms, &timing->minimum_ms, &timing->low_ms, &timing->high_ms};
  for (size_t i = 0; i < sizeof times_ms / sizeof *times_ms; i++) *times_ms[i] /= divisor;
  free(trial->samples);
  trial->samples = NULL;
  const void *samples = timing->samples; /* the samples may be unaligned in the message */
  timing->samples = NULL;
  if (!samples) return HALOTUNE_OK;
  const size_t bytes = (size_t)timing->sample_count * sizeof *trial->samples;
  trial->samples = malloc(bytes);
  if (!trial->samples) return fail_memory();
  memcpy(trial->samples, samples, bytes);
  for (int i = 0; i < timing->sample_count; i++) trial->samples[i] = (float)((double)trial->samples[i] / divisor);
  timing->samples = trial->samples;
  return HALOTUNE_OK;
}

halotune_status leader_take_result(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  struct fleet_result result;
  const bool has_task = member->state >= MEMBER_SEARCHING && member->state <= MEMBER_SETTLED;
  if (!has_task || !fleet_result_read(in, &result) || result.ticket > leader->given_count)
    return leader_hears_nonsense(leader, rank);
  struct given *given = &leader->given[result.ticket - 1];
  if (given->rank != rank) return member->is_left_out ? HALOTUNE_OK : leader_hears_nonsense(leader, rank);
  if (member->state != MEMBER_SEARCHING) return HALOTUNE_OK; /* the message was on its way when the search ended */
  if (member->is_left_out) return HALOTUNE_OK;
  struct trial *trial = given->trial;
  halotune_status status = HALOTUNE_OK;
  if (trial) {
    given->trial = NULL;
    member->away--;
    leader->away--;
    member->results++;
  } else {
    status = trial_begin_away(given->template, &given->proposal, &trial);
  }
  if (status == HALOTUNE_OK) status = fill_trial(leader, member, &result, trial);
  if (status != HALOTUNE_OK) {
    trial_free(trial);
    return status;
  }
  member->scale = result.scale;
  status = leader_put_back(leader, trial, false);
  return status == HALOTUNE_OK ? leader_judge_member(leader, rank) : status;
}

halotune_status crew_take(void *state, int timeout_ms, struct trial **out, bool *is_lost) {
  struct leader *leader = state;
  const double until_ms = leader_now_ms(leader) + timeout_ms;
  halotune_status status = HALOTUNE_OK;
  bool had = true;
  *out = NULL;
  *is_lost = false;
  while (status == HALOTUNE_OK && leader->back_first == leader->back_count) {
    const double left_ms = until_ms - leader_now_ms(leader);
    if (!had && left_ms <= 0) return HALOTUNE_OK;
    status = leader_listen(leader, left_ms > 0 ? (int)ceil(left_ms) : 0, &had);
  }
  if (status != HALOTUNE_OK) return status;
  const struct back *back = &leader->back[leader->back_first++];
  *out = back->trial;
  *is_lost = back->is_lost;
  if (leader->back_first == leader->back_count) leader->back_first = leader->back_count = 0;
  return HALOTUNE_OK;
}

void leader_forget_away(struct leader *leader) {
  for (long i = 0; i < leader->given_count; i++) {
    trial_free(leader->given[i].trial);
    leader->given[i].trial = NULL;
  }
  for (long i = leader->back_first; i < leader->back_count; i++) trial_free(leader->back[i].trial);
  leader->back_first = leader->back_count = 0;
  leader->away = 0;
  for (int rank = 1; rank < leader->size; rank++) leader->members[rank].away = 0;
}

halotune_status crew_stop(void *state) {
  struct leader *leader = state;
  halotune_status status = HALOTUNE_OK;
  leader->is_open = false;
  leader_forget_away(leader);
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    struct member *member = &leader->members[rank];
    if (member->state != MEMBER_SEARCHING) continue;
    member->state = MEMBER_SETTLING;
    member->heard_ms = leader_now_ms(leader);
    status = leader_send_word(leader, rank, FLEET_STOP);
  }
  return status;
}

/* Members that were still setting up when the search ended take part in the finals. Members that came later do not. */
halotune_status crew_settle(void *state, const struct crew_settled **list, long *count) {
  struct leader *leader = state;
  leader->is_open = false;
  leader->is_awaiting = true;
  halotune_status status = leader_await_nobody(leader, MEMBER_PREPARING);
  leader->is_awaiting = false;
  if (status == HALOTUNE_OK) status = crew_stop(leader);
  if (status == HALOTUNE_OK) status = leader_await_nobody(leader, MEMBER_SETTLING);
  *list = leader->settled;
  *count = leader->settled_count;
  return status;
}

halotune_status leader_take_settled(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  if (member->state != MEMBER_SETTLING) return leader_hears_nonsense(leader, rank);
  const uint64_t count = unpack_u64(in);
  for (uint64_t i = 0; i < count && !in->failed; i++) {
    struct crew_settled one = {.ticket = (long)unpack_u64(in)};
    one.scale = unpack_double(in);
    one.is_marked = unpack_u64(in) != 0;
    const bool is_own =
        one.ticket > 0 && one.ticket <= leader->given_count && leader->given[one.ticket - 1].rank == rank;
    if (in->failed || !is_own || !fleet_is_time(one.scale)) return leader_hears_nonsense(leader, rank);
    if (member->is_left_out) continue;
    if (!array_room(leader->settled, leader->settled_count, leader->settled_capacity)) return fail_memory();
    leader->settled[leader->settled_count++] = one;
  }
  if (in->failed) return leader_hears_nonsense(leader, rank);
  member->state = MEMBER_SETTLED;
  return HALOTUNE_OK;
}
