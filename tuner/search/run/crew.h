/* crew.h: other GPUs of the device's model, which measure variants of the run as well. The search knows a crew as this
 * table of functions; tuner/fleet/leader.h is one that works through messages.
 *
 * A run calls begin, start, then put and take in any order, then stop and settle, then finals_begin and finals_take,
 * and end. Each call may be left out, and end may come at any time. The report names members that cannot take part or
 * that fail. They are not an error of the run. Threads: one at a time. */
#ifndef SEARCH_RUN_CREW_H
#define SEARCH_RUN_CREW_H

#include "db/store/store.h"
#include "tuner/search/variants/proposals.h"
#include "tuner/search/variants/trial.h"

/* What members are told before the device is set up, so that they set up their devices at the same time. */
struct crew_task {
  const struct task *task;
  struct template *const *templates; /* all templates that may apply */
  int template_count;
  enum cache_mode cache;
};

/* What members are told when the set-up is done. */
struct crew_start {
  const struct search_space *space; /* lives until the end of the run */
  const struct proposal *first;     /* the default variant; NULL for none */
  enum launch_mode launch;
};

/* The final state of an earlier result of the crew. */
struct crew_settled {
  long ticket;
  double scale;
  bool is_marked;
};

enum { CREW_MOST_SHOWN = 64 };

/* What one GPU of the run did; the device itself is the first one. */
struct crew_gpu {
  char name[64], uuid[48], host[64];
  long results; /* results of this GPU that count */
  /* this GPU's time of a variant over the device's time of the same variant; NaN where no two are compared */
  double factor;
  double winner_ms;   /* time of the winner in the final rounds; NaN if this GPU did not take part there */
  char left_out[256]; /* why it no longer takes part; "" if it does */
};

struct crew_report {
  struct crew_gpu gpus[CREW_MOST_SHOWN];
  int count, shown; /* number of GPUs, and number of those in `gpus`: all, or CREW_MOST_SHOWN */
  long lost;        /* variants that another GPU took over */
  /* the winner's time on the slowest GPU over that on the fastest, minus 1; NaN if fewer than two GPUs have a time */
  double spread;
};

struct crew_table {
  halotune_status (*begin)(void *state, const struct crew_task *task);
  halotune_status (*start)(void *state, const struct crew_start *start);

  /* Tell the time of the device's anchor. The times of the members' anchors are compared with it. Variants count from
   * then on. */
  void (*anchored)(void *state, double anchor_ms);

  /* Tell how slow the device is now: the time of the anchor over its time in `anchored`. Returns HALOTUNE_OK or
   * HALOTUNE_MEMORY. */
  halotune_status (*device_scaled)(void *state, double scale);

  /* How many variants the device itself may hold at a time, so that it leaves some to members that are not ready. 0:
   * its times differ too much from the members', and it runs no more variants of the search. */
  int (*device_most)(void *state);

  /* How many more variants the members want now. */
  int (*room)(void *state);
  /* How many variants the members have whose results take() has not returned yet. */
  int (*away)(void *state);
  /* Give a variant to a member; there must be room.
   *   trial    belongs to the crew from now on, also after a failure. Its proposal receives a ticket
   *   best_ms  the best time so far; INFINITY for none */
  halotune_status (*put)(void *state, struct trial *trial, double best_ms);
  /* Take a variant back.
   *   out      the caller owns it. It is over. The times of its result are converted to the device's by
   *            crew_gpu.factor. NULL if the time ran out. A second result of a ticket replaces the first
   *   is_lost  nobody measured it, because its member is gone: the trial is as it was when it was put */
  halotune_status (*take)(void *state, int timeout_ms, struct trial **out, bool *is_lost);

  /* The search is over: variants that members still have do not come back. */
  halotune_status (*stop)(void *state);
  /* Learn how slow the GPUs were during earlier results. This is known only after the readings of the anchor before
   * and after them.
   *   list  belongs to the state, and is valid until the next call */
  halotune_status (*settle)(void *state, const struct crew_settled **list, long *count);

  /* Have the members run these variants in interleaved rounds, while the device does so as well. */
  halotune_status (*finals_begin)(void *state, const struct proposal *proposals, int count, uint64_t seed);
  /* Wait for their times.
   *   own_ms   the device's adjusted time of each variant; NaN where it has none
   *   ratio    receives for each variant a factor: its time relative to the first variant, as the mean of all GPUs
   *            that ran both, over the same on the device alone. 1 where no other GPU has a time */
  halotune_status (*finals_take)(void *state, const double *own_ms, double *ratio);

  /* Say of this finalist that it is the winner, which has passed its last checks. Not called without a winner.
   *   words  receives a line about each GPU, for the run's warnings */
  void (*won)(void *state, int finalist, double own_ms, struct text *words);

  /* The run is over. */
  halotune_status (*end)(void *state, struct crew_report *out);
};

/* Table NULL: the device works alone. */
struct crew {
  const struct crew_table *table;
  void *state;
};

#endif
