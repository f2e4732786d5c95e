/* timed_variants.c: a list that knows its minimum. */
#include "tuner/search/variants/timed_variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/array.h"
#include "base/numbers/random.h"

static double scaled_ms(const struct timed_variant *variant) { return variant->median_ms / variant->scale; }

static uint64_t hash_of(int64_t variant) { return set_hash(&variant, sizeof variant); }

static struct timed_variant *timed_find(const struct timed_list *timed, int64_t variant) {
  int place;
  for (struct set_walk at = set_walk(&timed->by_variant, hash_of(variant)); set_next(&at, &place);) {
    if (timed->list[place].variant == variant) return &timed->list[place];
  }
  return NULL;
}

static halotune_status index_make(struct timed_list *timed) {
  if (timed->by_variant.count == (size_t)timed->count) return HALOTUNE_OK;
  set_free(&timed->by_variant);
  for (long i = 0; i < timed->count; i++) {
    if (!set_add(&timed->by_variant, hash_of(timed->list[i].variant), (int)i)) return fail_memory();
  }
  return HALOTUNE_OK;
}

/* Find the minimum again, after a variant was changed or removed. */
static void find_best(struct timed_list *timed) {
  timed->best_ms = 0;
  for (long i = 0; i < timed->count; i++) {
    double time_ms = scaled_ms(&timed->list[i]);
    if (timed->best_ms == 0 || time_ms < timed->best_ms) timed->best_ms = time_ms;
  }
}

halotune_status timed_put(struct timed_list *timed, const struct timed_variant *variant) {
  if (index_make(timed) != HALOTUNE_OK) return fail_memory();
  struct timed_variant *same = timed_find(timed, variant->variant);
  if (same) {
    *same = *variant;
    find_best(timed);
    return HALOTUNE_OK;
  }
  if (!array_room(timed->list, timed->count, timed->capacity)) return fail_memory();
  if (!set_add(&timed->by_variant, hash_of(variant->variant), (int)timed->count)) return fail_memory();
  timed->list[timed->count++] = *variant;
  double time_ms = scaled_ms(variant);
  if (timed->best_ms == 0 || time_ms < timed->best_ms) timed->best_ms = time_ms;
  return HALOTUNE_OK;
}

/* The last entry takes the place of the removed one, so that the next timed_put makes the index again. This is rare. */
void timed_remove(struct timed_list *timed, int64_t variant) {
  long at = 0;
  while (at < timed->count && timed->list[at].variant != variant) at++;
  if (at == timed->count) return;
  timed->list[at] = timed->list[--timed->count];
  set_free(&timed->by_variant);
  find_best(timed);
}

double timed_best_ms(const struct timed_list *timed) { return timed->best_ms > 0 ? timed->best_ms : INFINITY; }

static int compare_places(const void *left, const void *right) {
  const struct proposal *a = &((const struct timed_variant *)left)->proposal,
                        *b = &((const struct timed_variant *)right)->proposal;
  if (a->template_index != b->template_index) return a->template_index - b->template_index;
  return memcmp(a->configuration.choice, b->configuration.choice, sizeof a->configuration.choice);
}

void timed_sort(struct timed_list *timed) {
  set_free(&timed->by_variant);
  if (timed->count > 1) qsort(timed->list, (size_t)timed->count, sizeof *timed->list, compare_places);
}

static int compare_times(const void *left, const void *right) {
  const struct timed_variant *const *a = left, *const *b = right;
  const double a_ms = scaled_ms(*a), b_ms = scaled_ms(*b);
  if (a_ms != b_ms) return a_ms < b_ms ? -1 : 1;
  return (*a > *b) - (*a < *b);
}

const struct timed_variant **timed_by_time(const struct timed_list *timed) {
  const struct timed_variant **sorted = calloc((size_t)timed->count + 1, sizeof *sorted);
  if (!sorted) return NULL;
  for (long i = 0; i < timed->count; i++) sorted[i] = &timed->list[i];
  qsort(sorted, (size_t)timed->count, sizeof *sorted, compare_times);
  return sorted;
}

void timed_free(struct timed_list *timed) {
  set_free(&timed->by_variant);
  free(timed->list);
  *timed = (struct timed_list){.count = 0};
}
