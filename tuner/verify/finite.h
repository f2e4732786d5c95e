/* finite.h: whether the reference of a scene has only finite values, so that kernels can be compared with it. */
#ifndef TUNER_VERIFY_FINITE_H
#define TUNER_VERIFY_FINITE_H

#include "base/fail.h"

struct scene;

/* Check that all reference values are numbers of the element type. They are not if inputs are outside the range for
 * which the update is defined, or if the update grows beyond the type.
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT with the first such point and what to write into the stencil's file. */
halotune_status finite_check(const struct scene *scene);

#endif
