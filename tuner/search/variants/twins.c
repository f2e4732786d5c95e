/* twins.c: a list of twins and their originals. */
#include "tuner/search/variants/twins.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/array.h"

halotune_status twins_add(struct twins *twins, const struct twin *twin) {
  if (!array_room(twins->list, twins->count, twins->capacity)) return fail_memory();
  twins->list[twins->count++] = *twin;
  return HALOTUNE_OK;
}

struct twin_reason twin_reason(long number) {
  struct twin_reason reason;
  snprintf(reason.text, sizeof reason.text, "the same machine code and launch as number %ld", number);
  return reason;
}

halotune_status twins_follow(const struct twins *twins, struct store *store, int64_t run, int64_t original,
                             const struct measurement *again, int *count) {
  halotune_status status = HALOTUNE_OK;
  *count = 0;
  for (int i = 0; i < twins->count && status == HALOTUNE_OK; i++) {
    if (twins->list[i].original != original) continue;
    ++*count;
    if (twins->list[i].variant == original) continue;
    const struct twin_reason reason = twin_reason(twins->list[i].number);
    struct measurement same = *again;
    if (!same.reason[0]) same.reason = reason.text;
    status = store_measured_again(store, run, twins->list[i].variant, &same);
  }
  return status;
}

void twins_free(struct twins *twins) {
  free(twins->list);
  *twins = (struct twins){.count = 0};
}
