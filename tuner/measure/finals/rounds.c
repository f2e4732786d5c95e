/* rounds.c: takes rounds, and computes from their times. */
#include "tuner/measure/finals/rounds.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers/random.h"
#include "tuner/measure/sampling/steady.h"

halotune_status rounds_make(struct backend_handle *backend, const struct time_source *time, uint64_t seed,
                            int player_count, int capacity, struct rounds *out) {
  const size_t players = (size_t)player_count, rounds = (size_t)capacity;
  const size_t values = players > rounds ? players : rounds;
  *out = (struct rounds){
      .backend = backend, .time = *time, .seed = seed, .player_count = player_count, .capacity = capacity};
  struct arena *arena = &out->arena;
  out->players = arena_alloc(arena, players * sizeof *out->players);
  out->times_ms = arena_alloc(arena, players * rounds * sizeof *out->times_ms);
  out->is_throttled = arena_alloc(arena, rounds * sizeof *out->is_throttled);
  out->factors = arena_alloc(arena, values * sizeof *out->factors);
  out->scratch = arena_alloc(arena, values * sizeof *out->scratch);
  out->slots = arena_alloc(arena, players * sizeof *out->slots);
  out->batches = arena_alloc(arena, players * sizeof *out->batches);
  out->order = arena_alloc(arena, players * sizeof *out->order);
  out->place_ms = arena_alloc(arena, players * sizeof *out->place_ms);
  if (out->players && out->times_ms && out->is_throttled && out->factors && out->scratch && out->slots &&
      out->batches && out->order && out->place_ms) {
    return HALOTUNE_OK;
  }
  rounds_free(out);
  return fail_memory();
}

void rounds_free(struct rounds *rounds) {
  arena_free(&rounds->arena);
  *rounds = (struct rounds){0};
}

bool player_is_in(const struct rounds *rounds, int player) {
  return rounds->players[player].verdict.outcome == OUTCOME_MEASURED;
}

/* Whether a player takes part in the round that begins. */
static bool has_turn(const struct rounds *rounds, int player) {
  const int skips = rounds->players[player].skips;
  return player_is_in(rounds, player) && skips != ROUNDS_NONE && rounds->count % (skips + 1) == 0;
}

void rounds_shuffle(struct rounds *rounds, int count) {
  for (int i = count - 1; i > 0; i--) {
    const int j = (int)(random_bits(rounds->seed, rounds->shuffles++) % (uint64_t)(i + 1));
    const int other = rounds->order[i];
    rounds->order[i] = rounds->order[j];
    rounds->order[j] = other;
  }
}

/* List the players of the next round in a random order. Returns how many there are. */
static int shuffle_players(struct rounds *rounds) {
  int count = 0;
  for (int p = 0; p < rounds->player_count; p++) {
    if (has_turn(rounds, p)) rounds->order[count++] = p;
  }
  rounds_shuffle(rounds, count);
  for (int i = 0; i < count; i++) {
    rounds->slots[i] = rounds->players[rounds->order[i]].slot;
    rounds->batches[i] = rounds->players[rounds->order[i]].batch;
  }
  return count;
}

/* Remove the player in this slot. If no player of the round has the slot, the backend made a mistake. */
static halotune_status remove_player(struct rounds *rounds, int slot, int count, const struct verdict *verdict) {
  for (int i = 0; i < count; i++) {
    if (rounds->slots[i] != slot) continue;
    rounds->players[rounds->order[i]].verdict = *verdict;
    return HALOTUNE_OK;
  }
  return fail(HALOTUNE_ARGUMENT, "the backend says that slot %d failed, but this slot took no part", slot);
}

/* Take one round into row `count`. A player that fails leaves, and the others take the round again.
 *   is_spoilt  receives whether the GPU was slowed down */
static halotune_status take_round(struct rounds *rounds, bool *is_spoilt) {
  struct backend_handle *backend = rounds->backend;
  double *row_ms = rounds->times_ms + (size_t)rounds->count * (size_t)rounds->player_count;
  struct gpu_reading before;
  backend->table->read(backend->state, &before);
  if (rounds->count == 0) rounds->before = before;
  for (int p = 0; p < rounds->player_count; p++) row_ms[p] = NAN;
  for (;;) {
    const int count = shuffle_players(rounds);
    if (count == 0) break;
    const struct sample_plan plan = {.slots = rounds->slots,
                                     .batches = rounds->batches,
                                     .slot_count = count,
                                     .rounds = 1,
                                     .warm = true,
                                     .checks = rounds->checks};
    struct verdict verdict = {.outcome = OUTCOME_MEASURED};
    int failed = -1;
    halotune_status st = backend->table->sample(backend->state, &plan, rounds->place_ms, &failed, &verdict);
    if (st != HALOTUNE_OK) return st;
    if (verdict.outcome != OUTCOME_MEASURED) {
      if ((st = remove_player(rounds, failed, count, &verdict)) != HALOTUNE_OK) return st;
      continue;
    }
    for (int i = 0; i < count; i++) row_ms[rounds->order[i]] = rounds->place_ms[i];
    break;
  }
  backend->table->read(backend->state, &rounds->after);
  *is_spoilt = reading_spoils(&before) || reading_spoils(&rounds->after);
  return HALOTUNE_OK;
}

static bool anyone_is_in(const struct rounds *rounds) {
  for (int p = 0; p < rounds->player_count; p++) {
    if (player_is_in(rounds, p)) return true;
  }
  return false;
}

halotune_status rounds_run(struct rounds *rounds, int wanted, const struct rounds_end *end) {
  const int begin = rounds->count;
  while (rounds->count < rounds->capacity && rounds->count - begin < wanted && anyone_is_in(rounds)) {
    if (end->is_stopped && end->is_stopped(end->state)) break;
    if (time_now_ms(&rounds->time) >= end->at_ms && rounds->count - begin >= end->least) break;
    bool is_spoilt = false;
    for (int repeats = 0; repeats <= THROTTLE_REPEATS; repeats++) {
      halotune_status st = repeats > 0 ? steady_pause(rounds->backend) : HALOTUNE_OK;
      if (st == HALOTUNE_OK) st = take_round(rounds, &is_spoilt);
      if (st != HALOTUNE_OK) return st;
      if (!is_spoilt || time_now_ms(&rounds->time) >= end->at_ms) break;
    }
    rounds->is_throttled[rounds->count++] = is_spoilt;
  }
  return HALOTUNE_OK;
}

static double time_of(const struct rounds *rounds, int round, int player) {
  return rounds->times_ms[(size_t)round * (size_t)rounds->player_count + (size_t)player];
}

/* Whether some player has times only in rounds with a slowdown. */
static bool anyone_needs_throttled(const struct rounds *rounds) {
  for (int p = 0; p < rounds->player_count; p++) {
    int all = 0, clean = 0;
    for (int r = 0; r < rounds->count; r++) {
      const bool is_there = !isnan(time_of(rounds, r, p));
      all += is_there;
      clean += is_there && !rounds->is_throttled[r];
    }
    if (player_is_in(rounds, p) && all > 0 && clean == 0) return true;
  }
  return false;
}

bool rounds_drop_throttled(struct rounds *rounds, int least) {
  const size_t row = (size_t)rounds->player_count;
  int clean = 0, kept = 0;
  for (int r = 0; r < rounds->count; r++) clean += !rounds->is_throttled[r];
  if (clean == rounds->count) return false;
  if (clean < least || anyone_needs_throttled(rounds)) return true;
  for (int r = 0; r < rounds->count; r++) {
    if (rounds->is_throttled[r]) continue;
    memmove(rounds->times_ms + (size_t)kept * row, rounds->times_ms + (size_t)r * row, row * sizeof *rounds->times_ms);
    rounds->is_throttled[kept++] = false;
  }
  rounds->count = kept;
  return false;
}

/* Append a value to the `count` values of the scratch array, unless it is NaN. */
static void gather_value(struct rounds *rounds, double value, int *count) {
  if (!isnan(value)) rounds->scratch[(*count)++] = value;
}

struct summary rounds_times(struct rounds *rounds, int player) {
  int count = 0;
  for (int r = 0; r < rounds->count; r++) gather_value(rounds, time_of(rounds, r, player), &count);
  return summary_of(rounds->scratch, count);
}

struct summary rounds_ratio(struct rounds *rounds, int player, int to) {
  int count = 0;
  for (int r = 0; r < rounds->count; r++)
    gather_value(rounds, time_of(rounds, r, player) / time_of(rounds, r, to), &count);
  return summary_of(rounds->scratch, count);
}

void rounds_adjusted(struct rounds *rounds, double *out_ms) {
  for (int p = 0; p < rounds->player_count; p++) {
    out_ms[p] = player_is_in(rounds, p) ? rounds_times(rounds, p).median : NAN;
  }
  for (int r = 0; r < rounds->count; r++) {
    int count = 0;
    for (int p = 0; p < rounds->player_count; p++) {
      if (player_is_in(rounds, p)) gather_value(rounds, time_of(rounds, r, p) / out_ms[p], &count);
    }
    rounds->factors[r] = median_of(rounds->scratch, count);
  }
  for (int p = 0; p < rounds->player_count; p++) {
    int count = 0;
    if (!player_is_in(rounds, p)) continue;
    for (int r = 0; r < rounds->count; r++) gather_value(rounds, time_of(rounds, r, p) / rounds->factors[r], &count);
    out_ms[p] = median_of(rounds->scratch, count);
  }
}
