/* print.c: prints expressions as C text. It uses a stack of pending pieces instead of recursion, because a sum of
 * thousands of terms is a tree that is thousands of nodes deep. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/expression/expr.h"

enum precedence {
  PRECEDENCE_ANY,
  PRECEDENCE_CHOOSE,
  PRECEDENCE_OR,
  PRECEDENCE_AND,
  PRECEDENCE_EQUAL,
  PRECEDENCE_ORDER,
  PRECEDENCE_SUM,
  PRECEDENCE_PRODUCT,
  PRECEDENCE_SIGN,
  PRECEDENCE_LEAF
};

/* Either a fixed text or a node. A node that binds less tightly than `least` is printed in parentheses. */
struct piece {
  const char *fixed;
  int node;
  enum precedence least;
  bool is_condition; /* only its truth counts, so a comparison is not turned into a number */
};

struct stack {
  struct piece *pieces;
  int count, capacity;
  bool out_of_memory;
};

static void push_piece(struct stack *stack, struct piece piece) {
  struct piece *pieces = array_grow(stack->pieces, stack->count, &stack->capacity, sizeof *pieces);
  if (!pieces) {
    stack->out_of_memory = true;
    return;
  }
  stack->pieces = pieces;
  pieces[stack->count++] = piece;
}

static void push_text(struct stack *stack, const char *fixed) { push_piece(stack, (struct piece){.fixed = fixed}); }

static void push_node(struct stack *stack, int node, enum precedence least) {
  push_piece(stack, (struct piece){.node = node, .least = least});
}

/* Push the operand of && || ! ?:, which only asks whether it is true. */
static void push_condition(struct stack *stack, int node, enum precedence least) {
  push_piece(stack, (struct piece){.node = node, .least = least, .is_condition = true});
}

/* The operators with two operands. */
static const struct {
  const char *text;
  enum precedence precedence;
} operators[] = {
    [EXPR_ADD] = {" + ", PRECEDENCE_SUM},
    [EXPR_SUBTRACT] = {" - ", PRECEDENCE_SUM},
    [EXPR_MULTIPLY] = {"*", PRECEDENCE_PRODUCT},
    [EXPR_DIVIDE] = {"/", PRECEDENCE_PRODUCT},
    [EXPR_REMAINDER] = {" % ", PRECEDENCE_PRODUCT},
    [EXPR_LESS] = {" < ", PRECEDENCE_ORDER},
    [EXPR_LESS_EQUAL] = {" <= ", PRECEDENCE_ORDER},
    [EXPR_GREATER] = {" > ", PRECEDENCE_ORDER},
    [EXPR_GREATER_EQUAL] = {" >= ", PRECEDENCE_ORDER},
    [EXPR_EQUAL] = {" == ", PRECEDENCE_EQUAL},
    [EXPR_NOT_EQUAL] = {" != ", PRECEDENCE_EQUAL},
    [EXPR_AND] = {" && ", PRECEDENCE_AND},
    [EXPR_OR] = {" || ", PRECEDENCE_OR},
};

static enum precedence precedence_of(const struct expr *node) {
  switch (node->kind) {
  case EXPR_NEGATE:
  case EXPR_NOT: return PRECEDENCE_SIGN;
  case EXPR_CHOOSE: return PRECEDENCE_CHOOSE;
  case EXPR_NUMBER: return node->number < 0 ? PRECEDENCE_SIGN : PRECEDENCE_LEAF;
  case EXPR_CALL:
  case EXPR_COEFFICIENT:
  case EXPR_VARIABLE:
  case EXPR_TAP: return PRECEDENCE_LEAF;
  default: return operators[node->kind].precedence;
  }
}

static const char *function_name(const struct expr *node, bool is_cuda) {
  return is_cuda && node->index == FUNCTION_SIGN ? "sign_of" : functions[node->index].name;
}

static void push_call(struct stack *stack, const struct expr *node, bool is_cuda) {
  push_text(stack, ")");
  for (int k = node->arg_count - 1; k >= 0; k--) {
    push_node(stack, node->args[k], PRECEDENCE_ANY);
    push_text(stack, k > 0 ? ", " : "(");
  }
  push_text(stack, function_name(node, is_cuda));
}

/* Push the pieces of an operator or call in reverse order, so that they are printed in the right order. */
static void push_parts(struct stack *stack, const struct expr *node, bool is_cuda) {
  const enum precedence own = precedence_of(node);
  const bool joins_conditions = node->kind == EXPR_AND || node->kind == EXPR_OR;
  void (*push)(struct stack * stack, int node, enum precedence least) = joins_conditions ? push_condition : push_node;
  switch (node->kind) {
  case EXPR_NEGATE:
    /* -(-x) needs parentheses, since C reads --x as another operator */
    push_node(stack, node->args[0], PRECEDENCE_LEAF);
    push_text(stack, "-");
    break;
  case EXPR_NOT:
    push_condition(stack, node->args[0], PRECEDENCE_LEAF);
    push_text(stack, "!");
    break;
  case EXPR_CHOOSE:
    push_node(stack, node->args[2], PRECEDENCE_CHOOSE);
    push_text(stack, " : ");
    push_node(stack, node->args[1], PRECEDENCE_OR);
    push_text(stack, " ? ");
    push_condition(stack, node->args[0], PRECEDENCE_OR);
    break;
  case EXPR_CALL: push_call(stack, node, is_cuda); break;
  default: /* operators group from the left, so a right operand of the same precedence needs parentheses */
    push(stack, node->args[1], own + 1);
    push_text(stack, operators[node->kind].text);
    push(stack, node->args[0], own);
    break;
  }
}

/* Print one node that is not a temporary, or push its pieces. */
static void print_node(struct stack *stack, struct text *text, const struct exprs *exprs, struct piece piece,
                       const struct spelling *spelling) {
  const struct expr *node = &exprs->nodes[piece.node];
  int exponent;
  if (spelling->is_cuda && expr_is_truth(node) && !piece.is_condition) {
    push_text(stack, ")");
    push_condition(stack, piece.node, PRECEDENCE_ANY);
    push_text(stack, "real(");
  } else if (precedence_of(node) < piece.least) {
    push_text(stack, ")");
    push_piece(stack, (struct piece){.node = piece.node, .is_condition = piece.is_condition});
    push_text(stack, "(");
  } else if (node->arg_count == 0) {
    spelling->leaf(text, node, spelling->context);
  } else if (spelling->is_cuda && expr_is_whole_power(exprs, node, &exponent)) {
    text_printf(text, "power%s%d(", exponent < 0 ? "_minus_" : "_", abs(exponent));
    push_text(stack, ")");
    push_node(stack, node->args[0], PRECEDENCE_ANY);
  } else {
    push_parts(stack, node, spelling->is_cuda);
  }
}

halotune_status expr_print_most(struct text *text, const struct exprs *exprs, int root, const struct spelling *spelling,
                                size_t most_bytes, bool *is_cut) {
  struct stack stack = {0};
  size_t first = text->length;
  bool is_stopped = false;
  push_node(&stack, root, PRECEDENCE_ANY);
  while (stack.count > 0 && !stack.out_of_memory && text_ok(text)) {
    /* Each piece prints a byte at least. Without counting them, a chain of thousands of operators would be followed to
     * its first operand. */
    if (text->length - first + stack.count >= most_bytes) {
      text_printf(text, "...");
      is_stopped = true;
      break;
    }
    struct piece piece = stack.pieces[--stack.count];
    const char *fixed = piece.fixed;
    const char *temporary = !fixed && spelling->temporary ? spelling->temporary(piece.node, spelling->context) : NULL;
    if (fixed || temporary) {
      text_printf(text, "%s%s", fixed ? fixed : temporary, temporary && spelling->suffix ? spelling->suffix : "");
    } else {
      print_node(&stack, text, exprs, piece, spelling);
    }
  }
  halotune_status status = stack.out_of_memory || !text_ok(text) ? fail_memory() : HALOTUNE_OK;
  free(stack.pieces);
  if (is_cut) *is_cut = is_stopped;
  return status;
}

halotune_status expr_print(struct text *text, const struct exprs *exprs, int root, const struct spelling *spelling) {
  return expr_print_most(text, exprs, root, spelling, SIZE_MAX, NULL);
}
