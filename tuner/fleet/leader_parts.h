/* leader_parts.h: the state of a leader, which its files share. */
#ifndef FLEET_LEADER_PARTS_H
#define FLEET_LEADER_PARTS_H

#include "tuner/fleet/leader.h"

enum { WORDS_BYTES = 256 };

enum member_state {
  MEMBER_UNKNOWN,   /* has not said who it is */
  MEMBER_IDLE,      /* welcome; has no task, or could not set it up */
  MEMBER_PREPARING, /* sets its device up */
  MEMBER_READY,     /* and has done so; the search has not begun */
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
  double heard_ms;   /* when it said something, or got its first variant */
  double anchor_ms;  /* of its anchor at first; NaN while unknown */
  double scale;      /* of its newest result */
  long results;      /* of this task */
  double *times_ms;  /* of the finalists; NULL: it did not run them */
  bool is_left_out;  /* its GPU is out of line */
  bool is_uncounted; /* takes no part in this task: refused, gone before, or alone with another one */
  bool is_late;      /* came when the search had begun: the finals do not wait for its set-up */
  int alone_task;    /* while it is MEMBER_ALONE */
  bool is_told_stop; /* then: it shall end that task soon */
  bool cannot_alone; /* it has declined such a task */
  char why[WORDS_BYTES];
};

/* What a ticket stands for. */
struct given {
  struct proposal proposal;
  const struct template *template;
  struct trial *trial; /* NULL: it was taken back */
  int rank;
};

struct back {
  struct trial *trial;
  bool is_lost;
};

struct leader {
  struct leader_options options;
  struct member *members; /* by rank; [0] is not used */
  int size, next;         /* next: who is asked first for room */
  long task;
  struct crew_start start;
  bool is_started, is_awaiting; /* the search has begun; nothing is left to do but to wait for set-ups */
  double own_anchor_ms;
  double own_scale;             /* how slow the device is now, against when the search began */
  char device_why[WORDS_BYTES]; /* why the device runs no more variants; "" if it does */
  struct given *given;          /* by ticket, from 1 */
  long given_count, given_capacity;
  int away;
  struct back *back; /* a queue: results and lost variants that were not taken yet */
  long back_first, back_count, back_capacity;
  struct crew_settled *settled;
  long settled_count, settled_capacity;
  int finalists, winner;
  double winner_own_ms, spread;
  long lost;
  double looked_ms, listened_ms;    /* when it looked for hangs last, and listened last */
  struct text message;              /* that was received last */
  struct text task_message;         /* of the task in hand */
  bool is_open;                     /* members may still come to the task in hand */
  const struct leader_alone *alone; /* NULL: nobody runs a task alone */
};

static inline double leader_now_ms(const struct leader *leader) { return time_now_ms(&leader->options.time); }

static inline bool leader_is_stopped(const struct leader *leader) {
  return leader->options.stop && *leader->options.stop;
}

static inline const struct fleet_link *leader_link(const struct leader *leader) { return leader->options.link; }

/* --- leader.c --- */

/* Take one message. Only where none waits is a member's silence known.
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
/* A member has nothing any more: what it had comes back. */
halotune_status leader_take_from(struct leader *leader, int rank);

/* A member takes no part any more. The first reason stays. */
halotune_status leader_lose(struct leader *leader, int rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, of one that is still there. It is told, because where the link ends no process, it has to end itself. */
halotune_status leader_dismiss(struct leader *leader, int rank, const char *why);
/* The same, of one whose message was none. */
halotune_status leader_hears_nonsense(struct leader *leader, int rank);

/* --- leader_speed.c --- */

/* A member's time over the device's of the same variant; NaN while one of them is unknown. */
double leader_factor(const struct leader *leader, const struct member *member);
/* Leave out a member whose GPU is out of line, or the device itself. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status leader_judge_member(struct leader *leader, int rank);

/* --- leader_search.c --- */

/* Give a member the task in hand. Returns as leader_send. */
halotune_status leader_send_task(struct leader *leader, int rank);
/* Forget the variants that members have, and the results that the search has not taken. */
void leader_forget_away(struct leader *leader);

/* --- messages of members: `in` stands behind the head; each returns as leader_send --- */

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
