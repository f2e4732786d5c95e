/* leader.h: a crew (tuner/search/run/crew.h) whose members are reached through a link.
 *
 * The leader gives each member as many variants as it wants at a time, and keeps what it gave until the result is
 * there. A member that is gone, hangs, says what no member says, or is out of line costs what it has in flight: those
 * variants come back as lost. Nothing of a member is believed that fleet_result_read refuses. */
#ifndef FLEET_LEADER_H
#define FLEET_LEADER_H

#include <signal.h>

#include "base/system/clock.h"
#include "tuner/fleet/link.h"
#include "tuner/fleet/messages.h"

/* A GPU whose time of the anchor is this many times the team's median is out of line, and takes no part. GPUs of one
 * model differ by 1 to 2 %. */
#define FLEET_SLOW_RATIO 1.05

struct leader_options {
  const struct fleet_link *link;
  struct fleet_hello own;            /* the leader itself */
  int patience_ms;                   /* a member that has variants and is silent for so long hangs */
  bool may_share;                    /* several members may use one GPU */
  const volatile sig_atomic_t *stop; /* becomes 1 to wait for nobody any more; may be NULL */
  struct time_source time;           /* {NULL, NULL}: the machine's clock */
};

struct leader;

/* How a member came to the end of a task that it ran alone. */
struct alone_end {
  struct unpack *result; /* what it did; NULL: another one may do it */
  const char *why;       /* then: the reason */
  bool has_died;         /* then: its process has ended or hung, or its GPU was lost, while it had the task */
};

/* Tasks that members run alone, while the crew works on another one. The owner knows what they are. */
struct leader_alone {
  /* Choose a task for a member that has nothing to do.
   *   what  receives the words by which the member knows it
   * Returns its number; -1 for none. */
  int (*choose)(void *context, const struct fleet_hello *who, struct text *what);
  /* A member has no longer the task that was chosen for it.
   * Returns false for a result that is none. The member is dropped then, and the task given back by another call,
   * without a result. */
  bool (*done)(void *context, int task, const struct fleet_hello *who, const struct alone_end *end);
  void *context;
};

/* Begin to lead. Members say who they are later, and are not waited for.
 *   link, own  must live as long
 *   out        ended with leader_close; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status leader_open(const struct leader_options *options, struct leader **out);

/* The crew. It is valid as long as the leader. */
struct crew leader_crew(struct leader *leader);

/* Wait until every member has said who it is and was welcomed or refused, or the time is over.
 *   words  receives a line for each that was refused or is gone
 * Returns how many take part, without the leader; or -1 where the link failed, with fail_text(). */
int leader_gather(struct leader *leader, int timeout_ms, struct text *words);

/* How many members take part on a host; NULL: on all. */
int leader_count(const struct leader *leader, const char *host);

/* Offer tasks to members that have nothing to do, from now on. `alone` must live as long; NULL: no more. */
void leader_offer_alone(struct leader *leader, const struct leader_alone *alone);

/* Take the messages that are there, and give tasks to members that have nothing to do. It may be called at any time
 * between calls of the crew.
 * Returns HALOTUNE_OK, HALOTUNE_IO where the link failed, or HALOTUNE_MEMORY. */
halotune_status leader_look(struct leader *leader);

/* Wait for a member that runs a task alone to be done with it, if there is one. When the process is to stop, so are
 * they, and all are waited for.
 *   had  receives whether a member ran one
 * Returns as leader_look. */
halotune_status leader_await_alone(struct leader *leader, bool *had);

/* Send all members home. NULL is fine. The link stays open. */
void leader_close(struct leader *leader);

#endif
