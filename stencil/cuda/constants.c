/* constants.c: evaluates C expressions over integers, some of which are unknown. */
#include "stencil/cuda/constants.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* An expression that is being read. */
struct parser {
  struct constants *constants;
  struct part *part;
  int at, end;
  enum expression_place place;
  bool is_changing; /* remove decided tokens */
  bool has_failed;  /* the text is not an expression that this parser knows */
};

/* The result of reading an expression. */
struct operand {
  struct value value;
  bool is_simple, is_changed; /* a single name, number or call; some of its tokens were removed */
};

static const struct operand unknown = {{false, 0}, true, false};

static struct operand parse_ternary(struct parser *p);
static struct operand parse_unary(struct parser *p);

static struct operand known(long long number) { return (struct operand){{true, number}, true, false}; }

static int next_token(struct parser *p) { return p->at = part_skip(p->part, p->at, p->end); }

static bool next_is(struct parser *p, const char *spelling) {
  return part_is(p->part, next_token(p), p->end, spelling);
}

static bool skip_if(struct parser *p, const char *spelling) {
  bool found = next_is(p, spelling);
  p->at += found;
  return found;
}

static void expect_token(struct parser *p, const char *spelling) {
  if (!skip_if(p, spelling)) p->has_failed = true;
}

static void remove_tokens(const struct parser *p, int begin, int end) {
  if (p->is_changing) part_remove(p->part, begin, end);
}

void constant_define(struct constants *constants, int name, enum constant_kind kind, struct part *part,
                     struct range body) {
  struct constant *constant = &constants->list[name];
  if (constant->kind != CONSTANT_NONE) kind = CONSTANT_UNCLEAR;
  *constant = (struct constant){.kind = kind, .part = part, .body = body};
}

/* The value of a constant. While it is being evaluated it has none, so a constant that is defined by itself gets
 * none. */
static struct value constant_value(struct constants *constants, int name, enum expression_place place) {
  struct constant *constant = &constants->list[name];
  if (constant->kind != CONSTANT_MACRO && (constant->kind != CONSTANT_CONSTEXPR || place == EXPRESSION_DIRECTIVE)) {
    return unknown.value;
  }
  if (!constant->is_evaluated) {
    constant->is_evaluated = true;
    constant->value = expression_value(constants, constant->part, constant->body, place);
  }
  return constant->value;
}

static struct operand parse_number(struct parser *p) {
  const struct cuda_token *token = &p->part->tokens[p->at++].token;
  char digits[32], *rest;
  if (token->length >= sizeof digits) return unknown;
  memcpy(digits, token->at, token->length);
  digits[token->length] = 0;
  long long number = strtoll(digits, &rest, 0);
  return strspn(rest, "lL") == strlen(rest) && number < LLONG_MAX ? known(number) : unknown;
}

/* Read expressions between commas up to the closing bracket. */
static void parse_list(struct parser *p, const char *close) {
  while (!p->has_failed && !next_is(p, close)) {
    parse_ternary(p);
    if (!skip_if(p, ",")) break;
  }
  expect_token(p, close);
}

/* Read defined NAME or defined(NAME). The compiler's own macros are unknown. */
static struct operand parse_defined(struct parser *p) {
  bool has_bracket = skip_if(p, "(");
  int at = next_token(p);
  if (!part_is_name(p->part, at, p->end)) p->has_failed = true;
  if (p->has_failed) return unknown;
  const struct part_token *token = &p->part->tokens[at];
  const struct constant *constant = &p->constants->list[token->name];
  p->at++;
  if (has_bracket) expect_token(p, ")");
  if (constant->kind == CONSTANT_MACRO) return known(1);
  bool is_ours = token->token.length < 2 || memcmp(token->token.at, "__", 2) != 0;
  return is_ours && constant->kind == CONSTANT_NONE ? known(0) : unknown;
}

static struct operand parse_sizeof(struct parser *p) {
  static const struct {
    const char *type;
    int bytes;
  } types[] = {{"real", 0}, {"float", 4}, {"double", 8}, {"int", 4}};
  expect_token(p, "(");
  int at = next_token(p), close = part_skip(p->part, at + 1, p->end);
  for (size_t i = 0; i < COUNT(types); i++) {
    if (!part_is(p->part, at, p->end, types[i].type) || !part_is(p->part, close, p->end, ")")) continue;
    p->at = close + 1;
    return known(types[i].bytes > 0 ? types[i].bytes : p->constants->real_bytes);
  }
  parse_list(p, ")");
  return unknown;
}

/* Whether this is int(value) or another cast that does not change our numbers. */
static bool is_cast(const struct parser *p, int at) {
  static const char *const types[] = {"int", "long", "index_t"};
  for (size_t i = 0; i < COUNT(types); i++) {
    if (part_is(p->part, at, p->end, types[i])) return true;
  }
  return false;
}

static struct operand parse_name(struct parser *p) {
  int at = p->at++;
  const struct part_token *token = &p->part->tokens[at];
  if (token->number) return known(strtoll(token->number, NULL, 10));
  if (cuda_is(&token->token, "true")) return known(1);
  if (cuda_is(&token->token, "false")) return known(0);
  if (cuda_is(&token->token, "sizeof")) return parse_sizeof(p);
  if (p->place == EXPRESSION_DIRECTIVE && cuda_is(&token->token, "defined")) return parse_defined(p);
  if (is_cast(p, at) && skip_if(p, "(")) {
    struct operand operand = parse_ternary(p);
    expect_token(p, ")");
    operand.is_simple = true;
    return operand;
  }
  struct value value = constant_value(p->constants, token->name, p->place);
  if (value.is_known) return known(value.number);
  if (next_is(p, "<")) { /* template arguments, if brackets follow them */
    int behind = part_skip(p->part, part_skip_angles(p->part, p->at, p->end), p->end);
    if (behind > p->at && (part_is(p->part, behind, p->end, "(") || part_is(p->part, behind, p->end, "{") ||
                           part_is(p->part, behind, p->end, "::"))) {
      p->at = behind;
    }
  }
  return unknown;
}

/* Read an expression in brackets. Brackets are removed if nothing else is left in them. */
static struct operand parse_brackets(struct parser *p) {
  int open = p->at++;
  struct operand operand = parse_ternary(p);
  while (skip_if(p, ",")) {
    parse_ternary(p);
    operand = (struct operand){unknown.value, false, false};
  }
  int close = next_token(p);
  expect_token(p, ")");
  if (p->has_failed) return unknown;
  if (operand.is_changed && operand.is_simple) {
    remove_tokens(p, open, open + 1);
    remove_tokens(p, close, close + 1);
  }
  operand.is_simple = true;
  next_token(p);
  if (part_is_name(p->part, p->at, p->end) || (p->at < p->end && p->part->tokens[p->at].token.kind == CUDA_NUMBER)) {
    parse_unary(p); /* a C-style cast */
    return unknown;
  }
  return operand;
}

static struct operand parse_primary(struct parser *p) {
  int at = next_token(p);
  if (at >= p->end) p->has_failed = true;
  if (p->has_failed) return unknown;
  const struct cuda_token *token = &p->part->tokens[at].token;
  switch (token->kind) {
  case CUDA_NUMBER: return parse_number(p);
  case CUDA_NAME: return parse_name(p);
  case CUDA_LITERAL: p->at++; return unknown;
  default:
    if (cuda_is(token, "(")) return parse_brackets(p);
    p->has_failed = true;
    return unknown;
  }
}

static struct operand parse_postfix(struct parser *p) {
  struct operand operand = parse_primary(p);
  while (!p->has_failed) {
    if (skip_if(p, "(")) {
      parse_list(p, ")");
    } else if (skip_if(p, "[")) {
      parse_list(p, "]");
    } else if (next_is(p, "{") && p->at > 0 && part_is_name(p->part, p->at - 1, p->end)) {
      p->at++;
      parse_list(p, "}");
    } else if (skip_if(p, ".") || skip_if(p, "->") || skip_if(p, "::")) {
      next_token(p);
      if (!part_is_name(p->part, p->at, p->end)) p->has_failed = true;
      else p->at++;
    } else if (!skip_if(p, "++") && !skip_if(p, "--")) {
      return operand;
    }
    operand = unknown;
  }
  return unknown;
}

static struct operand parse_unary(struct parser *p) {
  static const char *const operators[] = {"!", "-", "+", "~", "*", "&", "++", "--"};
  size_t i = 0;
  while (i < COUNT(operators) && !skip_if(p, operators[i])) i++;
  if (i == COUNT(operators)) return parse_postfix(p);
  struct operand operand = parse_unary(p);
  operand.is_simple = false;
  if (!operand.value.is_known) return operand;
  switch (*operators[i]) {
  case '!': operand.value.number = !operand.value.number; break;
  case '-': operand.value.number = -operand.value.number; break;
  case '~': operand.value.number = ~operand.value.number; break;
  default: break;
  }
  if (i >= 4) operand.value.is_known = false;
  return operand;
}

/* Operators with two operands, and how tightly they bind, except && and ||. */
struct binary {
  const char *spelling;
  int level;
};
static const struct binary binaries[] = {{"*", 8},  {"/", 8},  {"%", 8},  {"+", 7}, {"-", 7}, {"<<", 6},
                                         {">>", 6}, {"<=", 5}, {">=", 5}, {"<", 5}, {">", 5}, {"==", 4},
                                         {"!=", 4}, {"&", 3},  {"^", 3},  {"|", 3}};
enum { LOWEST_LEVEL = 3, HIGHEST_LEVEL = 8 };

static struct value binary_value(const char *operator, struct value left, struct value right) {
  long long a = left.number, b = right.number, number = 0;
  if (!left.is_known || !right.is_known) return unknown.value;
  bool fits = true;
  switch (operator[0]) {
  case '*': fits = !__builtin_mul_overflow(a, b, &number); break;
  case '+': fits = !__builtin_add_overflow(a, b, &number); break;
  case '-': fits = !__builtin_sub_overflow(a, b, &number); break;
  case '/': fits = b > 0, number = fits ? a / b : 0; break;
  case '%': fits = b > 0, number = fits ? a % b : 0; break;
  case '=': number = a == b; break;
  case '!': number = a != b; break;
  case '&': number = a & b; break;
  case '|': number = a | b; break;
  case '^': number = a ^ b; break;
  case '<':
    if (operator[1] == '<') fits = a >= 0 && b >= 0 && b < 31 && a < INT_MAX, number = fits ? a << b : 0;
    else number = operator[1] == '=' ? a <= b : a<b;
    break;
  default:
    if (operator[1] == '>') fits = a >= 0 && b >= 0 && b < 31, number = fits ? a >> b : 0;
    else number = operator[1] == '=' ? a >= b : a> b;
    break;
  }
  return (struct value){fits, fits ? number : 0};
}

static bool is_number(const struct operand *operand, long long number) {
  return operand->value.is_known && operand->value.number == number;
}

/* Whether an operation returns its left operand, whatever its value: x + 0, x*1. */
static bool keeps_left(const char *operator, const struct operand * right) {
  if (strcmp(operator, "+") == 0 || strcmp(operator, "-") == 0) return is_number(right, 0);
  return (strcmp(operator, "*") == 0 || strcmp(operator, "/") == 0) && is_number(right, 1);
}

/* Whether an operation returns its right operand, whatever its value: 0 + x, 1*x. */
static bool keeps_right(const char *operator, const struct operand * left) {
  return (strcmp(operator, "+") == 0 && is_number(left, 0)) || (strcmp(operator, "*") == 0 && is_number(left, 1));
}

/* Whether an operation is 0 because of one of its operands: 0*x, 0/x, 0%x, x*0. */
static bool is_zero_by_left(const char *operator, const struct operand * left) {
  return strchr("*/%", operator[0]) && is_number(left, 0);
}
static bool is_zero_by_right(const char *operator, const struct operand * right) {
  return operator[0] == '*' && is_number(right, 0);
}

/* Read operations of one level from left to right. Operands without effect are removed. */
static struct operand parse_binary(struct parser *p, int level) {
  if (level > HIGHEST_LEVEL) return parse_unary(p);
  int begin = next_token(p);
  struct operand left = parse_binary(p, level + 1);
  while (!p->has_failed) {
    size_t i = 0;
    while (i < COUNT(binaries) && !(binaries[i].level == level && next_is(p, binaries[i].spelling))) i++;
    if (i == COUNT(binaries)) return left;
    const char *spelling = binaries[i].spelling;
    int operator= p->at++;
    struct operand right = parse_binary(p, level + 1);
    if (p->has_failed) return unknown;
    if (keeps_left(spelling, &right) || is_zero_by_left(spelling, &left)) {
      remove_tokens(p, operator, p->at);
      left.is_changed = true;
    } else if (keeps_right(spelling, &left) || is_zero_by_right(spelling, &right)) {
      remove_tokens(p, begin, operator+ 1);
      left = right;
      left.is_changed = true;
    } else {
      left =
          (struct operand){binary_value(spelling, left.value, right.value), false, left.is_changed || right.is_changed};
    }
  }
  return left;
}

/* Read && or ||. The operands after one that decides the result are removed, and so are operands without effect. */
static struct operand parse_logical(struct parser *p, bool is_or) {
  int begin = next_token(p);
  struct operand left = is_or ? parse_logical(p, false) : parse_binary(p, LOWEST_LEVEL);
  while (!p->has_failed && next_is(p, is_or ? "||" : "&&")) {
    int operator= p->at++;
    struct operand right = is_or ? parse_logical(p, false) : parse_binary(p, LOWEST_LEVEL);
    if (p->has_failed) return unknown;
    if (left.value.is_known && (left.value.number == 0) == is_or) { /* the right operand decides */
      remove_tokens(p, begin, operator+ 1);
      left = right;
      left.value.number = left.value.is_known && left.value.number != 0;
      left.is_changed = true;
    } else if (left.value.is_known) {
      remove_tokens(p, operator, p->at);
      left.value.number = is_or;
      left.is_changed = true;
    } else if (right.value.is_known && (right.value.number == 0) == is_or) {
      remove_tokens(p, operator, p->at);
      left.is_changed = true;
    } else {
      left = (struct operand){unknown.value, false, left.is_changed || right.is_changed};
    }
  }
  return left;
}

static struct operand parse_ternary(struct parser *p) {
  int begin = next_token(p);
  struct operand condition = parse_logical(p, true);
  if (p->has_failed || !next_is(p, "?")) return condition;
  int question = p->at++;
  struct operand yes = parse_ternary(p);
  int colon = next_token(p);
  expect_token(p, ":");
  struct operand no = parse_ternary(p);
  if (p->has_failed) return unknown;
  if (!condition.value.is_known) {
    return (struct operand){unknown.value, false, condition.is_changed || yes.is_changed || no.is_changed};
  }
  remove_tokens(p, begin, question + 1);
  if (condition.value.number) remove_tokens(p, colon, p->at);
  else remove_tokens(p, question + 1, colon + 1);
  struct operand chosen = condition.value.number ? yes : no;
  chosen.is_changed = true;
  return chosen;
}

struct value expression_value(struct constants *constants, struct part *part, struct range range,
                              enum expression_place place) {
  struct parser p = {.constants = constants, .part = part, .at = range.begin, .end = range.end, .place = place};
  struct operand operand = parse_ternary(&p);
  return p.has_failed || next_token(&p) < p.end ? unknown.value : operand.value;
}

/* Whether the whole expression was read. */
static bool is_at_end(struct parser *p) {
  static const char *const ends[] = {")", "]", "}", ",", ";", ":"};
  if (p->has_failed) return false;
  if (next_token(p) >= p->end) return true;
  for (size_t i = 0; i < COUNT(ends); i++) {
    if (next_is(p, ends[i])) return true;
  }
  return false;
}

void expression_simplify(struct constants *constants, struct part *part, int begin, int end) {
  struct parser p = {.constants = constants, .part = part, .at = begin, .end = end};
  struct parser again = p;
  parse_ternary(&p);
  if (!is_at_end(&p)) return;
  again.is_changing = true;
  parse_ternary(&again);
}
