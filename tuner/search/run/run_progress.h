/* run_progress.h: tells the caller how far a run is. */
#ifndef SEARCH_RUN_RUN_PROGRESS_H
#define SEARCH_RUN_RUN_PROGRESS_H

#include "tuner/search/run/schedule.h"
#include "tuner/search/run/tally.h"
#include "tuner/search/variants/timed_variants.h"

/* What the caller is told. */
struct tune_progress {
  /* a part of the set-up, such as "inputs and reference on the CPU", or "search", "finals", "second grid" */
  const char *phase;
  bool is_new;       /* this phase begins now, and may take long */
  long tried, space; /* variants with a result; variants that the rules keep, 0 while that is unknown */
  long failed;       /* variants tried that are neither measured nor screened nor pruned */
  double best_ms;    /* INFINITY at first */
  double roof_share; /* the best variant's bandwidth over the driver's copy's; 0 at first; NaN without a copy's time */
  double variants_per_s;
  double left_s; /* the rest of the budget; INFINITY without one, and before the search */
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
  double next_ms;    /* the next time at which the caller is told, on the schedule's clock */
  const char *phase; /* the phase that the caller was told last; NULL at first */
};

/* Tell the caller, within a phase at most every 100 ms.
 *   progress  NULL: nobody is told
 *   phase     a string constant */
void run_progress_show(struct run_progress *progress, const char *phase);

#endif
