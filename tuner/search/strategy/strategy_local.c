/* strategy_local.c: samples the whole space, then searches near the best variants.
 *
 * It begins with the hints and a random sample, evenly from all templates. Templates that are known to be far behind
 * come last, because one of their variants may take the time of hundreds. After that, of every four variants,
 *   - two are neighbours of the best variants,
 *   - one is a neighbour of the best variants of one template; templates that are not much slower take turns,
 *   - one is random, so that the search leaves a local minimum.
 * In each group the model of effects.h decides which variant comes first. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/array.h"
#include "tuner/search/strategy/draw.h"
#include "tuner/search/strategy/effects.h"
#include "tuner/search/strategy/neighbours.h"
#include "tuner/search/strategy/strategy.h"
#include "tuner/search/strategy/templates_behind.h"
#include "tuner/search/variants/proposals.h"

enum {
  MOST_OF_A_TEMPLATE = 20000, /* variants in the random sample */
  FIRST_VARIANTS = 48,        /* hints and random variants at the beginning, */
  FIRST_OF_A_TEMPLATE = 12,   /* but at least so many times the number of templates */
  CYCLE = 4,                  /* the first of so many variants is random, */
  TURN_AT = 2,                /* and this one belongs to the template whose turn it is */
  LOOK_AHEAD = 64,            /* the most promising of so many random variants is taken */
  FEW_WAITING = 48,           /* if fewer neighbours wait, those of one more variant are added */
  PLATEAU_STEPS = 2,          /* variants of a plateau differ in at most so many parameters */
};

enum { ANY_TEMPLATE = -1 };

/* Logarithms of times that differ by less than this are on one plateau. */
static const double plateau_height = 0.01;

/* A neighbour that waits to be proposed. */
struct waiting {
  struct proposal proposal;
  double expected; /* logarithm of its time */
};

/* A variant that has a time. Its neighbours may be added to those that wait. */
struct known {
  struct proposal proposal;
  double log_time;
  bool is_expanded, is_passed_over;
};

struct state {
  const struct search_space *space;
  struct proposal_list drawn;
  long drawn_next, hint_next;
  struct visited visited;
  struct visited only;     /* the variants of a space that is a list of variants */
  struct effects *effects; /* the effects of each template */
  struct waiting *waiting;
  long waiting_count, waiting_capacity;
  struct known *known;
  long known_count, known_capacity;
  struct template_times times;
  bool best_is_new;
  long proposed, first;
  int turn;        /* the template whose turn is next */
  const char *why; /* why the last variant was proposed */
};

static void local_close(void *opened) {
  struct state *state = opened;
  if (!state) return;
  proposals_free(&state->drawn);
  visited_free(&state->visited);
  visited_free(&state->only);
  free(state->effects);
  template_times_free(&state->times);
  free(state->waiting);
  free(state->known);
  free(state);
}

static halotune_status local_open(const struct search_space *space, uint64_t seed, void **out) {
  struct state *state = calloc(1, sizeof *state);
  *out = NULL;
  if (!state) return fail_memory();
  state->space = space;
  state->why = "";
  state->first =
      FIRST_OF_A_TEMPLATE * space->count > FIRST_VARIANTS ? FIRST_OF_A_TEMPLATE * space->count : FIRST_VARIANTS;
  state->effects = calloc((size_t)space->count + 1, sizeof *state->effects);
  halotune_status status = template_times_make(space->count, &state->times);
  if (status == HALOTUNE_OK) status = state->effects ? visited_add_listed(&state->only, space) : fail_memory();
  if (status == HALOTUNE_OK) status = draw_variants(space, MOST_OF_A_TEMPLATE, seed, &state->drawn);
  if (status == HALOTUNE_OK) {
    *out = state;
    return HALOTUNE_OK;
  }
  local_close(state);
  return status;
}

/* Each function next_... proposes a variant of its kind that was not proposed before, if there is one. */
static halotune_status next_hint(struct state *state, struct proposal *out, bool *have) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !*have && state->hint_next < state->space->hint_count) {
    state->why = space_hint_why(state->space, state->hint_next);
    *out = state->space->hints[state->hint_next++];
    status = visited_add(&state->visited, state->space, out, have);
  }
  return status;
}

static double expected_of(const struct state *state, const struct proposal *proposal) {
  return effects_expect(&state->effects[proposal->template_index], state->space->templates[proposal->template_index],
                        &proposal->configuration);
}

/* Bring the most promising of the next `most` variants to the front. Variants of templates that are far behind are
 * passed over, as long as there are others. */
static void look_ahead(struct state *state, long most) {
  struct proposal *list = state->drawn.list + state->drawn_next;
  long left = state->drawn.count - state->drawn_next, best = -1, looked = 0;
  for (long i = 0; i < left && looked < most; i++) {
    if (template_is_far_behind(&state->times, list[i].template_index)) continue;
    if (looked++ == 0 || expected_of(state, &list[i]) < expected_of(state, &list[best])) best = i;
  }
  if (best < 0) return;
  struct proposal held = list[0];
  list[0] = list[best];
  list[best] = held;
}

static halotune_status next_random(struct state *state, bool likeliest, struct proposal *out, bool *have) {
  halotune_status status = HALOTUNE_OK;
  state->why = "random";
  while (status == HALOTUNE_OK && !*have && state->drawn_next < state->drawn.count) {
    look_ahead(state, likeliest ? LOOK_AHEAD : 1);
    *out = state->drawn.list[state->drawn_next++];
    status = visited_add(&state->visited, state->space, out, have);
  }
  return status;
}

struct expansion {
  struct state *state;
  const struct known *centre;
  halotune_status status;
};

static void add_neighbour(void *context, const struct configuration *configuration) {
  struct expansion *expansion = context;
  struct state *state = expansion->state;
  const struct known *centre = expansion->centre;
  int index = centre->proposal.template_index;
  struct waiting waiting = {.proposal = {.template_index = index, .configuration = *configuration},
                            .expected = centre->log_time};
  if (visited_has(&state->visited, state->space, &waiting.proposal)) return;
  if (state->space->only && !visited_has(&state->only, state->space, &waiting.proposal)) return;
  for (int i = 0; i < state->space->templates[index]->parameter_count; i++) {
    int from = centre->proposal.configuration.choice[i], to = configuration->choice[i];
    if (from != to) waiting.expected += effects_change(&state->effects[index], i, from, to);
  }
  if (array_room(state->waiting, state->waiting_count, state->waiting_capacity))
    state->waiting[state->waiting_count++] = waiting;
  else expansion->status = fail_memory();
}

static bool is_of(const struct proposal *proposal, int template) {
  return template == ANY_TEMPLATE || proposal->template_index == template;
}

/* Whether a variant is on the plateau of another one whose neighbours were added: it is as fast, and differs in two
 * parameters at most. Many parameters change nothing for many kernels. Without this test the whole plateau would be
 * searched before anything else. */
static bool is_on_known_plateau(const struct state *state, const struct known *known) {
  int index = known->proposal.template_index, count = state->space->templates[index]->parameter_count;
  for (long i = 0; i < state->known_count; i++) {
    const struct known *other = &state->known[i];
    if (!other->is_expanded || other->proposal.template_index != index) continue;
    if (fabs(other->log_time - known->log_time) > plateau_height) continue;
    int differences = 0;
    for (int p = 0; p < count; p++) {
      differences += known->proposal.configuration.choice[p] != other->proposal.configuration.choice[p];
    }
    if (differences <= PLATEAU_STEPS) return true;
  }
  return false;
}

/* Add the neighbours of the best variant whose neighbours were not added yet. One variant stands for its whole plateau.
 *   template  of the variant, or ANY_TEMPLATE
 *   more      receives whether there was such a variant */
static halotune_status neighbours_add(struct state *state, int template, bool *more) {
  struct known *best;
  *more = false;
  do {
    best = NULL;
    for (long i = 0; i < state->known_count; i++) {
      struct known *known = &state->known[i];
      bool counts = !known->is_expanded && !known->is_passed_over && is_of(&known->proposal, template);
      if (counts && (!best || known->log_time < best->log_time)) best = known;
    }
    if (!best) return HALOTUNE_OK;
    best->is_passed_over = is_on_known_plateau(state, best);
  } while (best->is_passed_over);
  best->is_expanded = true;
  struct expansion expansion = {.state = state, .centre = best};
  int index = best->proposal.template_index;
  neighbours_visit(&state->space->bindings[index], space_fixed(state->space, index), &best->proposal.configuration,
                   add_neighbour, &expansion);
  *more = true;
  return expansion.status;
}

static long count_waiting(const struct state *state, int template) {
  long count = 0;
  for (long i = 0; i < state->waiting_count; i++) count += is_of(&state->waiting[i].proposal, template);
  return count;
}

/* The most promising neighbour that waits; -1 if there is none. */
static long find_likeliest(const struct state *state, int template) {
  long best = -1;
  for (long i = 0; i < state->waiting_count; i++) {
    const struct waiting *waiting = &state->waiting[i];
    if (is_of(&waiting->proposal, template) && (best < 0 || waiting->expected < state->waiting[best].expected))
      best = i;
  }
  return best;
}

static halotune_status next_neighbour(struct state *state, int template, struct proposal *out, bool *have) {
  bool more = true;
  halotune_status status = HALOTUNE_OK;
  state->why = template == ANY_TEMPLATE ? "near the best variants" : "near the best variants of the template";
  if (state->best_is_new) status = neighbours_add(state, ANY_TEMPLATE, &more);
  state->best_is_new = false;
  while (status == HALOTUNE_OK && more && count_waiting(state, template) < FEW_WAITING)
    status = neighbours_add(state, template, &more);
  for (long best; status == HALOTUNE_OK && !*have && (best = find_likeliest(state, template)) >= 0;) {
    *out = state->waiting[best].proposal;
    state->waiting[best] = state->waiting[--state->waiting_count];
    status = visited_add(&state->visited, state->space, out, have);
  }
  return status;
}

/* A neighbour of the next template in turn. Templates that are much slower than the best have no turn. */
static halotune_status next_in_turn(struct state *state, struct proposal *out, bool *have) {
  halotune_status status = HALOTUNE_OK;
  for (int tries = 0; status == HALOTUNE_OK && !*have && tries < state->space->count; tries++) {
    int template = state->turn;
    state->turn = (state->turn + 1) % state->space->count;
    if (template_is_near(&state->times, template)) status = next_neighbour(state, template, out, have);
  }
  return status;
}

static halotune_status local_next(void *opened, struct proposal *out, bool *have) {
  struct state *state = opened;
  const bool is_first = state->proposed < state->first;
  const long place = state->proposed++ % CYCLE;
  const bool is_random = is_first || place == 0;
  halotune_status status = HALOTUNE_OK;
  *have = false;
  if (is_first) status = next_hint(state, out, have);
  if (status == HALOTUNE_OK && !*have && is_random) status = next_random(state, !is_first, out, have);
  if (status == HALOTUNE_OK && !*have && !is_random && place == TURN_AT) status = next_in_turn(state, out, have);
  if (status == HALOTUNE_OK && !*have) status = next_neighbour(state, ANY_TEMPLATE, out, have);
  if (status == HALOTUNE_OK && !*have && !is_random) status = next_random(state, true, out, have);
  return status;
}

static halotune_status local_tell(void *opened, const struct proposal *proposal, double time_ms) {
  struct state *state = opened;
  halotune_status status = visited_add(&state->visited, state->space, proposal, NULL);
  if (status != HALOTUNE_OK || !isfinite(time_ms)) return status;
  double log_time = log(time_ms);
  effects_add(&state->effects[proposal->template_index], state->space->templates[proposal->template_index],
              &proposal->configuration, log_time);
  if (template_times_add(&state->times, proposal->template_index, log_time)) state->best_is_new = true;
  if (!array_room(state->known, state->known_count, state->known_capacity)) return fail_memory();
  state->known[state->known_count++] = (struct known){.proposal = *proposal, .log_time = log_time};
  return HALOTUNE_OK;
}

static const char *local_why(const void *opened) { return ((const struct state *)opened)->why; }

const struct strategy strategy_local = {.name = "local",
                                        .about = "a random sample, then the neighbours of the best",
                                        .takes_hints = true,
                                        .open = local_open,
                                        .next = local_next,
                                        .tell = local_tell,
                                        .why = local_why,
                                        .close = local_close};
