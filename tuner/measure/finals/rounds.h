/* rounds.h: interleaved rounds. In a round every player is sampled once, in a new random order, right after an untimed
 * application of its own. Clocks and temperature, which change slowly, affect all players of a round alike, and cancel
 * in the ratio of two times of one round. A kernel affects the next one through caches, TLBs and heat: the random order
 * spreads this over all players, and the untimed application keeps it out of the sample. Threads: as the backend. */
#ifndef MEASURE_FINALS_ROUNDS_H
#define MEASURE_FINALS_ROUNDS_H

#include "base/memory/arena.h"
#include "base/system/clock.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/measure/sampling/statistics.h"

enum { ROUNDS_NONE = -1 };

/* A loaded slot that takes part in the rounds. */
struct player {
  int slot, batch;
  int skips;              /* rounds without it after each round with it; ROUNDS_NONE: it is in no round */
  struct verdict verdict; /* if this is not OUTCOME_MEASURED, it left, and its times mean nothing */
  bool is_constant;       /* all its times are one value, so it is not known how they vary */
};

/* The times of rounds. Begin with rounds_make, end with rounds_free. */
struct rounds {
  struct backend_handle *backend;
  struct time_source time;
  struct arena arena; /* the arrays below */
  struct player *players;
  int player_count, count, capacity;
  double *times_ms;          /* time of player p in round r: times_ms[r * player_count + p]; NaN if it took no part */
  bool *is_throttled;        /* for each round: it was repeated, and the GPU was still slowed down */
  double *factors, *scratch; /* room for computations */
  int *slots, *batches, *order; /* arrays of one round; order: the player of each place */
  double *place_ms;
  uint64_t seed, shuffles;          /* shuffles: random numbers drawn so far */
  bool checks;                      /* the results of samples are checked (sample_plan) */
  struct gpu_reading before, after; /* readings at the first and the last round */
};

/* When to take no more rounds, even if fewer than wanted are there. */
struct rounds_end {
  double at_ms; /* end at this time if there are `least` rounds; no round is repeated after it */
  int least;
  bool (*is_stopped)(void *state); /* end at once if this returns true; NULL: never */
  void *state;
};

/* Make room for so many rounds. The caller fills slots, batches and verdicts of the players before rounds_run. Returns
 * HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status rounds_make(struct backend_handle *backend, const struct time_source *time, uint64_t seed,
                            int player_count, int capacity, struct rounds *out);
void rounds_free(struct rounds *rounds);

/* Take `wanted` more rounds, or as many as there is room for. A round in which the GPU throttled (steady.h) is
 * repeated at most THROTTLE_REPEATS times, then kept as it is. A player that goes wrong leaves, and the others take the
 * round again. Returns HALOTUNE_OK, or the backend's status. */
halotune_status rounds_run(struct rounds *rounds, int wanted, const struct rounds_end *end);

/* Drop the rounds in which the GPU was slowed down, if at least `least` others remain, and each player that has a time
 * keeps one. Returns whether slow rounds remain. */
bool rounds_drop_throttled(struct rounds *rounds, int least);

/* Bring the first `count` players of `order` into a random order (Fisher and Yates). */
void rounds_shuffle(struct rounds *rounds, int count);

bool player_is_in(const struct rounds *rounds, int player);

/* A player's times; and the ratio of two players' times in the same round, over the rounds that both took part in. */
struct summary rounds_times(struct rounds *rounds, int player);
struct summary rounds_ratio(struct rounds *rounds, int player, int to);

/* Compute one time for each player, without the changes that all players of a round share. It is the median of the
 * player's times, each divided by the factor of its round. The factor of a round is the median over its players of the
 * player's time over its own median. This is fair between players that have a time in every round. NaN for players that
 * left or have no time.
 *   out_ms  receives player_count numbers */
void rounds_adjusted(struct rounds *rounds, double *out_ms);

#endif
