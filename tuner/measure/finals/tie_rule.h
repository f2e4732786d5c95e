/* tie_rule.h: when two finalists tie, and which of the finalists that tie wins. */
#ifndef MEASURE_FINALS_TIE_RULE_H
#define MEASURE_FINALS_TIE_RULE_H

#include <stdbool.h>

/* A finalist ties with the leader if the interval of its ratio to the leader, within a round, ends at or below this. */
#define FINALS_TIE_RATIO 1.005

/* What the rule knows of a finalist. */
struct contender {
  bool is_tie; /* it ties with the leader, or is the leader */
  bool is_default;
  int registers, shared_bytes;
  long order; /* place in the space */
};

/* The winner among the finalists that tie: the default variant if it is there; else the one with the fewest registers,
 * then the least shared memory, then the first place in the space. Returns its index; -1 if none ties. */
int tie_winner(const struct contender *contenders, int count);

#endif
