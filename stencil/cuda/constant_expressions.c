/* constant_expressions.c: evaluates C expressions over integers, some of which are unknown. */
#include "stencil/cuda/constant_expressions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/cuda/truth_place.h"
#include "stencil/cuda/value_types.h"

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
  bool has_effects;           /* a call or an increment, which must stay */
  bool is_truth;              /* 0 or 1, whatever its operands are */
  bool stands_for_truth;      /* its tokens may have another value than 0 or 1; `value` is their truth */
};

static const struct operand unknown = {.is_simple = true};

static struct operand parse_ternary(struct parser *p);
static struct operand parse_unary(struct parser *p);

static struct operand known_number(long long number, enum value_type type) {
  return (struct operand){.value = {true, number, type}, .is_simple = true};
}

static struct operand unknown_of(enum value_type type) {
  return (struct operand){.value = {.type = type}, .is_simple = true};
}

static int next_token(struct parser *p) { return p->at = part_skip(p->part, p->at, p->end); }

static bool next_is(struct parser *p, const char *spelling) {
  return part_is(p->part, next_token(p), p->end, spelling);
}

static bool skip_if(struct parser *p, const char *spelling) {
  bool found = next_is(p, spelling);
  p->at += found;
  return found;
}

/* Whether the next token can be an operator. Most tokens are none, and it takes long to compare them with each one. */
static bool next_is_punctuation(struct parser *p) {
  const int at = next_token(p);
  return at < p->end && p->part->tokens[at].token.kind == CUDA_PUNCTUATION;
}

static void expect_token(struct parser *p, const char *spelling) {
  if (!skip_if(p, spelling)) p->has_failed = true;
}

static void remove_tokens(const struct parser *p, int begin, int end) {
  if (p->is_changing) part_remove(p->part, begin, end);
}

/* Whether a macro may stand for its value in any expression. #define A 1 + 2 does not: 2*A is 4. A name in its body may
 * be such a macro. */
static bool is_closed(const struct constants *constants, const struct constant *macro, int depth) {
  enum { DEEPEST = 16 };
  const struct part *part = macro->part;
  const int end = macro->body.end, first = part_skip(part, macro->body.begin, end);
  int count = 0;
  if (part_is(part, first, end, "(") && part_skip(part, part_close(part, first, end) + 1, end) >= end) return true;
  for (int at = first; at < end; at = part_skip(part, at + 1, end), count++) {
    part_worked(part, 1);
    const struct constant *named = part_is_name(part, at, end) ? &constants->list[part->tokens[at].name] : NULL;
    if (count == 2 || depth == DEEPEST || part_is_over(part)) return false;
    if (named && named->kind == CONSTANT_MACRO && !is_closed(constants, named, depth + 1)) return false;
  }
  return true;
}

static bool is_open_macro(const struct constants *constants, int name) {
  const struct constant *constant = &constants->list[name];
  return constant->kind == CONSTANT_MACRO && !is_closed(constants, constant, 0);
}

static bool is_unsigned_type(enum value_type type) { return type == VALUE_UNSIGNED || type == VALUE_UNSIGNED_LONG; }

/* A value in another type. It is not known if the type may not have it. */
static struct value converted_value(struct value value, enum value_type type) {
  const bool is_long = type == VALUE_LONG || type == VALUE_UNSIGNED_LONG;
  const bool fits = (is_long || (value.number >= INT_MIN && value.number <= INT_MAX)) &&
                    (!is_unsigned_type(type) || value.number >= 0);
  value.is_known = value.is_known && fits;
  value.type = type;
  return value;
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
    if (is_open_macro(constants, name)) return constant->value;
    constant->value = expression_value(constants, constant->part, constant->body, place);
    if (constant->type != VALUE_ANY) constant->value = converted_value(constant->value, constant->type);
    if (constant->is_bool) constant->value.number = constant->value.number != 0;
  }
  return constant->value;
}

static struct operand parse_number(struct parser *p) {
  const struct cuda_token *token = &p->part->tokens[p->at++].token;
  char digits[32], *rest;
  if (token->length >= sizeof digits) return unknown_of(VALUE_REAL);
  memcpy(digits, token->at, token->length);
  digits[token->length] = 0;
  long long number = strtoll(digits, &rest, 0);
  if (strspn(rest, "uUlL") < strlen(rest)) return unknown_of(VALUE_REAL);
  const bool is_long = strpbrk(rest, "lL") || number > UINT_MAX;
  const bool is_unsigned = strpbrk(rest, "uU") || (digits[0] == '0' && number > INT_MAX); /* 0xffffffff */
  if (is_unsigned || number == LLONG_MAX) return unknown_of(is_long ? VALUE_UNSIGNED_LONG : VALUE_UNSIGNED);
  return known_number(number, is_long || number > INT_MAX ? VALUE_LONG : VALUE_INT);
}

/* Read expressions between commas up to the closing bracket. Returns whether one of them has effects. */
static bool parse_list(struct parser *p, const char *close) {
  bool has_effects = false;
  while (!p->has_failed && !next_is(p, close)) {
    has_effects |= parse_ternary(p).has_effects;
    if (!skip_if(p, ",")) break;
  }
  expect_token(p, close);
  return has_effects;
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
  if (constant->kind == CONSTANT_MACRO) return known_number(1, VALUE_INT);
  bool is_ours = token->token.length < 2 || memcmp(token->token.at, "__", 2) != 0;
  const bool is_undefined = is_ours && constant->kind == CONSTANT_NONE && !p->constants->has_includes;
  return is_undefined ? known_number(0, VALUE_INT) : unknown;
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
    return known_number(types[i].bytes > 0 ? types[i].bytes : p->constants->real_bytes, VALUE_UNSIGNED_LONG);
  }
  parse_list(p, ")");
  return unknown_of(VALUE_UNSIGNED_LONG);
}

/* Read int(value) or another cast that does not change our numbers. */
static struct operand parse_cast(struct parser *p, enum value_type type) {
  struct operand operand = parse_ternary(p);
  expect_token(p, ")");
  operand.is_simple = true;
  operand.value = converted_value(operand.value, type);
  return operand;
}

static struct operand parse_name(struct parser *p) {
  int at = p->at++;
  const struct part_token *token = &p->part->tokens[at];
  if (token->number) return known_number(strtoll(token->number, NULL, 10), VALUE_INT);
  if (cuda_is(&token->token, "true")) return known_number(1, VALUE_INT);
  if (cuda_is(&token->token, "false")) return known_number(0, VALUE_INT);
  if (cuda_is(&token->token, "sizeof")) return parse_sizeof(p);
  if (p->place == EXPRESSION_DIRECTIVE && cuda_is(&token->token, "defined")) return parse_defined(p);
  static const char *const casts[] = {"int", "long", "index_t"};
  for (size_t i = 0; i < COUNT(casts); i++) {
    if (part_is(p->part, at, p->end, casts[i]) && skip_if(p, "("))
      return parse_cast(p, value_type_named(p->part, at, p->end));
  }
  if (is_open_macro(p->constants, token->name)) p->has_failed = true; /* its operators may bind to those around it */
  struct value value = constant_value(p->constants, token->name, p->place);
  if (value.is_known) return known_number(value.number, value.type);
  if (next_is(p, "<")) { /* template arguments, if brackets follow them */
    int behind = part_skip(p->part, part_skip_angles(p->part, p->at, p->end), p->end);
    if (behind > p->at && (part_is(p->part, behind, p->end, "(") || part_is(p->part, behind, p->end, "{") ||
                           part_is(p->part, behind, p->end, "::"))) {
      p->at = behind;
    }
  }
  return unknown_of(value.type != VALUE_ANY ? value.type : value_type_of(p->constants, token->name));
}

/* Whether the bracket at `open` is a C-style cast, such as (long), before a sign, which belongs to one operand then. */
static bool is_cast_before_sign(const struct part *part, int open, int end) {
  static const char *const reals[] = {"float", "double", "real"}, *const signs = "-+*&!~";
  const int word = part_skip(part, open + 1, end), close = part_skip(part, word + 1, end);
  const int sign = part_skip(part, close + 1, end);
  bool is_type = value_type_named(part, word, end) != VALUE_REAL;
  for (size_t i = 0; i < COUNT(reals); i++) is_type = is_type || part_is(part, word, end, reals[i]);
  return is_type && part_is(part, close, end, ")") && sign < end && strchr(signs, *part->tokens[sign].token.at);
}

/* Read an expression in brackets. Brackets are removed if nothing else is left in them. */
static struct operand parse_brackets(struct parser *p) {
  const int open = p->at++;
  const bool is_cast = is_cast_before_sign(p->part, open, p->end);
  struct operand operand = parse_ternary(p);
  while (skip_if(p, ",")) {
    parse_ternary(p);
    operand = (struct operand){.has_effects = true};
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
  if (is_cast || part_is_name(p->part, p->at, p->end) ||
      (p->at < p->end && p->part->tokens[p->at].token.kind == CUDA_NUMBER)) {
    parse_unary(p); /* a C-style cast */
    return unknown;
  }
  return operand;
}

static struct operand parse_primary(struct parser *p) {
  int at = next_token(p);
  part_worked(p->part, 1);
  if (at >= p->end || part_is_over(p->part)) p->has_failed = true;
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

/* Read the arguments of a call, whose function's name stands before them. */
static struct operand parse_call(struct parser *p, const struct operand *function) {
  const int before = part_skip_back(p->part, 0, p->at), name = before >= 0 ? p->part->tokens[before].name : -1;
  const enum value_type type = name >= 0 ? p->constants->list[name].call_type : VALUE_ANY;
  struct operand call = unknown_of(type);
  call.is_simple = name < 0 || p->constants->list[name].kind != CONSTANT_MACRO; /* or it stands for any text */
  p->at++;
  call.has_effects = parse_list(p, ")") || function->has_effects || type == VALUE_ANY;
  return call;
}

/* Read the name of a member. */
static struct operand parse_member(struct parser *p, const struct operand *object) {
  const int of = part_skip_back(p->part, 0, p->at);
  struct operand member = unknown_of(part_is(p->part, of, p->end, "Geometry") ? VALUE_INDEX : VALUE_ANY);
  p->at++;
  next_token(p);
  if (!part_is_name(p->part, p->at, p->end)) p->has_failed = true;
  else p->at++;
  member.has_effects = object->has_effects;
  return member;
}

static struct operand parse_postfix(struct parser *p) {
  struct operand operand = parse_primary(p);
  while (!p->has_failed) {
    if (!next_is_punctuation(p)) return operand;
    if (next_is(p, "(")) {
      operand = parse_call(p, &operand);
    } else if (next_is(p, ".") || next_is(p, "->") || next_is(p, "::")) {
      operand = parse_member(p, &operand);
    } else if (skip_if(p, "[")) {
      bool has_effects = parse_list(p, "]") || operand.has_effects;
      operand = unknown;
      operand.has_effects = has_effects;
    } else if (next_is(p, "{") && part_is_name_before(p->part, p->at)) {
      p->at++;
      parse_list(p, "}");
      operand = unknown;
      operand.has_effects = true;
    } else if (skip_if(p, "++") || skip_if(p, "--")) {
      operand = unknown;
      operand.has_effects = true;
    } else {
      return operand;
    }
  }
  return unknown;
}

static struct operand parse_unary_here(struct parser *p) {
  static const char *const operators[] = {"!", "-", "+", "~", "*", "&", "++", "--"};
  size_t i = next_is_punctuation(p) ? 0 : COUNT(operators);
  while (i < COUNT(operators) && !skip_if(p, operators[i])) i++;
  if (i == COUNT(operators)) return parse_postfix(p);
  struct operand operand = parse_unary(p);
  operand.is_simple = false;
  operand.is_truth = *operators[i] == '!';
  operand.stands_for_truth = false;
  if (i >= 4) operand.value.type = VALUE_ANY;
  if (i >= 6) operand.has_effects = true;
  if (is_unsigned_type(operand.value.type) && *operators[i] != '!') operand.value.is_known = false;
  if (*operators[i] == '!') operand.value.type = VALUE_INT;
  if (!operand.value.is_known) return operand;
  switch (*operators[i]) {
  case '!': operand.value.number = !operand.value.number; break;
  case '-': operand.value.is_known = !__builtin_sub_overflow(0, operand.value.number, &operand.value.number); break;
  case '~': operand.value.number = ~operand.value.number; break;
  default: break;
  }
  if (i >= 4) operand.value.is_known = false;
  return operand;
}

/* Go one level deeper in an expression. An expression that is nested too deeply is unknown. */
static struct operand parse_deeper(struct parser *p, struct operand (*parse)(struct parser *p)) {
  if (!part_enter(p->part)) p->has_failed = true;
  const struct operand operand = p->has_failed ? unknown : parse(p);
  part_leave(p->part);
  return operand;
}

static struct operand parse_unary(struct parser *p) { return parse_deeper(p, parse_unary_here); }

/* Operators with two operands, and how tightly they bind, except && and ||. */
struct binary {
  const char *spelling;
  int level;
};
static const struct binary binaries[] = {{"*", 8},  {"/", 8},  {"%", 8},  {"+", 7}, {"-", 7}, {"<<", 6},
                                         {">>", 6}, {"<=", 5}, {">=", 5}, {"<", 5}, {">", 5}, {"==", 4},
                                         {"!=", 4}, {"&", 3},  {"^", 2},  {"|", 1}};
enum { LOWEST_LEVEL = 1 };

/* The operator that the next token is; NULL if it is none. */
static const struct binary *next_operator(struct parser *p) {
  if (!next_is_punctuation(p)) return NULL;
  for (size_t i = 0; i < COUNT(binaries); i++) {
    if (part_is(p->part, p->at, p->end, binaries[i].spelling)) return &binaries[i];
  }
  return NULL;
}

/* The type of an operation. */
static enum value_type binary_type(const char *operator, enum value_type left, enum value_type right) {
  if (strcmp(operator, "<<") == 0 || strcmp(operator, ">>") == 0) return left;
  if (strchr("<>=!", operator[0])) return VALUE_INT;
  return value_type_common(left, right);
}

static struct value binary_value(const char *operator, struct value left, struct value right) {
  long long a = left.number, b = right.number, number = 0;
  const enum value_type type = binary_type(operator, left.type, right.type);
  const enum value_type common = value_type_common(left.type, right.type);
  const bool is_unsigned = common == VALUE_ANY || is_unsigned_type(common); /* VALUE_ANY: it may be unsigned */
  if (!left.is_known || !right.is_known || type == VALUE_ANY || (is_unsigned && (a < 0 || b < 0)))
    return (struct value){.type = type};
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
  fits = fits && (!is_unsigned || (number >= 0 && number <= INT_MAX));
  return (struct value){fits, fits ? number : 0, type};
}

/* Whether an operand is this number, of a type that makes no operation wider than `other` makes it. */
static bool is_number(const struct operand *operand, long long number, const struct operand *other) {
  const enum value_type type = operand->value.type, rest = other->value.type;
  return operand->value.is_known && operand->value.number == number &&
         (type == VALUE_INT || (rest != VALUE_ANY && value_type_common(type, rest) == rest));
}

/* Whether an operation returns its left operand, whatever its value: x + 0, x*1. If x is -0.0, x + 0 is 0.0. */
static bool keeps_left(const char *operator, const struct operand * left, const struct operand *right) {
  if (strcmp(operator, "+") == 0 && left->value.type == VALUE_REAL) return false;
  if (strcmp(operator, "+") == 0 || strcmp(operator, "-") == 0) return is_number(right, 0, left);
  return (strcmp(operator, "*") == 0 || strcmp(operator, "/") == 0) && is_number(right, 1, left);
}

/* Whether an operation returns its right operand, whatever its value: 0 + x, 1*x. */
static bool keeps_right(const char *operator, const struct operand * left, const struct operand *right) {
  if (strcmp(operator, "+") == 0) return right->value.type != VALUE_REAL && is_number(left, 0, right);
  return strcmp(operator, "*") == 0 && is_number(left, 1, right);
}

/* Whether an operation with 0 is 0, whatever the value of the other operand, and that operand may go: 0*x, 0/x, 0%x. It
 * must be a signed integer, since 0*x is NaN if x is infinite, and -0.0 if x is negative. */
static bool is_zero(const struct operand *zero, const struct operand *other) {
  const enum value_type type = value_type_common(zero->value.type, other->value.type);
  return zero->value.is_known && zero->value.number == 0 && !other->has_effects &&
         (type == VALUE_INT || type == VALUE_INDEX || type == VALUE_LONG);
}

/* Whether the expression from `begin` to here is all that is assigned to a variable of a declared type: then the
 * expression's own type does not matter. */
static bool is_assigned(struct parser *p, int begin) {
  static const char *const ends[] = {";", ","};
  const int equals = part_skip_back(p->part, 0, begin), name = part_skip_back(p->part, 0, equals);
  const int type = part_skip_back(p->part, 0, name);
  if (!part_is(p->part, equals, p->end, "=") || part_is(p->part, type, p->end, "auto")) return false;
  return next_token(p) >= p->end || next_is(p, ends[0]) || next_is(p, ends[1]);
}

/* Read operations of this level and those that bind more tightly, from left to right. Operands without effect are
 * removed. */
static struct operand parse_binary(struct parser *p, int level) {
  int begin = next_token(p);
  struct operand left = parse_unary(p);
  const struct binary *binary;
  while (!p->has_failed && (binary = next_operator(p)) && binary->level >= level) {
    const char *spelling = binary->spelling;
    int operator= p->at++;
    struct operand right = parse_binary(p, binary->level + 1);
    if (p->has_failed) return unknown;
    const bool is_zero_left = strchr("*/%", spelling[0]) && is_zero(&left, &right);
    const bool is_zero_right = spelling[0] == '*' && is_zero(&right, &left);
    const enum value_type type = binary_type(spelling, left.value.type, right.value.type);
    const bool is_narrower = (is_zero_left && left.value.type != type) || (is_zero_right && right.value.type != type);
    if (is_narrower && !is_assigned(p, begin)) { /* 0 as an int would narrow what is computed with it */
      left = (struct operand){.value = {true, 0, type}, .is_changed = left.is_changed || right.is_changed};
    } else if (keeps_left(spelling, &left, &right) || is_zero_left) {
      remove_tokens(p, operator, p->at);
      left.is_changed = true;
    } else if (keeps_right(spelling, &left, &right) || is_zero_right) {
      remove_tokens(p, begin, operator+ 1);
      left = right;
      left.is_changed = true;
    } else {
      left = (struct operand){.value = binary_value(spelling, left.value, right.value),
                              .is_changed = left.is_changed || right.is_changed,
                              .has_effects = left.has_effects || right.has_effects,
                              .is_truth = binary->level == 4 || binary->level == 5};
    }
  }
  return left;
}

static bool is_bit(const struct operand *operand) {
  return operand->value.is_known && !operand->stands_for_truth &&
         (operand->value.number == 0 || operand->value.number == 1);
}

/* Whether an operand may stand for the truth of an expression in these tokens. */
static bool may_stand_for_truth(const struct parser *p, const struct operand *operand, int begin) {
  return operand->is_truth || is_bit(operand) || is_truth_place(p->part, begin, p->at);
}

/* The operand that is left of an expression, with the truth of the expression as its value. */
static struct operand truth_of(struct operand left, bool is_true) {
  left.stands_for_truth = !is_bit(&left);
  left.value.number = left.value.is_known && is_true;
  left.value.type = VALUE_INT;
  left.is_changed = true;
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
    const bool left_is_neutral = left.value.is_known && (left.value.number == 0) == is_or;
    const bool right_is_neutral = right.value.is_known && (right.value.number == 0) == is_or;
    const bool one_stays = left.value.is_known || right_is_neutral;
    if (!one_stays || !may_stand_for_truth(p, left_is_neutral ? &right : &left, begin)) {
      const bool is_known = one_stays && (!left_is_neutral || right.value.is_known) && left.value.is_known;
      const bool is_true = left_is_neutral ? right.value.number != 0 : is_or;
      left = (struct operand){.value = {is_known, is_known && is_true, VALUE_INT},
                              .is_changed = left.is_changed || right.is_changed,
                              .has_effects = left.has_effects || right.has_effects,
                              .is_truth = true};
    } else if (left_is_neutral) {
      remove_tokens(p, begin, operator+ 1);
      left = truth_of(right, right.value.number != 0);
    } else if (left.value.is_known) {
      remove_tokens(p, operator, p->at);
      left = truth_of(left, is_or);
    } else {
      remove_tokens(p, operator, p->at);
      left.is_changed = true;
    }
  }
  return left;
}

static struct operand parse_ternary_here(struct parser *p) {
  int begin = next_token(p);
  struct operand condition = parse_logical(p, true);
  if (p->has_failed || !next_is(p, "?")) return condition;
  int question = p->at++;
  struct operand yes = parse_ternary(p);
  int colon = next_token(p);
  expect_token(p, ":");
  struct operand no = parse_ternary(p);
  if (p->has_failed) return unknown;
  const enum value_type type = value_type_common(yes.value.type, no.value.type);
  struct operand chosen = condition.value.number ? yes : no, other = condition.value.number ? no : yes;
  bool changes_type = chosen.value.type != VALUE_ANY && other.value.type != VALUE_ANY && type != chosen.value.type;
  if (!condition.value.is_known || changes_type) { /* -1 becomes a large number where the other branch is unsigned */
    bool is_known = condition.value.is_known && chosen.value.is_known && type != VALUE_REAL && type != VALUE_ANY &&
                    (!is_unsigned_type(type) || chosen.value.number >= 0);
    return (struct operand){.value = {is_known, is_known ? chosen.value.number : 0, type},
                            .is_changed = condition.is_changed || yes.is_changed || no.is_changed,
                            .has_effects = condition.has_effects || yes.has_effects || no.has_effects};
  }
  remove_tokens(p, begin, question + 1);
  if (condition.value.number) remove_tokens(p, colon, p->at);
  else remove_tokens(p, question + 1, colon + 1);
  chosen.is_changed = true;
  return chosen;
}

static struct operand parse_ternary(struct parser *p) { return parse_deeper(p, parse_ternary_here); }

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
