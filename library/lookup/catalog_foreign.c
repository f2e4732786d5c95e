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

/* Whether a row is a winner of this user. */
static bool is_own(const struct served *row) { return !row->is_foreign && !row->is_finalist; }

/* Within a problem, these winners come first. */
static int compare_rows(const void *left, const void *right) {
  const struct served *const a = *(struct served *const *)left, *const b = *(struct served *const *)right;
  const int order = compare_problems(a, b);
  return order != 0 ? order : (int)is_own(b) - (int)is_own(a);
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
    if (order[i]->is_foreign && is_own(order[first])) order[i]->steps = 0;
  }
}

/* Whether both this user and others gave rows. */
static bool has_both(const struct catalog *c) {
  int foreign = 0;
  for (int i = 0; i < c->row_count; i++) foreign += c->rows[i].is_foreign;
  return foreign > 0 && foreign < c->row_count;
}

halotune_status catalog_drop_foreign(struct catalog *c) {
  int kept = 0;
  if (!has_both(c)) return HALOTUNE_OK;
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
