/* statistics.h: the median of few samples, and how sure it is. No distribution is assumed, and one wild sample moves
 * nothing.
 *
 * The interval of a median is made of two of the samples themselves. Each independent sample lies below the true
 * median with probability 1/2, so the number of samples below it is binomial: with the n samples sorted, the true
 * median lies between the j-th smallest and the j-th largest with probability at least
 *   1 - 2 P(B <= j - 1),   B binomial of n and 1/2
 * (H. A. David, H. N. Nagaraja, Order Statistics, 3rd edition, 2003, section 7.1).
 * j is the largest for which that is at least 95 %. Below 6 samples there is none; the interval is then the whole
 * range, with the confidence it has: 50 % for 2, 75 % for 3, 87.5 % for 4, 93.75 % for 5.
 *
 * Samples that follow each other on a GPU are not quite independent: such an interval is a little too narrow.
 * Threads: all. */
#ifndef MEASURE_SAMPLING_STATISTICS_H
#define MEASURE_SAMPLING_STATISTICS_H

#include "db/store/store.h"

/* What describes a set of values. All are NaN where there are none. */
struct summary {
  int count;
  double median, minimum, low, high; /* low, high: the interval */
  double confidence;                 /* of the interval, by the formula above; 0 for fewer than 2 values */
};

/* Where the interval of a median begins: the j of the formula, from 1; also 1 where there is no interval of 95 %.
 *   confidence  receives that of the interval; may be NULL */
int median_interval_rank(int count, double *confidence);

/* The median; sorts the values. NaN for none. */
double median_of(double *values, int count);

/* The summary; sorts the values. */
struct summary summary_of(double *values, int count);

/* A summary of times as it is stored.
 *   samples  in order, or NULL; only the pointer is kept */
struct timing timing_of(const struct summary *times_ms, const float *samples);

/* The same where all samples repeat one value: it counts as one, and its interval is not known (NaN). */
struct timing timing_of_one(const struct summary *times_ms, const float *samples);

#endif
