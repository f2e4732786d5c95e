/* outcome.h: the outcome of one variant: measured, or how it failed. */
#ifndef DB_STORE_OUTCOME_H
#define DB_STORE_OUTCOME_H

#include <stdbool.h>

/* Each row: enumerator, the name that is stored and shown, its meaning. */
#define OUTCOME_LIST(X)                                                                               \
  X(MEASURED, "measured", "verified and measured")                                                    \
  X(SCREENED, "screened", "verified; clearly slower than the best, so only a few samples were taken") \
  X(PRUNED, "pruned", "not compiled or not run: it cannot win")                                       \
  X(COMPILE_FAILED, "compile_failed", "the compiler rejected the source")                             \
  X(COMPILE_CRASHED, "compile_crashed", "the compiler crashed or did not finish")                     \
  X(COMPILE_TIMEOUT, "compile_timeout", "the compiler took too long")                                 \
  X(LAUNCH_FAILED, "launch_failed", "the driver refused to load or launch it")                        \
  X(WRONG, "wrong", "its result differs from the reference")                                          \
  X(OUT_OF_BOUNDS, "out_of_bounds", "it accesses memory outside of its fields")                       \
  X(CRASHED, "crashed", "its process or its GPU context died")                                        \
  X(HUNG, "hung", "it did not end in time")

#define OUTCOME_AS_ENUMERATOR(name, text, meaning) OUTCOME_##name,
enum outcome { OUTCOME_LIST(OUTCOME_AS_ENUMERATOR) OUTCOME_COUNT };
#undef OUTCOME_AS_ENUMERATOR

/* The name of an outcome: "compile_failed". The string is static. */
const char *outcome_name(enum outcome outcome);

/* The meaning of an outcome, as the beginning of a sentence. The string is static. */
const char *outcome_meaning(enum outcome outcome);

/* The outcome of a name. Returns false for an unknown one, and leaves `out` as it is. */
bool outcome_find(const char *name, enum outcome *out);

/* Whether the variant has a time: measured or screened. */
bool outcome_has_time(enum outcome outcome);

/* Whether the outcome is a verdict against the variant (refuted.h). */
bool outcome_is_wrong(enum outcome outcome);

#endif
