/* search_statistics.h: statistics over all variants of a search. */
#ifndef REPORTS_FIGURES_SEARCH_STATISTICS_H
#define REPORTS_FIGURES_SEARCH_STATISTICS_H

#include "base/text/json.h"
#include "reports/rows/variants.h"

/* Each function makes the member of a problem that has the same name in docs/report-schema.json. It returns a new
 * reference; NULL when memory is out. The statistics are about `table->searched`, even if the document leaves out some
 * of these variants. */
json_t *outcomes_json(const struct variant_table *table);
json_t *failures_json(const struct variant_table *table);
json_t *distribution_json(const struct variant_table *table);
json_t *convergence_json(const struct variant_table *table);
json_t *effects_json(const struct variant_table *table);

#endif
