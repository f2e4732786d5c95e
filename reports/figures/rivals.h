/* rivals.h: the variants with which the winner is compared, and how much slower they are. */
#ifndef REPORTS_FIGURES_RIVALS_H
#define REPORTS_FIGURES_RIVALS_H

#include "base/text/json.h"
#include "reports/rows/definitions.h"
#include "reports/rows/variants.h"

/* Make the list `rivals` of docs/report-schema.json: the winner, the runner-up, the best variant of every other
 * template, and the default. Without a winner the list begins with the fastest variant of the search. A ratio divides
 * two times of the same final rounds, or two times of the search, because the two phases measure differently.
 *   winner, finalists  from the document; only read
 * Returns a new reference; NULL when memory is out. */
json_t *rivals_json(const struct variant_table *table, const struct definitions *definitions, const json_t *winner,
                    const json_t *finalists);

#endif
