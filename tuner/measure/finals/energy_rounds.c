/* energy_rounds.c: takes the rounds, and computes the scores that rank the finalists. */
#include "tuner/measure/finals/energy_rounds.h"

#include <math.h>

/* Take one sample. If the counter does not change, there is no energy. This does not end the run.
 *   is_taken  receives whether `out` was filled */
static halotune_status take_sample(struct finals_phase *phase, int slot, double time_ms, struct energy_sample *out,
                                   struct verdict *verdict, bool *is_taken) {
  struct backend_handle *backend = phase->request.backend;
  const struct energy_plan plan = {
      .slot = slot, .time_ms = time_ms, .least_ms = ENERGY_LOOP_MS, .least_changes = ENERGY_CHANGES};
  const halotune_status st = backend->table->energy(backend->state, &plan, out, verdict);
  *is_taken = st == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED;
  if (st == HALOTUNE_NOT_FOUND) phase->out->lacks_energy = true;
  return st == HALOTUNE_NOT_FOUND ? HALOTUNE_OK : st;
}

static halotune_status measure_idle(struct finals_phase *phase) {
  struct energy_sample sample;
  struct verdict verdict;
  bool is_taken;
  halotune_status st = take_sample(phase, ENERGY_IDLE, 0, &sample, &verdict, &is_taken);
  if (is_taken) phase->out->idle_w = sample.energy_mj / sample.span_ms;
  return st;
}

/* Have each finalist run once, in a random order. A round that is stopped does not count. */
static halotune_status take_round(struct finals_phase *phase) {
  struct rounds *rounds = &phase->energy;
  const int count = rounds->player_count;
  double *row_mj = rounds->times_ms + ((size_t)rounds->count * (size_t)count);
  for (int p = 0; p < count; p++) {
    row_mj[p] = NAN;
    rounds->order[p] = p;
  }
  rounds_shuffle(rounds, count);
  for (int i = 0; i < count && !phase->out->lacks_energy; i++) {
    if (finals_stopped(&phase->request)) return HALOTUNE_OK;
    const int p = rounds->order[i];
    const struct final_entry *entry = &phase->out->entries[phase->finalists[p]];
    struct player *player = &phase->final.players[p];
    struct energy_sample sample;
    bool is_taken;
    if (!player_is_in(&phase->final, p)) continue;
    halotune_status st = take_sample(phase, player->slot, phase->contestants[entry->candidate].median_ms, &sample,
                                     &player->verdict, &is_taken);
    if (st != HALOTUNE_OK) return st;
    if (is_taken && sample.applications > 0) row_mj[p] = sample.energy_mj / (double)sample.applications;
    rounds->players[p].verdict = player->verdict;
  }
  rounds->count += !phase->out->lacks_energy;
  return HALOTUNE_OK;
}

static double round_cost_ms(const struct finals_phase *phase) {
  double cost_ms = 0;
  for (int p = 0; p < phase->finalist_count; p++) {
    const struct final_entry *entry = &phase->out->entries[phase->finalists[p]];
    if (player_is_in(&phase->final, p)) cost_ms += finals_loop_ms(phase->contestants[entry->candidate].median_ms);
  }
  return cost_ms;
}

/* Whether so much time fits into the phase together with the rechecks after it. A recheck takes about as long as a
 * load. If it does not fit, finals.energy_need_ms receives the time that the phase needs. */
static bool time_fits(struct finals_phase *phase, double cost_ms) {
  const double end_ms = time_now_ms(&phase->request.time) + cost_ms + phase->finalist_count * phase->load_ms;
  const bool is_in_time = end_ms <= phase->energy_end_ms;
  phase->out->energy_need_ms = is_in_time ? 0 : fmax(end_ms - phase->begin_ms, cost_ms / FINALS_ENERGY_PART);
  return is_in_time;
}

static bool may_go_on(const struct finals_phase *phase) {
  return !phase->out->lacks_energy && !finals_stopped(&phase->request);
}

/* Take as many rounds as there is time for. */
static halotune_status take_rounds(struct finals_phase *phase) {
  halotune_status st = HALOTUNE_OK;
  const double round_ms = round_cost_ms(phase);
  if (!may_go_on(phase) || !time_fits(phase, finals_loop_ms(0) + round_ms)) return HALOTUNE_OK;
  st = measure_idle(phase);
  while (st == HALOTUNE_OK && may_go_on(phase) && phase->energy.count < ENERGY_ROUNDS && time_fits(phase, round_ms))
    st = take_round(phase);
  if (phase->out->lacks_energy) phase->energy.count = 0; /* time ranks, and no energy is reported */
  return st;
}

halotune_status energy_rounds_run(struct finals_phase *phase) {
  const struct finals_request *request = &phase->request;
  phase->out->idle_w = NAN;
  phase->out->lacks_energy = false;
  phase->out->energy_need_ms = 0;
  rounds_free(&phase->energy);
  if (request->objective == OBJECTIVE_TIME) return HALOTUNE_OK;
  phase->out->lacks_energy = !backend_counts_energy(request->backend);
  halotune_status st = rounds_make(request->backend, &request->time, request->seed + 1, phase->finalist_count,
                                   ENERGY_ROUNDS, &phase->energy);
  for (int p = 0; p < phase->finalist_count && st == HALOTUNE_OK; p++)
    phase->energy.players[p] = phase->final.players[p];
  return st == HALOTUNE_OK ? take_rounds(phase) : st;
}

/* Whether the rounds rank the finalists: at least one that is still in has an energy. */
static bool is_ranking(struct finals_phase *phase) {
  for (int p = 0; p < phase->energy.player_count; p++) {
    if (player_is_in(&phase->final, p) && rounds_times(&phase->energy, p).count > 0) return true;
  }
  return false;
}

void energy_rounds_scores(struct finals_phase *phase, const double *adjusted_ms, double *scores) {
  const int count = phase->finalist_count;
  if (!is_ranking(phase)) {
    for (int p = 0; p < count; p++) scores[p] = adjusted_ms[p];
    return;
  }
  rounds_adjusted(&phase->energy, scores);
  for (int p = 0; p < count && phase->request.objective == OBJECTIVE_EDP; p++) scores[p] *= adjusted_ms[p];
}

double energy_rounds_ratio_high(struct finals_phase *phase, int player, int to, double time_ratio) {
  if (!is_ranking(phase)) return time_ratio;
  const double ratio = rounds_ratio(&phase->energy, player, to).high;
  return phase->request.objective == OBJECTIVE_EDP ? ratio * time_ratio : ratio;
}

struct summary energy_rounds_energy(struct finals_phase *phase, int player) {
  static const struct summary none = {0, NAN, NAN, NAN, NAN, 0};
  return phase->energy.count > 0 ? rounds_times(&phase->energy, player) : none;
}
