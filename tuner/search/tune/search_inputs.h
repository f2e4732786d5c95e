/* search_inputs.h: what the search phase of a run reads, what it changes, and what it gives. */
#ifndef SEARCH_TUNE_SEARCH_INPUTS_H
#define SEARCH_TUNE_SEARCH_INPUTS_H

#include "tuner/measure/backends/backend.h"
#include "tuner/search/run/crew.h"
#include "tuner/search/run/run_progress.h"
#include "tuner/search/run/run_rows.h"
#include "tuner/search/run/schedule.h"
#include "tuner/search/run/tally.h"
#include "tuner/search/strategy/strategy.h"
#include "tuner/search/variants/pipeline.h"
#include "tuner/search/variants/proposals.h"
#include "tuner/search/variants/twins.h"

/* A search that follows another one: its strategy proposes what a leader sends, and its results go to the leader. */
struct search_follower {
  /* Whether the leader has ended the search. */
  bool (*is_over)(void *context);
  /* Wait for a proposal, because there is nothing to do. Returns HALOTUNE_OK, or HALOTUNE_IO without a leader. */
  halotune_status (*wait)(void *context, int timeout_ms);
  /* The best time of the whole team; INFINITY for none. */
  double (*best_ms)(void *context);
  /* Tell the time of the default variant as the anchor; NaN where it is not the anchor. */
  halotune_status (*anchored)(void *context, double anchor_ms);
  /* Tell the result of a variant. It is a second result if trial->again is not 0.
   *   scale  how slow the GPU was */
  halotune_status (*finished)(void *context, const struct trial *trial, double scale);
  /* After the last reading of the anchor, tell how slow the GPU was during an earlier result, and whether that result
   * is doubtful. */
  halotune_status (*settled)(void *context, long ticket, double scale, bool is_marked);
  void *context;
};

struct search_inputs {
  /* Read. */
  const struct task *task;
  const struct search_space *space;
  const struct run_rows *rows;   /* the run is in the store */
  const struct trial *first;     /* the default variant, compiled; NULL for none */
  double first_ms;               /* time of one application of the default variant, roughly */
  const struct proposal *served; /* what a lookup serves for the task; NULL for none */
  double memcpy_ms;              /* time of the driver's copy; NaN where it was not measured */
  const struct proposal_list *hints, *starts;
  const struct strategy *strategy;
  long max_variants;  /* 0: no bound */
  double good_enough; /* the search ends when the best reaches this share of the driver's copy; 0: never */
  /* variants that are proposed and have no result, at most; 0: enough to keep compilers and device busy */
  int in_flight;
  bool in_full;                           /* measure each variant with all samples */
  bool fresh;                             /* measure all variants again, also those that earlier runs measured */
  bool rematch;                           /* no search: only the best variants of earlier runs */
  bool leads_only;                        /* the crew alone runs what the strategy proposes */
  const struct search_follower *follower; /* NULL: the search follows nobody */
  proposal_told *proposed;                /* from the options, with its context */
  void *context;
  /* Changed. */
  struct schedule *schedule;      /* its search_end_ms grows where the finals will take little time */
  struct backend_handle *backend; /* all slots are empty before and after */
  struct pipeline *pipeline;      /* empty before and after */
  void *strategy_state;
  const struct crew *crew;  /* NULL: the device works alone */
  struct timed_list *timed; /* receives the variants that have a time */
  struct twins *twins;      /* receives the variants that have another one's code */
  struct tally *tally;
  struct run_progress *progress;
};

/* How the search ended. */
struct search_end {
  bool is_exhausted; /* all that was asked for was tried: to repeat the search would add nothing */
  bool is_cut;       /* the deadline ended it */
  double scale;      /* anchor_scale() at the end */
};

/* Whether a proposal is the default variant. */
static inline bool search_is_first(const struct search_inputs *in, const struct proposal *proposal) {
  return in->first && proposal_equals(in->space, proposal, &in->first->proposal);
}

/* Whether a proposal is what a lookup serves. */
static inline bool search_is_served(const struct search_inputs *in, const struct proposal *proposal) {
  return in->served && proposal_equals(in->space, proposal, in->served);
}

#endif
