/* space_print.h: the number of variants that a template has for a problem, as text and as JSON. */
#ifndef CLI_SPACE_SPACE_PRINT_H
#define CLI_SPACE_SPACE_PRINT_H

#include "base/text/json.h"
#include "stencil/template/space.h"

/* Print how many variants have each value of a parameter, and how many combinations each rule excludes.
 *   refusal  the rule by which the template does not apply to the problem; NULL if it applies */
void space_print_template(const struct template *template, const struct rule *refusal,
                          const struct space_counts *counts);

/* Like space_print_template, as JSON and with the time of the count. A new reference; NULL when memory is out. */
json_t *space_template_json(const struct template *template, const struct rule *refusal,
                            const struct space_counts *counts, double time_ms);

#endif
