/* kernel_build.h: source, launch and machine code of a variant for a domain and coefficients. They come from a
 * database where they fit; otherwise they are generated and compiled. This needs no GPU. */
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
  const char *code; /* the origin of the cubin: "database", "cache" or "compiled" */
  /* The source of an exact answer was left out of the database, and this program generates another one: nobody measured
   * it. */
  bool is_stale;
};

/* Build a variant.
 *   question      domain and device
 *   answer        a configuration that keeps its rules on them
 *   coefficients  a value for each coefficient
 *   out           filled on success; empty after a failure
 * Returns HALOTUNE_OK; HALOTUNE_NO_NVRTC; HALOTUNE_COMPILE; HALOTUNE_ARGUMENT if a number does not fit the element
 * type; HALOTUNE_PARSE or HALOTUNE_MEMORY. If the database no longer exists, the variant is compiled. Threads: any
 * number at once. */
halotune_status kernel_build(const struct question *question, const struct answer *answer, const double *coefficients,
                             struct built *out);

/* Make source and launch only, and compile nothing. */
halotune_status kernel_source(const struct question *question, const struct answer *answer, const double *coefficients,
                              struct built *out);

/* How long NVRTC may take for one source. A tune allows 30 s (--compile-timeout). Tests shorten this limit. */
extern int kernel_compile_ms;

/* Compile a source for the device of a ctx, or take its machine code from the cache of compiled kernels.
 *   capability  of the device: 90
 *   name        name of the source in messages
 *   out         end with compiled_free after any outcome
 *   origin      receives "compiled" or "cache"
 * Returns HALOTUNE_OK, HALOTUNE_NO_NVRTC, HALOTUNE_COMPILE, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status kernel_compile(struct halotune_ctx *ctx, int capability, const char *source, const char *name,
                               struct compiled *out, const char **origin);

void built_free(struct built *built);

/* Copy the coefficients that a caller gave, or the defaults if `given` is NULL.
 *   out  receives a list from malloc, which the caller frees
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if a coefficient is not finite; HALOTUNE_MEMORY. */
halotune_status kernel_coefficients(const struct question *question, const double *given, double **out);

#endif
