/* strategy_random.c: variants in a random order: all of them, or as many of each template as any budget can try. */
#include <limits.h>
#include <stdlib.h>

#include "tuner/search/draw.h"

enum { MOST_OF_A_TEMPLATE = 50000 };

struct state {
  struct drawn_list drawn;
  long next;
};

static halotune_status open_with(const struct search_space *space, uint64_t seed, long most, void **out) {
  struct state *state = calloc(1, sizeof *state);
  *out = NULL;
  if (!state) return fail_memory();
  halotune_status status = draw_variants(space, most, seed, &state->drawn);
  if (status == HALOTUNE_OK)
    *out = state;
  else
    free(state);
  return status;
}

static halotune_status open_sample(const struct search_space *space, uint64_t seed, void **out) {
  return open_with(space, seed, MOST_OF_A_TEMPLATE, out);
}

static halotune_status open_all(const struct search_space *space, uint64_t seed, void **out) {
  return open_with(space, seed, LONG_MAX, out);
}

static bool next(void *opened, struct proposal *out) {
  struct state *state = opened;
  if (state->next == state->drawn.count) return false;
  *out = state->drawn.list[state->next++];
  return true;
}

static void tell(void *opened, const struct proposal *proposal, double time_ms) {
  (void)opened, (void)proposal, (void)time_ms;
}

static void close(void *opened) {
  struct state *state = opened;
  if (!state) return;
  drawn_free(&state->drawn);
  free(state);
}

const struct strategy strategy_random = {
    "random", "a random sample, evenly from each template", open_sample, next, tell, close};
const struct strategy strategy_exhaustive = {"exhaustive", "every variant, in a random order", open_all, next, tell,
                                             close};
