/* space_sample.c: draws a sample of a space. It draws distinct positions first, then finds the configurations at these
 * positions. A position has one number for each part of the space, as a number has digits. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/set.h"
#include "stencil/template/walk.h"

/* Distinct numbers, with a set to find them. */
struct numbers {
  long *list;
  int count;
  struct set set;
};

/* Add a number to the list. Returns false if the list has it already. The set must have room for it. */
static bool add_number(struct numbers *numbers, long number) {
  const uint64_t hash = random_bits(0, (uint64_t)number);
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

static void pick_part(const struct walk *w, const struct walk_parts *parts, int part, struct pick *picks, long count,
                      struct configuration *sample) {
  struct picking picking = {parts, part, picks, picks + count, 0, sample};
  qsort(picks, (size_t)count, sizeof *picks, compare_picks);
  walk_part(w, parts, part, copy_picked, &picking, NULL);
}

static halotune_status draw_sample(const struct walk *w, const struct walk_parts *parts, const long sizes[], long total,
                                   long wanted, uint64_t seed, struct configuration **out) {
  long *positions = distinct_numbers(total, wanted, seed);
  struct pick *picks = malloc((size_t)wanted * sizeof *picks);
  struct configuration *sample = calloc((size_t)wanted, sizeof *sample);
  bool has_memory = positions && picks && sample;
  for (int part = 0; part < parts->count && has_memory; part++) {
    for (long i = 0; i < wanted; i++) {
      picks[i] = (struct pick){positions[i] % sizes[part], i};
      positions[i] /= sizes[part];
    }
    pick_part(w, parts, part, picks, wanted, sample);
  }
  if (has_memory) qsort(sample, (size_t)wanted, sizeof *sample, compare_configurations);
  free(positions);
  free(picks);
  if (!has_memory) {
    free(sample);
    return fail_memory();
  }
  *out = sample;
  return HALOTUNE_OK;
}

static bool append_configuration(void *context, const struct configuration *configuration) {
  struct configuration **next = context;
  *(*next)++ = *configuration;
  return true;
}

/* All configurations; the walk ends as the count did, unless it is stopped. */
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
  status = wanted < total ? draw_sample(&w, &parts, sizes, total, wanted, seed, out) : list_all(&w, total, out);
  if (status == HALOTUNE_OK && bindings->limit.end == WALK_WHOLE) {
    *count = wanted < total ? wanted : total;
    return HALOTUNE_OK;
  }
  free(*out); /* a part of it is missing */
  *out = NULL;
  return status == HALOTUNE_OK ? space_is_walkable(bindings) : status;
}
