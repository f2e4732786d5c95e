/* figures.h: a problem's variants as columns, and what can be said of all of them together. */
#ifndef REPORTS_FIGURES_FIGURES_H
#define REPORTS_FIGURES_FIGURES_H

#include "base/json.h"
#include "reports/figures/setting.h"
#include "reports/rows/variants.h"

/* Each a new reference; NULL when memory is out. docs/report.md names what they hold. Those of `chosen` rows are about
 * the rows that go into the document, the others about all. */
json_t *chosen_columns_json(struct setting *setting, const struct variant_table *table);
json_t *variant_templates_json(const struct setting *setting, const struct variant_table *table);
json_t *outcomes_json(const struct variant_table *table); /* how many of each */
json_t *failures_json(const struct variant_table *table); /* by outcome and reason, with an example */
json_t *effects_json(const struct variant_table *table);  /* of each parameter on the time */
json_t *distribution_json(const struct variant_table *table);
json_t *convergence_json(const struct variant_table *table);

/* The values of a row's parameters, as an object. */
json_t *row_parameters_json(const struct variant_table *table, const struct variant_row *row);

/* Static figures of a configuration, given as JSON text.
 *   threads, blocks  of a block, of a launch; blocks_per_sm: -1 where unknown
 * An object; its members are null where template or stencil cannot be read. */
json_t *figures_json(struct setting *setting, int64_t template, const char *parameters, const long grid[MAX_DIMS],
                     int blocks_per_sm);

#endif
