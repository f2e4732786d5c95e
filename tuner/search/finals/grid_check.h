/* grid_check.h: verifies a variant on a grid that need not be the one on the device. */
#ifndef SEARCH_FINALS_GRID_CHECK_H
#define SEARCH_FINALS_GRID_CHECK_H

#include "tuner/search/finals/final_inputs.h"

/* Run a variant once on a task's grid, with the task's coefficients, and compare its outputs with the reference at all
 * points, also where the device has no memory for the whole reference. All slots are unloaded, and that grid stays on
 * the device.
 *   task      another than in->task, or this one
 *   seed      of the inputs
 *   trial     compiled for that grid
 *   ending    of the work on the CPU; its context lives as long as the scene
 *   scene     ended with scene_free after any outcome; must live as long as the problem
 *   warnings  lines about the problem on the device are added
 * Returns HALOTUNE_OK, HALOTUNE_MEMORY, or what the backend returns. */
halotune_status grid_check(const struct final_inputs *in, const struct task *task, uint64_t seed,
                           const struct trial *trial, const struct ending *ending, struct scene *scene,
                           struct text *warnings, struct verdict *verdict);

#endif
