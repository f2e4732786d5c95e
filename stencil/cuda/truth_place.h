/* truth_place.h: whether a place in a source distinguishes the value 2 of an expression from 1; private to
 * stencil/. */
#ifndef STENCIL_CUDA_TRUTH_PLACE_H
#define STENCIL_CUDA_TRUTH_PLACE_H

#include "stencil/cuda/parts.h"

/* Whether only the truth of the expression in tokens `begin` to `end` - 1 is used. That is so for a condition, an
 * operand of &&, || or !, the value of a variable of type bool, and the result of a function of type bool. Returns
 * false if the text does not show this, for example for the argument of a call. */
bool is_truth_place(const struct part *part, int begin, int end);

#endif
