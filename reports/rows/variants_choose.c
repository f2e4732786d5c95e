/* variants_choose.c: selects variants for a document that cannot hold all. */
#include <stdlib.h>

#include "reports/rows/variants.h"

void variants_keep(struct variant_table *table, int64_t variant) {
  for (int i = 0; i < table->order_count; i++) {
    if (table->order[i]->variant == variant) table->order[i]->is_kept = true;
  }
}

/* Sort the fastest first; those without a time (NAN) last. */
static int by_time(const void *a, const void *b) {
  double x = (*(struct variant_row *const *)a)->median_ms, y = (*(struct variant_row *const *)b)->median_ms;
  if (x < y) return -1;
  if (y < x) return 1;
  return (x != x) - (y != y);
}

static void keep_fastest(struct variant_table *table, int most) {
  struct variant_row **sorted = malloc(((size_t)table->order_count + 1) * sizeof(struct variant_row *));
  if (!sorted) return; /* without memory there is no sample of them; variants_keep has kept the winner */
  for (int i = 0; i < table->order_count; i++) sorted[i] = table->order[i];
  qsort(sorted, (size_t)table->order_count, sizeof(struct variant_row *), by_time);
  for (int i = 0; i < table->order_count && i < most; i++) {
    if (sorted[i]->median_ms > 0) sorted[i]->is_kept = true;
  }
  free(sorted);
}

/* Keep the first `each` failures of each outcome, and also those of each reason until `most` more are kept. Having no
 * reason counts as a reason.
 * Returns how many more may be kept. */
static int keep_failures(struct variant_table *table, int each, int most) {
  int *seen = calloc((size_t)table->reasons.count + 1, sizeof *seen), by_outcome[OUTCOME_COUNT] = {0};
  for (int i = 0; i < table->order_count && seen; i++) {
    struct variant_row *row = table->order[i];
    if (outcome_has_time(row->outcome)) continue;
    int *of_reason = &seen[row->reason + 1];
    const bool is_new = by_outcome[row->outcome]++ < each;
    if (!row->is_kept && !is_new && (most <= 0 || *of_reason >= each)) continue;
    ++*of_reason;
    most -= !row->is_kept;
    row->is_kept = true;
  }
  free(seen);
  return most;
}

static void keep_evenly(struct variant_table *table, int most) {
  double step = most > 0 ? (double)table->order_count / most : 0;
  for (int i = 0; i < most; i++) table->order[(int)(i * step)]->is_kept = true;
}

void variants_choose(struct variant_table *table, int most) {
  enum { EACH = 4 };
  bool all = table->order_count <= most;
  if (!all) {
    keep_fastest(table, most / 2);
    /* First one of each reason: reasons with many failures must not take the places of others. */
    const int left = keep_failures(table, 1, most / 4);
    keep_failures(table, EACH, left);
    keep_evenly(table, most / 4);
  }
  table->shown_count = 0;
  for (int i = 0; i < table->order_count; i++) {
    if (all) table->order[i]->is_kept = true;
    table->shown_count += table->order[i]->is_kept;
  }
}
