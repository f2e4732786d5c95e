/* fake_members.h: a link whose members are played by the test, and a clock that the test advances. The leader's
 * messages are kept, and messages of members are queued. */
#ifndef TESTS_UNIT_FLEET_FAKE_MEMBERS_H
#define TESTS_UNIT_FLEET_FAKE_MEMBERS_H

#include "tests/unit/unit.h"
#include "tuner/fleet/leader.h"

enum { FAKE_MOST = 4096, FAKE_RANKS = 8 };

struct fake_message {
  int rank;
  bool is_gone;
  struct text text;
};

struct fake_link {
  struct fake_message said[FAKE_MOST], heard[FAKE_MOST]; /* by the leader, by members: what was sent to them */
  int said_first, said_count, heard_count;
  int said_after; /* they say nothing before so many messages were sent to them */
  bool is_dropped[FAKE_RANKS];
  double now_ms;
};

static inline halotune_status fake_send(void *state, int to, const void *bytes, size_t count, int timeout_ms) {
  struct fake_link *fake = state;
  (void)timeout_ms;
  struct fake_message *message = &fake->heard[fake->heard_count++];
  *message = (struct fake_message){.rank = to};
  text_add(&message->text, bytes, count);
  return HALOTUNE_OK;
}

/* Where nothing is queued, the time passes, and a wait without a limit fails after a day. */
static inline halotune_status fake_receive(void *state, int timeout_ms, int *from, bool *is_gone, struct text *out) {
  struct fake_link *fake = state;
  *from = -1;
  *is_gone = false;
  out->length = 0;
  if (fake->said_first == fake->said_count || fake->heard_count < fake->said_after) {
    const double day_ms = 86400e3;
    fake->now_ms += timeout_ms;
    return fake->now_ms < day_ms ? HALOTUNE_OK : fail(HALOTUNE_IO, "nobody says anything");
  }
  const struct fake_message *message = &fake->said[fake->said_first++];
  *from = message->rank;
  *is_gone = message->is_gone;
  if (!*is_gone) text_add(out, message->text.bytes, message->text.length);
  return HALOTUNE_OK;
}

static inline void fake_drop(void *state, int rank) { ((struct fake_link *)state)->is_dropped[rank] = true; }

static inline double fake_now_ms(void *state) { return ((struct fake_link *)state)->now_ms; }

static const struct fleet_link_table fake_table = {
    .name = "fake", .send = fake_send, .receive = fake_receive, .drop = fake_drop};

/* Begin something that a member says, and complete it after the message was written. */
static inline struct text *fake_say(struct fake_link *fake, int rank, enum fleet_kind kind, long task) {
  struct fake_message *message = &fake->said[fake->said_count++];
  *message = (struct fake_message){.rank = rank};
  fleet_head_write(&message->text, kind, task);
  return &message->text;
}

static inline void fake_gone(struct fake_link *fake, int rank) {
  fake->said[fake->said_count++] = (struct fake_message){.rank = rank, .is_gone = true};
}

static inline struct fleet_hello fake_hello(int rank) {
  struct fleet_hello hello = {.version = "0.2.0",
                              .driver = "580",
                              .nvrtc = "13.0",
                              .host = "host",
                              .device = "GPU of a test",
                              .capability = 90,
                              .sm_count = 4,
                              .ordinal = rank,
                              .room = 3};
  snprintf(hello.uuid, sizeof hello.uuid, "GPU-%d", rank);
  return hello;
}

/* How many messages of a kind a rank got; `last` receives the newest one behind its head, and may be NULL. */
static inline int fake_count(const struct fake_link *fake, int rank, enum fleet_kind kind, struct unpack *last) {
  int count = 0;
  for (int i = 0; i < fake->heard_count; i++) {
    struct unpack in = {.at = fake->heard[i].text.bytes, .left = fake->heard[i].text.length};
    struct fleet_head head;
    if (fake->heard[i].rank != rank || !fleet_head_read(&in, &head) || head.kind != kind) continue;
    count++;
    if (last) *last = in;
  }
  return count;
}

static inline void fake_free(struct fake_link *fake) {
  for (int i = 0; i < fake->said_count; i++) text_free(&fake->said[i].text);
  for (int i = 0; i < fake->heard_count; i++) text_free(&fake->heard[i].text);
}

#endif
