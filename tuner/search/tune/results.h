/* results.h: what came of the variants of a search: each is stored, told to the strategy, and remembered as far as it
 * is needed. */
#ifndef SEARCH_TUNE_RESULTS_H
#define SEARCH_TUNE_RESULTS_H

#include "tuner/measure/sampling/anchor.h"
#include "tuner/search/tune/session.h"

/* A result of this run; its number is its place, from 1. */
struct result_record {
  struct proposal proposal;
  struct hash source, code; /* code: of cubin and launch; {0, 0} for none */
  int64_t variant;          /* in the store */
  int attempts;
  enum outcome outcome;
  bool is_marked; /* in the store */
  long twin_of;   /* the number of the result that it follows; 0: none */
};

/* Start with session and anchor set, end with results_free. */
struct results {
  struct session *session;
  struct anchor *anchor; /* NULL for none; the caller's */
  struct result_record *list;
  int count, capacity;
};

/* How slow the GPU is now. */
double results_scale(const struct results *results);

/* Look for what earlier runs have of a trial that is not over, unless all is to be measured again: then the trial is
 * over. default_ms  of the default variant now; NaN where there is none */
halotune_status results_recall(struct results *results, struct trial *trial, double default_ms);

/* Look for a result of this run with the same machine code and launch as a compiled trial, which so need not be
 * measured: then the trial is over. */
halotune_status results_find_twin(struct results *results, struct trial *trial);

/* Take what came of a trial, and end it, whatever is returned. */
halotune_status results_finish(struct results *results, struct trial *trial);

/* After the last reading of the anchor: mark what stays doubtful, in the store, too, and give every time the scale that
 * is known of it now. */
halotune_status results_settle(struct results *results);

void results_free(struct results *results);

#endif
