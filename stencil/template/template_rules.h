/* template_rules.h: reads the rules of a template; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_RULES_H
#define STENCIL_TEMPLATE_TEMPLATE_RULES_H

#include "stencil/template/template_common.h"

/* Read `rules`. Then add the rules of the common parameters that the template names, and the rules of every template.
 *   common  its scope has the names of common_names */
halotune_status template_rules_read(struct reader *r, struct reader *common);

/* Read `sums`. */
halotune_status template_sums_read(struct reader *r);

/* Add the rule for bit-reproducible results. It leaves out a template that forms its sums in an order of its own.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status template_rules_add_order(struct template *template);

#endif
