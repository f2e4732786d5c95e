/* rounds.h: interleaved rounds: in each, every player is sampled once, in an order shuffled anew, right after an
 * untimed application of its own. What changes slowly (clocks, temperature) then hits all players of a round alike,
 * and cancels in the ratio of two times of one round; what a kernel leaves behind for the next (caches, TLBs, heat)
 * is spread over all by the shuffle, and kept from the sample by the untimed application. Threads: as the backend. */
#ifndef MEASURE_FINALS_ROUNDS_H
#define MEASURE_FINALS_ROUNDS_H

#include "base/arena.h"
#include "base/clock.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/measure/sampling/statistics.h"

enum { ROUNDS_NONE = -1 };

/* A slot that takes part. */
struct player {
  int slot, batch;
  int skips;              /* after each round with it, as many without it follow; ROUNDS_NONE: it is in none */
  struct verdict verdict; /* OUTCOME_MEASURED; otherwise it left, and its times mean nothing */
  bool is_constant;       /* all its times are one value, which tells nothing of how they vary */
};

/* Rounds that were taken. Begin with rounds_make, end with rounds_free. */
struct rounds {
  struct backend_handle *backend;
  struct time_source time;
  struct arena arena; /* the arrays below */
  struct player *players;
  int player_count, count, capacity;
  double *times_ms;             /* of round r and player p: times_ms[r * player_count + p]; NaN where it took no part */
  bool *is_throttled;           /* a round; it was repeated, and is still slowed down */
  double *factors, *scratch;    /* room to compute in */
  int *slots, *batches, *order; /* of one round; order: the player of each place */
  double *place_ms;
  uint64_t seed, shuffles;          /* shuffles: so far, so that each has numbers of its own */
  bool checks;                      /* results of samples are looked at (sample_plan) */
  struct gpu_reading before, after; /* of the first and the last round */
};

/* When to take no more rounds, although fewer than wanted are there. */
struct rounds_end {
  double at_ms; /* then, once `least` rounds are there; no round is repeated after it either */
  int least;
  bool (*is_stopped)(void *state); /* at once; NULL: never */
  void *state;
};

/* Returns HALOTUNE_OK or HALOTUNE_MEMORY. The players' slots, batches and verdicts are filled by the caller before
 * rounds_run. */
halotune_status rounds_make(struct backend_handle *backend, const struct time_source *time, uint64_t seed,
                            int player_count, int capacity, struct rounds *out);
void rounds_free(struct rounds *rounds);

/* Take `wanted` rounds more, as far as there is room. A round during which the GPU throttled
 * (steady.h) is repeated at most THROTTLE_REPEATS times, then kept as it is. A player that goes wrong
 * leaves, and the round is taken again by the others.
 * Returns HALOTUNE_OK, or the backend's status. */
halotune_status rounds_run(struct rounds *rounds, int wanted, const struct rounds_end *end);

/* Drop the rounds that were slowed down, where at least `least` others remain, and of each player that has a time
 * one of its own among them. Returns whether slow ones remain. */
bool rounds_drop_throttled(struct rounds *rounds, int least);

bool player_is_in(const struct rounds *rounds, int player);

/* One player's times, and the ratio of two players' times in the same round, over the rounds that both took part in. */
struct summary rounds_times(struct rounds *rounds, int player);
struct summary rounds_ratio(struct rounds *rounds, int player, int to);

/* One time for each player, in which what all players of a round have in common is taken out: the median over rounds
 * of its time over the round's factor. The factor of a round is the median over its players of time over that player's
 * own median. Fair between players that have a time in every round. NaN for those that left or have no time.
 *   out_ms  player_count numbers */
void rounds_adjusted(struct rounds *rounds, double *out_ms);

#endif
