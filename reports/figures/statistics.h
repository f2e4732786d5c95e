/* statistics.h: what all variants of a search say together. */
#ifndef REPORTS_FIGURES_STATISTICS_H
#define REPORTS_FIGURES_STATISTICS_H

#include "base/json.h"
#include "reports/rows/variants.h"

/* Each is the member of a problem that docs/report-schema.json describes under the same name: a new reference; NULL when
 * memory is out. They are about `table->searched`, whatever the document leaves out. */
json_t *outcomes_json(const struct variant_table *table);
json_t *failures_json(const struct variant_table *table);
json_t *distribution_json(const struct variant_table *table);
json_t *convergence_json(const struct variant_table *table);
json_t *effects_json(const struct variant_table *table);

#endif
