/* catalog_foreign.c: sorts the rows of a family and a database by problem, where this user and others gave some. */
#include <stdlib.h>

#include "base/memory/sorted.h"
#include "library/lookup/catalog.h"

/* Order the problems of one stencil, model of GPU, element type, number of steps and database. */
static int compare_problems(const struct served *a, const struct served *b) {
  for (int axis = 0; axis < MAX_DIMS; axis++) ORDER_BY(a->n[axis], b->n[axis]);
  ORDER_BY(a->launch, b->launch);
  ORDER_BY(a->cache, b->cache);
  ORDER_BY(a->reproducible, b->reproducible);
  return 0;
}

/* Of which run of this user a row is the winner. That of a run that was cut short may be slow. */
enum own_run { NO_OWN_RUN, PARTIAL_OWN_RUN, COMPLETE_OWN_RUN };

static enum own_run own_run_of(const struct served *row) {
  if (row->is_foreign || row->is_finalist) return NO_OWN_RUN;
  return row->is_partial ? PARTIAL_OWN_RUN : COMPLETE_OWN_RUN;
}

/* Within a problem, the winner of a complete run of this user comes first, then that of another one. */
static int compare_rows(const void *left, const void *right) {
  const struct served *const a = *(struct served *const *)left, *const b = *(struct served *const *)right;
  const int order = compare_problems(a, b);
  return order != 0 ? order : (int)own_run_of(b) - (int)own_run_of(a);
}

static bool is_needless(const struct served *row, enum own_run own) {
  if (!row->is_foreign || own == NO_OWN_RUN) return false;
  return own == COMPLETE_OWN_RUN || row->is_finalist || row->is_measured;
}

static bool is_of_range(const struct served *a, const struct served *b) {
  return a->stencil == b->stencil && a->model == b->model && a->dtype == b->dtype && a->steps == b->steps &&
         a->database == b->database;
}

/* Mark the rows to drop as rows without a number of steps.
 *   list   the rows of a range
 *   order  room for their addresses */
static void mark_range(struct served *list, int count, struct served **order) {
  int foreign = 0;
  for (int i = 0; i < count; i++) {
    order[i] = &list[i];
    foreign += list[i].is_foreign;
  }
  if (foreign == 0 || foreign == count) return;
  qsort(order, (size_t)count, sizeof *order, compare_rows);
  for (int first = 0, i = 0; i < count; i++) {
    if (compare_problems(order[first], order[i]) != 0) first = i;
    if (is_needless(order[i], own_run_of(order[first]))) order[i]->steps = 0;
  }
}

halotune_status catalog_drop_foreign(struct catalog *c) {
  int kept = 0;
  struct served **order = malloc(((size_t)c->row_count + 1) * sizeof *order);
  if (!order) return fail_memory();
  for (int first = 0, end; first < c->row_count; first = end) {
    for (end = first; end < c->row_count && is_of_range(&c->rows[first], &c->rows[end]);) end++;
    mark_range(&c->rows[first], end - first, order);
  }
  free(order);
  for (int i = 0; i < c->row_count; i++) {
    if (c->rows[i].steps > 0) c->rows[kept++] = c->rows[i];
  }
  c->row_count = kept;
  return HALOTUNE_OK;
}
