/* rows.c: computes each operation for rows of points. */
#include "tuner/verify/rows.h"

#include <math.h>

/* Operands a, b, c and the result at one point, and their magnitudes. */
#define A args[0].values[i]
#define B args[1].values[i]
#define C args[2].values[i]
#define R result.values[i]
#define MA args[0].magnitudes[i]
#define MB args[1].magnitudes[i]
#define MC args[2].magnitudes[i]

/* The magnitude of a square root. The root of a + e errs by |e|/sqrt(a), and by at most sqrt(|e|), which is the only
 * known bound if a cancels to nothing. With e one unit of rounding of double precision times m, the second bound is
 * that unit times sqrt(m/unit). */
static double root_magnitude(double a, double m) {
  const double unit = 0x1p-53;
  return m == 0 ? 0 : m / sqrt(fmax(fabs(a), unit * m));
}

/* The value and magnitude of each operation. Let u be the unit of rounding. Operands that err by at most p*u*MA and
 * q*u*MB must give a result that errs by at most (p+q+1)*u*M to first order, which is how each magnitude is chosen. The
 * magnitude of a function is its derivative times MA, but not less than the value itself. */
#define OPERATION_LIST(X)                         \
  X(COPY, A, MA)                                  \
  X(NEGATE, -A, MA)                               \
  X(ADD, A + B, MA + MB)                          \
  X(SUBTRACT, A - B, MA + MB)                     \
  X(MULTIPLY, A *B, MA *MB)                       \
  X(DIVIDE, A / B, MA / fabs(B) * (MB / fabs(B))) \
  X(FABS, fabs(A), MA)                            \
  X(SQRT, sqrt(A), root_magnitude(A, MA))         \
  X(EXP, exp(A), R *(1 + MA))                     \
  X(SIN, sin(A), fabs(R) + MA)                    \
  X(COS, cos(A), fabs(R) + MA)                    \
  X(FMIN, fmin(A, B), fmax(MA, MB))               \
  X(FMAX, fmax(A, B), fmax(MA, MB))               \
  X(FMA, fma(A, B, C), MA *MB + MC)

#define AS_FUNCTIONS(name, value, magnitude)                                                    \
  static void values_##name(int count, struct result_row result, const struct row args[]) {     \
    for (int i = 0; i < count; i++) R = (value);                                                \
  }                                                                                             \
  static void magnitudes_##name(int count, struct result_row result, const struct row args[]) { \
    for (int i = 0; i < count; i++) result.magnitudes[i] = (magnitude);                         \
  }
OPERATION_LIST(AS_FUNCTIONS)

#define AS_ENTRY(name, value, magnitude) [ROW_##name] = {values_##name, magnitudes_##name},
static const struct {
  void (*values)(int count, struct result_row result, const struct row args[]);
  void (*magnitudes)(int count, struct result_row result, const struct row args[]);
} operations[] = {OPERATION_LIST(AS_ENTRY)};

static enum row_operation function_operation(enum function function) {
  switch (function) {
  case FUNCTION_FABS: return ROW_FABS;
  case FUNCTION_SQRT: return ROW_SQRT;
  case FUNCTION_EXP: return ROW_EXP;
  case FUNCTION_SIN: return ROW_SIN;
  case FUNCTION_COS: return ROW_COS;
  case FUNCTION_FMIN: return ROW_FMIN;
  case FUNCTION_FMAX: return ROW_FMAX;
  case FUNCTION_FMA: return ROW_FMA;
  case FUNCTION_CEIL:
  case FUNCTION_FLOOR: break;
  }
  return ROW_COPY; /* not reached: the parser accepts no other function in an update */
}

enum row_operation row_operation_of(const struct expr *node) {
  switch (node->kind) {
  case EXPR_NEGATE: return ROW_NEGATE;
  case EXPR_ADD: return ROW_ADD;
  case EXPR_SUBTRACT: return ROW_SUBTRACT;
  case EXPR_MULTIPLY: return ROW_MULTIPLY;
  case EXPR_DIVIDE: return ROW_DIVIDE;
  case EXPR_CALL: return function_operation((enum function)node->index);
  default: return ROW_COPY; /* leaves, and operations that only rules have */
  }
}

void row_values(enum row_operation operation, int count, struct result_row result,
                const struct row args[ROW_MAX_ARGS]) {
  operations[operation].values(count, result, args);
}

void row_magnitudes(enum row_operation operation, int count, struct result_row result,
                    const struct row args[ROW_MAX_ARGS]) {
  operations[operation].magnitudes(count, result, args);
}
