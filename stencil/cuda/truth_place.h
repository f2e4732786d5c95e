/* truth_place.h: whether it matters where an expression stands if it is 2 in place of 1; private to stencil/. */
#ifndef STENCIL_CUDA_TRUTH_PLACE_H
#define STENCIL_CUDA_TRUTH_PLACE_H

#include "stencil/cuda/parts.h"

/* Whether only the truth of the expression in tokens `begin` to `end` - 1 is used. That is so for a condition, an
 * operand of &&, || or !, the value of a variable of type bool, and the result of a function of type bool. False where
 * the text does not tell, as for the argument of a call. */
bool is_truth_place(const struct part *part, int begin, int end);

#endif
