/* space_print.h: how many variants a template has for a problem, as text and as JSON. */
#ifndef CLI_SPACE_SPACE_PRINT_H
#define CLI_SPACE_SPACE_PRINT_H

#include "base/json.h"
#include "stencil/template/space.h"

/* Print in how many variants each value of a parameter occurs, and how many combinations each rule excludes.
 *   refusal  the rule by which the template does not apply to the problem; NULL where it applies */
void space_print_template(const struct template *template, const struct rule *refusal,
                          const struct space_counts *counts);

/* The same with the time that the count took. A new reference; NULL when memory is out. */
json_t *space_template_json(const struct template *template, const struct rule *refusal,
                            const struct space_counts *counts, double time_ms);

#endif
