/* times.h: the measured times of a database, each with what is known of its variant before it is compiled. */
#ifndef STATIC_COST_TIMES_H
#define STATIC_COST_TIMES_H

#include "db/store/store.h"
#include "tuner/cli/options/templates.h"
#include "tuner/search/strategy/static_cost.h"

struct measured {
  double features[STATIC_COST_FEATURES];
  double work;             /* its template's estimate; NAN without one */
  double predicted;        /* logarithm of its time by the model of library/predict, with the default coefficients */
  double predicted_fitted; /* the same with those of a database */
  double log_time;         /* logarithm of its time over the best of the problem */
};

struct timed_problem {
  char stencil[64];
  long first, end; /* its variants */
};

/* Start with {0}, end with times_free. */
struct times {
  struct measured *list;
  long count, capacity;
  struct timed_problem *problems;
  int problem_count, problem_capacity;
};

/* Read the newest time of each variant of each problem, for launches of one step and in a real GPU's steady mode.
 * Problems with one variant, and variants that the templates no longer have, are left out.
 *   templates     those that are installed
 *   coefficients  a database with coefficients of library/predict; defaults stand for those that it lacks
 *   has_defaults  whether a winner's database says only in `best` how long the default variant takes
 * A failure ends the program. */
void times_read(struct store *store, const struct templates *templates, struct store *coefficients, bool has_defaults,
                struct times *out);

/* Keep the problem with the most variants: a recording may have another one beside it. */
void times_keep_largest(struct times *times);

void times_free(struct times *times);

/* End the program if a step failed. */
void check_status(halotune_status status);

#endif
