/* stored_weights.h: the weights of static costs that databases have for a GPU. */
#ifndef SEARCH_HINTS_STORED_WEIGHTS_H
#define SEARCH_HINTS_STORED_WEIGHTS_H

#include "library/predict/static_fit.h"
#include "tuner/search/hints/hints.h"

/* What a search says where weights make no sense. */
extern const char stored_weights_remark[];

/* Find the weights that `halotune db fit` learnt for the target's model of GPU. The first database
 * whose weights make sense decides. An emulation has none.
 *   found     receives whether there are weights, and whether some make sense
 *   out       receives them where they do
 *   warnings  receives the remark, as a line with the path, for each database whose weights make no sense
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status stored_weights_find(const struct hint_sources *sources, const struct hint_target *target,
                                    enum static_stored *found, struct static_weights *out, struct text *warnings);

#endif
