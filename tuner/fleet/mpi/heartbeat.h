/* heartbeat.h: signs of life between the teams of a job. The leader of each team sends one to all ranks of the job. A
 * rank may have to wait days for the end of other teams: it then knows whether their leaders still live. A sign also
 * says whether the sender's team is done, and how. The code calls the plug-in, and waits for nothing.
 *
 * A rank that was stopped together with all others, as by a batch system, hears nothing in that time. So a step counts
 * as HEARTBEAT_STEP_MS at most. Threads: one at a time. */
#ifndef FLEET_MPI_HEARTBEAT_H
#define FLEET_MPI_HEARTBEAT_H

#include <stdbool.h>

#include "base/fail.h"
#include "tuner/fleet/mpi/plugin.h"

enum { HEARTBEAT_STEP_MS = 1000 };

struct heartbeat_rank {
  bool leads, is_due;           /* is_due: a sign is to be sent to it */
  double heard_ms;              /* of a leader: when its last sign came */
  struct fleet_mpi_sign is, to; /* is: the leader's last sign; to: the sign on its way to this rank */
  void *request;                /* of that sign; NULL if there is none */
};

struct heartbeat {
  const struct fleet_mpi_plugin *plugin;
  struct fleet_mpi_world world;
  struct heartbeat_rank *ranks;
  int leader_count;
  double limit_ms;                /* a leader without a sign for so long is silent */
  double time_ms, now_ms, due_ms; /* time_ms: the sum of the steps */
};

/* Begin.
 *   colours   of all ranks; ranks of one colour are a team, which the lowest of them leads
 *   limit_ms  after which a leader counts as silent; signs are sent ten times as often, and every 5 s at least
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status heartbeat_open(const struct fleet_mpi_plugin *plugin, const struct fleet_mpi_world *world,
                               const int *colours, double limit_ms, double now_ms, struct heartbeat *out);

void heartbeat_free(struct heartbeat *heartbeat);

/* Take the signs that have come, and send those that are due.
 *   sends  false: send no more, because all teams have ended
 * Returns HALOTUNE_OK, or HALOTUNE_IO if MPI cannot look for messages. */
halotune_status heartbeat_step(struct heartbeat *heartbeat, double now_ms, bool sends);

/* Note that this rank's team is done. The next step tells all ranks. */
void heartbeat_set_done(struct heartbeat *heartbeat, bool has_loss, int exit_code);

/* Count silence from now on: a leader without a sign within the limit is silent. */
void heartbeat_await(struct heartbeat *heartbeat);

/* Whether the teams of all other leaders are done, except those of silent leaders.
 *   sign    receives whether any of them, or this rank's team, has lost a rank, and their greatest exit code
 *   silent  receives the lowest leader that is silent and was not done; -1 if there is none */
bool heartbeat_are_done(const struct heartbeat *heartbeat, struct fleet_mpi_sign *sign, int *silent);

/* Whether all leaders except this rank itself are silent. */
bool heartbeat_is_silent(const struct heartbeat *heartbeat);

/* Whether no sign is due or on its way. */
bool heartbeat_is_sent(const struct heartbeat *heartbeat);

#endif
