/* tune_options.h: the options of `halotune tune`, as the search reads them. */
#ifndef CLI_TUNE_TUNE_OPTIONS_H
#define CLI_TUNE_TUNE_OPTIONS_H

#include "tuner/cli/options/problem.h"
#include "tuner/search/tune/task_phases.h"

/* Read strategy, budget, deadline and so on.
 *   start_ms  clock_ms() at which the deadline's time begins
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status tune_options_read(const struct invocation *invocation, double start_ms, struct tune_options *out);

/* Templates, and the parameters that --set fixes in each. The templates are not owned. End with tune_set_free. */
struct tune_set {
  struct template **list;
  struct fixed_parameters *fixed; /* for each template; NULL without --set */
  int count;
};

/* Keep the templates that have all parameters of --set; without the option, keep all templates.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if no template has them; HALOTUNE_MEMORY. */
halotune_status tune_set_open(const struct invocation *invocation, const struct templates *templates,
                              struct tune_set *out);

void tune_set_free(struct tune_set *set);

#endif
