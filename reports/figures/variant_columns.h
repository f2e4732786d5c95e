/* variant_columns.h: the JSON of variants as columns, with static figures of each. */
#ifndef REPORTS_FIGURES_VARIANT_COLUMNS_H
#define REPORTS_FIGURES_VARIANT_COLUMNS_H

#include "base/text/json.h"
#include "reports/figures/setting.h"
#include "reports/rows/variants.h"

/* Each function returns a new reference; NULL when memory is out. docs/report-schema.json describes the members. */

/* `variants` of a problem: a list for each figure, with an element for each row that the document keeps. Make it after
 * the figures of winner and finalists, because it contains their counts. */
json_t *columns_json(struct setting *setting, const struct variant_table *table);

/* `templates` of a problem: the parameters of its variants, and their values. */
json_t *variant_templates_json(const struct setting *setting, const struct variant_table *table);

/* A variant by its row in the database. Texts may be NULL. */
struct figures_subject {
  int64_t variant, template;
  const char *parameters;  /* the configuration as JSON text */
  const char *source_hash; /* the identity of its source */
};

/* Static figures of a winner or finalist, counted if the report counts. Members are null if the template or stencil
 * cannot be read.
 *   grid           blocks of the launch along each axis; 0 if they are unknown
 *   blocks_per_sm  -1 if it is unknown */
json_t *figures_json(struct setting *setting, const struct figures_subject *subject, const long grid[MAX_DIMS],
                     int blocks_per_sm);

#endif
