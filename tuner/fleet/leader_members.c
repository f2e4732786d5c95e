/* leader_members.c: sends messages to members, finds silent ones, and removes members that no longer take part. */
#include "tuner/fleet/leader_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory/array.h"
#include "base/text/utf8.h"

enum {
  SEND_MS = 10000, /* a member that does not read for so long is gone */
  LAST_WORD_MS = 1000
};

halotune_status leader_send(struct leader *leader, int rank, struct text *message) {
  const struct fleet_link *link = leader_link(leader);
  halotune_status status = text_ok(message) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = link->table->send(link->state, rank, message->bytes, message->length, SEND_MS);
  text_free(message);
  return status;
}

halotune_status leader_send_word(struct leader *leader, int rank, enum fleet_kind kind) {
  struct text message = {0};
  fleet_head_write(&message, kind, leader->task);
  return leader_send(leader, rank, &message);
}

halotune_status leader_put_back(struct leader *leader, struct trial *trial, bool is_lost) {
  if (!array_room(leader->back, leader->back_count, leader->back_capacity)) {
    trial_free(trial);
    return fail_memory();
  }
  leader->back[leader->back_count++] = (struct back){trial, is_lost};
  return HALOTUNE_OK;
}

halotune_status leader_take_from(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  halotune_status status = HALOTUNE_OK;
  for (long t = leader->given_count; member->away > 0 && t > 0; t--) {
    struct given *given = &leader->given[t - 1];
    if (!given->trial || given->rank != rank) continue;
    struct trial *trial = given->trial;
    given->trial = NULL;
    member->away--;
    leader->away--;
    leader->lost++;
    const halotune_status added = leader_put_back(leader, trial, true);
    if (status == HALOTUNE_OK) status = added;
  }
  return status;
}

halotune_status leader_lose(struct leader *leader, int rank, const char *format, ...) {
  struct member *member = &leader->members[rank];
  char why[WORDS_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  if (!member->why[0] || member->state == MEMBER_ALONE)   /* its messages then belong to another task */
    printable_copy(member->why, sizeof member->why, why); /* the words may come from a member */
  const struct alone_end died = {.why = member->why, .has_died = true};
  if (member->state == MEMBER_ALONE && leader->alone)
    leader->alone->done(leader->alone->context, member->alone_task, &member->hello, &died);
  member->state = MEMBER_GONE;
  return leader_take_from(leader, rank);
}

halotune_status leader_dismiss(struct leader *leader, int rank, const char *why) {
  const struct fleet_link *link = leader_link(leader);
  struct text message = {0};
  fleet_head_write(&message, FLEET_REFUSED, leader->task);
  pack_text(&message, why);
  if (text_ok(&message)) link->table->send(link->state, rank, message.bytes, message.length, LAST_WORD_MS);
  text_free(&message);
  if (link->table->drop) link->table->drop(link->state, rank);
  return leader_lose(leader, rank, "%s", why);
}

halotune_status leader_hears_nonsense(struct leader *leader, int rank) {
  return leader_dismiss(leader, rank, "it sent an invalid answer");
}

/* Whether a member owes an answer. */
static bool owes_answer(const struct leader *leader, const struct member *member) {
  return (member->state == MEMBER_PREPARING && leader->is_awaiting && !member->is_late) ||
         (member->state == MEMBER_SEARCHING && member->away > 0) || member->state == MEMBER_SETTLING ||
         member->state == MEMBER_IN_FINALS || member->state == MEMBER_ALONE;
}

halotune_status leader_dismiss_silent(struct leader *leader) {
  const double at_ms = leader_now_ms(leader);
  halotune_status status = HALOTUNE_OK;
  if (at_ms - leader->looked_ms < LOOK_EVERY_MS) return HALOTUNE_OK;
  leader->looked_ms = at_ms;
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    const struct member *member = &leader->members[rank];
    char why[WORDS_BYTES];
    if (!owes_answer(leader, member) || at_ms - member->heard_ms < leader->options.patience_ms) continue;
    snprintf(why, sizeof why, "it said nothing for %.0f s", (at_ms - member->heard_ms) * 1e-3);
    status = leader_dismiss(leader, rank, why);
  }
  return status;
}

void leader_forgive_gap(struct leader *leader) {
  const double at_ms = leader_now_ms(leader), gap_ms = at_ms - leader->listened_ms;
  if (gap_ms < 0.5 * leader->options.patience_ms) return;
  for (int rank = 1; rank < leader->size; rank++) {
    struct member *member = &leader->members[rank];
    member->heard_ms = fmin(member->heard_ms + gap_ms, at_ms);
  }
}
