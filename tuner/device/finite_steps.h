/* finite_steps.h: how many time steps a right result stays finite. */
#ifndef DEVICE_FINITE_STEPS_H
#define DEVICE_FINITE_STEPS_H

#include "tuner/verify/scene.h"

/* Find for how many steps values cannot overflow, with the request's coefficients and inputs. A step of a linear
 * stencil multiplies the largest value at most by the sum of its weights' magnitudes. Nothing is known of a nonlinear
 * stencil, because a product of fields may grow in any way.
 *   out  receives the number of steps: LONG_MAX if values never grow, 0 if nothing is known
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status finite_steps(const struct scene_request *request, long *out);

#endif
