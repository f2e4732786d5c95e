/* checksum.c: computes a checksum in one pass over a field. */
#include "tuner/verify/checksum.h"

#include <math.h>
#include <stdbool.h>

struct checksum checksum_make(const double *values, long count) {
  struct checksum result = {.hash = hash_bytes(values, (size_t)count * sizeof *values)};
  for (long i = 0; i < count; i++) {
    double value = values[i];
    if (!isfinite(value)) {
      result.not_finite++;
      continue;
    }
    bool first = i == result.not_finite;
    result.sum += value;
    result.absolute_sum += fabs(value);
    if (first || value < result.min) result.min = value;
    if (first || value > result.max) result.max = value;
  }
  return result;
}
