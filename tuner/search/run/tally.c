/* tally.c: counting outcomes. */
#include "tuner/search/run/tally.h"

#include <stdio.h>

void tally_move(struct tally *tally, enum outcome from, enum outcome to, long count) {
  tally->outcomes[from] -= count;
  tally->outcomes[to] += count;
}

void tally_note_failure(struct tally *tally, const struct measurement *result) {
  if (tally->first_reason[0] || outcome_has_time(result->outcome) || result->outcome == OUTCOME_PRUNED) return;
  tally->first_failure = result->outcome;
  snprintf(tally->first_reason, sizeof tally->first_reason, "%s", result->reason);
}

long tally_failed(const struct tally *tally) {
  const long *outcomes = tally->outcomes;
  return tally->tried - outcomes[OUTCOME_MEASURED] - outcomes[OUTCOME_SCREENED] - outcomes[OUTCOME_PRUNED];
}
