/* settle.h: copies of formulas in which known variables have their values. */
#ifndef STENCIL_EXPRESSION_SETTLE_H
#define STENCIL_EXPRESSION_SETTLE_H

#include "stencil/expression/expr.h"

/* Append a copy of a formula to `out`, without the parts that the known variables decide. Its value is that of the
 * formula to the last bit, whatever the other variables are.
 *   variables  the values, by index
 *   varies     for each of the first `varying_count` variables, whether it is not known; the later ones are known
 *   settled    receives the copy: one number, if the known variables decide the formula
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status formula_settle(const struct exprs *exprs, struct formula formula, const double *variables,
                               const bool *varies, int varying_count, struct exprs *out, struct formula *settled);

#endif
