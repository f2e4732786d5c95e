/* trend.h: what the measured times of a family of rows tell of grids that nobody measured.
 *
 * The model of predict.h misses what all variants have in common on some grids: rows of few points, planes that collide
 * in a cache. So the residual, the logarithm of a measured time over the model's time, is taken as a sum: a constant, a
 * smooth function of the grid, a part of each configuration, and chance. This file finds the function: the mean of a
 * Gaussian process over the rows of a family (kriging). */
#ifndef LIBRARY_PREDICT_TREND_H
#define LIBRARY_PREDICT_TREND_H

#include "include/halotune.h"
#include "library/predict/predict.h"

/* No more rows are used, because each grid then has near ones anyway. The number is a multiple of TREND_LANES. */
enum { TREND_MOST_ROWS = 128, TREND_LANES = 8 };

/* A measured row. */
struct trend_row {
  struct predict_size size;
  int configuration; /* a number that rows of one configuration have in common */
  double residual;   /* logarithm of its time over the model's; not finite: it says nothing */
};

/* {0} is a trend that says nothing. Lists by axis, so that one loop computes several rows at once; the weights behind
 * the last row are 0. */
struct trend {
  int count;
  float sizes[PREDICT_SIZES][TREND_MOST_ROWS], unaligned[TREND_MOST_ROWS], weights[TREND_MOST_ROWS];
};

/* Find the trend of a family. It takes a millisecond at most.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status trend_make(const struct trend_row *rows, int count, struct trend *out);

extern const float trend_most;

/* The function at a grid: a logarithm of times between -trend_most and trend_most. Takes tens of nanoseconds. */
float trend_at(const struct trend *trend, const struct predict_size *size);

#endif
