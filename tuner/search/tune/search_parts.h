/* search_parts.h: what the files of the search's first phase share. Other files must not include it. Proposals become
 * trials, here or with the crew (search_dispatch.c). Compilers run ahead of the device, which runs their trials
 * (search_device.c). search_phase.c decides which variants come next, and when the search is over. */
#ifndef SEARCH_TUNE_SEARCH_PARTS_H
#define SEARCH_TUNE_SEARCH_PARTS_H

#include "tuner/search/strategy/proposer.h"
#include "tuner/search/tune/anchor_watch.h"
#include "tuner/search/tune/results.h"
#include "tuner/search/tune/search_inputs.h"
#include "tuner/search/variants/trial_runner.h"

/* A variant that a member took and did not run. */
struct lost_variant {
  struct proposal proposal;
  char why[MEASUREMENT_WHY_BYTES];
};

struct search_phase {
  const struct search_inputs *in;
  struct watch watch;
  struct results results;
  struct proposer *proposer;
  struct runner *runner;
  long running;            /* trials in the runner that give new results */
  long ran;                /* trials that the device ran, without those of the crew and of earlier runs */
  long dropped;            /* variants whose compile did not end in time: they have no result */
  struct visited proposed; /* proposals of this run; strategies do not know the default and what earlier runs tried */
  struct lost_variant *lost;
  long lost_count, lost_capacity;
  const char *why;    /* why the next variant is proposed */
  bool is_dry;        /* the strategy has no more variants */
  bool is_thinking;   /* the strategy has none yet */
  bool is_crews_turn; /* where both have room, the device and the crew take turns */
};

/* search_dispatch.c. The functions here and below return HALOTUNE_OK, or what search_phase_run returns. */

/* Begin the trial of a proposal. If an earlier run has its result, it is over at once.
 *   again  the number of the result that this trial replaces; 0: none */
halotune_status search_begin_proposal(struct search_phase *phase, const struct proposal *proposal, long again,
                                      struct trial **out);

/* How many variants the crew has. */
int search_crew_away(const struct search_phase *phase);

/* Whether one more variant may be begun. */
bool search_has_room(const struct search_phase *phase);

/* Begin a proposal on the device.
 *   begun  receives the trial, which is only compared; NULL if it is over; may be NULL */
halotune_status search_begin_here(struct search_phase *phase, const struct proposal *proposal,
                                  const struct trial **begun);

/* Tell the program which variant is begun, and why (phase->why). */
void search_tell_why(const struct search_phase *phase, const struct proposal *proposal);

/* Begin a proposal. A variant that was proposed before is passed over, unless a leader asks for it again. */
halotune_status search_propose(struct search_phase *phase, const struct proposal *proposal);

/* Begin the next variant that a member took and did not run. */
halotune_status search_propose_lost(struct search_phase *phase);

/* Measure a result once more, as the anchor asks. */
halotune_status search_propose_again(struct search_phase *phase, long number);

/* Take the results of the crew that are there. Those that came together are stored together.
 *   timeout_ms  how long to wait for the first one */
halotune_status search_take_away(struct search_phase *phase, int timeout_ms);

/* search_device.c */

/* Take the result of the first trial in the runner, and wait for it. */
halotune_status search_take_ended(struct search_phase *phase);

/* Take the results that are there. */
halotune_status search_take_all_ended(struct search_phase *phase);

/* Take the results of all trials in the runner. The backend is then the caller's. */
halotune_status search_take_running(struct search_phase *phase);

/* Whether the device takes one more compiled trial now. */
bool search_runner_has_room(const struct search_phase *phase);

/* If the watch wants another anchor, have its variant compiled. The pipeline must have room. */
halotune_status search_call_stand_in(struct search_phase *phase);

/* Run a compiled trial on the device, unless it has a result already. */
halotune_status search_run_trial(struct search_phase *phase, struct trial *trial);

/* Run the next trial of the pipeline, if one comes in time, and take the results that are there. */
halotune_status search_run_next(struct search_phase *phase, int timeout_ms);

#endif
