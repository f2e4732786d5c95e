/* tie_rule.c: compares finalists that tie. */
#include "tuner/measure/finals/tie_rule.h"

/* Whether the rule prefers a to b. Both tie. */
static bool is_preferred(const struct contender *a, const struct contender *b) {
  if (a->is_default != b->is_default) return a->is_default;
  if (a->registers != b->registers) return a->registers < b->registers;
  if (a->shared_bytes != b->shared_bytes) return a->shared_bytes < b->shared_bytes;
  return a->order < b->order;
}

int tie_winner(const struct contender *contenders, int count) {
  int best = -1;
  for (int i = 0; i < count; i++) {
    if (contenders[i].is_tie && (best < 0 || is_preferred(&contenders[i], &contenders[best]))) best = i;
  }
  return best;
}
