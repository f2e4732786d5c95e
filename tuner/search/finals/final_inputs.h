/* final_inputs.h: what the two files of the final phase share. */
#ifndef SEARCH_FINALS_FINAL_INPUTS_H
#define SEARCH_FINALS_FINAL_INPUTS_H

#include "tuner/measure/finals/finals.h"
#include "tuner/search/tune/session.h"

struct final_phase {
  struct session *session;
  struct final_candidate *candidates; /* as session->timed */
  struct trial **built; /* a candidate each, compiled and not yet loaded; NULL: not yet compiled, or loaded */
  struct trial *loaded[FINALS_SLOTS]; /* by slot */
  struct roof roof;
  struct finals finals;
  double copy_ms, memcpy_ms; /* the roofs in the final rounds; NaN where there is none */
  struct text warnings;      /* a line each */
};

/* Store and tell the winner, which is right on the second grid, too, with all finalists and the end of the run. What is
 * wrong there leaves, and the others are ranked without it. Without a winner session->result->has_winner stays false. In
 * final_winner.c. */
halotune_status winner_choose(struct final_phase *phase);

/* A candidate that had a time went wrong: in the store, its newest result says so. In final_phase.c. */
halotune_status final_phase_failed(struct final_phase *phase, int candidate, enum outcome outcome, const char *reason);

#endif
