/* settled_rules.h: the rules of one configuration for one stencil, element type and device. What these decide is
 * computed once. Only few different rules are left: hundreds of configurations share them. So a list holds each rule
 * once, and a question computes it once. */
#ifndef STENCIL_TEMPLATE_SETTLED_RULES_H
#define STENCIL_TEMPLATE_SETTLED_RULES_H

#include <stdatomic.h>

#include "stencil/template/template.h"

enum { SHARED_RULES_MOST = 512 };

/* Different rules. Start with {0}, end with shared_rules_free. One thread at a time may add rules; others may
 * meanwhile compute those that are in the list. */
struct shared_rules {
  struct exprs rules[SHARED_RULES_MOST]; /* the last node of each is its root */
  int count;
};

void shared_rules_free(struct shared_rules *shared);

/* The rules that were computed for one question. Start with the first two members alone. */
struct rule_verdicts {
  const struct shared_rules *shared;
  const double *facts; /* they may differ from those of the bindings where fact_varies says so */
  uint64_t computed[SHARED_RULES_MOST / 64], broken[SHARED_RULES_MOST / 64]; /* a bit for each rule */
};

/* Start with {0}, end with settled_rules_free. */
struct settled_rules {
  atomic_int weakest; /* the rule that was broken last, plus 1; 0: none was. It only saves time */
  bool is_refused;    /* a rule is broken, whatever the grid is */
  bool is_unsettled;  /* a rule has too many nodes for a check on the stack, or the list is full */
  int count;
  unsigned short *rules; /* their places in a list of shared rules; those that are decided are left out */
};

/* Settle the rules of the bound configuration, and add them to a list. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status settled_rules_make(const struct bindings *bindings, struct shared_rules *shared,
                                   struct settled_rules *out);
void settled_rules_free(struct settled_rules *rules);

/* Whether the rules keep the configuration, as bindings_failed_rule finds. Any number of threads may ask, each with
 * verdicts of its own. */
bool settled_rules_keep(struct settled_rules *rules, struct rule_verdicts *verdicts);

/* Whether the question breaks the rule that was broken last. This is mostly right about configurations that do not
 * fit, and takes a small part of the time. */
bool settled_rules_break_again(const struct settled_rules *rules, struct rule_verdicts *verdicts);

#endif
