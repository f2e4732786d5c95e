/* leader.h: a crew (tuner/search/run/crew.h) whose members are reached through a link.
 *
 * The leader gives each member as many variants as it wants at a time, and keeps them until the results are there. If
 * a member is gone, hangs, sends an invalid message, or is too slow, the variants that it has come back as lost. The
 * leader drops results that fleet_result_read refuses. */
#ifndef FLEET_LEADER_H
#define FLEET_LEADER_H

#include <signal.h>

#include "base/system/clock.h"
#include "tuner/fleet/link.h"
#include "tuner/fleet/messages.h"

/* A GPU whose time of the anchor is this many times the team's median is too slow, and takes no part. GPUs of one
 * model differ by 1 to 2 %. */
#define FLEET_SLOW_RATIO 1.05

struct leader_options {
  const struct fleet_link *link;
  struct fleet_hello own;            /* the leader itself */
  int patience_ms;                   /* a member that has variants and is silent for so long counts as hanging */
  bool may_share;                    /* several members may use one GPU */
  const volatile sig_atomic_t *stop; /* becomes 1 to end all waiting for members; may be NULL */
  struct time_source time;           /* {NULL, NULL}: the machine's clock */
};

struct leader;

/* How a member's task that it ran alone ended. */
struct alone_end {
  struct unpack *result; /* the member's result; NULL: another member may do the task */
  const char *why;       /* the reason if `result` is NULL */
  /* if `result` is NULL: while it had the task, its process ended or hung, or its GPU was lost */
  bool has_died;
};

/* Tasks that members run alone, while the crew works on another one. The owner knows what they are. */
struct leader_alone {
  /* Choose a task for a member that has nothing to do.
   *   what  receives the words that name the task to the member
   * Returns the task's number; -1 for none. */
  int (*choose)(void *context, const struct fleet_hello *who, struct text *what);
  /* Take back the task that was chosen for a member. Returns false if the result is invalid. The member is then
   * dropped, and another call gives the task back without a result. */
  bool (*done)(void *context, int task, const struct fleet_hello *who, const struct alone_end *end);
  void *context;
};

/* Begin to lead. Members introduce themselves later; this call does not wait for them.
 *   link, own  must live as long
 *   out        ended with leader_close; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status leader_open(const struct leader_options *options, struct leader **out);

/* The crew. It is valid as long as the leader. */
struct crew leader_crew(struct leader *leader);

/* Wait until every member has introduced itself and was accepted or refused, the time is over, or this process has to
 * stop.
 *   words  receives a line for each member that was refused or is gone
 * Returns how many take part, without the leader; -1 if the link failed, with fail_text(). */
int leader_gather(struct leader *leader, int timeout_ms, struct text *words);

/* How many members take part on a host; NULL: on all. */
int leader_count(const struct leader *leader, const char *host);

/* Offer tasks to members that have nothing to do, from now on. `alone` must stay valid. NULL ends the offer: results of
 * tasks that members still run are then dropped. */
void leader_offer_alone(struct leader *leader, const struct leader_alone *alone);

/* Take the messages that are there, and give tasks to members that have nothing to do. It may be called at any time
 * between calls of the crew.
 * Returns HALOTUNE_OK, HALOTUNE_IO where the link failed, or HALOTUNE_MEMORY. */
halotune_status leader_look(struct leader *leader);

/* Wait until a member has finished a task that it runs alone, if there is one. If this process has to stop, all such
 * members are told to stop, and the call waits for all of them.
 *   had  receives whether a member ran one
 * Returns as leader_look. */
halotune_status leader_await_alone(struct leader *leader, bool *had);

/* Send all members home. NULL is fine. The link stays open. */
void leader_close(struct leader *leader);

#endif
