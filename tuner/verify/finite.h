/* finite.h: whether kernels can be compared with a reference at all. */
#ifndef TUNER_VERIFY_FINITE_H
#define TUNER_VERIFY_FINITE_H

#include "tuner/verify/scene.h"

/* A kernel is told to be wrong by its values, so those that it should have must be numbers of its element type. They are not where inputs lie
 * outside of what the update is defined for, or where it grows beyond the type.
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT with the first such point and what to write into the stencil's file. */
halotune_status finite_check(const struct scene *scene);

#endif
