/* rows.h: one operation of an update, done for a row of points at once, in loops that the compiler vectorises. */
#ifndef TUNER_VERIFY_ROWS_H
#define TUNER_VERIFY_ROWS_H

#include "stencil/expression/expr.h"

enum { ROW_POINTS = 256, ROW_MAX_ARGS = MAX_EXPR_ARGS };

/* A row of values and, where they are asked for, of their magnitudes: what the value would be with all its terms made
 * positive, so that an error of rounding is a few units of the type's precision times the magnitude (see compare.h). */
struct row {
  const double *values, *magnitudes;
};

/* The same to write to. */
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
};

/* The operation of a node that is no leaf. */
enum row_operation row_operation_of(const struct expr *node);

/* Compute the values of a row from its operands' rows.
 *   count   points, at most ROW_POINTS
 *   result  may overlap none of the operands */
void row_values(enum row_operation operation, int count, struct result_row result, const struct row args[ROW_MAX_ARGS]);

/* Then their magnitudes, which may depend on the values. */
void row_magnitudes(enum row_operation operation, int count, struct result_row result,
                    const struct row args[ROW_MAX_ARGS]);

#endif
