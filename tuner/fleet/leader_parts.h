/* leader_parts.h: the state of a leader, which its files share. */
#ifndef FLEET_LEADER_PARTS_H
#define FLEET_LEADER_PARTS_H

#include "tuner/fleet/leader.h"

enum { WORDS_BYTES = 256, LOOK_EVERY_MS = 50 /* how often the leader looks for silent members */ };

enum member_state {
  MEMBER_UNKNOWN,   /* has not introduced itself */
  MEMBER_IDLE,      /* was accepted; has no task, or could not set it up */
  MEMBER_PREPARING, /* sets its device up */
  MEMBER_READY,     /* its device is set up; the search has not begun */
  MEMBER_SEARCHING,
  MEMBER_SETTLING, /* was told that the search is over */
  MEMBER_SETTLED,
  MEMBER_IN_FINALS,
  MEMBER_ALONE, /* runs a task alone */
  MEMBER_GONE,
};

struct member {
  enum member_state state;
  struct fleet_hello hello;
  int away;          /* variants that it has */
  double heard_ms;   /* when its last message came, or when it got its first variant */
  double anchor_ms;  /* first time of its anchor; NaN while unknown */
  double scale;      /* scale of its newest result */
  long results;      /* results of this task */
  double *times_ms;  /* times of the finalists; NULL: it did not run them */
  bool is_left_out;  /* its GPU is too slow */
  bool is_uncounted; /* takes no part in this task: it was refused, was gone before, or runs another task alone */
  bool is_late;      /* came after the search began: the finals do not wait for its set-up */
  int alone_task;    /* its task while it is MEMBER_ALONE */
  bool is_told_stop; /* it was told to end that task soon */
  bool cannot_alone; /* it declined a task to run alone */
  char why[WORDS_BYTES];
};

/* The variant of a ticket. */
struct given {
  struct proposal proposal;
  const struct template *template;
  struct trial *trial; /* NULL: the variant was taken back */
  int rank;
};

struct back {
  struct trial *trial;
  bool is_lost;
};

struct leader {
  struct leader_options options;
  struct member *members; /* indexed by rank; [0] is not used */
  int size, next;         /* next: the member that is asked first for room */
  long task;
  struct crew_start start;
  bool is_started, is_awaiting; /* is_started: the search has begun; is_awaiting: it only waits for set-ups */
  double own_anchor_ms;
  double own_scale;             /* how slow the device is now, relative to the beginning of the search */
  char device_why[WORDS_BYTES]; /* why the device runs no more variants; "" if it does */
  struct given *given;          /* indexed by ticket, from 1 */
  long given_count, given_capacity;
  int away;
  struct back *back; /* a queue: results and lost variants that were not taken yet */
  long back_first, back_count, back_capacity;
  struct crew_settled *settled;
  long settled_count, settled_capacity;
  int finalists, winner;
  double winner_own_ms, spread;
  long lost;
  double looked_ms, listened_ms;    /* when it last looked for silent members, and when it last listened */
  struct text message;              /* the last message received */
  struct text task_message;         /* the message of the current task */
  bool is_open;                     /* members may still join the current task */
  const struct leader_alone *alone; /* NULL: no member runs tasks alone */
};

static inline double leader_now_ms(const struct leader *leader) { return time_now_ms(&leader->options.time); }

static inline bool leader_is_stopped(const struct leader *leader) {
  return leader->options.stop && *leader->options.stop;
}

static inline const struct fleet_link *leader_link(const struct leader *leader) { return leader->options.link; }

/* --- leader.c --- */

/* Take one message. A member is known to be silent only if no message waits.
 *   had  receives whether there was one
 * Returns as leader_look. */
halotune_status leader_listen(struct leader *leader, int timeout_ms, bool *had);

/* Wait until no member is in a state. A member that is silent for too long is left out. Returns as leader_look. */
halotune_status leader_await_nobody(struct leader *leader, enum member_state state);

/* --- leader_members.c: each of these returns HALOTUNE_OK, HALOTUNE_IO where the link failed, or HALOTUNE_MEMORY --- */

/* Send a message, and free it. */
halotune_status leader_send(struct leader *leader, int rank, struct text *message);
/* Send a message that is only a head. */
halotune_status leader_send_word(struct leader *leader, int rank, enum fleet_kind kind);

/* Put a trial into the queue of what came back. */
halotune_status leader_put_back(struct leader *leader, struct trial *trial, bool is_lost);
/* Take all variants back from a member. */
halotune_status leader_take_from(struct leader *leader, int rank);

/* End a member's part. The first reason stays. */
halotune_status leader_lose(struct leader *leader, int rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* End the part of a member whose process still runs. The member is told, because it has to end itself if the link
 * cannot end its process. */
halotune_status leader_dismiss(struct leader *leader, int rank, const char *why);
/* End the part of a member that sent an invalid message. */
halotune_status leader_hears_nonsense(struct leader *leader, int rank);
/* Dismiss members that owe an answer and have been silent for too long. */
halotune_status leader_dismiss_silent(struct leader *leader);

/* A leader that was stopped or busy for long has not listened, and its members may have been stopped, too. Such a time
 * does not count as silence of the members. Shorter times count; else a busy leader would never drop a member. */
void leader_forgive_gap(struct leader *leader);

/* --- leader_speed.c --- */

/* A member's time of a variant over the device's time of it; NaN while one of them is unknown. */
double leader_factor(const struct leader *leader, const struct member *member);
/* Leave out a member whose GPU is too slow, or the device itself. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status leader_judge_member(struct leader *leader, int rank);

/* --- leader_search.c --- */

/* Give a member the current task. Returns as leader_send. */
halotune_status leader_send_task(struct leader *leader, int rank);
/* Forget the variants that members have, and the results that the search has not taken. */
void leader_forget_away(struct leader *leader);

/* --- take messages of members: `in` stands after the head; each function returns as leader_send --- */

halotune_status leader_take_ready(struct leader *leader, int rank, struct unpack *in);
halotune_status leader_take_anchored(struct leader *leader, int rank, struct unpack *in);
halotune_status leader_take_result(struct leader *leader, int rank, struct unpack *in);
halotune_status leader_take_settled(struct leader *leader, int rank, struct unpack *in);
halotune_status leader_take_times(struct leader *leader, int rank, struct unpack *in); /* leader_finals.c */

/* --- the crew: crew.h says what each function does --- */

halotune_status crew_finals_begin(void *state, const struct proposal *proposals, int count, uint64_t seed);
halotune_status crew_finals_take(void *state, const double *own_ms, double *weights);
void crew_won(void *state, int finalist, double own_ms, struct text *words);
halotune_status crew_end(void *state, struct crew_report *out);
halotune_status crew_begin(void *state, const struct crew_task *task);
halotune_status crew_start(void *state, const struct crew_start *start);
int crew_room(void *state);
int crew_away(void *state);
int crew_device_most(void *state);
halotune_status crew_put(void *state, struct trial *trial, double best_ms);
halotune_status crew_take(void *state, int timeout_ms, struct trial **out, bool *is_lost);
halotune_status crew_stop(void *state);
halotune_status crew_settle(void *state, const struct crew_settled **list, long *count);
void crew_anchored(void *state, double anchor_ms);
halotune_status crew_device_scaled(void *state, double scale);

#endif
