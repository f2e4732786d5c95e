/* outcome.h: how an emulated run ended, and the bit patterns that show which memory was read too early. The program and
 * the runner both include it, so it depends on nothing else in the tree. */
#ifndef EMULATE_RUNTIME_OUTCOME_H
#define EMULATE_RUNTIME_OUTCOME_H

#include <stdint.h>

/* Enumerator, and the name that is stored and shown. */
#define EMULATION_OUTCOME_LIST(X)                                                                           \
  X(OK, "ok")                                                                                               \
  X(BAD_LAUNCH, "bad_launch") /* a GPU would refuse the launch, or the arguments do not fit */              \
  X(CRASHED, "crashed")                                                                                     \
  X(HUNG, "hung")                                                                                           \
  X(DIVERGENT_BARRIER, "divergent_barrier") /* threads wait at different barriers */                        \
  X(MISSED_BARRIER, "missed_barrier")       /* some threads left the kernel, others wait for them */        \
  X(MISALIGNED, "misaligned")                                                                               \
  X(OUT_OF_BOUNDS, "out_of_bounds")                                                                         \
  X(UNWRITTEN_SHARED, "unwritten_shared") /* shared memory was read before it was written */                \
  X(UNWAITED_COPY, "unwaited_copy")       /* the target of an asynchronous copy was read before the wait */ \
  X(UNDEFINED, "undefined_behaviour")     /* a report of UBSan */

#define EMULATION_AS_ENUMERATOR(name, text) EMULATION_##name,
enum emulation_outcome_kind { EMULATION_OUTCOME_LIST(EMULATION_AS_ENUMERATOR) };
#undef EMULATION_AS_ENUMERATOR

enum { EMULATION_OUTCOME_TEXT_BYTES = 2048 };

struct emulation_outcome {
  int32_t kind;                            /* enum emulation_outcome_kind */
  int32_t signal;                          /* of a crash; 0 if it is unknown */
  uint32_t block[3], thread[3];            /* who did it; zero if that is unknown, as for a damaged canary */
  char text[EMULATION_OUTCOME_TEXT_BYTES]; /* a sentence or a report; "" for EMULATION_OK */
};

/* Every 32 bits of poisoned memory hold one of these words. One word is a quiet NaN of 32 bits, and two are a quiet NaN
 * of 64 bits. Their bits survive arithmetic, so the poison in an output tells where the value came from. */
#define EMULATION_POISON_SHARED 0x7FFC5AEDu /* shared memory at the start of a block */
#define EMULATION_POISON_COPY 0x7FFCA5C0u   /* the target of a pending asynchronous copy */
#define EMULATION_POISON_CANARY 0x7FFCCA7Au /* around buffers */
#define EMULATION_POISON_BUFFER 0x7FFCB0FFu /* in buffers before anything is written */
#define EMULATION_POISON_LANE 0x7FFC1A7Eu   /* the result of a shuffle from a lane that takes no part */

#endif
