/* static_fit.h: learns the weights of static costs from measured times. */
#ifndef LIBRARY_PREDICT_STATIC_FIT_H
#define LIBRARY_PREDICT_STATIC_FIT_H

#include "library/predict/least_squares.h"
#include "library/predict/static_times.h"

enum {
  STATIC_OF_A_PROBLEM = 100, /* a problem counts as so many variants at most */
  STATIC_LEAST_TIMES = 100,  /* with fewer times the built-in weights are kept */
};

/* The logarithm of a time over the best. A very slow variant counts as 2.7 times the best, as in prior.h of the
 * search. */
double static_clipped(const struct static_time *time);

/* Add the times of a problem to the sums. Features and times lose their means, so that only differences within a
 * problem count.
 *   most  the problem counts as so many variants at most
 *   sums  begun with {.count = STATIC_COST_FEATURES} */
void static_learn(const struct static_times *times, const struct static_problem *problem, double most,
                  struct least_squares *sums);

/* What a fit found for a model of GPU. */
struct static_fit {
  long times;   /* newest times of variants, of the problems with two variants or more */
  int problems; /* number of these problems */
  /* Of the pairs of variants of a problem whose times differ by 5 % or more, the share that the costs order rightly:
   * with the built-in weights, and with the new ones. NAN: too few times. */
  double ordered_before, ordered_after;
  bool is_kept; /* false: too few times, or the new weights make no sense, or they order no more pairs rightly */
  struct static_weights weights;
};

/* Fit the weights to the problems of one model of GPU.
 *   first, end  its problems in times->problems */
void static_fit_make(const struct static_times *times, int first, int end, struct static_fit *out);

/* Whether a database has weights for a model of GPU, and whether they make sense. */
enum static_stored { STATIC_NONE, STATIC_NONSENSE, STATIC_STORED };

/* Read the weights that a database has for a model of GPU.
 *   name, capability, sm_count  of the model
 *   out                         receives the weights if they make sense: all are there, and are sensible
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status static_weights_read(const struct store *store, const char *name, int capability, int sm_count,
                                    enum static_stored *found, struct static_weights *out);

#endif
