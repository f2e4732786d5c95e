/* finals_plan.c: how much the final phase does in its time, and what decides a tie. */
#include "tuner/bench/finals.h"

#include <math.h>

/* Part of the time that is planned for; the rest is for repeated rounds and for what the plan does not know. */
#define PLANNED_PART 0.8
#define BUDGET_PART 0.2

double finals_budget_ms(double run_budget_ms) { return fmax(BUDGET_PART * run_budget_ms, FINALS_BUDGET_LEAST_MS); }

static double plan_cost_ms(const struct finals_plan *plan, double time_ms, double recheck_ms, int roof_count) {
  const double sample_ms = time_ms + time_ms * batch_of(time_ms, plan->sample_ms);
  /* The default comes on top in both. */
  const double entry = (plan->entrants + 1.0) * plan->entry_rounds;
  const double final = (plan->finalists + 1.0 + roof_count) * plan->final_rounds;
  return (entry + final) * sample_ms + (plan->finalists + 1) * recheck_ms;
}

static int at_most(int value, int limit) { return value < limit ? value : limit; }

void finals_plan_make(double time_ms, double recheck_ms, double budget_ms, int available, int roof_count,
                      struct finals_plan *out) {
  const double limit_ms = PLANNED_PART * budget_ms;
  *out = (struct finals_plan){.sample_ms = FINALS_SAMPLE_US / 1e3,
                              .entrants = at_most(available, FINALS_ENTRANTS),
                              .entry_rounds = FINALS_ENTRY_ROUNDS,
                              .finalists = at_most(available, FINALS_FINALISTS),
                              .final_rounds = FINALS_ROUNDS};
  const double least_sample_ms = MEASURE_SAMPLE_US / 1e3;
  /* In this order: shorter samples cost the least, since the events' resolution is the smallest of the errors; then
   * those that are least likely to win; then the width of the intervals. */
  const struct {
    int *what, least;
  } steps[] = {{&out->entrants, FINALS_ENTRANTS_LEAST},
               {&out->final_rounds, FINALS_ROUNDS_LEAST},
               {&out->finalists, FINALS_FINALISTS_LEAST},
               {&out->entry_rounds, FINALS_ENTRY_ROUNDS_LEAST}};
  size_t step = 0;
  while (plan_cost_ms(out, time_ms, recheck_ms, roof_count) > limit_ms) {
    out->is_scaled = true;
    if (out->sample_ms > least_sample_ms) {
      out->sample_ms = fmax(0.8 * out->sample_ms, least_sample_ms);
      continue;
    }
    while (step < sizeof steps / sizeof *steps && *steps[step].what <= steps[step].least) step++;
    if (step == sizeof steps / sizeof *steps) break;
    --*steps[step].what;
  }
}

/* Whether a is to be preferred to b; both are ties. */
static bool is_preferred(const struct contender *a, const struct contender *b) {
  if (a->is_default != b->is_default) return a->is_default;
  if (a->registers != b->registers) return a->registers < b->registers;
  if (a->shared_bytes != b->shared_bytes) return a->shared_bytes < b->shared_bytes;
  return a->order < b->order;
}

int finals_decide(const struct contender *contenders, int count) {
  int best = -1;
  for (int i = 0; i < count; i++) {
    if (contenders[i].is_tie && (best < 0 || is_preferred(&contenders[i], &contenders[best]))) best = i;
  }
  return best;
}
