/* link.h: messages between the processes that tune as one team. A transport is a table of functions: "processes" for
 * one host (processes.h), "mpi" for a cluster. Rank 0 leads, and talks with each member. Members talk with it alone.
 *
 * A transport carries whole messages, and keeps the order of those from one rank to another. It does not read them. No
 * message is empty or longer than FLEET_MESSAGE_MOST. Ranks do not change while a link is open: a member that is gone
 * does not come back.
 *
 * Threads: one at a time for one link, which is always the one that opened it. */
#ifndef FLEET_LINK_H
#define FLEET_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/text/text.h"

enum {
  FLEET_MESSAGE_MOST = 1 << 24 /* bytes; variants go as parameters, results as rows, so that most have below 2 KB */
};

struct fleet_link_table {
  const char *name; /* "processes", "mpi" */

  /* Send a message. The bytes may be freed when the call returns.
   *   timeout_ms  a rank that accepts nothing for so long counts as gone, and `receive` reports it. 0: the message may
   *               be dropped while the rank has not received earlier ones, and the rank does not count as gone for that
   * Returns HALOTUNE_OK, also if the other rank is gone or gets lost on the way: the leader learns that from `receive`;
   * HALOTUNE_ARGUMENT for a message that is empty or too long; HALOTUNE_IO where the link itself fails, so that no rank
   * can be reached any more; HALOTUNE_MEMORY. */
  halotune_status (*send)(void *state, int to, const void *bytes, size_t count, int timeout_ms);

  /* Wait for the next message of any rank. Messages that a rank sent before it was lost arrive before the report that
   * it is gone.
   *   timeout_ms  0: only look
   *   from        receives the sender's rank; -1 if the time ran out
   *   is_gone     receives whether rank `from` is gone. This is reported once for each rank, without a message, and to
   *               a member for rank 0. A rank that sends an invalid message counts as gone, too
   *   out         emptied first, then receives the message
   * Returns HALOTUNE_OK, HALOTUNE_IO where the link itself fails, or HALOTUNE_MEMORY. */
  halotune_status (*receive)(void *state, int timeout_ms, int *from, bool *is_gone, struct text *out);

  /* Give up a rank, because it hangs or sends invalid messages. It counts as gone from now on, and `receive` does not
   * report it. The transport kills its process if it can. NULL: there is nothing to do. */
  void (*drop)(void *state, int rank);

  /* End the link. The leader waits a short time for the end of members that it has sent home.
   *   is_failure  this rank ends because of an error: ranks that still run are ended, too
   *   exit_code   the exit code of this process, and of a job that the transport has to end */
  void (*close)(void *state, bool is_failure, int exit_code);
};

struct fleet_link {
  const struct fleet_link_table *table; /* NULL: there is no link */
  void *state;
  int rank, size; /* this process, and how many there are with the leader */
};

#endif
