/* columns.h: variants as columns, and static figures of each. */
#ifndef REPORTS_FIGURES_COLUMNS_H
#define REPORTS_FIGURES_COLUMNS_H

#include "base/json.h"
#include "reports/figures/setting.h"
#include "reports/rows/variants.h"

/* Each returns a new reference; NULL when memory is out. docs/report-schema.json describes the members. */

/* `variants` of a problem: a list for each figure, with an element for each row that the document keeps. */
json_t *columns_json(struct setting *setting, const struct variant_table *table);

/* `templates` of a problem: the parameters of its variants, and their values. */
json_t *variant_templates_json(const struct setting *setting, const struct variant_table *table);

/* Static figures of a configuration; members are null where its template or stencil cannot be read.
 *   parameters     the configuration as JSON text
 *   grid           blocks of the launch along each axis; 0 where they are not known
 *   blocks_per_sm  -1 where it is not known */
json_t *figures_json(struct setting *setting, int64_t template, const char *parameters, const long grid[MAX_DIMS],
                     int blocks_per_sm);

#endif
