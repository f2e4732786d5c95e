/* tie_rule.h: when two finalists tie, and which of those that tie wins. */
#ifndef MEASURE_FINALS_TIE_RULE_H
#define MEASURE_FINALS_TIE_RULE_H

#include <stdbool.h>

/* A finalist ties with the leader where the interval of its ratio to the leader, in the same rounds, ends at this or below. */
#define FINALS_TIE_RATIO 1.005

/* A finalist, as the rule sees it. */
struct contender {
  bool is_tie; /* it ties with the leader, or is the leader */
  bool is_default;
  int registers, shared_bytes;
  long order; /* place in the space */
};

/* The winner among those that tie: the default variant if it is there, else the one with the fewest registers, then the least
 * shared memory, then the first place in the space. Returns its index; -1 where none ties. */
int tie_winner(const struct contender *contenders, int count);

#endif
