/* tune_options.h: the command line of `halotune tune` as the search takes it. */
#ifndef CLI_TUNE_TUNE_OPTIONS_H
#define CLI_TUNE_TUNE_OPTIONS_H

#include "tuner/cli/options/problem.h"
#include "tuner/search/tune/tune.h"

/* Read strategy, budget, deadline and so on.
 *   start_ms  clock_ms() at which the deadline's time begins
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT. */
halotune_status tune_options_read(const struct invocation *invocation, double start_ms, struct tune_options *out);

/* Templates with what --set fixes of each; the templates themselves belong to others. End with tune_set_free. */
struct tune_set {
  struct template **list;
  struct fixed_parameters *fixed; /* a template each; NULL without --set */
  int count;
};

/* Keep the templates that have all parameters of --set; all where there is no such option.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT where none has them; HALOTUNE_MEMORY. */
halotune_status tune_set_open(const struct invocation *invocation, const struct templates *templates,
                              struct tune_set *out);

void tune_set_free(struct tune_set *set);

#endif
