/* template_common.h: templates/common.yml, which is built in: what templates have in common; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_COMMON_H
#define STENCIL_TEMPLATE_TEMPLATE_COMMON_H

#include "stencil/expression/scan.h"
#include "stencil/template/template_reader.h"

/* Read the text. Its tree is the template's, and lives as long.
 *   out  a reader without names; end with scope_free of its scope */
halotune_status common_open(struct template *template, struct source *source, struct reader *out);

/* Add what common rules may name to the scope of their reader: what `r` has read of the launch, then facts, parameters and
 * words. Add the former to the scope of `r`, too. */
halotune_status common_names(struct reader *r, struct reader *common);

/* Find a name of an expression of the common text that is no function and not in the reader's scope, such as a parameter that the
 * template does not have; an empty token where all are there. */
halotune_status common_missing_name(const struct reader *common, const struct yaml *expression, struct token *out);

/* The member `name` of one of the sections always, parameters, rules and about; NULL where there is none. */
const struct yaml *common_find(const struct reader *common, const char *section, const char *name);

#endif
