/* selftest_wrappers.h: a variant of stencil copy for each of the wrappers that templates use, written by hand. */
#ifndef TUNER_CLI_SELFTEST_WRAPPERS_H
#define TUNER_CLI_SELFTEST_WRAPPERS_H

#include "stencil/generate.h"

/* The cases of tuner/backend/gpu/wrappers_check.cu, and the compute capability that each needs. */
#define WRAPPER_CASE_LIST(X)                                                                            \
  X(vector_1, 75) X(vector_2, 75) X(vector_4, 75) X(vector_readonly, 75) X(vector_streaming, 75)         \
  X(plain, 75) X(readonly, 75) X(streaming, 75) X(async_smallest, 75) X(async_8, 75) X(async_16, 75)     \
  X(async_zero, 75) X(async_groups, 75) X(bulk, 90) X(flags, 75)

struct wrapper_case {
  const char *name;
  int capability;
};
extern const struct wrapper_case wrapper_cases[];
extern const int wrapper_case_count;

/* The points along x of the field that they copy; 1 in y and z. */
enum { WRAPPER_POINTS = 1 << 16 };

/* Write a case's variant: its source and launch.
 *   out  ended with generated_free
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status wrapper_generate(int number, enum dtype dtype, struct generated *out);

#endif
