/* results.h: results of the search: each is stored, told to the strategy, and remembered as far as it is needed. */
#ifndef SEARCH_TUNE_RESULTS_H
#define SEARCH_TUNE_RESULTS_H

#include "base/memory/set.h"
#include "tuner/search/strategy/proposer.h"
#include "tuner/search/tune/anchor_watch.h"
#include "tuner/search/tune/search_inputs.h"

/* A result of this run; its number is its place, from 1. */
struct result_record {
  struct proposal proposal;
  struct identity source, code; /* code: identity of launch and cubin, if has_code */
  bool has_code;
  int64_t variant; /* in the store */
  int attempts;
  enum outcome outcome;
  bool is_marked; /* in the store */
  char *why;      /* why it was proposed */
  long twin_of;   /* the number of the result that it shares; 0: none */
  double scale;   /* how slow its GPU was then, as far as that was known then */
};

/* Start with `in`, `watch` and `proposer` set, end with results_free. */
struct results {
  const struct search_inputs *in;
  const struct watch *watch; /* the caller's; its anchor is told which results it watches */
  struct proposer *proposer; /* the caller's; it is told the results */
  struct result_record *list;
  int count, capacity;
  struct set by_code; /* places of results that are not twins */
  long *by_ticket;    /* for each ticket of the crew, the number of its result; 0: none yet */
  long ticket_count, ticket_capacity;
};

/* Look for a result of an earlier run, unless all is to be measured again. If there is one, the trial is over.
 *   trial       not over
 *   default_ms  time of the default variant now; NaN where it has none */
halotune_status results_recall(struct results *results, struct trial *trial, double default_ms);

/* Look for a result of this run with the machine code and launch of a compiled trial. If there is one, the trial is
 * over: it need not be measured. */
halotune_status results_find_twin(struct results *results, struct trial *trial);

/* Take the result of a trial that is over. The trial is freed, also on failure. */
halotune_status results_finish(struct results *results, struct trial *trial);

/* Take results of the crew, whose trials are over. One transaction stores all of them; then they count. A variant
 * whose code already has a result gets that result, like every twin. The trials are freed, also on failure. */
halotune_status results_finish_away(struct results *results, struct trial **trials, int count);

/* After the last reading of the anchor: mark in the store the results that stay doubtful, and give each time its final
 * scale. */
halotune_status results_settle(struct results *results);

/* Take what the crew finally knows of its results: mark in the store those that stay doubtful, and give each time its
 * final scale. */
halotune_status results_settle_away(struct results *results, const struct crew_settled *list, long count);

void results_free(struct results *results);

#endif
