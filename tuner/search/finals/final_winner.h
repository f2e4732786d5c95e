/* final_winner.h: from measured rounds to the winner in the store. */
#ifndef SEARCH_FINALS_FINAL_WINNER_H
#define SEARCH_FINALS_FINAL_WINNER_H

#include "tuner/measure/finals/finals.h"
#include "tuner/search/finals/final_inputs.h"

/* What the rounds gave. */
struct final_rounds {
  struct finals finals;
  int *told; /* the finalists that the crew was told, as indexes in in->timed; NULL for none */
  int told_count;
  struct trial *const *trials; /* of each variant of in->timed: its trial if it is compiled; else NULL */
  double copy_ms,
      memcpy_ms;        /* the roofs; that of the driver is from before the search where no round has it; NaN: none */
  struct text warnings; /* warnings about the run, one a line */
};

/* Compare the first by rank at all points, where the search compared drawn ones, and verify it on a second grid. If it
 * is right, tell the crew that it is the winner, and store winner, finalists and the end of the run. If it is wrong, it
 * leaves the finals, its newest result says so, and the next by rank is tried, up to four in all. In a run that is
 * stopped, all comparisons at all points take 60 s together at most, and all checks on second grids 5 s.
 *   partial  why the run counts as partial; NULL: it is complete
 *   rounds   variants that are wrong are removed; warnings are added
 *   out      out->exists stays false where there is no winner; the run then has no end in the store yet
 * Returns HALOTUNE_OK; HALOTUNE_CANCELLED if a stopped run had no time for the end of a comparison at all points; else
 * what backend, compiler or store return. */
halotune_status winner_choose(const struct final_inputs *in, const char *partial, struct final_rounds *rounds,
                              struct final_winner *out);

#endif
