/* timed_variants.h: the variants of a run that have a time. Some of them get into the finals. */
#ifndef SEARCH_VARIANTS_TIMED_VARIANTS_H
#define SEARCH_VARIANTS_TIMED_VARIANTS_H

#include "base/memory/set.h"
#include "db/store/store.h"
#include "tuner/search/variants/search_space.h"

struct timed_variant {
  struct proposal proposal;
  int64_t variant; /* row in the store */
  long number;     /* number of its result in this run; 0: the result is an earlier run's */
  enum outcome outcome;
  double median_ms, minimum_ms;
  double scale;                                 /* anchor_scale(): how slow the GPU was then */
  double rms_error, max_error, max_error_units; /* errors found by its verification */
  int registers, shared_bytes;
  double occupancy;
  bool is_default, is_served, is_hinted;
};

/* Start with {0}, end with timed_free. */
struct timed_list {
  struct timed_variant *list;
  long count, capacity;
  struct set by_variant; /* places in the list, of rows in the store; empty after places have changed */
  double best_ms;        /* the shortest time over its scale; 0 for none */
};

/* Add a variant. It replaces the one with the same row in the store, if there is one. Returns HALOTUNE_OK or
 * HALOTUNE_MEMORY. */
halotune_status timed_put(struct timed_list *timed, const struct timed_variant *variant);

/* Remove a variant, if it is in the list. */
void timed_remove(struct timed_list *timed, int64_t variant);

/* The shortest time over its scale; INFINITY for an empty list. Takes constant time. */
double timed_best_ms(const struct timed_list *timed);

/* Sort by the order of the space: templates, then parameters. */
void timed_sort(struct timed_list *timed);

/* List the variants by time over scale, the shortest first. Equal times keep their order. Returns an array of `count`
 * variants, which the caller frees; NULL when memory is out. It is valid until the list changes. */
const struct timed_variant **timed_by_time(const struct timed_list *timed);

void timed_free(struct timed_list *timed);

#endif
