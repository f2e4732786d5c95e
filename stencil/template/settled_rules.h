/* settled_rules.h: the rules of one configuration for one stencil, element type and device. What these decide is
 * computed once, so that a check for another grid takes a tenth of the time. */
#ifndef STENCIL_TEMPLATE_SETTLED_RULES_H
#define STENCIL_TEMPLATE_SETTLED_RULES_H

#include <stdatomic.h>

#include "stencil/template/template.h"

/* Start with {0}, end with settled_rules_free. */
struct settled_rules {
  struct exprs exprs;
  struct formula *rules; /* those that are not decided */
  int count;
  bool is_refused;    /* a rule is broken, whatever the grid is */
  bool is_long;       /* a rule has too many nodes for a check on the stack: nothing is settled */
  atomic_int weakest; /* the rule that was broken last, plus 1; 0: none was. It only saves time */
};

/* Settle the rules of the bound configuration. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status settled_rules_make(const struct bindings *bindings, struct settled_rules *out);
void settled_rules_free(struct settled_rules *rules);

/* Whether the rules keep the configuration, as bindings_failed_rule finds. Any number of threads may ask.
 *   facts  may differ from those of the bindings where fact_varies says so */
bool settled_rules_keep(struct settled_rules *rules, const double facts[FACT_COUNT]);

/* Whether the facts break the rule that was broken last. It takes a tenth of the time, and is mostly right about
 * configurations that do not fit. */
bool settled_rules_break_again(const struct settled_rules *rules, const double facts[FACT_COUNT]);

#endif
