/* finals_plan.c: estimates the time of rounds, and leaves out what does not fit. */
#include "tuner/measure/finals/finals_plan.h"

#include <math.h>

#include "tuner/device/gpu_energy.h"
#include "tuner/measure/sampling/measure.h"

/* The part of the time that is planned. The rest is for repeated rounds and for work that the plan does not know. */
#define PLANNED_PART 0.8
/* The part of the planned time that a guest may take if it cannot win. */
#define GUEST_PART 0.25
/* The cost of checking a sample's result, in applications: fields are copied and read. */
#define LOOK_APPLICATIONS 3

double finals_budget_ms(double run_budget_ms) {
  return fmax(FINALS_BUDGET_PART * run_budget_ms, FINALS_BUDGET_LEAST_MS);
}

double finals_loop_ms(double time_ms) {
  /* time of the warm-up and of the waits for the first and the last change of the counter */
  const double beside_ms = 200;
  return fmax(ENERGY_LOOP_MS + beside_ms, GPU_ENERGY_UNITS * time_ms);
}

double finals_energy_ms(enum objective objective, double best_ms) {
  const double guests = 2; /* the default, and what a lookup serves */
  if (objective == OBJECTIVE_TIME) return 0;
  return ENERGY_ROUNDS * (ENERGY_FINALISTS + guests) * finals_loop_ms(best_ms) + finals_loop_ms(0);
}

double finals_run_budget_ms(double finals_ms) {
  const double beside_ms = finals_ms - finals_energy_ms(OBJECTIVE_ENERGY, 0);
  return fmax(2 * finals_ms, beside_ms > FINALS_BUDGET_LEAST_MS ? beside_ms / FINALS_BUDGET_PART : 0);
}

/* The cost of one sample and of the untimed application before it. */
static double sample_cost_ms(const struct finals_plan *plan, double time_ms) {
  return time_ms + time_ms * batch_of(time_ms, plan->sample_ms);
}

/* The cost of a guest's samples. A rare one has a recheck that takes longer than the others. */
static double guest_cost_ms(const struct finals_plan *plan, const struct finals_guest *guest, double time_ms) {
  const int rounds = guest->is_rare ? guest->rounds : plan->entry_rounds + plan->final_rounds;
  return rounds * sample_cost_ms(plan, time_ms) + (guest->is_rare ? time_ms : 0);
}

/* The cost of all rounds and rechecks. Guests are not among the entrants and finalists that are counted. */
static double plan_cost_ms(const struct finals_plan *plan, const struct finals_times *times, int roof_count) {
  const double entry = (double)plan->entrants * plan->entry_rounds;
  const double final = ((double)plan->finalists + roof_count) * plan->final_rounds;
  const double rounds = (entry + final) * sample_cost_ms(plan, times->best_ms);
  const bool is_served = times->served_ms > 0;
  const double of_guests = guest_cost_ms(plan, &plan->standard, times->default_ms) +
                           (is_served ? guest_cost_ms(plan, &plan->served, times->served_ms) : 0);
  const int others = plan->finalists + 1 + is_served;
  const int looks = plan->checks ? plan->final_rounds * others : 0;
  const double of_looks = looks * fmax(LOOK_APPLICATIONS * times->best_ms, times->look_ms);
  return rounds + of_looks + of_guests + others * times->recheck_ms;
}

/* Decide how many rounds a guest runs. A guest that is far behind cannot win whatever the noise is, and few rounds
 * tell how far it is behind. */
static struct finals_guest plan_guest(const struct finals_plan *plan, double time_ms, double best_ms, double limit_ms) {
  const double cost_ms = sample_cost_ms(plan, time_ms), most_ms = GUEST_PART * limit_ms;
  const bool is_far = time_ms > MEASURE_SCREEN_RATIO * best_ms;
  const bool is_rare = is_far && (plan->entry_rounds + plan->final_rounds) * cost_ms > most_ms;
  return (struct finals_guest){is_rare,
                               is_rare ? (int)fmin(fmax(floor(most_ms / cost_ms), 1), FINALS_ROUNDS) : FINALS_ROUNDS};
}

static void plan_guests(struct finals_plan *plan, const struct finals_times *times, double limit_ms) {
  plan->standard = plan_guest(plan, times->default_ms, times->best_ms, limit_ms);
  plan->served = plan_guest(plan, times->served_ms, times->best_ms, limit_ms);
}

static int at_most(int value, int limit) { return value < limit ? value : limit; }

void finals_plan_make(const struct finals_times *times, double budget_ms, int available, int roof_count,
                      struct finals_plan *out) {
  const double limit_ms = PLANNED_PART * budget_ms;
  /* If a single application is so long, the time is too short for an interval. The plan then only keeps to the time. */
  const bool is_long = times->best_ms > MEASURE_LONG_SAMPLE_MS;
  *out = (struct finals_plan){.sample_ms = FINALS_SAMPLE_US / 1e3,
                              .entrants = at_most(available, FINALS_ENTRANTS),
                              .entry_rounds = FINALS_ENTRY_ROUNDS,
                              .finalists = at_most(available, FINALS_FINALISTS),
                              .final_rounds = FINALS_ROUNDS,
                              .checks = true,
                              .entry_rounds_least = is_long ? 1 : FINALS_ENTRY_ROUNDS_LEAST,
                              .final_rounds_least = is_long ? FINALS_LONG_ROUNDS_LEAST : FINALS_ROUNDS_LEAST};
  const double least_sample_ms = MEASURE_SAMPLE_US / 1e3;
  /* The order of reductions. Shorter samples lose the least, because the resolution of events is the smallest error.
   * Then fewer variants enter: those left out would hardly win. Then fewer final rounds make the intervals wider. */
  const struct {
    int *what, least;
  } steps[] = {{&out->entrants, is_long ? FINALS_LONG_LEAST : FINALS_ENTRANTS_LEAST},
               {&out->final_rounds, out->final_rounds_least},
               {&out->finalists, is_long ? FINALS_LONG_LEAST : FINALS_FINALISTS_LEAST},
               {&out->entry_rounds, out->entry_rounds_least}};
  size_t step = 0;
  plan_guests(out, times, limit_ms);
  while (plan_cost_ms(out, times, roof_count) > limit_ms) {
    if (out->checks) {
      out->checks = false;
      continue;
    }
    out->is_scaled = true;
    if (out->sample_ms > least_sample_ms) {
      out->sample_ms = fmax(0.8 * out->sample_ms, least_sample_ms);
      continue;
    }
    while (step < sizeof steps / sizeof *steps && *steps[step].what <= steps[step].least) step++;
    if (step == sizeof steps / sizeof *steps) break;
    --*steps[step].what;
  }
  out->standard.rounds = at_most(out->standard.rounds, out->final_rounds);
  out->served.rounds = at_most(out->served.rounds, out->final_rounds);
}

/* One and a half times what the rounds of a plan cost, and the loads of its entrants. */
static double generous_cost_ms(struct finals_plan *plan, const struct finals_times *times, double load_ms) {
  enum { ROOFS = 3 };
  static const double generous = 1.5;
  plan_guests(plan, times, INFINITY);
  return generous * plan_cost_ms(plan, times, ROOFS) + (plan->entrants + ROOFS) * load_ms;
}

double finals_need_ms(double best_ms, double default_ms, double served_ms, double load_ms, int available,
                      double run_budget_ms) {
  enum { RECHECK_APPLICATIONS = 10 };
  const bool is_long = best_ms > MEASURE_LONG_SAMPLE_MS;
  const double guest_ms = MEASURE_SCREEN_RATIO * best_ms; /* a slower guest takes part in fewer rounds */
  const struct finals_times times = {.best_ms = best_ms,
                                     .default_ms = fmin(default_ms, guest_ms),
                                     .recheck_ms = RECHECK_APPLICATIONS * best_ms,
                                     .served_ms = fmin(served_ms, guest_ms)};
  struct finals_plan all = {.sample_ms = FINALS_SAMPLE_US / 1e3,
                            .entrants = at_most(available, FINALS_ENTRANTS),
                            .entry_rounds = FINALS_ENTRY_ROUNDS,
                            .finalists = at_most(available, FINALS_FINALISTS),
                            .final_rounds = FINALS_ROUNDS,
                            .checks = true};
  struct finals_plan least = {.sample_ms = MEASURE_SAMPLE_US / 1e3,
                              .entrants = at_most(available, is_long ? FINALS_LONG_LEAST : FINALS_ENTRANTS_LEAST),
                              .entry_rounds = is_long ? 1 : FINALS_ENTRY_ROUNDS_LEAST,
                              .finalists = at_most(available, is_long ? FINALS_LONG_LEAST : FINALS_FINALISTS_LEAST),
                              .final_rounds = is_long ? FINALS_LONG_ROUNDS_LEAST : FINALS_ROUNDS_LEAST};
  const double most_ms = fmax(FINALS_BUDGET_PART * run_budget_ms, generous_cost_ms(&least, &times, load_ms));
  return fmin(generous_cost_ms(&all, &times, load_ms), most_ms);
}
