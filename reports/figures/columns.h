/* columns.h: the JSON of variants as columns, with static figures of each. */
#ifndef REPORTS_FIGURES_COLUMNS_H
#define REPORTS_FIGURES_COLUMNS_H

#include "base/json.h"
#include "reports/figures/setting.h"
#include "reports/rows/variants.h"

/* Each function returns a new reference; NULL when memory is out. docs/report-schema.json describes the members. */

/* `variants` of a problem: a list for each figure, with an element for each row that the document keeps. */
json_t *columns_json(struct setting *setting, const struct variant_table *table);

/* `templates` of a problem: the parameters of its variants, and their values. */
json_t *variant_templates_json(const struct setting *setting, const struct variant_table *table);

/* Static figures of a configuration. Members are null if its template or stencil cannot be read.
 *   parameters     the configuration as JSON text
 *   grid           blocks of the launch along each axis; 0 if they are unknown
 *   blocks_per_sm  -1 if it is unknown */
json_t *figures_json(struct setting *setting, int64_t template, const char *parameters, const long grid[MAX_DIMS],
                     int blocks_per_sm);

#endif
