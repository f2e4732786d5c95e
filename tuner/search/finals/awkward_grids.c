/* awkward_grids.c: makes extents from primes and small multiples of primes. */
#include "tuner/search/finals/awkward_grids.h"

#include <string.h>

enum { LEAST_CUT = 16 }; /* an axis shorter than this keeps its extent, or nearly */

struct awkward_list {
  struct grid *grids;
  int count;
};

static bool is_prime(long number) {
  if (number < 2) return false;
  for (long d = 2; d * d <= number; d++) {
    if (number % d == 0) return false;
  }
  return true;
}

/* The largest multiple of `unit` by a prime up to a number; 0 if there is none. */
static long prime_units_below(long number, long unit) {
  long prime = number / unit;
  while (prime > 1 && !is_prime(prime)) prime--;
  return prime > 1 ? prime * unit : 0;
}

/* Whether an axis before this one has this extent. */
static bool is_taken(const struct grid *grid, int axis, long extent) {
  for (int before = 0; before < axis; before++) {
    if (grid->n[before] == extent) return true;
  }
  return false;
}

/* The extent along one axis: a multiple of `unit` by a prime, at most `share` of the grid's. It differs from the axes
 * before it if that is possible. An axis of one point keeps it.
 *   awkward  has the axes before this one */
static long awkward_extent(const struct grid *grid, int axis, long unit, double share, const struct grid *awkward) {
  if (grid->n[axis] < 2) return grid->n[axis];
  const long most = grid->n[axis] > LEAST_CUT ? (long)((double)grid->n[axis] * share) : grid->n[axis];
  const long largest = prime_units_below(most, unit);
  long extent = largest;
  while (extent > 0 && is_taken(awkward, axis, extent)) extent = prime_units_below(extent - unit, unit);
  return extent > 0 ? extent : largest;
}

static bool is_same(const struct grid *a, const struct grid *b) { return memcmp(a->n, b->n, sizeof a->n) == 0; }

/* Add a grid, unless an axis has no point, or it is the task's own grid, or it is in the list. */
static void add_grid(struct awkward_list *list, const struct grid *own, const struct grid *grid) {
  if (is_same(own, grid)) return;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (grid->n[axis] < 1) return;
  }
  for (int i = 0; i < list->count; i++) {
    if (is_same(&list->grids[i], grid)) return;
  }
  if (list->count < AWKWARD_GRIDS_MOST) list->grids[list->count++] = *grid;
}

/* Add a grid with multiples of `unit` along the first axes and primes along the others. */
static void add_with_units(struct awkward_list *list, const struct grid *grid, long unit, int axes_with_units,
                           double share) {
  struct grid awkward;
  for (int axis = 0; axis < MAX_DIMS; axis++)
    awkward.n[axis] = awkward_extent(grid, axis, axis < axes_with_units ? unit : 1, share, &awkward);
  add_grid(list, grid, &awkward);
}

/* Add the grid with one axis changed. The last axis comes first, because the fewest rules name its extent. */
static void add_with_one_axis(struct awkward_list *list, const struct grid *grid) {
  for (int axis = MAX_DIMS - 1; axis >= 0; axis--) {
    struct grid awkward = *grid;
    awkward.n[axis] = prime_units_below(grid->n[axis] - 1, 1);
    add_grid(list, grid, &awkward);
  }
}

int awkward_grids(const struct grid *grid, struct grid list[AWKWARD_GRIDS_MOST]) {
  static const double shares[] = {0.625, 0.8, 0.97};
  static const long units[] = {2, 4, 8, 16};
  struct awkward_list found = {.grids = list};
  for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) add_with_units(&found, grid, 1, 0, shares[s]);
  for (int axes = 1; axes <= MAX_DIMS; axes++) {
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
      for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
        add_with_units(&found, grid, units[u], axes, shares[s]);
    }
  }
  add_with_one_axis(&found, grid);
  return found.count;
}
