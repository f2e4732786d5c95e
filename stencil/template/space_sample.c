/* space_sample.c: draws a sample of a space. It draws distinct positions first, then finds the configurations at these
 * positions. A position has one number for each part of the space, as a number has digits. Where few values of a large
 * part are wanted, it gives each of its numbers another random configuration, which takes less time than a walk. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/set.h"
#include "base/numbers/random.h"
#include "stencil/template/space.h"
#include "stencil/template/walk.h"

/* Distinct numbers, with a set to find them. */
struct numbers {
  long *list;
  int count;
  struct set set;
};

/* Add a number to the list. Returns false if the list has it already. The set must have room for it. */
static bool add_number(struct numbers *numbers, long number) {
  const uint64_t hash = set_hash(&number, sizeof number);
  int at;
  for (struct set_walk walk = set_walk(&numbers->set, hash); set_next(&walk, &at);) {
    if (numbers->list[at] == number) return false;
  }
  set_add(&numbers->set, hash, numbers->count);
  numbers->list[numbers->count++] = number;
  return true;
}

/* Draw `wanted` distinct numbers from 0 to total - 1. Returns a list from malloc; NULL when memory is out. */
static long *distinct_numbers(long total, long wanted, uint64_t seed) {
  struct numbers numbers = {.count = 0};
  /* a different random sequence from the one with which callers shuffle */
  uint64_t key = random_bits(seed, UINT64_MAX);
  if (wanted < INT_MAX && set_reserve(&numbers.set, (size_t)wanted))
    numbers.list = malloc((size_t)wanted * sizeof *numbers.list);
  for (long last = total - wanted; last < total && numbers.list; last++) {
    /* The remainder is practically uniform, since 2^64 is so much larger than `last`. */
    long number = (long)(random_bits(key, (uint64_t)(total - last)) % (uint64_t)(last + 1));
    if (!add_number(&numbers, number)) add_number(&numbers, last);
  }
  set_free(&numbers.set);
  return numbers.list;
}

struct pick {
  long at, sample; /* position in the part, and number of the sample */
};

/* A walk through one part that copies the part's values into the sample. */
struct picking {
  const struct walk_parts *parts;
  int part;
  const struct pick *next, *end; /* sorted by `at` */
  long seen;                     /* configurations of the part so far */
  struct configuration *sample;
};

static bool copy_picked(void *context, const struct configuration *configuration) {
  struct picking *p = context;
  for (; p->next < p->end && p->next->at == p->seen; p->next++) {
    for (int i = 0; i < MAX_PARAMETERS; i++) {
      if (p->parts->of[i] == p->part) p->sample[p->next->sample].choice[i] = configuration->choice[i];
    }
  }
  p->seen++;
  return p->next < p->end;
}

static int compare_picks(const void *left, const void *right) {
  long a = ((const struct pick *)left)->at, b = ((const struct pick *)right)->at;
  return (a > b) - (a < b);
}

/* Sort in the order of the space: the last parameter changes fastest. */
static int compare_configurations(const void *left, const void *right) {
  return memcmp(left, right, sizeof(struct configuration));
}

/* Find the configurations of a part in a walk through it. */
static void pick_in_walk(const struct walk *w, const struct walk_parts *parts, int part, const struct pick *picks,
                         long count, struct configuration *sample) {
  struct picking picking = {parts, part, picks, picks + count, 0, sample};
  walk_part(w, parts, part, copy_picked, &picking, NULL);
}

/* The configurations of a part that were drawn, with a set to find them. */
struct drawn {
  struct configuration *list; /* other parts have the first of their values */
  struct set set;
  int count;
};

/* Draw random values of a part's parameters until the rules keep them. Each configuration is equally likely.
 *   next  index of the next random number
 * Returns false if the walk has to end. */
static bool draw_configuration(const struct walk *w, const struct walk_parts *parts, int part, uint64_t seed,
                               uint64_t *next, struct configuration *out) {
  const int parameter_count = w->bindings->template->parameter_count;
  while (walk_step(w)) {
    int i = 0;
    for (; i < parameter_count; i++) {
      if (parts->of[i] != part) continue;
      const uint64_t values = (uint64_t)(w->end[i] - w->first[i]);
      out->choice[i] = (unsigned char)(w->first[i] + (int)(random_bits(seed, (*next)++) % values));
      bindings_choose(w->bindings, i, out->choice[i]);
      if (walk_failed_rule(w, i) >= 0) break;
    }
    if (i == parameter_count) return true;
  }
  return false;
}

/* Add a configuration, unless the set has it already. The set must have room for it. */
static bool add_drawn(struct drawn *drawn, const struct configuration *configuration) {
  const uint64_t hash = set_hash(configuration, sizeof *configuration);
  int at;
  for (struct set_walk walk = set_walk(&drawn->set, hash); set_next(&walk, &at);) {
    if (memcmp(&drawn->list[at], configuration, sizeof *configuration) == 0) return false;
  }
  set_add(&drawn->set, hash, drawn->count);
  drawn->list[drawn->count++] = *configuration;
  return true;
}

/* Give each number of the picks a random configuration of the part, which no other number has. */
static halotune_status pick_at_random(const struct walk *w, const struct walk_parts *parts, int part,
                                      const struct pick *picks, long count, uint64_t seed,
                                      struct configuration *sample) {
  struct drawn drawn = {.list = malloc((size_t)count * sizeof *drawn.list)};
  struct configuration configuration = {{0}};
  uint64_t next = 0;
  const bool has_memory = drawn.list && set_reserve(&drawn.set, (size_t)count);
  for (int i = 0; i < w->bindings->template->parameter_count; i++) configuration.choice[i] = (unsigned char)w->first[i];
  bindings_configure(w->bindings, &configuration);
  for (const struct pick *pick = picks; pick < picks + count && has_memory;) {
    if (!draw_configuration(w, parts, part, seed, &next, &configuration)) break;
    if (!add_drawn(&drawn, &configuration)) continue;
    for (const long at = pick->at; pick < picks + count && pick->at == at; pick++) {
      for (int i = 0; i < MAX_PARAMETERS; i++) {
        if (parts->of[i] == part) sample[pick->sample].choice[i] = configuration.choice[i];
      }
    }
  }
  free(drawn.list);
  set_free(&drawn.set);
  return has_memory ? HALOTUNE_OK : fail_memory();
}

/* Whether random values give so many configurations of a part in fewer steps than a walk. A configuration takes
 * combinations / size tries on average. A try takes at most one step for each parameter. */
static bool is_better_at_random(const struct walk *w, const struct walk_parts *parts, int part, long size,
                                long wanted) {
  double combinations = 1;
  int parameters = 0;
  for (int i = 0; i < w->bindings->template->parameter_count; i++) {
    if (parts->of[i] != part) continue;
    combinations *= w->end[i] - w->first[i];
    parameters++;
  }
  return wanted < size / 2 && (double)wanted * combinations / (double)size * parameters < (double)size;
}

static halotune_status pick_part(const struct walk *w, const struct walk_parts *parts, int part, long size,
                                 struct pick *picks, long count, uint64_t seed, struct configuration *sample) {
  qsort(picks, (size_t)count, sizeof *picks, compare_picks);
  if (is_better_at_random(w, parts, part, size, count))
    return pick_at_random(w, parts, part, picks, count, random_bits(seed, (uint64_t)part), sample);
  pick_in_walk(w, parts, part, picks, count, sample);
  return HALOTUNE_OK;
}

static halotune_status draw_sample(const struct walk *w, const struct walk_parts *parts, const long sizes[], long total,
                                   long wanted, uint64_t seed, struct configuration **out) {
  long *positions = distinct_numbers(total, wanted, seed);
  struct pick *picks = malloc((size_t)wanted * sizeof *picks);
  struct configuration *sample = calloc((size_t)wanted, sizeof *sample);
  halotune_status status = positions && picks && sample ? HALOTUNE_OK : fail_memory();
  for (int part = 0; part < parts->count && status == HALOTUNE_OK; part++) {
    for (long i = 0; i < wanted; i++) {
      picks[i] = (struct pick){positions[i] % sizes[part], i};
      positions[i] /= sizes[part];
    }
    status = pick_part(w, parts, part, sizes[part], picks, wanted, seed, sample);
  }
  if (status == HALOTUNE_OK) qsort(sample, (size_t)wanted, sizeof *sample, compare_configurations);
  free(positions);
  free(picks);
  if (status == HALOTUNE_OK) *out = sample;
  else free(sample);
  return status;
}

static bool append_configuration(void *context, const struct configuration *configuration) {
  struct configuration **next = context;
  *(*next)++ = *configuration;
  return true;
}

/* List all configurations. The walk ends as the count did, unless it is stopped. */
static halotune_status list_all(const struct walk *w, long total, struct configuration **out) {
  const struct walk_parts one = walk_as_one();
  struct configuration *next = *out = malloc((size_t)total * sizeof **out);
  if (!next) return fail_memory();
  walk_part(w, &one, 0, append_configuration, &next, NULL);
  return HALOTUNE_OK;
}

halotune_status space_sample(struct bindings *bindings, const bool fixed[], const struct configuration *from,
                             long wanted, uint64_t seed, struct configuration **out, long *count) {
  long sizes[MAX_PARAMETERS], total;
  *out = NULL;
  *count = 0;
  if (wanted <= 0 || space_refusal(bindings)) return HALOTUNE_OK;
  struct walk w = walk_make(bindings, fixed, from);
  struct walk_parts parts = walk_split(&w);
  total = walk_sizes(&w, &parts, sizes);
  halotune_status status = space_is_walkable(bindings);
  if (status != HALOTUNE_OK || total == 0 || bindings->limit.end != WALK_WHOLE) return status;
  w = walk_make(bindings, fixed, from); /* with as many steps as the count had */
  status = wanted < total ? draw_sample(&w, &parts, sizes, total, wanted, seed, out) : list_all(&w, total, out);
  if (status == HALOTUNE_OK && bindings->limit.end == WALK_WHOLE) {
    *count = wanted < total ? wanted : total;
    return HALOTUNE_OK;
  }
  free(*out); /* the list is incomplete */
  *out = NULL;
  return status == HALOTUNE_OK ? space_is_walkable(bindings) : status;
}
