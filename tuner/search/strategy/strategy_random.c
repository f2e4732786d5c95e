/* strategy_random.c: two strategies that try variants in a random order. "exhaustive" tries all. "random" begins with
 * the hints, and draws from each template more variants than any budget can try. */
#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"
#include "tuner/search/strategy/draw.h"
#include "tuner/search/strategy/strategy.h"
#include "tuner/search/variants/proposals.h"

enum { MOST_OF_A_TEMPLATE = 50000 };

struct state {
  const struct search_space *space;
  struct proposal_list drawn;
  long next, hint_next, hint_count;
  struct visited hints; /* the hints that were proposed */
  const char *why;      /* why the last variant was proposed */
};

static halotune_status open_with(const struct search_space *space, uint64_t seed, long most, long hint_count,
                                 void **out) {
  struct state *state = calloc(1, sizeof *state);
  *out = NULL;
  if (!state) return fail_memory();
  state->space = space;
  state->why = "";
  state->hint_count = hint_count;
  halotune_status status = draw_variants(space, most, seed, &state->drawn);
  if (status == HALOTUNE_OK) *out = state;
  else free(state);
  return status;
}

static halotune_status open_sample(const struct search_space *space, uint64_t seed, void **out) {
  return open_with(space, seed, MOST_OF_A_TEMPLATE, space->hint_count, out);
}

static halotune_status open_all(const struct search_space *space, uint64_t seed, void **out) {
  return open_with(space, seed, LONG_MAX, 0, out);
}

static halotune_status sample_next(void *opened, struct proposal *out, bool *have) {
  struct state *state = opened;
  halotune_status status = HALOTUNE_OK;
  *have = false;
  while (status == HALOTUNE_OK && !*have && state->hint_next < state->hint_count) {
    state->why = space_hint_why(state->space, state->hint_next);
    *out = state->space->hints[state->hint_next++];
    status = visited_add(&state->hints, state->space, out, have);
  }
  if (!*have) state->why = "random";
  while (status == HALOTUNE_OK && !*have && state->next < state->drawn.count) {
    *out = state->drawn.list[state->next++];
    *have = !visited_has(&state->hints, state->space, out);
  }
  return status;
}

/* The order does not depend on times. */
static halotune_status sample_tell(void *opened, const struct proposal *proposal, double time_ms) {
  (void)opened, (void)proposal, (void)time_ms;
  return HALOTUNE_OK;
}

static const char *sample_why(const void *opened) { return ((const struct state *)opened)->why; }

static void sample_close(void *opened) {
  struct state *state = opened;
  if (!state) return;
  proposals_free(&state->drawn);
  visited_free(&state->hints);
  free(state);
}

const struct strategy strategy_random = {.name = "random",
                                         .about = "a random sample, evenly from each template",
                                         .takes_hints = true,
                                         .open = open_sample,
                                         .next = sample_next,
                                         .tell = sample_tell,
                                         .why = sample_why,
                                         .close = sample_close};
const struct strategy strategy_exhaustive = {.name = "exhaustive",
                                             .about = "every variant, in a random order",
                                             .takes_hints = false,
                                             .open = open_all,
                                             .next = sample_next,
                                             .tell = sample_tell,
                                             .why = sample_why,
                                             .close = sample_close};
