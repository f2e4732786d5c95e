/* gaussian.h: a Gaussian process: what values at some points tell of the values at others, and how sure that is.
 *
 * The kernel is Matern 5/2 with a length scale for each axis. An axis is a number from 0 to 1, or a category, whose
 * values are equally far from each other. Mean, variance, length scales and noise are those that make the values most
 * likely (C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5). */
#ifndef SEARCH_STRATEGY_GAUSSIAN_H
#define SEARCH_STRATEGY_GAUSSIAN_H

#include <stdbool.h>

#include "base/fail.h"

enum {
  GAUSSIAN_MOST_POINTS = 256, /* a factor of so many points takes some milliseconds; the time grows with the cube */
  GAUSSIAN_MOST_AXES = 96,
};

struct gaussian;

/* A place at which values are predicted. It keeps what was computed for it. One more point in the process then costs a
 * step for each point, and not a step for each pair. Start with the coordinates, room for GAUSSIAN_MOST_POINTS numbers
 * in `solved`, and the generation -1. */
struct gaussian_place {
  const double *at;
  double *solved;   /* L^-1 k, for the first `solved_count` points */
  double explained; /* the sum of their squares: the share of the variance that the points explain */
  int solved_count;
  long generation; /* the generation of the factor that these two belong to */
};

/* Make a process without points.
 *   axes         at most GAUSSIAN_MOST_AXES
 *   is_category  for each axis
 *   out          ended with gaussian_free; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status gaussian_make(int axes, const bool is_category[], struct gaussian **out);
void gaussian_free(struct gaussian *gaussian);

/* Remove all points. Length scales and noise stay. */
void gaussian_clear(struct gaussian *gaussian);

int gaussian_count(const struct gaussian *gaussian);

/* Find length scales and noise for the points, beginning with those that it has.
 *   most   points that are used, at most: the first ones
 *   steps  steps of the ascent; the time of each grows with the cube of the number of points
 * Returns false if they could not be found: fewer than three points, equal values, a matrix that is singular. They are
 * then as before. */
bool gaussian_fit(struct gaussian *gaussian, int most, int steps);

/* Add a point. Returns false if there is no room or if the matrix would be singular: the point is then left out. */
bool gaussian_add(struct gaussian *gaussian, const double at[], double value);

/* Change the value of a point, by its number from 0 in the order of adding. */
void gaussian_change(struct gaussian *gaussian, int number, double value);

/* Predict the value at a place, without noise. There must be a point. */
void gaussian_predict(struct gaussian *gaussian, struct gaussian_place *place, double *mean, double *deviation);

/* Predict the mean alone, at coordinates for which nothing is kept. There must be a point. */
double gaussian_mean(struct gaussian *gaussian, const double at[]);

#endif
