/* timed.c: a list that knows its minimum. */
#include "tuner/search/variants/timed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static double scaled_ms(const struct timed_variant *variant) { return variant->median_ms / variant->scale; }

static struct timed_variant *timed_find(const struct timed_list *timed, int64_t variant) {
  for (long i = timed->count - 1; i >= 0; i--) {
    if (timed->list[i].variant == variant) return &timed->list[i];
  }
  return NULL;
}

/* Find the minimum anew, after a variant has changed or left. */
static void find_best(struct timed_list *timed) {
  timed->best_ms = 0;
  for (long i = 0; i < timed->count; i++) {
    double time_ms = scaled_ms(&timed->list[i]);
    if (timed->best_ms == 0 || time_ms < timed->best_ms) timed->best_ms = time_ms;
  }
}

halotune_status timed_put(struct timed_list *timed, const struct timed_variant *variant) {
  struct timed_variant *same = timed_find(timed, variant->variant);
  if (same) {
    *same = *variant;
    find_best(timed);
    return HALOTUNE_OK;
  }
  if (!array_room(timed->list, timed->count, timed->capacity)) return fail_memory();
  timed->list[timed->count++] = *variant;
  double time_ms = scaled_ms(variant);
  if (timed->best_ms == 0 || time_ms < timed->best_ms) timed->best_ms = time_ms;
  return HALOTUNE_OK;
}

void timed_remove(struct timed_list *timed, int64_t variant) {
  struct timed_variant *found = timed_find(timed, variant);
  if (!found) return;
  *found = timed->list[--timed->count];
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
  if (timed->count > 1) qsort(timed->list, (size_t)timed->count, sizeof *timed->list, compare_places);
}

void timed_free(struct timed_list *timed) {
  free(timed->list);
  *timed = (struct timed_list){.count = 0};
}
