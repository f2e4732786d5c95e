/* template_rules.h: reads the rules of a template; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_RULES_H
#define STENCIL_TEMPLATE_TEMPLATE_RULES_H

#include "stencil/template/template_common.h"

/* Read `rules`. Then add the rules of the common parameters that the template names, and the rules of every template.
 *   common  its scope has the names of common_names */
halotune_status template_rules_read(struct reader *r, struct reader *common);

/* Read `sums`. A template that forms its sums in an order of its own, or does not say how, gets a rule that leaves it
 * out where results are to be bit-reproducible. */
halotune_status template_sums_read(struct reader *r);

#endif
