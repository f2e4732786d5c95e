/* leave_copies.h: one kernel enters the finals once. A search leaves out variants with the machine code of another one,
 * but results of earlier runs do not tell which variants have the same. */
#ifndef SEARCH_FINALS_LEAVE_COPIES_H
#define SEARCH_FINALS_LEAVE_COPIES_H

#include "tuner/measure/finals/finals_request.h"
#include "tuner/search/variants/timed_variants.h"
#include "tuner/search/variants/trial.h"

/* Of compiled candidates with the same machine code and launch only the fastest stays. The default variant and what a
 * lookup serves stay in any case, and another copy of either leaves.
 *   fastest     the variants of `timed`, the fastest first
 *   built       the trial of each variant; NULL where it is not compiled
 *   candidates  one that leaves gets an outcome with which it does not enter
 *   count       receives how many leave now
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status leave_copies(const struct timed_list *timed, const struct timed_variant *const *fastest,
                             struct trial *const *built, struct final_candidate *candidates, int *count);

#endif
