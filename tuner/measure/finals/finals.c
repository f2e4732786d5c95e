/* finals.c: the final phase from its beginning to its end. finals_enter.c, finals_plan.c and finals_result.c have its
 * parts. */
#include "tuner/measure/finals/finals.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "tuner/measure/finals/energy_rounds.h"
#include "tuner/measure/sampling/steady.h"

enum { EMPTY_SAMPLES = 20 };

/* The time of the rounds of energy, estimated with the fastest candidate. */
static double energy_part_ms(const struct finals_request *request) {
  double best_ms = INFINITY;
  for (int i = 0; i < request->candidate_count; i++) {
    const struct final_candidate *candidate = &request->candidates[i];
    if (candidate->outcome == OUTCOME_MEASURED && candidate->median_ms > 0)
      best_ms = fmin(best_ms, candidate->median_ms);
  }
  return fmin(finals_energy_ms(request->objective, isfinite(best_ms) ? best_ms : 0),
              FINALS_ENERGY_PART * request->budget_ms);
}

static halotune_status phase_make(const struct finals_request *request, struct finals *out) {
  const size_t count = (size_t)request->candidate_count;
  struct finals_phase *phase = out->phase = calloc(1, sizeof *phase);
  if (!phase) return fail_memory();
  *phase = (struct finals_phase){.request = *request, .out = out, .begin_ms = time_now_ms(&request->time)};
  phase->energy_end_ms = phase->begin_ms + request->budget_ms;
  phase->end_ms = phase->energy_end_ms - energy_part_ms(request);
  out->entries = arena_alloc(&phase->arena, count * sizeof *out->entries);
  phase->contestants = arena_alloc(&phase->arena, count * sizeof *phase->contestants);
  phase->by_time = arena_alloc(&phase->arena, count * sizeof *phase->by_time);
  phase->finalists = arena_alloc(&phase->arena, count * sizeof *phase->finalists);
  const bool is_made = out->entries && phase->contestants && phase->by_time && phase->finalists;
  return is_made ? HALOTUNE_OK : fail_memory();
}

static void phase_free(struct finals_phase *phase) {
  if (!phase) return;
  rounds_free(&phase->entry);
  rounds_free(&phase->final);
  rounds_free(&phase->energy);
  arena_free(&phase->arena);
  free(phase);
}

/* Measure the launch of a kernel that does nothing. */
static halotune_status measure_empty(struct finals_phase *phase) {
  struct backend_handle *backend = phase->request.backend;
  const int slot = SLOT_EMPTY;
  double times_ms[EMPTY_SAMPLES], time_ms;
  int batch, failed;
  struct verdict verdict;
  halotune_status st = measure_batch(backend, slot, MEASURE_SAMPLE_US / 1e3, &batch, &time_ms, &verdict);
  if (st != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return st;
  const struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = EMPTY_SAMPLES};
  st = backend->table->sample(backend->state, &plan, times_ms, &failed, &verdict);
  if (st == HALOTUNE_OK && verdict.outcome == OUTCOME_MEASURED) {
    phase->out->empty_ms = median_of(times_ms, EMPTY_SAMPLES);
  }
  return st;
}

/* Drop the slowest entrants, because loading took longer than planned. Entries that failed stay, so that they are
 * reported. */
static void cut_entries(struct finals_phase *phase) {
  struct finals *out = phase->out;
  int entrants = 0, kept = 0;
  for (int i = 0; i < out->count; i++) {
    const struct final_entry *entry = &out->entries[i];
    const bool counts = !finals_guest_of(phase, entry) && entry->verdict.outcome == OUTCOME_MEASURED;
    if (counts && entrants == phase->plan.entrants) continue;
    entrants += counts;
    out->entries[kept] = out->entries[i];
    out->entries[kept].loaded = kept;
    kept++;
  }
  out->count = kept;
}

static struct player player_of(const struct finals_phase *phase, int entry) {
  const struct final_entry *from = &phase->out->entries[entry];
  return (struct player){.slot = from->slot,
                         .batch = batch_of(phase->contestants[from->candidate].median_ms, phase->plan.sample_ms),
                         .verdict = from->verdict,
                         .is_constant = backend_is_constant(phase->request.backend, from->slot)};
}

static struct rounds_end end_of(const struct finals_phase *phase, int least) {
  const struct finals_request *request = &phase->request;
  return (struct rounds_end){
      .at_ms = phase->end_ms, .least = least, .is_stopped = request->is_stopped, .state = request->state};
}

/* Step 3: take few rounds of all entrants. */
static halotune_status run_entry(struct finals_phase *phase) {
  const int count = phase->out->count, wanted = phase->plan.entry_rounds;
  const int least = phase->plan.entry_rounds_least;
  const struct rounds_end end = end_of(phase, least);
  halotune_status st =
      rounds_make(phase->request.backend, &phase->request.time, phase->request.seed, count, wanted, &phase->entry);
  if (st != HALOTUNE_OK) return st;
  for (int i = 0; i < count; i++) {
    const struct finals_guest *guest = finals_guest_of(phase, &phase->out->entries[i]);
    phase->entry.players[i] = player_of(phase, i);
    /* a rare guest is a finalist in any case */
    if (guest && guest->is_rare) phase->entry.players[i].skips = ROUNDS_NONE;
  }
  if ((st = steady_wait(phase->request.backend)) != HALOTUNE_OK) return st; /* loading may have waited for compiles */
  if ((st = rounds_run(&phase->entry, wanted, &end)) != HALOTUNE_OK) return st;
  rounds_drop_throttled(&phase->entry, least);
  double *adjusted_ms = arena_alloc(&phase->arena, (size_t)count * sizeof *adjusted_ms);
  if (!adjusted_ms) return fail_memory();
  rounds_adjusted(&phase->entry, adjusted_ms);
  for (int i = 0; i < count; i++) {
    phase->out->entries[i].verdict = phase->entry.players[i].verdict;
    phase->out->entries[i].entry_ms = adjusted_ms[i];
  }
  return HALOTUNE_OK;
}

static bool is_in(const struct finals_phase *phase, int entry) {
  return phase->out->entries[entry].verdict.outcome == OUTCOME_MEASURED;
}

/* Entries go to the final rounds in the order of this number: what a lookup serves, then the fastest. */
static double finalist_order_ms(const struct final_entry *entry) { return entry->is_served ? 0 : entry->entry_ms; }

/* Choose the fastest entries that are still in, what a lookup serves, and the default. Returns how many there are. */
static int choose_finalists(struct finals_phase *phase) {
  int count = 0, others = 0;
  phase->finalist_count = 0;
  for (int i = 0; i < phase->out->count; i++) {
    if (is_in(phase, i) && finals_guest_of(phase, &phase->out->entries[i])) phase->finalists[count++] = i;
  }
  for (; others < phase->plan.finalists; others++) {
    int best = -1;
    for (int i = 0; i < phase->out->count; i++) {
      bool is_chosen = false;
      for (int j = 0; j < count; j++) is_chosen = is_chosen || phase->finalists[j] == i;
      if (!is_in(phase, i) || is_chosen) continue;
      if (best < 0 || finalist_order_ms(&phase->out->entries[i]) < finalist_order_ms(&phase->out->entries[best]))
        best = i;
    }
    if (best < 0) break;
    phase->finalists[count++] = best;
  }
  for (int i = 0; i < count; i++) phase->out->entries[phase->finalists[i]].is_finalist = true;
  return phase->finalist_count = count;
}

static halotune_status tell_chosen(struct finals_phase *phase) {
  const size_t room = (size_t)phase->finalist_count + 1;
  int *candidates = arena_alloc(&phase->arena, room * sizeof *candidates);
  if (!candidates) return fail_memory();
  for (int i = 0; i < phase->finalist_count; i++) candidates[i] = phase->out->entries[phase->finalists[i]].candidate;
  return phase->request.chosen(phase->request.state, candidates, phase->finalist_count);
}

/* Learn the times of the finalists on the other GPUs. */
static halotune_status weigh_finalists(struct finals_phase *phase) {
  const size_t room = (size_t)phase->final.player_count + 1;
  double *adjusted_ms = arena_alloc(&phase->arena, room * sizeof *adjusted_ms);
  double *weights = arena_alloc(&phase->arena, room * sizeof *weights);
  if (!adjusted_ms || !weights) return fail_memory();
  rounds_adjusted(&phase->final, adjusted_ms);
  for (int i = 0; i < phase->finalist_count; i++) weights[i] = 1;
  phase->weights = weights;
  return phase->request.weigh(phase->request.state, adjusted_ms, weights);
}

/* The time of one application of the default; of the best if there is no default. */
static double default_of(const struct finals_phase *phase) {
  for (int i = 0; i < phase->request.candidate_count; i++) {
    const double median_ms = phase->contestants[i].median_ms;
    if (phase->request.candidates[i].is_default && median_ms > 0) return median_ms;
  }
  return phase->best_ms;
}

/* Recheck a player of the final rounds that is still in and runs in all rounds, to learn how long a recheck takes.
 *   spent_ms  receives that time */
static halotune_status time_recheck(struct finals_phase *phase, double *spent_ms) {
  struct backend_handle *backend = phase->request.backend;
  const double begin_ms = time_now_ms(&phase->request.time);
  halotune_status st = HALOTUNE_OK;
  for (int i = 0; i < phase->finalist_count; i++) {
    struct player *player = &phase->final.players[i];
    if (!player_is_in(&phase->final, i) || player->skips > 0) continue;
    st = backend->table->recheck(backend->state, player->slot, &player->verdict);
    break;
  }
  *spent_ms = time_now_ms(&phase->request.time) - begin_ms;
  return st;
}

/* Use the time that is left for more rounds. Enough stays for the rechecks and for the second grid, which takes about
 * as long as some loads.
 *   round_ms  time of a round */
static halotune_status run_more(struct finals_phase *phase, double round_ms) {
  enum { LATER_LOADS = 3 };
  struct rounds *rounds = &phase->final;
  struct rounds_end end = end_of(phase, 0);
  double recheck_ms, rare_ms = 0;
  end.at_ms -= LATER_LOADS * phase->load_ms + round_ms;
  if (time_now_ms(&phase->request.time) + phase->finalist_count * phase->load_ms >= end.at_ms) return HALOTUNE_OK;
  halotune_status st = time_recheck(phase, &recheck_ms);
  if (st != HALOTUNE_OK) return st;
  for (int i = 0; i < phase->finalist_count; i++) {
    if (rounds->players[i].skips == 0) continue;
    rounds->players[i].skips = ROUNDS_NONE; /* a rare guest has enough rounds */
    rare_ms += phase->contestants[phase->out->entries[phase->finalists[i]].candidate].median_ms;
  }
  end.at_ms -= phase->finalist_count * recheck_ms + rare_ms;
  return rounds_run(rounds, rounds->capacity - rounds->count, &end);
}

/* Step 4: take many rounds of the finalists and the roof. */
static halotune_status run_final(struct finals_phase *phase) {
  const struct finals_request *request = &phase->request;
  const int finalists = phase->finalist_count, wanted = phase->plan.final_rounds;
  const struct rounds_end end = end_of(phase, phase->plan.final_rounds_least);
  double time_ms;
  rounds_free(&phase->final);
  halotune_status st = rounds_make(request->backend, &request->time, ~request->seed, finalists + request->roof_count,
                                   request->fills ? FINALS_ROUNDS_MOST : wanted, &phase->final);
  if (st != HALOTUNE_OK) return st;
  for (int i = 0; i < finalists; i++) {
    const struct finals_guest *guest = finals_guest_of(phase, &phase->out->entries[phase->finalists[i]]);
    phase->final.players[i] = player_of(phase, phase->finalists[i]);
    if (guest && guest->is_rare) phase->final.players[i].skips = (wanted - 1) / guest->rounds;
  }
  for (int i = 0; i < request->roof_count; i++) {
    struct player *roof = &phase->final.players[finalists + i];
    roof->slot = request->roofs[i];
    roof->is_constant = backend_is_constant(request->backend, roof->slot);
    st = measure_batch(request->backend, roof->slot, phase->plan.sample_ms, &roof->batch, &time_ms, &roof->verdict);
    if (st != HALOTUNE_OK) return st;
  }
  if (request->chosen && (st = tell_chosen(phase)) != HALOTUNE_OK) return st;
  phase->final.checks = phase->plan.checks;
  phase->out->is_unchecked = !phase->plan.checks;
  const double begin_ms = time_now_ms(&request->time);
  if ((st = rounds_run(&phase->final, wanted, &end)) != HALOTUNE_OK) return st;
  const double round_ms = (time_now_ms(&request->time) - begin_ms) / wanted;
  if (request->fills && (st = run_more(phase, round_ms)) != HALOTUNE_OK) return st;
  phase->out->is_marked = rounds_drop_throttled(&phase->final, phase->plan.final_rounds_least);
  return HALOTUNE_OK;
}

/* Step 6: recheck the finalists.
 *   left  receives how many are still in */
static halotune_status recheck_finalists(struct finals_phase *phase, int *left) {
  struct backend_handle *backend = phase->request.backend;
  *left = 0;
  for (int i = 0; i < phase->finalist_count; i++) {
    struct player *player = &phase->final.players[i];
    if (player_is_in(&phase->final, i)) {
      halotune_status st = backend->table->recheck(backend->state, player->slot, &player->verdict);
      if (st != HALOTUNE_OK) return st;
    }
    phase->out->entries[phase->finalists[i]].verdict = player->verdict;
    *left += player_is_in(&phase->final, i);
  }
  return HALOTUNE_OK;
}

halotune_status finals_run(const struct finals_request *request, struct finals *out) {
  struct finals_plan rest;
  struct finals_times times = {.recheck_ms = 0};
  int left = 0;
  halotune_status st;
  *out = (struct finals){.roof = -1,
                         .roof_ms = NAN,
                         .roof_ratio = NAN,
                         .roof_ratio_low = NAN,
                         .roof_ratio_high = NAN,
                         .empty_ms = NAN,
                         .default_ms = NAN,
                         .idle_w = NAN};
  for (int i = 0; i < FINALS_ROOFS; i++) out->roofs_ms[i] = NAN;
  if ((st = phase_make(request, out)) != HALOTUNE_OK) return st;
  struct finals_phase *phase = out->phase;
  if ((st = measure_empty(phase)) != HALOTUNE_OK) return st;
  if ((st = finals_enter(phase)) != HALOTUNE_OK) return st;
  const double load_begin_ms = time_now_ms(&request->time);
  times.best_ms = phase->best_ms;
  times.default_ms = default_of(phase);
  if (phase->far >= 0 && !request->candidates[phase->far].is_default)
    times.served_ms = phase->contestants[phase->far].median_ms;
  finals_plan_make(&times, phase->end_ms - load_begin_ms, phase->by_time_count, request->roof_count, &phase->plan);
  out->is_scaled = out->is_scaled || phase->plan.is_scaled;
  if ((st = finals_load(phase)) != HALOTUNE_OK || out->count == 0) return st;

  /* A recheck takes about as long as loading, whose time is known now. */
  const double load_end_ms = time_now_ms(&request->time);
  times.recheck_ms = phase->load_ms = (load_end_ms - load_begin_ms) / out->count;
  if (backend_drawn_points(request->backend) > 0) times.look_ms = phase->load_ms; /* inputs are drawn, as in a load */
  finals_plan_make(&times, phase->end_ms - load_end_ms, out->count, request->roof_count, &rest);
  out->is_scaled = out->is_scaled || rest.is_scaled;
  phase->plan = rest;
  if (request->objective != OBJECTIVE_TIME && phase->plan.finalists > ENERGY_FINALISTS)
    phase->plan.finalists = ENERGY_FINALISTS;
  cut_entries(phase);
  if ((st = run_entry(phase)) != HALOTUNE_OK) return st;
  while (left == 0 && choose_finalists(phase) > 0) {
    if ((st = run_final(phase)) != HALOTUNE_OK) return st;
    if (phase->final.count < phase->plan.final_rounds_least && finals_stopped(request)) return HALOTUNE_OK;
    if ((st = energy_rounds_run(phase)) != HALOTUNE_OK) return st;
    if ((st = recheck_finalists(phase, &left)) != HALOTUNE_OK) return st;
  }
  if (left > 0 && request->weigh && (st = weigh_finalists(phase)) != HALOTUNE_OK) return st;
  return left > 0 ? finals_result(phase) : HALOTUNE_OK;
}

void finals_free(struct finals *finals) {
  phase_free(finals->phase);
  *finals = (struct finals){0};
}
