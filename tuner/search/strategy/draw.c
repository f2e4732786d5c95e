/* draw.c: samples of the spaces, shuffled (R. Durstenfeld, Algorithm 235: Random permutation, 1964) and dealt in turns.
 */
#include "tuner/search/strategy/draw.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "db/store/launch_text.h"

struct deck {
  struct configuration *list;
  long count, dealt;
  halotune_status status;
};

static void shuffle(struct deck *deck, uint64_t seed) {
  for (long i = deck->count - 1; i > 0; i--) {
    long other = (long)(random_bits(seed, (uint64_t)i) % (uint64_t)(i + 1));
    struct configuration held = deck->list[i];
    deck->list[i] = deck->list[other];
    deck->list[other] = held;
  }
}

static void deal(struct deck *decks, int deck_count, struct drawn_list *out) {
  for (long total = out->count, given = 0; given < total;) {
    for (int i = 0; i < deck_count; i++) {
      struct deck *deck = &decks[i];
      if (deck->dealt == deck->count) continue;
      out->list[given++] = (struct proposal){.template_index = i, .configuration = deck->list[deck->dealt++]};
    }
  }
}

/* The listed variants of one template, at most so many of them; shuffled. */
static halotune_status deal_listed(const struct search_space *space, int index, long most, uint64_t seed,
                                   struct deck *deck) {
  deck->list = malloc(((size_t)space->only_count + 1) * sizeof *deck->list);
  if (!deck->list) return fail_memory();
  for (long i = 0; i < space->only_count; i++) {
    if (space->only[i].template_index == index) deck->list[deck->count++] = space->only[i].configuration;
  }
  shuffle(deck, seed);
  if (deck->count > most) deck->count = most;
  return HALOTUNE_OK;
}

/* The decks of all templates; threads draw one at a time. */
struct drawing {
  const struct search_space *space;
  struct deck *decks;
  long most;
  uint64_t seed;
};

static void draw_decks(void *context, int thread, long first, long end) {
  const struct drawing *drawing = context;
  const struct search_space *space = drawing->space;
  (void)thread;
  for (int i = (int)first; i < end; i++) {
    struct deck *deck = &drawing->decks[i];
    uint64_t own_seed = random_bits(drawing->seed, (uint64_t)i);
    if (space->only) {
      deck->status = deal_listed(space, i, drawing->most, own_seed, deck);
      continue;
    }
    deck->status = space_sample(&space->bindings[i], space_fixed(space, i), space_values(space, i), drawing->most,
                                own_seed, &deck->list, &deck->count);
    shuffle(deck, own_seed);
  }
}

halotune_status draw_variants(const struct search_space *space, long most, uint64_t seed, struct drawn_list *out) {
  halotune_status status = HALOTUNE_OK;
  struct drawing drawing = {.space = space, .most = most, .seed = seed};
  struct deck *decks = drawing.decks = calloc((size_t)space->count + 1, sizeof *decks);
  *out = (struct drawn_list){.count = 0};
  if (!decks) return fail_memory();
  parallel_for(space->count, 1, parallel_threads(0), draw_decks, &drawing);
  for (int i = 0; i < space->count; i++) {
    if (decks[i].status != HALOTUNE_OK) status = fail_memory();
    out->count += decks[i].count;
  }
  if (status == HALOTUNE_OK) {
    out->list = malloc(((size_t)out->count + 1) * sizeof *out->list);
    if (out->list) deal(decks, space->count, out);
    else status = fail_memory();
  }
  for (int i = 0; i < space->count; i++) free(decks[i].list);
  free(decks);
  if (status != HALOTUNE_OK) *out = (struct drawn_list){.count = 0};
  return status;
}

/* Whether it has the values that are fixed today. */
static bool is_wanted(const struct search_space *space, const struct proposal *proposal) {
  const bool *fixed = space_fixed(space, proposal->template_index);
  const struct configuration *values = space_values(space, proposal->template_index);
  for (int i = 0; fixed && i < space->templates[proposal->template_index]->parameter_count; i++) {
    if (fixed[i] && proposal->configuration.choice[i] != values->choice[i]) return false;
  }
  return true;
}

halotune_status drawn_add(struct drawn_list *drawn, const struct proposal *proposal) {
  if (drawn->count == drawn->capacity) {
    long capacity = drawn->capacity ? 2 * drawn->capacity : 256;
    struct proposal *larger = realloc(drawn->list, (size_t)capacity * sizeof *larger);
    if (!larger) return fail_memory();
    drawn->list = larger;
    drawn->capacity = capacity;
  }
  drawn->list[drawn->count++] = *proposal;
  return HALOTUNE_OK;
}

halotune_status drawn_read(struct drawn_list *drawn, const struct search_space *space, int template_index,
                           const char *parameters) {
  struct proposal proposal;
  memset(&proposal, 0, sizeof proposal);
  proposal.template_index = template_index;
  if (configuration_read(space->templates[template_index], parameters, &proposal.configuration) != HALOTUNE_OK)
    return HALOTUNE_OK;
  if (!is_wanted(space, &proposal)) return HALOTUNE_OK;
  bindings_configure(&space->bindings[template_index], &proposal.configuration);
  if (bindings_failed_rule(&space->bindings[template_index])) return HALOTUNE_OK;
  return drawn_add(drawn, &proposal);
}

void drawn_free(struct drawn_list *drawn) {
  free(drawn->list);
  *drawn = (struct drawn_list){.count = 0};
}
