/* final_store.c: new results in place of those of the search, or of an earlier run. */
#include "tuner/search/finals/final_store.h"

static halotune_status store_again(const struct final_inputs *in, int candidate, struct measurement *again) {
  const struct run_rows *rows = in->rows;
  struct timed_variant *timed = &in->timed->list[candidate];
  int twins = 0;
  again->at_s = schedule_spent_s(in->schedule);
  halotune_status status = store_measured_again(rows->store, rows->run, timed->variant, again);
  if (status == HALOTUNE_OK) status = twins_follow(in->twins, rows->store, rows->run, timed->variant, again, &twins);
  tally_move(in->tally, timed->outcome, again->outcome, 1 + twins);
  timed->outcome = again->outcome;
  return status;
}

halotune_status final_store_measured(const struct final_inputs *in, int candidate, const struct measured *measured) {
  struct measurement again = measurement_none();
  again.outcome = measured->verdict.outcome;
  again.reason = measured->verdict.reason;
  again.timing = measured->timing;
  again.before = measured->before;
  again.after = measured->after;
  again.attempts = measured->attempts;
  again.is_marked = measured->is_marked;
  return store_again(in, candidate, &again);
}

halotune_status final_store_failed(const struct final_inputs *in, int candidate, enum outcome outcome,
                                   const char *reason) {
  struct measurement again = measurement_none();
  again.outcome = outcome;
  again.reason = reason;
  again.attempts = 0;
  return store_again(in, candidate, &again);
}
