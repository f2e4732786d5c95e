/* expr.h: an expression as a list of nodes in which every operand stands before its user.
 *
 * This order makes each question about an expression one loop over the list, so deep nesting cannot overflow the stack.
 * A temporary is the node that defines it: an expression that uses it twice names that node twice. */
#ifndef STENCIL_EXPRESSION_EXPR_H
#define STENCIL_EXPRESSION_EXPR_H

#include <stdbool.h>

#include "base/text/text.h"
#include "stencil/expression/source.h"

enum { MAX_DIMS = 3, MAX_RADIUS = 16, MAX_EXPR_ARGS = 3 };

enum expr_kind {
  EXPR_NUMBER,
  EXPR_COEFFICIENT, /* index: number of the coefficient in the stencil */
  EXPR_VARIABLE,    /* index: number of the variable in the scope, for example of nx */
  EXPR_TAP,         /* index: number of the input; offset: points from the computed point, x first */
  EXPR_NEGATE,
  EXPR_ADD,
  EXPR_SUBTRACT,
  EXPR_MULTIPLY,
  EXPR_DIVIDE,
  EXPR_CALL,      /* index: enum function */
  EXPR_REMAINDER, /* only rules have it */
  /* A true comparison is 1, a false one 0; every number except 0 counts as true. */
  EXPR_LESS,
  EXPR_LESS_EQUAL,
  EXPR_GREATER,
  EXPR_GREATER_EQUAL,
  EXPR_EQUAL,
  EXPR_NOT_EQUAL,
  EXPR_AND,
  EXPR_OR,
  EXPR_NOT,
  EXPR_CHOOSE, /* the first operand chooses between the second and the third */
};

enum function {
  FUNCTION_FABS,
  FUNCTION_SQRT,
  FUNCTION_EXP,
  FUNCTION_SIN,
  FUNCTION_COS,
  FUNCTION_FMIN,
  FUNCTION_FMAX,
  FUNCTION_FMA,
  FUNCTION_CEIL,
  FUNCTION_FLOOR,
  FUNCTION_POW,
  FUNCTION_LOG,
  FUNCTION_TAN,
  FUNCTION_TANH,
  FUNCTION_ATAN2,
  FUNCTION_SIGN, /* -1, 0 or 1; 0 for NaN */
};

struct function_facts {
  const char *name;
  int arg_count;
};
extern const struct function_facts functions[];
extern const int function_count;

struct expr {
  enum expr_kind kind;
  /* positions of the operands in the list; each is smaller than the position of this node */
  int args[MAX_EXPR_ARGS], arg_count;
  int index;
  int offset[MAX_DIMS];
  bool is_constant; /* computed from numbers only; `number` is its value */
  double number;
  struct place place; /* where it stands in the source text; errors show it */
};

/* Start with {0}, end with exprs_free. */
struct exprs {
  struct expr *nodes;
  int count, capacity;
};

/* Append a node. Returns its position, or -1 when memory is out. */
int exprs_add(struct exprs *exprs, struct expr node);

void exprs_free(struct exprs *exprs);

/* One expression. Its value is node `root`; all its nodes are in the list from `first` to `root`. */
struct formula {
  int first, root;
};

/* Whether two lists have the same nodes. Where these stand in their texts does not count. */
bool exprs_are_equal(const struct exprs *a, const struct exprs *b);

/* Append a copy of a formula's nodes. Returns the root of the copy, or -1 when memory is out. */
int exprs_copy(struct exprs *exprs, struct formula formula);

/* Compute the value of a formula without taps.
 *   coefficients, variables  the values, by index; may be NULL where the formula has none
 *   value  receives the result, which may be infinite or NaN
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status formula_value(const struct exprs *exprs, struct formula formula, const double *coefficients,
                              const double *variables, double *value);

/* Like formula_value, but with memory from the caller, so that it cannot fail.
 *   scratch  room for exprs->count values */
double formula_value_in(const struct exprs *exprs, struct formula formula, const double *coefficients,
                        const double *variables, double *scratch);

/* The result of one operator or function for the given values of its operands. */
double expr_apply(const struct expr *node, const double args[MAX_EXPR_ARGS]);

/* Whether the value of a node is a truth value: a comparison, or && || ! of others. */
bool expr_is_truth(const struct expr *node);

/* Whether a node is a power with a whole constant exponent from -MOST_WHOLE_EXPONENT to MOST_WHOLE_EXPONENT, and not 0.
 * Kernels compute it by multiplications.
 *   exponent  receives the exponent; may be NULL */
bool expr_is_whole_power(const struct exprs *exprs, const struct expr *node, int *exponent);
enum { MOST_WHOLE_EXPONENT = 64 };

/* How the leaves of an expression are printed. Reports, C and CUDA spell them differently. */
struct spelling {
  /* Append a number, a coefficient, a variable or a tap. */
  void (*leaf)(struct text *text, const struct expr *node, const void *context);
  /* Returns the name to print instead of this node and all below it, or NULL to print the node. The pointer may be
   * NULL. */
  const char *(*temporary)(int node, const void *context);
  const char *suffix; /* printed after the name of each temporary; NULL for none */
  bool is_cuda;       /* spell functions and truth values as generated CUDA source does */
  const void *context;
};

/* Append the expression at `root` in C syntax, with only the parentheses that its tree needs.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status expr_print(struct text *text, const struct exprs *exprs, int root, const struct spelling *spelling);

/* Like expr_print, but stop where the text has or would get `most_bytes` bytes, and append "...". The printed text is a
 * tree: where temporaries are written out, it can have exponentially more leaves than the list has nodes.
 *   is_cut  receives whether it stopped; may be NULL */
halotune_status expr_print_most(struct text *text, const struct exprs *exprs, int root, const struct spelling *spelling,
                                size_t most_bytes, bool *is_cut);

#endif
