/* steps_offered.h: the numbers of time steps a launch that templates offer for a task. */
#ifndef CLI_TUNE_STEPS_OFFERED_H
#define CLI_TUNE_STEPS_OFFERED_H

#include "tuner/cli/tune/steps_search.h"
#include "tuner/search/tune/tune_inputs.h"
#include "tuner/search/variants/task.h"

/* Fill in `offered` and `count`: the numbers of a range for which a template has a variant.
 *   from, to  of the range, 2 to STEPS_MOST
 *   limit  ends a walk through a template's space early; numbers that were not reached by then are not offered
 * Returns HALOTUNE_OK, also when the limit stopped it; HALOTUNE_PARSE if a space cannot be walked (space_is_walkable);
 * HALOTUNE_MEMORY. */
halotune_status steps_offered(const struct task *task, const struct tune_templates *templates, int from, int to,
                              const struct walk_limit *limit, struct steps_search *out);

#endif
