/* wide_vectors.h: functions of which a processor with vectors of eight numbers has its own version. No operation rounds
 * otherwise in it, so that the results are the same. Compile such a function WITH_WIDE_VECTORS, and call it only where
 * HAS_WIDE_VECTORS says so. */
#ifndef BASE_WIDE_VECTORS_H
#define BASE_WIDE_VECTORS_H

#ifdef __x86_64__
#define HAS_WIDE_VECTORS __builtin_cpu_supports("avx2")
#define WITH_WIDE_VECTORS __attribute__((target("avx2")))
#else
#define HAS_WIDE_VECTORS false
#define WITH_WIDE_VECTORS
#endif

#endif
