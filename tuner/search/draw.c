/* draw.c: samples of the spaces, shuffled (R. Durstenfeld, Algorithm 235: Random permutation, 1964) and dealt in turns. */
#include "tuner/search/draw.h"

#include <stdlib.h>

#include "base/random.h"

struct deck {
  struct configuration *list;
  long count, dealt;
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

halotune_status draw_variants(const struct search_space *space, long most, uint64_t seed, struct drawn_list *out) {
  halotune_status status = HALOTUNE_OK;
  struct deck *decks = calloc((size_t)space->count + 1, sizeof *decks);
  *out = (struct drawn_list){.count = 0};
  if (!decks) return fail_memory();
  for (int i = 0; i < space->count && status == HALOTUNE_OK; i++) {
    uint64_t own_seed = random_bits(seed, (uint64_t)i);
    status = space_sample(&space->bindings[i], space_fixed(space, i), space_values(space, i), most, own_seed, &decks[i].list,
                          &decks[i].count);
    shuffle(&decks[i], own_seed);
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

void drawn_free(struct drawn_list *drawn) {
  free(drawn->list);
  *drawn = (struct drawn_list){.count = 0};
}
