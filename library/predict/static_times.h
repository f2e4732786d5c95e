/* static_times.h: the measured times of a database, each with what is known of its variant before it is compiled. */
#ifndef LIBRARY_PREDICT_STATIC_TIMES_H
#define LIBRARY_PREDICT_STATIC_TIMES_H

#include "db/store/store.h"
#include "library/predict/predict.h"
#include "library/predict/static_cost.h"

struct static_time {
  double features[STATIC_COST_FEATURES];
  double log_time;          /* logarithm of its time over the best of the problem */
  double work;              /* its template's estimate; NAN without one */
  struct predict_cost cost; /* by the default coefficients of predict.h */
};

/* Start with {0}, end with static_times_free. */
struct static_times {
  struct static_time *list;
  long count, capacity;
  struct static_problem {
    int64_t device; /* id of the first device of its model */
    char stencil[64];
    long first, end; /* its variants in the list: two or more */
  } * problems;      /* by device */
  int problem_count, problem_capacity;
};

/* Read the newest time of each variant of each problem, for launches of one step in the mode `steady` of a real GPU. A
 * winner's document may hold no measurements of a problem. Then winner and finalists count, and the default variant.
 * Variants that the templates do not have, and problems with one variant, are left out.
 *   templates  the installed ones: a search computes costs by their formulas
 *   out        end it with static_times_free, also after a failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status static_times_read(struct store *store, struct template *const *templates, int template_count,
                                  struct static_times *out);

void static_times_free(struct static_times *times);

#endif
