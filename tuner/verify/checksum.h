/* checksum.h: summarises a field in a few numbers that people and scripts can compare. */
#ifndef TUNER_VERIFY_CHECKSUM_H
#define TUNER_VERIFY_CHECKSUM_H

#include "base/identity/hash.h"

/* Infinities and NaNs are counted. They do not enter sums, minimum and maximum. */
struct checksum {
  double sum, absolute_sum; /* added in the order of memory */
  double min, max;          /* 0 if no value is finite */
  long not_finite;
  struct hash hash; /* hash of all bytes */
};

struct checksum checksum_make(const double *values, long count);

#endif
