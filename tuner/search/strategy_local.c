/* strategy_local.c: look around widely, then near the best.
 *
 * It begins with a random sample, evenly from all templates. Then, of every four variants, three are neighbours of good ones and
 * one is random again, so that no hill hides a higher one for ever. In both cases a plain model of what each parameter's values
 * did so far (effects.h) decides which come first. */
#include <math.h>
#include <stdlib.h>

#include "tuner/search/draw.h"
#include "tuner/search/effects.h"
#include "tuner/search/neighbours.h"
#include "tuner/search/visited.h"

enum {
  MOST_OF_A_TEMPLATE = 20000, /* of the random sample */
  FIRST_VARIANTS = 96,        /* random ones at the beginning, */
  FIRST_OF_A_TEMPLATE = 16,   /* but at least so many of each template */
  RANDOM_EVERY = 4,           /* one of so many stays random */
  LOOK_AHEAD = 64,            /* of so many random ones the likeliest is taken */
  FEW_WAITING = 48,           /* fewer neighbours than this: another good variant's are added */
};

/* A neighbour that waits, by the time that is expected of it. */
struct waiting {
  struct proposal proposal;
  double expected; /* logarithm of the time */
};

/* A variant that was measured and whose neighbours may be worth a look. */
struct known {
  struct proposal proposal;
  double log_time;
  bool is_expanded;
};

struct state {
  const struct search_space *space;
  struct drawn_list drawn;
  long drawn_next;
  struct visited visited;
  struct effects *effects; /* of each template */
  struct waiting *waiting;
  long waiting_count, waiting_capacity;
  struct known *known;
  long known_count, known_capacity;
  double best_log_time;
  bool best_is_new;
  long proposed, first;
};

static halotune_status open_local(const struct search_space *space, uint64_t seed, void **out) {
  struct state *state = calloc(1, sizeof *state);
  *out = NULL;
  if (!state) return fail_memory();
  state->space = space;
  state->best_log_time = INFINITY;
  state->first = FIRST_OF_A_TEMPLATE * space->count > FIRST_VARIANTS ? FIRST_OF_A_TEMPLATE * space->count : FIRST_VARIANTS;
  state->effects = calloc((size_t)space->count + 1, sizeof *state->effects);
  halotune_status status = state->effects ? draw_variants(space, MOST_OF_A_TEMPLATE, seed, &state->drawn) : fail_memory();
  if (status == HALOTUNE_OK) {
    *out = state;
    return HALOTUNE_OK;
  }
  free(state->effects);
  free(state);
  return status;
}

static void close_local(void *opened) {
  struct state *state = opened;
  if (!state) return;
  drawn_free(&state->drawn);
  visited_free(&state->visited);
  free(state->effects);
  free(state->waiting);
  free(state->known);
  free(state);
}

/* --- random ones --- */

static double expected_of(const struct state *state, const struct proposal *proposal) {
  return effects_expect(&state->effects[proposal->template_index], state->space->templates[proposal->template_index],
                        &proposal->configuration);
}

/* Bring the likeliest of the next ones to the front. */
static void look_ahead(struct state *state) {
  struct proposal *list = state->drawn.list + state->drawn_next;
  long left = state->drawn.count - state->drawn_next, best = 0;
  for (long i = 1; i < left && i < LOOK_AHEAD; i++) {
    if (expected_of(state, &list[i]) < expected_of(state, &list[best])) best = i;
  }
  struct proposal held = list[0];
  list[0] = list[best];
  list[best] = held;
}

static bool next_random(struct state *state, bool likeliest, struct proposal *out) {
  while (state->drawn_next < state->drawn.count) {
    if (likeliest) look_ahead(state);
    *out = state->drawn.list[state->drawn_next++];
    if (visited_add(&state->visited, state->space, out)) return true;
  }
  return false;
}

/* --- neighbours --- */

struct expansion {
  struct state *state;
  const struct known *centre;
};

static bool make_room(void **list, long count, long *capacity, size_t size) {
  if (count < *capacity) return true;
  long wanted = *capacity ? 2 * *capacity : 256;
  void *larger = realloc(*list, (size_t)wanted * size);
  if (!larger) return false;
  *list = larger;
  *capacity = wanted;
  return true;
}

static void add_neighbour(void *context, const struct configuration *configuration) {
  const struct expansion *expansion = context;
  struct state *state = expansion->state;
  const struct known *centre = expansion->centre;
  int index = centre->proposal.template_index;
  struct waiting waiting = {.proposal = {.template_index = index, .configuration = *configuration}, .expected = centre->log_time};
  if (visited_has(&state->visited, state->space, &waiting.proposal)) return;
  for (int i = 0; i < state->space->templates[index]->parameter_count; i++) {
    int from = centre->proposal.configuration.choice[i], to = configuration->choice[i];
    if (from != to) waiting.expected += effects_change(&state->effects[index], i, from, to);
  }
  void *list = state->waiting;
  if (!make_room(&list, state->waiting_count, &state->waiting_capacity, sizeof waiting)) return; /* fewer neighbours, no harm */
  state->waiting = list;
  state->waiting[state->waiting_count++] = waiting;
}

/* Add the neighbours of the best variant whose neighbours were not yet added. */
static bool expand(struct state *state) {
  struct known *best = NULL;
  for (long i = 0; i < state->known_count; i++) {
    struct known *known = &state->known[i];
    if (!known->is_expanded && (!best || known->log_time < best->log_time)) best = known;
  }
  if (!best) return false;
  best->is_expanded = true;
  struct expansion expansion = {.state = state, .centre = best};
  int index = best->proposal.template_index;
  neighbours_visit(&state->space->bindings[index], space_fixed(state->space, index), &best->proposal.configuration, add_neighbour,
                   &expansion);
  return true;
}

static bool next_neighbour(struct state *state, struct proposal *out) {
  bool more = true;
  if (state->best_is_new) more = expand(state);
  state->best_is_new = false;
  while (state->waiting_count < FEW_WAITING && more) more = expand(state);
  while (state->waiting_count > 0) {
    long best = 0;
    for (long i = 1; i < state->waiting_count; i++) {
      if (state->waiting[i].expected < state->waiting[best].expected) best = i;
    }
    *out = state->waiting[best].proposal;
    state->waiting[best] = state->waiting[--state->waiting_count];
    if (visited_add(&state->visited, state->space, out)) return true;
  }
  return false;
}

/* --- the strategy --- */

static bool next(void *opened, struct proposal *out) {
  struct state *state = opened;
  bool is_first = state->proposed < state->first;
  bool is_random = is_first || state->proposed % RANDOM_EVERY == 0;
  state->proposed++;
  if (is_random) return next_random(state, !is_first, out) || next_neighbour(state, out);
  return next_neighbour(state, out) || next_random(state, true, out);
}

static void tell(void *opened, const struct proposal *proposal, double time_ms) {
  struct state *state = opened;
  visited_add(&state->visited, state->space, proposal);
  if (!isfinite(time_ms)) return;
  double log_time = log(time_ms);
  effects_add(&state->effects[proposal->template_index], state->space->templates[proposal->template_index],
              &proposal->configuration, log_time);
  if (log_time < state->best_log_time) {
    state->best_log_time = log_time;
    state->best_is_new = true;
  }
  void *list = state->known;
  if (!make_room(&list, state->known_count, &state->known_capacity, sizeof *state->known)) return;
  state->known = list;
  state->known[state->known_count++] = (struct known){.proposal = *proposal, .log_time = log_time};
}

const struct strategy strategy_local = {"local", "a random sample, then the neighbours of the best", open_local, next, tell, close_local};
