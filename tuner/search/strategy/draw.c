/* draw.c: samples each template's space, shuffles the samples (R. Durstenfeld, Algorithm 235: Random permutation,
 * 1964), keeps light variants alone if asked to, and deals the samples in turns. */
#include "tuner/search/strategy/draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers/random.h"
#include "base/system/parallel.h"
#include "stencil/template/access.h"

/* The sample of one template. */
struct deck {
  struct configuration *list;
  long count, dealt;
  int every; /* it takes part in every so many turns */
  halotune_status status;
};

static void swap_variants(struct deck *deck, long a, long b) {
  struct configuration held = deck->list[a];
  deck->list[a] = deck->list[b];
  deck->list[b] = held;
}

static void shuffle_deck(struct deck *deck, uint64_t seed) {
  for (long i = deck->count - 1; i > 0; i--) {
    swap_variants(deck, i, (long)(random_bits(seed, (uint64_t)i) % (uint64_t)(i + 1)));
  }
}

/* The estimate of the template, or else the logarithm of the cost. */
static double weight_of(const struct search_space *space, struct bindings *bindings,
                        const struct configuration *configuration) {
  bindings_configure(bindings, configuration);
  return bindings->template->access.work.is_given ? access_work(bindings) : static_cost_log(bindings, space->weights);
}

/* Keep the lightest variant of each group, in the order of the groups. Where no cost is known, the first one stays. */
static void keep_light(const struct search_space *space, struct bindings *bindings, struct deck *deck) {
  const bool is_estimated = bindings->template->access.work.is_given;
  const long size = is_estimated ? DRAW_GROUP : DRAW_COST_GROUP;
  long kept = 0;
  for (long group = 0; (group + 1) * size <= deck->count; group++) {
    long lightest = is_estimated ? -1 : group * size;
    double least = INFINITY;
    for (long i = group * size; i < (group + 1) * size; i++) {
      const double weight = weight_of(space, bindings, &deck->list[i]);
      if (!(weight < least)) continue;
      least = weight;
      lightest = i;
    }
    if (lightest >= 0) swap_variants(deck, kept++, lightest);
  }
  deck->count = kept;
}

static void deal_decks(struct deck *decks, int deck_count, struct proposal_list *out) {
  for (long total = out->count, given = 0, turn = 0; given < total; turn++) {
    for (int i = 0; i < deck_count; i++) {
      struct deck *deck = &decks[i];
      if (deck->dealt == deck->count || turn % deck->every != 0) continue;
      out->list[given++] = (struct proposal){.template_index = i, .configuration = deck->list[deck->dealt++]};
    }
  }
}

/* For a space that is a list: shuffle the variants of one template, and keep at most so many. */
static halotune_status deal_listed(const struct search_space *space, int index, long most, uint64_t seed,
                                   struct deck *deck) {
  deck->list = malloc(((size_t)space->only_count + 1) * sizeof *deck->list);
  if (!deck->list) return fail_memory();
  for (long i = 0; i < space->only_count; i++) {
    if (space->only[i].template_index == index) deck->list[deck->count++] = space->only[i].configuration;
  }
  shuffle_deck(deck, seed);
  if (deck->count > most) deck->count = most;
  return HALOTUNE_OK;
}

/* The decks of all templates. Each thread fills one at a time. */
struct drawing {
  const struct search_space *space;
  struct deck *decks;
  long most;
  uint64_t seed;
  bool only_light;
};

/* In how many turns a template takes part once: if only light variants are drawn and other templates estimate work, one
 * without an estimate gives variants that are likely to be slower. */
static int turns_of(const struct drawing *drawing, int template) {
  bool others_do = false;
  for (int i = 0; i < drawing->space->count; i++) others_do |= space_estimates_work(drawing->space, i);
  return drawing->only_light && others_do && !space_estimates_work(drawing->space, template) ? DRAW_UNKNOWN_EVERY : 1;
}

static void draw_decks(void *context, int thread, long first, long end) {
  const struct drawing *drawing = context;
  const struct search_space *space = drawing->space;
  (void)thread;
  for (int i = (int)first; i < end; i++) {
    struct deck *deck = &drawing->decks[i];
    deck->every = turns_of(drawing, i);
    uint64_t own_seed = random_bits(drawing->seed, (uint64_t)i);
    if (space->only) {
      deck->status = deal_listed(space, i, drawing->most, own_seed, deck);
    } else {
      deck->status = space_sample(&space->bindings[i], space_fixed(space, i), space_values(space, i), drawing->most,
                                  own_seed, &deck->list, &deck->count);
      shuffle_deck(deck, own_seed);
    }
    if (drawing->only_light && deck->status == HALOTUNE_OK) keep_light(space, &space->bindings[i], deck);
  }
}

static halotune_status draw_and_deal(struct drawing drawing, struct proposal_list *out) {
  const struct search_space *space = drawing.space;
  halotune_status status = HALOTUNE_OK;
  struct deck *decks = drawing.decks = calloc((size_t)space->count + 1, sizeof *decks);
  *out = (struct proposal_list){.count = 0};
  if (!decks) return fail_memory();
  parallel_for(space->count, 1, parallel_threads(0), draw_decks, &drawing);
  for (int i = 0; i < space->count; i++) {
    /* The detail of the failure belongs to the thread that failed. Check again in this thread to have it here. */
    if (decks[i].status == HALOTUNE_PARSE) status = space_is_walkable(&space->bindings[i]);
    else if (decks[i].status != HALOTUNE_OK) status = fail_memory();
    out->count += decks[i].count;
  }
  if (status == HALOTUNE_OK) {
    out->list = malloc(((size_t)out->count + 1) * sizeof *out->list);
    out->capacity = out->count;
    if (out->list) deal_decks(decks, space->count, out);
    else status = fail_memory();
  }
  for (int i = 0; i < space->count; i++) free(decks[i].list);
  free(decks);
  if (status != HALOTUNE_OK) *out = (struct proposal_list){.count = 0};
  return status;
}

halotune_status draw_variants(const struct search_space *space, long most, uint64_t seed, struct proposal_list *out) {
  return draw_and_deal((struct drawing){.space = space, .most = most, .seed = seed}, out);
}

halotune_status draw_light(const struct search_space *space, long most, uint64_t seed, struct proposal_list *out) {
  return draw_and_deal((struct drawing){.space = space, .most = most * DRAW_GROUP, .seed = seed, .only_light = true},
                       out);
}
