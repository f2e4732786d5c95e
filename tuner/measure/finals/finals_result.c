/* finals_result.c: finds leader, ties, winner, ranks and the share of the roof from the times of the rounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "tuner/measure/finals/energy_rounds.h"
#include "tuner/measure/finals/finals.h"
#include "tuner/measure/finals/tie_rule.h"

/* The player with the lowest score among the `count` players from `first`, such as an adjusted time; -1 if none of
 * them is in and has a score. */
static int fastest_player(const struct rounds *rounds, const double *adjusted_ms, int first, int count) {
  int best = -1;
  for (int p = first; p < first + count; p++) {
    if (player_is_in(rounds, p) && !isnan(adjusted_ms[p]) && (best < 0 || adjusted_ms[p] < adjusted_ms[best])) best = p;
  }
  return best;
}

/* The factor that turns the ratio of two finalists on this device into the ratio of their means over all GPUs. */
static double weight_beside(const struct finals_phase *phase, int player, int other) {
  return phase->weights ? phase->weights[player] / phase->weights[other] : 1;
}

/* Find the winner's player by the rule of step 7.
 *   scores the numbers by which finalists are ranked */
static halotune_status choose_winner(struct finals_phase *phase, const double *scores, int *winner) {
  const int count = phase->finalist_count, leader = fastest_player(&phase->final, scores, 0, count);
  struct contender *contenders = arena_alloc(&phase->arena, (size_t)count * sizeof *contenders);
  if (!contenders) return fail_memory();
  for (int p = 0; p < count; p++) {
    struct final_entry *entry = &phase->out->entries[phase->finalists[p]];
    const struct final_candidate *candidate = &phase->request.candidates[entry->candidate];
    const double time_ratio = rounds_ratio(&phase->final, p, leader).high * weight_beside(phase, p, leader);
    entry->is_tie = player_is_in(&phase->final, p) &&
                    (p == leader || energy_rounds_ratio_high(phase, p, leader, time_ratio) <= FINALS_TIE_RATIO);
    contenders[p] = (struct contender){.is_tie = entry->is_tie,
                                       .is_default = entry->is_default,
                                       .registers = candidate->registers,
                                       .shared_bytes = candidate->shared_bytes,
                                       .order = candidate->order};
  }
  *winner = tie_winner(contenders, count);
  return HALOTUNE_OK;
}

/* A player's ratio to the winner. If the times of one of them are a single value, its interval is not known. */
static struct summary tell_ratio(struct rounds *rounds, int player, int winner) {
  struct summary ratio = rounds_ratio(rounds, player, winner);
  if (rounds->players[player].is_constant || rounds->players[winner].is_constant) ratio.low = ratio.high = NAN;
  return ratio;
}

/* Fill an entry's times and ratios from some rounds.
 *   weight factor on its ratio */
static halotune_status tell_entry(struct rounds *rounds, int player, int winner, double weight, struct arena *arena,
                                  struct final_entry *entry) {
  const struct summary times = rounds_times(rounds, player), ratio = tell_ratio(rounds, player, winner);
  entry->ratio = ratio.median * weight;
  entry->ratio_low = ratio.low * weight;
  entry->ratio_high = ratio.high * weight;
  entry->samples = arena_alloc(arena, (size_t)rounds->count * sizeof *entry->samples);
  if (!entry->samples) return fail_memory();
  for (int r = 0, count = 0; r < rounds->count; r++) {
    const double time_ms = rounds->times_ms[(r * rounds->player_count) + player];
    if (!isnan(time_ms)) entry->samples[count++] = (float)time_ms;
  }
  const bool is_constant = rounds->players[player].is_constant;
  entry->timing = is_constant ? timing_of_one(&times, entry->samples) : timing_of(&times, entry->samples);
  return HALOTUNE_OK;
}

static void tell_roof(struct finals_phase *phase, const double *adjusted_ms, int winner) {
  struct rounds *rounds = &phase->final;
  struct finals *out = phase->out;
  const int first = phase->finalist_count, count = phase->request.roof_count;
  const int roof = fastest_player(rounds, adjusted_ms, first, count);
  out->roof = -1;
  for (int i = 0; i < count; i++) {
    if (player_is_in(rounds, first + i)) out->roofs_ms[i] = rounds_times(rounds, first + i).median;
  }
  if (roof < 0) return;
  const struct summary ratio = tell_ratio(rounds, roof, winner);
  out->roof = roof - first;
  out->roof_ms = out->roofs_ms[out->roof];
  out->roof_ratio = ratio.median;
  out->roof_ratio_low = ratio.low;
  out->roof_ratio_high = ratio.high;
}

/* An entry with its key for sorting. The groups are winner, finalists, other entries, entries that left. */
struct ranking {
  int group;
  double score; /* the key within its group */
  struct final_entry entry;
};

static int compare_rankings(const void *left, const void *right) {
  const struct ranking *a = left, *b = right;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  if (a->score != b->score) return a->score < b->score ? -1 : 1;
  return (a->entry.candidate > b->entry.candidate) - (a->entry.candidate < b->entry.candidate);
}

static void tell_energy(struct finals_phase *phase, int player, struct final_entry *entry) {
  const struct summary energy = energy_rounds_energy(phase, player);
  entry->energy_mj = energy.median;
  entry->energy_low_mj = energy.low;
  entry->energy_high_mj = energy.high;
}

static void rank_entries(struct finals *out, struct ranking *rankings) {
  out->ranked = 0;
  out->default_ms = NAN;
  for (int i = 0; i < out->count; i++) rankings[i].entry = out->entries[i];
  qsort(rankings, (size_t)out->count, sizeof *rankings, compare_rankings);
  for (int i = 0; i < out->count; i++) {
    out->entries[i] = rankings[i].entry;
    out->entries[i].rank = 0;
    if (out->entries[i].verdict.outcome == OUTCOME_MEASURED) out->entries[i].rank = ++out->ranked;
    if (out->entries[i].is_default && out->entries[i].rank) out->default_ms = out->entries[i].timing.median_ms;
  }
}

halotune_status finals_result(struct finals_phase *phase) {
  struct finals *out = phase->out;
  double *adjusted_ms = arena_alloc(&phase->arena, (size_t)phase->final.player_count * sizeof *adjusted_ms);
  double *scores = arena_alloc(&phase->arena, (size_t)phase->final.player_count * sizeof *scores);
  struct ranking *rankings = arena_alloc(&phase->arena, (size_t)out->count * sizeof *rankings);
  int winner;
  if (!adjusted_ms || !scores || !rankings) return fail_memory();
  rounds_adjusted(&phase->final, adjusted_ms);
  for (int p = 0; p < phase->finalist_count && phase->weights; p++) adjusted_ms[p] *= phase->weights[p];
  energy_rounds_scores(phase, adjusted_ms, scores);
  halotune_status st = choose_winner(phase, scores, &winner);
  for (int i = 0; i < out->count && st == HALOTUNE_OK; i++) {
    const bool is_in = out->entries[i].verdict.outcome == OUTCOME_MEASURED;
    rankings[i].group = !is_in ? 3 : 2;
    rankings[i].score = is_in ? out->entries[i].entry_ms : 0;
    if (is_in && !out->entries[i].is_finalist) {
      st = tell_entry(&phase->entry, i, phase->finalists[winner], 1, &phase->arena, &out->entries[i]);
    }
  }
  for (int p = 0; p < phase->finalist_count && st == HALOTUNE_OK; p++) {
    const int i = phase->finalists[p];
    if (!player_is_in(&phase->final, p)) continue;
    rankings[i].group = p == winner ? 0 : 1;
    rankings[i].score = isnan(scores[p]) ? INFINITY : scores[p];
    tell_energy(phase, p, &out->entries[i]);
    st = tell_entry(&phase->final, p, winner, weight_beside(phase, p, winner), &phase->arena, &out->entries[i]);
  }
  if (st != HALOTUNE_OK) return st;
  tell_roof(phase, adjusted_ms, winner);
  rank_entries(out, rankings);
  out->entry_rounds = phase->entry.count;
  out->final_rounds = phase->final.count;
  out->energy_rounds = phase->energy.count;
  out->before = phase->final.before;
  out->after = phase->final.after;
  return HALOTUNE_OK;
}

static int compare_loaded(const void *left, const void *right) {
  return ((const struct final_entry *)left)->loaded - ((const struct final_entry *)right)->loaded;
}

halotune_status finals_reject(struct finals *finals, const struct verdict *verdict) {
  struct finals_phase *phase = finals->phase;
  const int rejected = finals->entries[0].loaded;
  int left = 0;
  phase->out = finals;
  qsort(finals->entries, (size_t)finals->count, sizeof *finals->entries, compare_loaded);
  finals->entries[rejected].verdict = *verdict;
  for (int p = 0; p < phase->finalist_count; p++) {
    if (phase->finalists[p] == rejected) phase->final.players[p].verdict = *verdict;
    left += player_is_in(&phase->final, p);
  }
  if (left > 0) return finals_result(phase);
  for (int i = 0; i < finals->count; i++) finals->entries[i].rank = 0;
  finals->ranked = 0;
  finals->roof_ratio = finals->roof_ratio_low = finals->roof_ratio_high = finals->default_ms = NAN;
  return HALOTUNE_OK;
}
