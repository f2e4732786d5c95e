/* checksum.h: a field in a few numbers, to be printed and compared by eye or by a script. */
#ifndef TUNER_VERIFY_CHECKSUM_H
#define TUNER_VERIFY_CHECKSUM_H

#include "base/hash.h"

/* Infinities and NaNs are counted, and left out of sums, minimum and maximum. */
struct checksum {
  double sum, absolute_sum; /* added in the order of memory */
  double min, max;          /* 0 where nothing is finite */
  long not_finite;
  struct hash hash; /* of all bytes */
};

struct checksum checksum_make(const double *values, long count);

#endif
