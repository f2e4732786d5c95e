/* template_rules.h: the rules of a template; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_RULES_H
#define STENCIL_TEMPLATE_TEMPLATE_RULES_H

#include "stencil/template/template_common.h"

/* Read `rules`, then add those of the common parameters that the template names, and those of every template.
 *   common  has the names of common_names in its scope */
halotune_status template_rules_read(struct reader *r, struct reader *common);

/* Read `sums`. */
halotune_status template_sums_read(struct reader *r);

/* Add the rule that leaves out a template whose sums have an order of their own, where bits are to be the same.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status template_rules_add_order(struct template *template);

#endif
