/* expr.h: expressions as a list of nodes in which every operand stands before its user.
 *
 * Because of that order, each question about an expression is one loop over the list, and no depth of nesting can exhaust
 * the stack. A temporary is the node that defines it: using it twice is naming that node twice. */
#ifndef STENCIL_EXPRESSION_EXPR_H
#define STENCIL_EXPRESSION_EXPR_H

#include <stdbool.h>

#include "base/text.h"
#include "stencil/expression/source.h"

enum { MAX_DIMS = 3, MAX_RADIUS = 16, MAX_EXPR_ARGS = 3 };

enum expr_kind {
  EXPR_NUMBER,
  EXPR_COEFFICIENT, /* index: which coefficient of the stencil */
  EXPR_VARIABLE,    /* index: which of the names that the context defines, such as nx */
  EXPR_TAP,         /* index: which input; offset: from the point, x first */
  EXPR_NEGATE,
  EXPR_ADD,
  EXPR_SUBTRACT,
  EXPR_MULTIPLY,
  EXPR_DIVIDE,
  EXPR_CALL, /* index: enum function */
  /* Of rules alone. What is true is 1, what is false 0, and any number but 0 counts as true. */
  EXPR_REMAINDER,
  EXPR_LESS,
  EXPR_LESS_EQUAL,
  EXPR_GREATER,
  EXPR_GREATER_EQUAL,
  EXPR_EQUAL,
  EXPR_NOT_EQUAL,
  EXPR_AND,
  EXPR_OR,
  EXPR_NOT,
  EXPR_CHOOSE, /* the first operand decides between the others */
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
};

struct function_facts {
  const char *name;
  int arg_count;
  bool only_rules; /* no update may call it */
};
extern const struct function_facts functions[];
extern const int function_count;

struct expr {
  enum expr_kind kind;
  int args[MAX_EXPR_ARGS], arg_count; /* nodes, by their position in the list; each smaller than this one's */
  int index;
  int offset[MAX_DIMS];
  bool is_constant; /* built of numbers alone: `number` is its value */
  double number;
  struct place place; /* where the source says it, for errors */
};

/* Start with {0}, end with exprs_free. */
struct exprs {
  struct expr *nodes;
  int count, capacity;
};

/* Append a node and return its position; -1 when memory is out. */
int exprs_add(struct exprs *exprs, struct expr node);

void exprs_free(struct exprs *exprs);

/* One expression without temporaries: its value is node `root`, and all its nodes stand from `first` to `root`. */
struct formula {
  int first, root;
};

/* Append a copy of a formula's nodes and return the copy's root; -1 when memory is out. */
int exprs_copy(struct exprs *exprs, struct formula formula);

/* The value of a formula without taps.
 *   coefficients, variables  the values, by index; NULL where the formula has none
 *   value  receives the result, which may be infinite or NaN
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status formula_value(const struct exprs *exprs, struct formula formula, const double *coefficients,
                              const double *variables, double *value);

/* The same with memory of the caller's, for one that asks often.
 *   scratch  room for exprs->count values */
double formula_value_in(const struct exprs *exprs, struct formula formula, const double *coefficients,
                        const double *variables, double *scratch);

/* What one operator or function makes of its operands' values. */
double expr_apply(const struct expr *node, const double args[MAX_EXPR_ARGS]);

/* How an expression is spelled where it is printed: in a report, in C, in CUDA. */
struct spelling {
  /* Append a number, a coefficient, a variable or a tap. */
  void (*leaf)(struct text *text, const struct expr *node, const void *context);
  /* The name that stands for this node and all below it, or NULL to print it; may be NULL itself. */
  const char *(*temporary)(int node, const void *context);
  const char *suffix; /* behind the names of temporaries; NULL for none */
  const void *context;
};

/* Append the expression at `root`, not one of a rule, in C syntax, with no more parentheses than keep its tree.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status expr_print(struct text *text, const struct exprs *exprs, int root, const struct spelling *spelling);

/* The same, but after `most_bytes` bytes or a little more "..." stands for the rest. What is written out is a tree: where
 * temporaries are spelled out, it can have exponentially more leaves than the expression has nodes. */
halotune_status expr_print_most(struct text *text, const struct exprs *exprs, int root, const struct spelling *spelling,
                                size_t most_bytes);

#endif
