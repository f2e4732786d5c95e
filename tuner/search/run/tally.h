/* tally.h: how many variants of a run were tried, with which outcomes. */
#ifndef SEARCH_RUN_TALLY_H
#define SEARCH_RUN_TALLY_H

#include "db/store/store.h"

/* Start with {0}. */
struct tally {
  long tried;    /* variants with a result */
  long recalled; /* variants among these that have the result of an earlier run */
  long twins;    /* variants among these that have the machine code of another variant */
  long hinted;   /* variants among these that were measured as hints (hints.h) */
  long outcomes[OUTCOME_COUNT];
  enum outcome first_failure; /* the outcome of the first variant that failed; */
  char first_reason[512];     /* and why it failed; "" where none has failed */
};

/* Count variants whose results were replaced by newer ones. */
void tally_move(struct tally *tally, enum outcome from, enum outcome to, long count);

/* Keep the reason of a failure if it is the first one. It is shown to the user where no variant is right. */
void tally_note_failure(struct tally *tally, const struct measurement *result);

/* How many variants failed: they were neither measured nor screened nor pruned. */
long tally_failed(const struct tally *tally);

#endif
