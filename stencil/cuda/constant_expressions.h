/* constant_expressions.h: expressions of names to which a configuration gives values; private to stencil/. */
#ifndef STENCIL_CUDA_CONSTANT_EXPRESSIONS_H
#define STENCIL_CUDA_CONSTANT_EXPRESSIONS_H

#include "stencil/cuda/constants.h"

/* Where an expression stands. */
enum expression_place {
  EXPRESSION_CODE,
  EXPRESSION_DIRECTIVE, /* after #if: only macros have values, and `defined` is allowed */
};

/* The value of the expression that fills the whole range. */
struct value expression_value(struct constants *constants, struct part *part, struct range range,
                              enum expression_place place);

/* Remove what is decided in the expression that begins at `begin` and ends before `end`: the branch of ?: that is not
 * taken, and operands of &&, ||, +, -, * and / without effect. Nothing is removed that would change a type, a call or a
 * real number: 0*x stays if x may be infinite. */
void expression_simplify(struct constants *constants, struct part *part, int begin, int end);

#endif
