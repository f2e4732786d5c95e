/* run_progress.h: tells the caller how far a run is. */
#ifndef SEARCH_RUN_RUN_PROGRESS_H
#define SEARCH_RUN_RUN_PROGRESS_H

#include "tuner/search/run/schedule.h"
#include "tuner/search/run/tally.h"
#include "tuner/search/variants/timed.h"

/* What the caller is told. */
struct tune_progress {
  const char *phase; /* of the set-up, such as "inputs and reference on the CPU"; "search", "finals", "second grid" */
  bool is_new;       /* this phase begins now, and may take long */
  long tried, space; /* variants with a result; variants that the rules keep, 0 while that is unknown */
  long failed;       /* of those tried: neither measured nor screened nor pruned */
  double best_ms;    /* INFINITY at first */
  double roof_share; /* of the best, against the driver's copy; NaN while unknown */
  double variants_per_s;
  double left_s; /* of the budget; INFINITY without one, and before the search */
};

/* Where the figures come from, and who is told. */
struct run_progress {
  void (*show)(void *context, const struct tune_progress *progress); /* NULL: nobody is told */
  void *context;
  const struct schedule *schedule;
  const struct tally *tally;
  const struct timed_list *timed;
  long space;        /* variants that the rules keep */
  double memcpy_ms;  /* NaN while it is not measured */
  double next_ms;    /* on the schedule's clock: the caller is not told before */
  const char *phase; /* that the caller was told last; NULL at first */
};

/* Tell the caller, but within a phase not more often than every 100 ms.
 *   progress  NULL: nobody is told
 *   phase     a string constant */
void run_progress_show(struct run_progress *progress, const char *phase);

#endif
