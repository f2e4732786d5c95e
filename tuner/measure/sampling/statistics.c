/* statistics.c: computes medians and their intervals. */
#include "tuner/measure/sampling/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/sorted.h"

static const double wanted_confidence = 0.95;

/* P(B = k), by logarithms, because 2^-n is 0 for more than 1074 samples. */
static double binomial_probability(int count, int k) {
  int sign;
  return exp(lgamma_r(count + 1.0, &sign) - lgamma_r(k + 1.0, &sign) - lgamma_r(count - k + 1.0, &sign) -
             count * log(2.0));
}

int median_interval_rank(int count, double *confidence) {
  double below = count > 0 ? binomial_probability(count, 0) : 0.5; /* P(B <= rank - 1) */
  int rank = 1;
  while (2 * rank < count) {
    const double next = below + binomial_probability(count, rank);
    if (1 - 2 * next < wanted_confidence) break;
    below = next;
    rank++;
  }
  if (confidence) *confidence = count > 1 ? 1 - 2 * below : 0;
  return rank;
}

static double middle_of_sorted(const double *values, int count) {
  if (count == 0) return NAN;
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

double median_of(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return middle_of_sorted(values, count);
}

struct summary summary_of(double *values, int count) {
  struct summary out = {.count = count, .median = NAN, .minimum = NAN, .low = NAN, .high = NAN};
  if (count == 0) return out;
  out.median = median_of(values, count);
  const int rank = median_interval_rank(count, &out.confidence);
  out.minimum = values[0];
  out.low = values[rank - 1];
  out.high = values[count - rank];
  return out;
}

struct timing timing_of(const struct summary *times_ms, const float *samples) {
  return (struct timing){.sample_count = times_ms->count,
                         .median_ms = times_ms->median,
                         .minimum_ms = times_ms->minimum,
                         .low_ms = times_ms->low,
                         .high_ms = times_ms->high,
                         .samples = samples};
}

struct timing timing_of_one(const struct summary *times_ms, const float *samples) {
  return (struct timing){.sample_count = 1,
                         .median_ms = times_ms->median,
                         .minimum_ms = times_ms->median,
                         .low_ms = NAN,
                         .high_ms = NAN,
                         .samples = samples};
}
