/* post.h: the messages of one rank on their way: those to be sent, those that arrive, and signs of life. It calls the
 * plug-in, and waits for nothing. link_mpi.c steps it in a thread of its own.
 *
 * MPI does not tell that a rank is gone. So rank 0 and each member send each other a sign of life, a message without
 * bytes, every POST_BEAT_MS. A rank of which nothing came for POST_SILENCE_MS is gone; so is one that does not take a
 * message in time. No machine's time of day is used. A rank that was stopped heard nothing in that time, so that a step
 * counts as POST_STEP_MS at most.
 *
 * Threads: one at a time. */
#ifndef FLEET_MPI_POST_H
#define FLEET_MPI_POST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/text/text.h"
#include "tuner/fleet/mpi/plugin.h"

enum { POST_BEAT_MS = 5000, POST_SILENCE_MS = 90000, POST_STEP_MS = 1000 };

/* Another rank. Members know only rank 0, and rank 0 knows all members. */
struct post_peer {
  bool is_known, is_gone, is_told; /* is_told: that it is gone */
  bool is_dropped;                 /* it is gone for this rank alone: letters from before still go to it */
  double heard_ms, beat_ms;        /* when a message came, and when a sign of life was sent */
};

struct post_letter {
  int rank; /* to which, or from which */
  char *bytes;
  size_t count;
  void *request;               /* of the plug-in; NULL before it has begun, and after it has ended */
  double until_ms;             /* when a letter must have been taken */
  bool has_ended, is_too_long; /* is_too_long: it is thrown away */
};

struct post_letters {
  struct post_letter *list;
  int count, room;
};

struct post {
  const struct fleet_mpi_plugin *plugin;
  struct fleet_mpi_world world;
  struct post_peer *peers;
  struct post_letters out, in; /* `in`: from the moment when they are found until they are taken */
  double now_ms, time_ms;      /* of the last step: the clock, and the sum of the steps, which all other times count */
};

/* Begin with all ranks alive at `now_ms`. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status post_open(const struct fleet_mpi_plugin *plugin, const struct fleet_mpi_world *world, double now_ms,
                          struct post *out);

void post_free(struct post *post);

/* Have a copy of a message sent by the next steps. A message to a rank that is gone is dropped. A rank that sends more
 * than FLEET_MESSAGE_MOST bytes counts as gone.
 *   limit_ms  a rank that has not taken the message by then is gone
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status post_send(struct post *post, int to, const void *bytes, size_t count, double limit_ms);

/* Do what can be done at once.
 *   is_busy  receives whether anything was done, so that another step soon is likely to find something
 * Returns HALOTUNE_OK; HALOTUNE_IO if MPI reports an error; HALOTUNE_MEMORY. */
halotune_status post_step(struct post *post, double now_ms, bool *is_busy);

/* Take the next message, or the word that a rank is gone.
 *   from  receives the rank; -1 if there is nothing
 *   out   emptied first, then receives the message
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status post_take(struct post *post, int *from, bool *is_gone, struct text *out);

/* From now on a rank counts as gone, and the caller, who knows that, is not told. The rank still gets the messages that
 * were sent to it before. */
void post_drop(struct post *post, int rank);

/* Whether no letter waits to be sent, and whether all ranks that this one knows are there. */
bool post_is_sent(const struct post *post);
bool post_is_whole(const struct post *post);

#endif
