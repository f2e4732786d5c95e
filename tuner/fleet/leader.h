/* leader.h: a crew (tuner/search/run/crew.h) whose members are reached through a link.
 *
 * The leader gives each member as many variants as it wants at a time, and keeps what it gave until the result is
 * there. A member that is gone, hangs, says what no member says, or is out of line costs what it has in flight: those
 * variants come back as lost. Nothing of a member is believed that fleet_result_read refuses. */
#ifndef FLEET_LEADER_H
#define FLEET_LEADER_H

#include <signal.h>

#include "base/clock.h"
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

/* Send all members home. NULL is fine. The link stays open. */
void leader_close(struct leader *leader);

#endif
