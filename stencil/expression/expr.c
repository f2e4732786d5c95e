/* expr.c: appends nodes to the list, copies formulas, and computes values. parse.c builds the lists; print.c prints
 * them. */
#include "stencil/expression/expr.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

const struct function_facts functions[] = {
    [FUNCTION_FABS] = {"fabs", 1},   [FUNCTION_SQRT] = {"sqrt", 1}, [FUNCTION_EXP] = {"exp", 1},
    [FUNCTION_SIN] = {"sin", 1},     [FUNCTION_COS] = {"cos", 1},   [FUNCTION_FMIN] = {"fmin", 2},
    [FUNCTION_FMAX] = {"fmax", 2},   [FUNCTION_FMA] = {"fma", 3},   [FUNCTION_CEIL] = {"ceil", 1},
    [FUNCTION_FLOOR] = {"floor", 1}, [FUNCTION_POW] = {"pow", 2},   [FUNCTION_LOG] = {"log", 1},
    [FUNCTION_TAN] = {"tan", 1},     [FUNCTION_TANH] = {"tanh", 1}, [FUNCTION_ATAN2] = {"atan2", 2},
    [FUNCTION_SIGN] = {"sign", 1},
};
const int function_count = COUNT(functions);

int exprs_add(struct exprs *exprs, struct expr node) {
  struct expr *nodes = array_grow(exprs->nodes, exprs->count, &exprs->capacity, sizeof *nodes);
  if (!nodes) return -1;
  exprs->nodes = nodes;
  nodes[exprs->count] = node;
  return exprs->count++;
}

/* -0 is not 0: a quotient tells them apart. */
static bool is_same_number(double a, double b) {
  return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

static bool is_same_node(const struct expr *a, const struct expr *b) {
  bool is_same = a->kind == b->kind && a->index == b->index && a->arg_count == b->arg_count &&
                 is_same_number(a->number, b->number) && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
  for (int k = 0; k < a->arg_count && is_same; k++) is_same = a->args[k] == b->args[k];
  return is_same;
}

bool exprs_are_equal(const struct exprs *a, const struct exprs *b) {
  bool is_same = a->count == b->count;
  for (int i = 0; i < a->count && is_same; i++) is_same = is_same_node(&a->nodes[i], &b->nodes[i]);
  return is_same;
}

int exprs_copy(struct exprs *exprs, struct formula formula) {
  const int shift = exprs->count - formula.first;
  for (int i = formula.first; i <= formula.root; i++) {
    struct expr node = exprs->nodes[i];
    for (int k = 0; k < node.arg_count; k++) node.args[k] += shift;
    if (exprs_add(exprs, node) < 0) return -1;
  }
  return formula.root + shift;
}

void exprs_free(struct exprs *exprs) {
  free(exprs->nodes);
  *exprs = (struct exprs){0};
}

static double function_value(enum function function, const double args[MAX_EXPR_ARGS]) {
  switch (function) {
  case FUNCTION_FABS: return fabs(args[0]);
  case FUNCTION_SQRT: return sqrt(args[0]);
  case FUNCTION_EXP: return exp(args[0]);
  case FUNCTION_SIN: return sin(args[0]);
  case FUNCTION_COS: return cos(args[0]);
  case FUNCTION_FMIN: return fmin(args[0], args[1]);
  case FUNCTION_FMAX: return fmax(args[0], args[1]);
  case FUNCTION_FMA: return fma(args[0], args[1], args[2]);
  case FUNCTION_CEIL: return ceil(args[0]);
  case FUNCTION_FLOOR: return floor(args[0]);
  case FUNCTION_POW: return pow(args[0], args[1]);
  case FUNCTION_LOG: return log(args[0]);
  case FUNCTION_TAN: return tan(args[0]);
  case FUNCTION_TANH: return tanh(args[0]);
  case FUNCTION_ATAN2: return atan2(args[0], args[1]);
  case FUNCTION_SIGN: return (args[0] > 0) - (args[0] < 0);
  }
  return NAN;
}

/* fmod, which takes a hundred instructions, for numbers that are mostly whole. */
static double remainder_of(double dividend, double divisor) {
  const double most = 0x1p52; /* numbers below it fit an int64_t */
  if (dividend >= 0 && dividend < most && divisor >= 1 && divisor < most) {
    const int64_t a = (int64_t)dividend, b = (int64_t)divisor;
    if ((double)a == dividend && (double)b == divisor) return copysign((double)(a % b), dividend); /* -0 stays -0 */
  }
  return fmod(dividend, divisor);
}

/* Where a node's value comes from. Operand k is values[args[k] - first]. */
struct sources {
  const double *values, *coefficients, *variables;
  const int *args;
  int first;
};

static inline double operand_value(const struct sources *s, int k) { return s->values[s->args[k] - s->first]; }

static double call_value(const struct expr *node, const struct sources *s) {
  double args[MAX_EXPR_ARGS] = {0};
  for (int k = 0; k < node->arg_count; k++) args[k] = operand_value(s, k);
  return function_value((enum function)node->index, args);
}

/* One switch for leaves and operators, which reads the operands that it needs: lookups and searches spend much of their
 * time here. */
static inline double node_value(const struct expr *node, const struct sources *s) {
  switch (node->kind) {
  case EXPR_NUMBER: return node->number;
  case EXPR_COEFFICIENT: return s->coefficients[node->index];
  case EXPR_VARIABLE: return s->variables[node->index];
  case EXPR_TAP: return NAN;
  case EXPR_NEGATE: return -operand_value(s, 0);
  case EXPR_ADD: return operand_value(s, 0) + operand_value(s, 1);
  case EXPR_SUBTRACT: return operand_value(s, 0) - operand_value(s, 1);
  case EXPR_MULTIPLY: return operand_value(s, 0) * operand_value(s, 1);
  case EXPR_DIVIDE: return operand_value(s, 0) / operand_value(s, 1);
  case EXPR_CALL: return call_value(node, s);
  case EXPR_REMAINDER: return remainder_of(operand_value(s, 0), operand_value(s, 1));
  case EXPR_LESS: return operand_value(s, 0) < operand_value(s, 1);
  case EXPR_LESS_EQUAL: return operand_value(s, 0) <= operand_value(s, 1);
  case EXPR_GREATER: return operand_value(s, 0) > operand_value(s, 1);
  case EXPR_GREATER_EQUAL: return operand_value(s, 0) >= operand_value(s, 1);
  case EXPR_EQUAL: return operand_value(s, 0) == operand_value(s, 1);
  case EXPR_NOT_EQUAL: return operand_value(s, 0) != operand_value(s, 1);
  case EXPR_AND: return operand_value(s, 0) != 0 && operand_value(s, 1) != 0;
  case EXPR_OR: return operand_value(s, 0) != 0 || operand_value(s, 1) != 0;
  case EXPR_NOT: return operand_value(s, 0) == 0;
  case EXPR_CHOOSE: return operand_value(s, operand_value(s, 0) != 0 ? 1 : 2);
  }
  return NAN;
}

bool expr_is_truth(const struct expr *node) {
  switch (node->kind) {
  case EXPR_LESS:
  case EXPR_LESS_EQUAL:
  case EXPR_GREATER:
  case EXPR_GREATER_EQUAL:
  case EXPR_EQUAL:
  case EXPR_NOT_EQUAL:
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_NOT: return true;
  default: return false;
  }
}

bool expr_is_whole_power(const struct exprs *exprs, const struct expr *node, int *exponent) {
  if (node->kind != EXPR_CALL || node->index != FUNCTION_POW) return false;
  const struct expr *power = &exprs->nodes[node->args[1]];
  bool is_whole = power->is_constant && power->number == floor(power->number) && power->number != 0 &&
                  fabs(power->number) <= MOST_WHOLE_EXPONENT;
  if (is_whole && exponent) *exponent = (int)power->number;
  return is_whole;
}

double expr_apply(const struct expr *node, const double args[MAX_EXPR_ARGS]) {
  static const int in_order[MAX_EXPR_ARGS] = {0, 1, 2};
  const struct sources sources = {.values = args, .args = in_order};
  return node->arg_count > 0 ? node_value(node, &sources) : NAN;
}

double formula_value_in(const struct exprs *exprs, struct formula formula, const double *coefficients,
                        const double *variables, double *scratch) {
  const struct expr *nodes = &exprs->nodes[formula.first];
  const int count = formula.root - formula.first + 1;
  for (int i = 0; i < count; i++) {
    const struct sources sources = {scratch, coefficients, variables, nodes[i].args, formula.first};
    scratch[i] = node_value(&nodes[i], &sources);
  }
  return scratch[count - 1];
}

halotune_status formula_value(const struct exprs *exprs, struct formula formula, const double *coefficients,
                              const double *variables, double *value) {
  double *scratch = malloc((size_t)(formula.root - formula.first + 1) * sizeof *scratch);
  if (!scratch) return fail_memory();
  *value = formula_value_in(exprs, formula, coefficients, variables, scratch);
  free(scratch);
  return HALOTUNE_OK;
}
