/* print.c: prints expressions as C text. It uses a stack of pending pieces instead of recursion, because a sum of
 * thousands of terms is a tree that is thousands of nodes deep. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stencil/expression/expr.h"

enum precedence { PRECEDENCE_ANY, PRECEDENCE_SUM, PRECEDENCE_PRODUCT, PRECEDENCE_SIGN, PRECEDENCE_LEAF };

/* Either a fixed text or a node. A node that binds less tightly than `least` is printed in parentheses. */
struct piece {
  const char *fixed;
  int node;
  enum precedence least;
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

static enum precedence precedence_of(const struct expr *node) {
  switch (node->kind) {
  case EXPR_ADD:
  case EXPR_SUBTRACT: return PRECEDENCE_SUM;
  case EXPR_MULTIPLY:
  case EXPR_DIVIDE: return PRECEDENCE_PRODUCT;
  case EXPR_NEGATE: return PRECEDENCE_SIGN;
  case EXPR_NUMBER: return node->number < 0 ? PRECEDENCE_SIGN : PRECEDENCE_LEAF;
  default: return PRECEDENCE_LEAF;
  }
}

static const char *operator_text(enum expr_kind kind) {
  switch (kind) {
  case EXPR_ADD: return " + ";
  case EXPR_SUBTRACT: return " - ";
  case EXPR_MULTIPLY: return "*";
  default: return "/";
  }
}

/* Push the pieces of an operator or call in reverse order, so that they are printed in the right order. */
static void push_parts(struct stack *stack, const struct expr *node) {
  enum precedence own = precedence_of(node);
  switch (node->kind) {
  case EXPR_NEGATE:
    /* -(-x) needs parentheses, since C reads --x as another operator */
    push_node(stack, node->args[0], PRECEDENCE_LEAF);
    push_text(stack, "-");
    break;
  case EXPR_CALL:
    push_text(stack, ")");
    for (int k = node->arg_count - 1; k >= 0; k--) {
      push_node(stack, node->args[k], PRECEDENCE_ANY);
      push_text(stack, k > 0 ? ", " : "(");
    }
    push_text(stack, functions[node->index].name);
    break;
  default: /* operators group from the left, so a right operand of the same precedence needs parentheses */
    push_node(stack, node->args[1], own + 1);
    push_text(stack, operator_text(node->kind));
    push_node(stack, node->args[0], own);
    break;
  }
}

halotune_status expr_print_most(struct text *text, const struct exprs *exprs, int root, const struct spelling *spelling,
                                size_t most_bytes) {
  struct stack stack = {0};
  size_t first = text->length;
  push_node(&stack, root, PRECEDENCE_ANY);
  while (stack.count > 0 && !stack.out_of_memory && text_ok(text)) {
    if (text->length - first >= most_bytes) {
      text_printf(text, "...");
      break;
    }
    struct piece piece = stack.pieces[--stack.count];
    const struct expr *node = &exprs->nodes[piece.node];
    const char *fixed = piece.fixed;
    const char *temporary = !fixed && spelling->temporary ? spelling->temporary(piece.node, spelling->context) : NULL;
    if (fixed || temporary) {
      text_printf(text, "%s%s", fixed ? fixed : temporary, temporary && spelling->suffix ? spelling->suffix : "");
    } else if (precedence_of(node) < piece.least) {
      push_text(&stack, ")");
      push_node(&stack, piece.node, PRECEDENCE_ANY);
      push_text(&stack, "(");
    } else if (node->arg_count == 0) {
      spelling->leaf(text, node, spelling->context);
    } else {
      push_parts(&stack, node);
    }
  }
  halotune_status status = stack.out_of_memory || !text_ok(text) ? fail_memory() : HALOTUNE_OK;
  free(stack.pieces);
  return status;
}

halotune_status expr_print(struct text *text, const struct exprs *exprs, int root, const struct spelling *spelling) {
  return expr_print_most(text, exprs, root, spelling, SIZE_MAX);
}
