/* post.h: the messages of one rank on their way: those to be sent, those that arrive, and signs of life. It calls the
 * plug-in, and waits for nothing. link_mpi.c steps it in a thread of its own.
 *
 * MPI does not report that a rank is gone. So rank 0 and each member send each other a sign of life, a message without
 * bytes, every POST_BEAT_MS. A rank from which nothing came for POST_SILENCE_MS counts as gone, and so does one that
 * does not take a message in time. The time of day of a machine is not used. A rank that was stopped heard nothing in
 * that time, so a step counts as POST_STEP_MS at most.
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
  bool is_known, is_gone, is_told; /* is_told: the caller was told that it is gone */
  bool is_dropped;                 /* only this rank counts it as gone; earlier letters are still sent to it */
  double heard_ms, beat_ms;        /* when a message came, and when a sign of life was sent */
};

struct post_letter {
  int rank; /* the rank to which the letter goes or from which it comes */
  char *bytes;
  size_t count;
  void *request;               /* the plug-in's request; NULL before it begins and after it has ended */
  double until_ms;             /* when a letter must have been taken */
  bool has_ended, is_too_long; /* is_too_long: the letter is dropped */
};

struct post_letters {
  struct post_letter *list;
  int count, room;
};

struct post {
  const struct fleet_mpi_plugin *plugin;
  struct fleet_mpi_world world;
  size_t most_bytes; /* of a message */
  struct post_peer *peers;
  struct post_letters out, in; /* `in`: letters that were found and not yet taken */
  double now_ms, time_ms;      /* the clock at the last step, and the sum of the steps; all other times are such sums */
};

/* Begin with all ranks alive at `now_ms`.
 *   most_bytes  of a message: a rank that sends more counts as gone
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status post_open(const struct fleet_mpi_plugin *plugin, const struct fleet_mpi_world *world, size_t most_bytes,
                          double now_ms, struct post *out);

void post_free(struct post *post);

/* Queue a copy of a message. The next steps send it. A message to a rank that is gone is dropped.
 *   limit_ms  a rank that has not taken the message by then is gone
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status post_send(struct post *post, int to, const void *bytes, size_t count, double limit_ms);

/* Do all work that needs no waiting.
 *   is_busy  receives whether there was any work. Another step soon is then likely to find more
 * Returns HALOTUNE_OK; HALOTUNE_IO if MPI reports an error; HALOTUNE_MEMORY. */
halotune_status post_step(struct post *post, double now_ms, bool *is_busy);

/* Take the next message, or the report that a rank is gone.
 *   from  receives the rank; -1 if there is nothing
 *   out   emptied first, then receives the message
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status post_take(struct post *post, int *from, bool *is_gone, struct text *out);

/* Count a rank as gone from now on. The caller knows this and gets no report. Messages that were queued for the rank
 * before are still sent. */
void post_drop(struct post *post, int rank);

/* post_is_sent: whether no letter waits to be sent. post_is_whole: whether all ranks that this one knows are there. */
bool post_is_sent(const struct post *post);
bool post_is_whole(const struct post *post);

#endif
