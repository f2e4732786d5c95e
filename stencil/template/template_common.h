/* template_common.h: reads templates/common.yml, which is built into the program and holds what templates share;
 * private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_COMMON_H
#define STENCIL_TEMPLATE_TEMPLATE_COMMON_H

#include "stencil/expression/scan.h"
#include "stencil/template/template_reader.h"

/* Parse the text. Its tree is in the template's arena and lives as long as the template.
 *   out  receives a reader without names; end with scope_free of its scope */
halotune_status common_open(struct template *template, struct source *source, struct reader *out);

/* Add the names that common rules may use to the scope of their reader: the launch fields that `r` has read, then
 * facts, parameters and words. The names of the launch fields are also added to the scope of `r`. */
halotune_status common_names(struct reader *r, struct reader *common);

/* Find a name in an expression of the common text that the reader's scope does not have and that is not a function, for
 * example a parameter that the template does not have.
 *   out  receives the name; an empty token if there is none */
halotune_status common_missing_name(const struct reader *common, const struct yaml *expression, struct token *out);

/* Find the member `name` of a section: always, parameters, rules or about. Returns NULL if there is none. */
const struct yaml *common_find(const struct reader *common, const char *section, const char *name);

#endif
