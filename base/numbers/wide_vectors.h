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

enum { WIDE_LANES = 8 }; /* numbers of 32 bits in a vector */

/* The length of a list that a loop reads in whole vectors. */
static inline int wide_length(int count) { return (count + WIDE_LANES - 1) / WIDE_LANES * WIDE_LANES; }

/* A function that is called by a function WITH_WIDE_VECTORS and by one without. Its code becomes part of both. A
 * function that is only called has no wide vectors, and compilers only call long ones. */
#define INTO_WIDE_VECTORS static inline __attribute__((always_inline))

/* Before a loop: no turn writes what another one reads. Compilers compare the lists of a loop before they compute
 * several turns at once, and GCC gives up where there are many. */
#ifdef __clang__
#define EACH_TURN_ALONE
#else
#define EACH_TURN_ALONE _Pragma("GCC ivdep")
#endif

#endif
