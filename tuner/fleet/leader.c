/* leader.c: admits members, takes their messages, and gives them tasks to run alone. */
#include "tuner/fleet/leader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "tuner/fleet/leader_parts.h"

/* Find the other member, or the leader, that has this GPU. Emulations and recordings have none. */
static int who_has(const struct leader *leader, int rank) {
  const struct fleet_hello *hello = &leader->members[rank].hello;
  if (leader->options.may_share || hello->is_emulation || hello->is_recording) return -1;
  if (strcmp(leader->options.own.uuid, hello->uuid) == 0) return 0;
  for (int other = 1; other < leader->size; other++) {
    const struct member *member = &leader->members[other];
    const bool takes_part = member->state != MEMBER_UNKNOWN && member->state != MEMBER_GONE;
    if (other != rank && takes_part && strcmp(member->hello.uuid, hello->uuid) == 0) return other;
  }
  return -1;
}

static halotune_status refuse_member(struct leader *leader, int rank, const char *why) {
  struct text message = {0};
  leader->members[rank].is_uncounted = true;
  fleet_head_write(&message, FLEET_REFUSED, leader->task);
  pack_text(&message, why);
  halotune_status status = leader_send(leader, rank, &message);
  const halotune_status lost = leader_lose(leader, rank, "%s", why);
  return status == HALOTUNE_OK ? lost : status;
}

static halotune_status take_hello(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  struct text why = {0};
  if (member->state != MEMBER_UNKNOWN) return leader_hears_nonsense(leader, rank);
  if (!fleet_hello_read(in, &member->hello)) {
    if (member->hello.version[0])
      text_printf(&why, "it has Halotune %s, and the leader %s", member->hello.version, leader->options.own.version);
    else text_printf(&why, "it is not a Halotune of this version");
  } else {
    struct text unlike = {0};
    if (!fleet_is_like(&leader->options.own, &member->hello, &unlike)) text_printf(&why, "it %s", text_string(&unlike));
    text_free(&unlike);
    const int owner = who_has(leader, rank);
    if (owner >= 0 && why.length == 0)
      text_printf(&why, "it has the same GPU as rank %d, %s", owner, member->hello.uuid);
  }
  member->state = MEMBER_IDLE;
  member->heard_ms = leader_now_ms(leader);
  halotune_status status =
      why.length > 0 ? refuse_member(leader, rank, text_string(&why)) : leader_send_word(leader, rank, FLEET_WELCOME);
  text_free(&why);
  return status;
}

/* Give a member that has nothing to do a task of its own, else the task in hand. */
static halotune_status employ_member(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  struct text message = {0}, what = {0};
  halotune_status status = HALOTUNE_OK;
  if (member->state != MEMBER_IDLE || leader_is_stopped(leader)) return HALOTUNE_OK;
  const int task = leader->alone && !member->cannot_alone
                       ? leader->alone->choose(leader->alone->context, &member->hello, &what)
                       : -1;
  if (task >= 0) {
    fleet_head_write(&message, FLEET_ALONE, leader->task);
    pack_text(&message, text_string(&what));
    member->state = MEMBER_ALONE;
    member->heard_ms = leader_now_ms(leader);
    member->alone_task = task;
    member->is_told_stop = false;
    status = leader_send(leader, rank, &message);
  } else if (leader->is_open && member->is_uncounted) {
    status = leader_send_task(leader, rank);
  }
  text_free(&what);
  return status;
}

/* Take the message of a member that has finished its own task, or cannot do it. */
static halotune_status take_done(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  if (member->state != MEMBER_ALONE) return leader_hears_nonsense(leader, rank);
  const struct leader_alone *alone = leader->alone;
  /* was_stopped: by a signal for its own process */
  const bool can_do = unpack_u64(in) == 1, was_stopped = unpack_u64(in) == 1;
  char why[WORDS_BYTES];
  printable_copy(why, sizeof why, unpack_text(in));
  if (in->failed) return leader_hears_nonsense(leader, rank);
  const bool leaves = can_do && was_stopped && !leader_is_stopped(leader);
  const struct alone_end end = {.result = can_do && !leaves ? in : NULL, .why = leaves ? "it was told to stop" : why};
  if (alone && !alone->done(alone->context, member->alone_task, &member->hello, &end))
    return leader_hears_nonsense(leader, rank);
  member->state = MEMBER_IDLE;
  if (leaves) return leader_lose(leader, rank, "%s", end.why);
  member->cannot_alone = !can_do;
  return employ_member(leader, rank);
}

static halotune_status take_message(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  struct unpack in = {.at = leader->message.bytes, .left = leader->message.length};
  struct fleet_head head;
  if (!fleet_head_read(&in, &head)) return leader_hears_nonsense(leader, rank);
  member->heard_ms = leader_now_ms(leader);
  if (head.kind == FLEET_HELLO) return take_hello(leader, rank, &in);
  if (head.kind == FLEET_LEAVING) return leader_lose(leader, rank, "%s", unpack_text(&in));
  if (head.kind == FLEET_DONE) return take_done(leader, rank, &in);
  if (head.kind == FLEET_ALIVE || head.task != leader->task) return HALOTUNE_OK; /* or it is about an earlier task */
  switch ((int)head.kind) {
  case FLEET_READY: return leader_take_ready(leader, rank, &in);
  case FLEET_ANCHORED: return leader_take_anchored(leader, rank, &in);
  case FLEET_RESULT: return leader_take_result(leader, rank, &in);
  case FLEET_SETTLED: return leader_take_settled(leader, rank, &in);
  case FLEET_TIMES: return leader_take_times(leader, rank, &in);
  default: return leader_hears_nonsense(leader, rank);
  }
}

halotune_status leader_listen(struct leader *leader, int timeout_ms, bool *had) {
  const struct fleet_link *link = leader_link(leader);
  int rank;
  bool is_gone;
  *had = false;
  leader_forgive_gap(leader);
  halotune_status status = link->table->receive(link->state, timeout_ms, &rank, &is_gone, &leader->message);
  leader->listened_ms = leader_now_ms(leader);
  if (status != HALOTUNE_OK) return status;
  if (rank > 0 && rank < leader->size) {
    *had = true;
    const bool takes_part = leader->members[rank].state != MEMBER_GONE;
    if (is_gone && takes_part) status = leader_lose(leader, rank, "its process has ended");
    else if (takes_part) status = take_message(leader, rank);
  }
  return status == HALOTUNE_OK && !*had ? leader_dismiss_silent(leader) : status;
}

static bool anyone_is(const struct leader *leader, enum member_state state) {
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    if (member->state == state && !(state == MEMBER_PREPARING && member->is_late)) return true;
  }
  return false;
}

halotune_status leader_await_nobody(struct leader *leader, enum member_state state) {
  halotune_status status = HALOTUNE_OK;
  bool had;
  while (status == HALOTUNE_OK && anyone_is(leader, state) && !leader_is_stopped(leader))
    status = leader_listen(leader, LOOK_EVERY_MS, &had);
  return status;
}

static const struct crew_table table = {.begin = crew_begin,
                                        .start = crew_start,
                                        .anchored = crew_anchored,
                                        .device_scaled = crew_device_scaled,
                                        .device_most = crew_device_most,
                                        .room = crew_room,
                                        .away = crew_away,
                                        .put = crew_put,
                                        .take = crew_take,
                                        .stop = crew_stop,
                                        .settle = crew_settle,
                                        .finals_begin = crew_finals_begin,
                                        .finals_take = crew_finals_take,
                                        .won = crew_won,
                                        .end = crew_end};

halotune_status leader_open(const struct leader_options *options, struct leader **out) {
  struct leader *leader = *out = calloc(1, sizeof *leader);
  if (!leader) return fail_memory();
  leader->options = *options;
  leader->size = options->link->size;
  leader->winner = -1;
  leader->listened_ms = leader_now_ms(leader);
  leader->members = calloc((size_t)leader->size + 1, sizeof *leader->members);
  if (leader->members) return HALOTUNE_OK;
  free(leader);
  *out = NULL;
  return fail_memory();
}

struct crew leader_crew(struct leader *leader) {
  return (struct crew){&table, leader};
}

int leader_gather(struct leader *leader, int timeout_ms, struct text *words) {
  const double until_ms = leader_now_ms(leader) + timeout_ms;
  int count = 0;
  bool had;
  while (anyone_is(leader, MEMBER_UNKNOWN) && !leader_is_stopped(leader)) {
    const double left_ms = until_ms - leader_now_ms(leader);
    if (left_ms <= 0) break;
    if (leader_listen(leader, (int)fmin(ceil(left_ms), LOOK_EVERY_MS), &had) != HALOTUNE_OK) return -1;
  }
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    count += member->state == MEMBER_IDLE;
    if (member->state == MEMBER_IDLE || (member->state == MEMBER_UNKNOWN && leader_is_stopped(leader))) continue;
    text_printf(words, "member %d takes no part: %s\n", rank,
                member->why[0] ? member->why : "it has not said who it is in time");
  }
  return count;
}

int leader_count(const struct leader *leader, const char *host) {
  int count = 0;
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    const bool takes_part = member->state != MEMBER_UNKNOWN && member->state != MEMBER_GONE;
    count += takes_part && (!host || strcmp(member->hello.host, host) == 0);
  }
  return count;
}

void leader_offer_alone(struct leader *leader, const struct leader_alone *alone) { leader->alone = alone; }

halotune_status leader_look(struct leader *leader) {
  bool had = true;
  halotune_status status = HALOTUNE_OK;
  while (had && status == HALOTUNE_OK) status = leader_listen(leader, 0, &had);
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) status = employ_member(leader, rank);
  return status;
}

/* Tell members that run tasks alone to end them soon. */
static halotune_status stop_alone(struct leader *leader) {
  halotune_status status = HALOTUNE_OK;
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    struct member *member = &leader->members[rank];
    if (member->state != MEMBER_ALONE || member->is_told_stop) continue;
    member->is_told_stop = true;
    status = leader_send_word(leader, rank, FLEET_STOP);
  }
  return status;
}

static int count_in(const struct leader *leader, enum member_state state) {
  int count = 0;
  for (int rank = 1; rank < leader->size; rank++) count += leader->members[rank].state == state;
  return count;
}

halotune_status leader_await_alone(struct leader *leader, bool *had) {
  const int before = count_in(leader, MEMBER_ALONE);
  halotune_status status = HALOTUNE_OK;
  bool heard;
  *had = before > 0;
  while (status == HALOTUNE_OK) {
    const int count = count_in(leader, MEMBER_ALONE);
    if (count == 0 || (count < before && !leader_is_stopped(leader))) break;
    if (leader_is_stopped(leader)) status = stop_alone(leader);
    if (status == HALOTUNE_OK) status = leader_listen(leader, LOOK_EVERY_MS, &heard);
  }
  return status;
}

void leader_close(struct leader *leader) {
  if (!leader) return;
  leader_forget_away(leader);
  for (int rank = 1; rank < leader->size; rank++) {
    if (leader->members[rank].state != MEMBER_GONE) leader_send_word(leader, rank, FLEET_HOME);
    free(leader->members[rank].times_ms);
  }
  free(leader->members);
  free(leader->given);
  free(leader->back);
  free(leader->settled);
  text_free(&leader->message);
  text_free(&leader->task_message);
  free(leader);
}
