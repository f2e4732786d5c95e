/* row_operations.c: computes each operation for rows of points. */
#include "tuner/verify/row_operations.h"

#include <math.h>

/* Operands a, b, c and the result at one point, and their magnitudes. */
#define A args[0].values[i]
#define B args[1].values[i]
#define C args[2].values[i]
#define R result.values[i]
#define MA args[0].magnitudes[i]
#define MB args[1].magnitudes[i]
#define MC args[2].magnitudes[i]

/* The magnitude of a product. An error of one operand changes the product in proportion to the other operand. Where the
 * terms of both operands cancel, the product of the two errors is left. If both operands are carried, both bring the
 * errors of all earlier steps, and both count in full. */
static double product_magnitude(double a, double ma, double b, double mb, double doubt, bool carried) {
  if (carried) return ma * fabs(b) + (fabs(a) + doubt * ma) * mb;
  return ma * fabs(b) + (fabs(a) + doubt * (ma - fabs(a))) * (mb - fabs(b));
}

/* What the magnitude is to be multiplied by, because a divisor may be nearer to 0 by this part of it. A divisor that
 * may be 0 gives no bound. In one step, few points of a large grid are so, such as where the difference of two inputs
 * is nearly 0. They have an estimate, so that the other points can be compared. */
static double divisor_nearness(double part, bool carried) {
  if (part < 1) return 1 / (1 - part);
  return carried ? INFINITY : 1 + part;
}

/* The magnitude of a quotient. Where the terms of the divisor cancel, its error is a large part of it. */
static double quotient_magnitude(double a, double ma, double b, double mb, double doubt, bool carried) {
  const double share = mb / fabs(b), counted = carried ? share : share - 1;
  return (ma + fabs(a) * counted) / fabs(b) * divisor_nearness(doubt * counted, carried);
}

/* The magnitude of a square root. The root of a + e errs by |e|/sqrt(a), and by at most sqrt(|e|). The second is the
 * only bound if the terms of a cancel to 0. With e one unit of rounding of double precision times m, the second bound
 * is that unit times sqrt(m/unit). */
static double root_magnitude(double a, double m) {
  const double unit = 0x1p-53;
  return m == 0 ? 0 : m / sqrt(fmax(fabs(a), unit * m));
}

/* Whether a kernel may compute an operand on the other side of 0. */
static bool is_doubtful(double a, double m, double doubt) { return fabs(a) < doubt * m; }

/* A magnitude that allows an error of `jump`: the allowed error is the product of doubt and magnitude. */
static double jump_magnitude(double jump, double doubt) { return 2 * jump / doubt; }

/* The magnitude of a truth value that may be the other one. */
static double truth_magnitude(double value, bool is_doubtful, double doubt) {
  return is_doubtful ? value + jump_magnitude(1, doubt) : value;
}

static bool is_doubtful_both(double a, double ma, double b, double mb, double doubt) {
  const bool a_may = a != 0 || is_doubtful(a, ma, doubt), b_may = b != 0 || is_doubtful(b, mb, doubt);
  return (is_doubtful(a, ma, doubt) && b_may) || (is_doubtful(b, mb, doubt) && a_may);
}

static bool is_doubtful_either(double a, double ma, double b, double mb, double doubt) {
  const bool a_must = a != 0 && !is_doubtful(a, ma, doubt), b_must = b != 0 && !is_doubtful(b, mb, doubt);
  return !a_must && !b_must && (is_doubtful(a, ma, doubt) || is_doubtful(b, mb, doubt));
}

/* If the condition is in doubt, a kernel may choose either value. A value that is not finite is guarded by the
 * condition, as in e > 0 ? u/e : u, and only the chosen one counts. */
static double choice_magnitude(const struct row args[], int i, double doubt) {
  const double b = args[1].values[i], c = args[2].values[i];
  const double mb = args[1].magnitudes[i], mc = args[2].magnitudes[i];
  const bool is_first = args[0].values[i] != 0;
  const bool is_guarded = is_first ? !isfinite(c) || !isfinite(mc) : !isfinite(b) || !isfinite(mb);
  if (is_doubtful(args[0].values[i], args[0].magnitudes[i], doubt) && !is_guarded)
    return mb + mc + jump_magnitude(fabs(b - c), doubt);
  return is_first ? mb : mc;
}

/* The magnitude of ceil and floor: they jump at whole numbers. */
static double step_magnitude(double result, double a, double m, double doubt) {
  return fabs(result) + (is_doubtful(a - rint(a), m, doubt) ? jump_magnitude(1, doubt) : 0);
}

static double sign_magnitude(double a, double m, double doubt) {
  return (a != 0) + (is_doubtful(a, m, doubt) ? jump_magnitude(2, doubt) : 0);
}

/* The magnitude of a to the power of b. Near a = 0 the derivative of a whole power says too little. */
static double whole_power_magnitude(double result, double a, double m, double b, double doubt) {
  if (b > 0) return b * m * pow(fabs(a) + doubt * (m - fabs(a)), b - 1);
  return fabs(result) * (1 - b * m / fabs(a) * pow(divisor_nearness(doubt * (m / fabs(a) - 1), false), 1 - b));
}

/* If the terms of a cancel to 0, a positive power has a magnitude as in root_magnitude. */
static double power_magnitude(double result, double a, double ma, double b, double mb) {
  const double unit = 0x1p-53;
  const double of_exponent = fabs(result) * (8 + (a != 0 ? fabs(log(fabs(a))) * mb : 0));
  if (ma == 0 || b == 0) return of_exponent;
  if (b < 0) return of_exponent + fabs(result) * fabs(b) * ma / fabs(a);
  return of_exponent + b * pow(fmax(fabs(a), unit * ma), b - 1) * ma;
}

/* The angle jumps by a turn where a crosses 0 and b is negative. */
static double angle_magnitude(double result, const struct row args[], int i, double doubt) {
  const double a = args[0].values[i], b = args[1].values[i];
  const double ma = args[0].magnitudes[i], mb = args[1].magnitudes[i], square = a * a + b * b;
  const bool jumps = is_doubtful(a, ma, doubt) && (b < 0 || is_doubtful(b, mb, doubt));
  if (jumps) return jump_magnitude(2 * M_PI, doubt);
  return 4 * fabs(result) + (square > 0 ? (ma * fabs(b) + mb * fabs(a)) / square : 0);
}

#define DOUBTFUL_ORDER is_doubtful(A - B, MA + MB, doubt)

/* The value and magnitude of each operation. Let u be the unit of rounding. Operands that err by at most p*u*MA and
 * q*u*MB must give a result that errs by at most (p+q+1)*u*M to first order, which is how each magnitude is chosen. The
 * magnitude of a function is its derivative times MA, but not less than the value itself, and more for functions that
 * CUDA computes with an error of several units. */
#define OPERATION_LIST(X)                                                                     \
  X(COPY, A, MA)                                                                              \
  X(NEGATE, -A, MA)                                                                           \
  X(ADD, A + B, MA + MB)                                                                      \
  X(SUBTRACT, A - B, MA + MB)                                                                 \
  X(MULTIPLY, A *B, product_magnitude(A, MA, B, MB, doubt, carried))                          \
  X(DIVIDE, A / B, quotient_magnitude(A, MA, B, MB, doubt, carried))                          \
  X(FABS, fabs(A), MA)                                                                        \
  X(SQRT, sqrt(A), root_magnitude(A, MA))                                                     \
  X(EXP, exp(A), R *(1 + MA))                                                                 \
  X(SIN, sin(A), fabs(R) + MA)                                                                \
  X(COS, cos(A), fabs(R) + MA)                                                                \
  X(FMIN, fmin(A, B), fmax(MA, MB))                                                           \
  X(FMAX, fmax(A, B), fmax(MA, MB))                                                           \
  X(FMA, fma(A, B, C), product_magnitude(A, MA, B, MB, doubt, carried) + MC)                  \
  X(CEIL, ceil(A), step_magnitude(R, A, MA, doubt))                                           \
  X(FLOOR, floor(A), step_magnitude(R, A, MA, doubt))                                         \
  X(POW, pow(A, B), power_magnitude(R, A, MA, B, MB))                                         \
  X(WHOLE_POW, pow(A, B), whole_power_magnitude(R, A, MA, B, doubt))                          \
  X(LOG, log(A), 2 * fabs(R) + MA / fabs(A))                                                  \
  X(TAN, tan(A), 4 * fabs(R) + MA * (1 + R * R))                                              \
  X(TANH, tanh(A), 2 * fabs(R) + MA * (1 - R * R))                                            \
  X(ATAN2, atan2(A, B), angle_magnitude(R, args, i, doubt))                                   \
  X(SIGN, (A > 0) - (A < 0), sign_magnitude(A, MA, doubt))                                    \
  X(LESS, A < B, truth_magnitude(R, DOUBTFUL_ORDER, doubt))                                   \
  X(LESS_EQUAL, A <= B, truth_magnitude(R, DOUBTFUL_ORDER, doubt))                            \
  X(GREATER, A > B, truth_magnitude(R, DOUBTFUL_ORDER, doubt))                                \
  X(GREATER_EQUAL, A >= B, truth_magnitude(R, DOUBTFUL_ORDER, doubt))                         \
  X(EQUAL, A == B, truth_magnitude(R, DOUBTFUL_ORDER, doubt))                                 \
  X(NOT_EQUAL, A != B, truth_magnitude(R, DOUBTFUL_ORDER, doubt))                             \
  X(AND, A != 0 && B != 0, truth_magnitude(R, is_doubtful_both(A, MA, B, MB, doubt), doubt))  \
  X(OR, A != 0 || B != 0, truth_magnitude(R, is_doubtful_either(A, MA, B, MB, doubt), doubt)) \
  X(NOT, A == 0, truth_magnitude(R, is_doubtful(A, MA, doubt), doubt))                        \
  X(CHOOSE, A != 0 ? B : C, choice_magnitude(args, i, doubt))

/* A magnitude that is not a number, such as 0 times infinity, is not a bound either. fmax would lose it. */
static double bound_or_none(double magnitude) { return magnitude >= 0 ? magnitude : INFINITY; }

#define AS_FUNCTIONS(name, value, magnitude)                                                                \
  static void values_##name(int count, struct result_row result, const struct row args[]) {                 \
    for (int i = 0; i < count; i++) R = (value);                                                            \
  }                                                                                                         \
  static void magnitudes_##name(int count, struct result_row result, const struct row args[], double doubt, \
                                bool carried) {                                                             \
    (void)doubt, (void)carried;                                                                             \
    for (int i = 0; i < count; i++) result.magnitudes[i] = bound_or_none(magnitude);                        \
  }
OPERATION_LIST(AS_FUNCTIONS)

#define AS_ENTRY(name, value, magnitude) [ROW_##name] = {values_##name, magnitudes_##name},
static const struct {
  void (*values)(int count, struct result_row result, const struct row args[]);
  void (*magnitudes)(int count, struct result_row result, const struct row args[], double doubt, bool carried);
} operations[] = {OPERATION_LIST(AS_ENTRY)};

static const enum row_operation function_operations[] = {
    [FUNCTION_FABS] = ROW_FABS, [FUNCTION_SQRT] = ROW_SQRT,   [FUNCTION_EXP] = ROW_EXP,     [FUNCTION_SIN] = ROW_SIN,
    [FUNCTION_COS] = ROW_COS,   [FUNCTION_FMIN] = ROW_FMIN,   [FUNCTION_FMAX] = ROW_FMAX,   [FUNCTION_FMA] = ROW_FMA,
    [FUNCTION_CEIL] = ROW_CEIL, [FUNCTION_FLOOR] = ROW_FLOOR, [FUNCTION_POW] = ROW_POW,     [FUNCTION_LOG] = ROW_LOG,
    [FUNCTION_TAN] = ROW_TAN,   [FUNCTION_TANH] = ROW_TANH,   [FUNCTION_ATAN2] = ROW_ATAN2, [FUNCTION_SIGN] = ROW_SIGN,
};

enum row_operation row_operation_of(const struct exprs *exprs, const struct expr *node) {
  switch (node->kind) {
  case EXPR_NEGATE: return ROW_NEGATE;
  case EXPR_ADD: return ROW_ADD;
  case EXPR_SUBTRACT: return ROW_SUBTRACT;
  case EXPR_MULTIPLY: return ROW_MULTIPLY;
  case EXPR_DIVIDE: return ROW_DIVIDE;
  case EXPR_CALL: return expr_is_whole_power(exprs, node, NULL) ? ROW_WHOLE_POW : function_operations[node->index];
  case EXPR_LESS: return ROW_LESS;
  case EXPR_LESS_EQUAL: return ROW_LESS_EQUAL;
  case EXPR_GREATER: return ROW_GREATER;
  case EXPR_GREATER_EQUAL: return ROW_GREATER_EQUAL;
  case EXPR_EQUAL: return ROW_EQUAL;
  case EXPR_NOT_EQUAL: return ROW_NOT_EQUAL;
  case EXPR_AND: return ROW_AND;
  case EXPR_OR: return ROW_OR;
  case EXPR_NOT: return ROW_NOT;
  case EXPR_CHOOSE: return ROW_CHOOSE;
  case EXPR_NUMBER:
  case EXPR_COEFFICIENT:
  case EXPR_VARIABLE:
  case EXPR_TAP:
  case EXPR_REMAINDER: break;
  }
  return ROW_COPY; /* leaves, and the operator that only rules have */
}

void row_values(enum row_operation operation, int count, struct result_row result,
                const struct row args[ROW_MAX_ARGS]) {
  operations[operation].values(count, result, args);
}

void row_magnitudes(enum row_operation operation, int count, struct result_row result,
                    const struct row args[ROW_MAX_ARGS], double doubt, bool carried) {
  operations[operation].magnitudes(count, result, args, doubt, carried);
}
