/* kernel_build.h: source, launch and machine code of a variant for a domain and coefficients: stored ones where they are right, else
 * generated and compiled. Needs no GPU. */
#ifndef LIBRARY_KERNEL_KERNEL_BUILD_H
#define LIBRARY_KERNEL_KERNEL_BUILD_H

#include "library/lookup/choose.h"

/* Owns source and cubin; end with built_free. */
struct built {
  char *source;
  void *cubin;
  size_t cubin_bytes;
  struct launch launch;
  int steps;        /* time steps of one launch */
  const char *code; /* where the cubin is from: "database", "cache", "compiled" */
};

/* Build a variant.
 *   question      domain and device
 *   answer        its rules are kept by them
 *   coefficients  a value for each
 *   out           filled on success; empty after a failure
 * Returns HALOTUNE_OK; HALOTUNE_NO_NVRTC, HALOTUNE_COMPILE; HALOTUNE_ARGUMENT where a number does not fit the element type;
 * HALOTUNE_PARSE or HALOTUNE_MEMORY. That a database is gone is no error: then it is compiled.
 * Threads: any number at once. */
halotune_status kernel_build(const struct question *question, const struct answer *answer, const double *coefficients,
                             struct built *out);

/* The source and launch alone; nothing is compiled. */
halotune_status kernel_source(const struct question *question, const struct answer *answer, const double *coefficients,
                              struct built *out);

void built_free(struct built *built);

/* The coefficients that a caller gave, or the defaults: from malloc, the caller's. HALOTUNE_OK; HALOTUNE_ARGUMENT for one that is
 * not finite; HALOTUNE_MEMORY. */
halotune_status kernel_coefficients(const struct question *question, const double *given, double **out);

#endif
