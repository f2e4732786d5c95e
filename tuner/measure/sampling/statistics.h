/* statistics.h: the median of few samples, and its interval of confidence. No distribution is assumed, and a single
 * wild sample has no effect.
 *
 * Two of the samples are the ends of the interval. Each independent sample lies below the true median with probability
 * 1/2, so that the number of samples below it is binomial. In n sorted samples, the true median lies between the j-th
 * smallest and the j-th largest with probability at least
 *   1 - 2 P(B <= j - 1),   B binomial of n and 1/2
 * (H. A. David, H. N. Nagaraja, Order Statistics, 3rd edition, 2003, section 7.1).
 * j is the largest number for which this is at least 95 %. For fewer than 6 samples there is no such j. The interval is
 * then the whole range, with less confidence: 50 % for 2 samples, 75 % for 3, 87.5 % for 4, 93.75 % for 5.
 *
 * Samples in a row on a GPU are not quite independent, so that the interval is a little too narrow.
 * Threads: all. */
#ifndef MEASURE_SAMPLING_STATISTICS_H
#define MEASURE_SAMPLING_STATISTICS_H

#include "db/store/store.h"

/* A summary of a set of values. All figures are NaN for an empty set. */
struct summary {
  int count;
  double median, minimum, low, high; /* low, high: the interval */
  double confidence;                 /* confidence of the interval, by the formula above; 0 for fewer than 2 values */
};

/* The j of the formula, from 1; also 1 if there is no interval of 95 %.
 *   confidence  receives the confidence of the interval; may be NULL */
int median_interval_rank(int count, double *confidence);

/* The median, NaN for no values. Sorts the values. */
double median_of(double *values, int count);

/* The summary. Sorts the values. */
struct summary summary_of(double *values, int count);

/* A summary of times as it is stored.
 *   samples  in order, or NULL; only the pointer is kept */
struct timing timing_of(const struct summary *times_ms, const float *samples);

/* The same for samples that all repeat one value. It counts as one sample, and its interval is NaN: not known. */
struct timing timing_of_one(const struct summary *times_ms, const float *samples);

#endif
