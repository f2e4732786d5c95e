/* row_operations.h: one operation of an update for a row of points at once, in loops that the compiler vectorises. */
#ifndef TUNER_VERIFY_ROW_OPERATIONS_H
#define TUNER_VERIFY_ROW_OPERATIONS_H

#include "stencil/expression/expr.h"

enum { ROW_POINTS = 256, ROW_MAX_ARGS = MAX_EXPR_ARGS };

/* A row of values and, if they are needed, of magnitudes. A magnitude is what the value would be if all its terms were
 * positive. A rounding error is then a few units of the type's precision times the magnitude (see compare.h). */
struct row {
  const double *values, *magnitudes;
};

/* A row to write to. */
struct result_row {
  double *values, *magnitudes;
};

enum row_operation {
  ROW_COPY,
  ROW_NEGATE,
  ROW_ADD,
  ROW_SUBTRACT,
  ROW_MULTIPLY,
  ROW_DIVIDE,
  ROW_FABS,
  ROW_SQRT,
  ROW_EXP,
  ROW_SIN,
  ROW_COS,
  ROW_FMIN,
  ROW_FMAX,
  ROW_FMA,
  ROW_CEIL,
  ROW_FLOOR,
  ROW_POW,
  ROW_WHOLE_POW, /* computed by multiplications */
  ROW_LOG,
  ROW_TAN,
  ROW_TANH,
  ROW_ATAN2,
  ROW_SIGN,
  ROW_LESS,
  ROW_LESS_EQUAL,
  ROW_GREATER,
  ROW_GREATER_EQUAL,
  ROW_EQUAL,
  ROW_NOT_EQUAL,
  ROW_AND,
  ROW_OR,
  ROW_NOT,
  ROW_CHOOSE,
};

/* The operation of a node that is not a leaf. */
enum row_operation row_operation_of(const struct exprs *exprs, const struct expr *node);

/* Compute the values of a row from the rows of its operands.
 *   count   points, at most ROW_POINTS
 *   result  must not overlap the operands */
void row_values(enum row_operation operation, int count, struct result_row result, const struct row args[ROW_MAX_ARGS]);

/* Compute the magnitudes of a row after its values, because they may depend on the values.
 *   doubt  the error that a kernel's operand may have, over its magnitude: a comparison whose sides differ by less, or
 *          a rounding function so close to its jump, may have another result in a kernel. Their magnitude then allows
 *          the other result. 0: the operands are exact
 *   carried  two operands have errors of earlier time steps. A magnitude that is infinite is not a bound */
void row_magnitudes(enum row_operation operation, int count, struct result_row result,
                    const struct row args[ROW_MAX_ARGS], double doubt, bool carried);

#endif
