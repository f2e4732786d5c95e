/* other_problems.h: what measurements of other problems tell of the variants of a search. All variants count there, not
 * only winners. */
#ifndef SEARCH_HINTS_OTHER_PROBLEMS_H
#define SEARCH_HINTS_OTHER_PROBLEMS_H

#include "tuner/search/hints/hints.h"

/* Start with {0}, end with known_free. */
struct known {
  struct known_variants variants; /* the arrays below */
  struct known_variant *list;
  double *weights; /* the weight of each variant, while the arrays are made */
  struct visited places;
  const char **sources;
  int capacity, weight_capacity, source_count, source_capacity;
  struct arena arena;
};

/* Find what is known of the variants of a space. Times were measured on other grids, in the other element type, on
 * other GPUs, or of other stencils of the shape. Each is multiplied by the ratio that library/predict gives for the two
 * problems, and compared with the best of its own problem. Where several problems know a variant, the nearer ones count
 * more. Results of the same stencil, type and grid on the same GPU are left out, whatever their database, modes and
 * driver are: a search takes those of its own problem as they are (earlier_runs.h), and a search of a recording must
 * not know the times that it looks for. Of each database at most 50,000 rows are read, those of the newest problems
 * first.
 *   end  asked before each problem, and every few hundred rows, in place of that of `sources`
 *   out  ended with known_free, also after a failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status known_find(const struct hint_sources *sources, const struct hint_target *target,
                           const struct search_space *space, const struct hint_end *end, struct known *out);

void known_free(struct known *known);

#endif
