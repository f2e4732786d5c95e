/* parse.c: a recursive-descent parser for the grammar in parse.h. It looks one token ahead and stops at the first
 * error. */
#include "stencil/expression/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/nearest.h"
#include "stencil/expression/scan.h"

enum { MAX_NESTING = 200, MAX_ASSIGNMENTS = 4096 };

struct parser {
  struct scanner scanner;
  struct token token; /* the next token, not yet used */
  struct scope *scope;
  struct exprs *exprs;
  int nesting;
};

static struct place place_of_token(const struct parser *p) { return p->token.place; }

#define parse_fail(p, place, ...) source_fail((p)->scanner.snippet->source, place, __VA_ARGS__)

/* Words of other languages, and what to write here. */
static const struct {
  const char *word, *remedy;
} remedies[] = {
    {"max", "the larger of two values is fmax(a, b)"},
    {"min", "the smaller of two values is fmin(a, b)"},
    {"abs", "the absolute value is fabs(a)"},
    {"power", "a power is pow(a, b)"},
    {"ln", "the natural logarithm is log(a)"},
    {"sgn", "the sign is sign(a)"},
    {"signum", "the sign is sign(a)"},
    {"copysign", "the sign of b with the size of a is b < 0 ? -fabs(a) : fabs(a)"},
    {"heaviside", "a comparison is 1 or 0: write a > 0"},
    {"clip", "write fmin(fmax(a, low), high)"},
    {"square", "a square is pow(a, 2)"},
    {"sqr", "a square is pow(a, 2), a root sqrt(a)"},
    {"cbrt", "the cube root of a >= 0 is pow(a, 1/3)"},
    {"rsqrt", "write 1/sqrt(a)"},
    {"hypot", "write sqrt(a*a + b*b)"},
    {"log10", "the logarithm to the base 10 is log(a)/log(10)"},
    {"log2", "the logarithm to the base 2 is log(a)/log(2)"},
    {"atan", "write atan2(a, 1)"},
    {"arctan", "write atan2(a, 1)"},
    {"arctan2", "the angle of the point (b, a) is atan2(a, b)"},
    {"asin", "write atan2(a, sqrt(1 - a*a))"},
    {"acos", "write atan2(sqrt(1 - a*a), a)"},
    {"sinh", "write 0.5*(exp(a) - exp(-a))"},
    {"cosh", "write 0.5*(exp(a) + exp(-a))"},
    {"round", "the nearest whole number is floor(a + 0.5)"},
    {"mod", "the remainder of a over b is a - b*floor(a/b)"},
    {"fmod", "the remainder of a over b is a - b*floor(a/b)"},
    {"where", "write a choice as condition ? value : other"},
    {"if", "write a choice as condition ? value : other"},
    {"else", "write a choice as condition ? value : other"},
    {"and", "write 'and' as &&"},
    {"or", "write 'or' as ||"},
    {"not", "write 'not' as !"},
    {"true", "write 1"},
    {"false", "write 0"},
    {"const", "an assignment has no type: write name = value"},
    {"double", "an assignment has no type: write name = value"},
    {"float", "an assignment has no type: write name = value"},
    {"int", "an assignment has no type: write name = value"},
};

static const char *find_remedy(const struct token *token) {
  for (size_t i = 0; i < COUNT(remedies); i++) {
    if (token_is(token, remedies[i].word)) return remedies[i].remedy;
  }
  return NULL;
}

/* Pairs of characters of other languages, and what to write here. The parser stops at the character number `stop`. */
static const struct {
  const char *pair;
  int stop;
  const char *remedy;
} pairs[] = {
    {"**", 1, "write a power as pow(a, b)"},
    {"=<", 0, "write <="},
    {"=>", 0, "write >="},
    {"<>", 1, "write !="},
    {"/=", 1, "to compare two values, write == or !="},
    {"//", 1, "a comment begins with '#'; the whole part of a over b is floor(a/b)"},
};

static const char *remedy_of_pair(const struct parser *p) {
  const char *text = p->token.text;
  if (p->token.kind != TOKEN_SYMBOL) return NULL;
  for (size_t i = 0; i < COUNT(pairs); i++) {
    const bool has_room = text - p->scanner.snippet->text >= pairs[i].stop;
    if (has_room && strncmp(text - pairs[i].stop, pairs[i].pair, 2) == 0) return pairs[i].remedy;
  }
  return NULL;
}

static halotune_status fail_expected(const struct parser *p, const char *what) {
  static const char operator[] = "an operator";
  const bool may_compare = p->nesting > 0 || strncmp(what, operator, sizeof operator- 1) == 0;
  const bool is_declared = p->token.kind == TOKEN_NAME && scope_find(p->scope, p->token.text, p->token.length);
  const char *remedy = is_declared ? NULL : p->token.kind == TOKEN_NAME ? find_remedy(&p->token) : remedy_of_pair(p);
  if (remedy) {
    return parse_fail(p, place_of_token(p), "expected %s, found '%.*s': %s", what, (int)p->token.length, p->token.text,
                      remedy);
  }
  if (token_is(&p->token, "=") && may_compare)
    return parse_fail(p, place_of_token(p), "expected %s, found '='; to compare two values, write ==", what);
  if (p->token.kind == TOKEN_END) { /* after a formula, it can be a ',' that YAML took for its own */
    const bool can_be_comma = p->scope->dims == 0 && strstr(what, "','");
    return parse_fail(p, place_of_token(p), "expected %s, found the end of the text%s", what,
                      can_be_comma ? "; between { and } put a formula with ',' in quotes" : "");
  }
  return parse_fail(p, place_of_token(p), "expected %s, found '%.*s'", what, (int)p->token.length, p->token.text);
}

static halotune_status next_token(struct parser *p) { return scan(&p->scanner, &p->token); }

static halotune_status skip_symbol(struct parser *p, const char *symbol, const char *what) {
  if (!token_is(&p->token, symbol)) return fail_expected(p, what);
  return next_token(p);
}

/* Append a node. Where all its operands are constant, compute its value and refuse one that is not finite. */
static halotune_status add_node(struct parser *p, struct expr node, int *out) {
  bool constant = node.kind == EXPR_NUMBER || node.arg_count > 0;
  double args[MAX_EXPR_ARGS] = {0};
  for (int k = 0; k < node.arg_count; k++) {
    const struct expr *arg = &p->exprs->nodes[node.args[k]];
    constant = constant && arg->is_constant;
    args[k] = arg->number;
  }
  node.is_constant = constant;
  if (constant && node.kind != EXPR_NUMBER) node.number = expr_apply(&node, args);
  if (constant && !isfinite(node.number)) return parse_fail(p, node.place, "this constant is not a finite number");
  *out = exprs_add(p->exprs, node);
  return *out < 0 ? fail_memory() : HALOTUNE_OK;
}

static halotune_status parse_expression(struct parser *p, int *out);

static halotune_status parse_offset(struct parser *p, int *offset) {
  bool minus = token_is(&p->token, "-");
  halotune_status status = HALOTUNE_OK;
  if (minus || token_is(&p->token, "+")) status = next_token(p);
  if (status != HALOTUNE_OK) return status;
  if (p->token.kind == TOKEN_NAME) {
    return parse_fail(p, place_of_token(p),
                      "offsets count from the computed point: write 0 for '%.*s', -1 for the point before it and 1 for "
                      "the point behind it",
                      (int)p->token.length, p->token.text);
  }
  if (p->token.kind != TOKEN_NUMBER) return fail_expected(p, "a whole number, the offset of the tap");
  double number = p->token.number;
  if (number != floor(number) || strspn(p->token.text, "0123456789") < p->token.length) {
    return parse_fail(p, place_of_token(p), "the offset of a tap is a whole number of points, not %.*s",
                      (int)p->token.length, p->token.text);
  }
  if (number > MAX_RADIUS) {
    return parse_fail(p, place_of_token(p), "the offset of a tap is at most %d points in each direction", MAX_RADIUS);
  }
  *offset = minus ? -(int)number : (int)number;
  return next_token(p);
}

/* Find the axes along which an input's taps have offsets. Returns their number. */
static int find_axes(const struct scope *scope, const struct name *input, int axes[MAX_DIMS]) {
  int count = 0;
  for (int axis = 0; axis < scope->dims; axis++) {
    if (input->axes == 0 || (input->axes >> axis & 1)) axes[count++] = axis;
  }
  return count;
}

/* Fail for a tap with the wrong number of offsets. */
static halotune_status fail_offsets(struct parser *p, const struct name *input, struct place place, int count) {
  const int dims = p->scope->dims;
  int axes[MAX_DIMS] = {0};
  const int want = find_axes(p->scope, input, axes);
  if (input->axes == 0) {
    return parse_fail(p, place, "a stencil of %d dimension%s takes %d offset%s, not %d", dims, PLURAL(dims), dims,
                      PLURAL(dims), count);
  }
  const char first = "xyz"[axes[0]], second = "xyz"[axes[1]];
  if (want == 1)
    return parse_fail(p, place, "the input '%s' lies along %c only and takes 1 offset, not %d", input->text, first,
                      count);
  return parse_fail(p, place, "the input '%s' lies along %c and %c only and takes 2 offsets, not %d", input->text,
                    first, second, count);
}

/* Parse the offsets that stand after the name of an input. */
static halotune_status parse_tap(struct parser *p, const struct name *input, struct expr node, int *out) {
  int axes[MAX_DIMS], count = 0;
  const int want = find_axes(p->scope, input, axes);
  struct place bracket = place_of_token(p);
  halotune_status status;
  do { /* the token is '[' or ',' */
    if ((status = next_token(p)) != HALOTUNE_OK) return status;
    int offset = 0;
    if ((status = parse_offset(p, &offset)) != HALOTUNE_OK) return status;
    if (count < want) node.offset[axes[count]] = offset;
    count++;
  } while (token_is(&p->token, ","));
  if ((status = skip_symbol(p, "]", "',' or ']'")) != HALOTUNE_OK) return status;
  return count == want ? add_node(p, node, out) : fail_offsets(p, input, bracket, count);
}

static halotune_status parse_call(struct parser *p, struct expr node, int *out) {
  const struct function_facts *function = &functions[node.index];
  halotune_status status;
  do { /* the token is '(' or ',' */
    if ((status = next_token(p)) != HALOTUNE_OK) return status;
    int arg = -1;
    if ((status = parse_expression(p, &arg)) != HALOTUNE_OK) return status;
    if (node.arg_count < MAX_EXPR_ARGS) node.args[node.arg_count] = arg;
    node.arg_count++;
  } while (token_is(&p->token, ",") && node.arg_count <= function->arg_count);
  bool ends = token_is(&p->token, ")"), goes_on = token_is(&p->token, ",");
  if ((ends || goes_on) && node.arg_count != function->arg_count) {
    return parse_fail(p, node.place, "%s takes %d argument%s", function->name, function->arg_count,
                      PLURAL(function->arg_count));
  }
  if ((status = skip_symbol(p, ")", "an operator, ',' or ')'")) != HALOTUNE_OK) return status;
  return add_node(p, node, out);
}

static int find_function(const struct token *token) {
  for (int i = 0; i < function_count; i++) {
    if (token_is(token, functions[i].name)) return i;
  }
  return -1;
}

/* Fail. Where the name is called as a function, the message lists the functions that exist here. */
static halotune_status unknown_name(const struct parser *p, const struct token *token, struct place place) {
  struct nearest nearest = nearest_to(token->text, token->length);
  int length = (int)token->length;
  const char *remedy = find_remedy(token);
  if (remedy) return parse_fail(p, place, "'%.*s' has no meaning here: %s", length, token->text, remedy);
  if (token_is(&p->token, "(")) {
    struct text known = {0};
    for (int i = 0; i < function_count; i++) {
      text_printf(&known, "%s%s", known.length > 0 ? ", " : "", functions[i].name);
      nearest_try(&nearest, functions[i].name);
    }
    halotune_status status = parse_fail(p, place, "'%.*s' is not a function; the functions are %s%s", length,
                                        token->text, text_string(&known), nearest.question);
    text_free(&known);
    return status;
  }
  for (int i = 0; i < p->scope->count; i++) nearest_try(&nearest, p->scope->names[i].text);
  if (p->scope->dims > 0) {
    static const char *const of_grids[] = {"nx", "ny", "nz", "pi"};
    for (size_t i = 0; i < COUNT(of_grids); i++) {
      if (token_is(token, of_grids[i]))
        return parse_fail(p, place, "an update cannot use '%s': give it to a coefficient, as in 'last: nx - 1'",
                          of_grids[i]);
    }
    const bool is_time = token_is(token, "t") || token_is(token, "time");
    return parse_fail(p, place, "'%.*s' is neither declared nor assigned above%s", length, token->text,
                      is_time ? "; an update does not know the time: give what depends on it to an input"
                              : nearest.question);
  }
  return parse_fail(p, place, "'%.*s' is not a name that this formula can use%s", length, token->text,
                    nearest.question);
}

/* Copy the nodes of a definition to the end of the list, so that each formula contains all nodes that it needs. */
static halotune_status copy_definition(struct parser *p, const struct name *name, struct place place, int *out) {
  const struct formula from = name->definition;
  if (p->exprs->count > MAX_FORMULA_NODES - (from.root - from.first)) {
    return parse_fail(p, place, "after '%s' is replaced by its definition, the formulas have more than %d parts",
                      name->text, MAX_FORMULA_NODES);
  }
  *out = exprs_copy(p->exprs, from);
  return *out < 0 ? fail_memory() : HALOTUNE_OK;
}

/* Parse a name and what belongs to it: the offsets of a tap, or the arguments of a function. */
static halotune_status parse_name(struct parser *p, int *out) {
  struct token token = p->token;
  struct expr node = {.place = place_of_token(p)};
  int axes[MAX_DIMS];
  halotune_status status = next_token(p);
  if (status != HALOTUNE_OK) return status;
  int function = find_function(&token);
  if (function >= 0) {
    node.kind = EXPR_CALL;
    node.index = function;
    return token_is(&p->token, "(") ? parse_call(p, node, out) : fail_expected(p, "'(' behind the name of a function");
  }
  struct name *name = scope_find(p->scope, token.text, token.length);
  if (token_is(&p->token, "=")) {
    return parse_fail(p, node.place, "expected a number, a name or '(', found an assignment%s",
                      p->nesting > 1 ? "; to compare two values, write ==" : "");
  }
  if (!name) return unknown_name(p, &token, node.place);
  name->is_used = true;
  node.index = name->index;
  if (name->kind == NAME_TEMPORARY && token_is(&p->token, "[")) {
    return parse_fail(
        p, node.place,
        "the temporary '%s' has a value at the computed point only; to read it at neighbours, write its "
        "expression with shifted offsets, or make it an output of another stencil and read that as an input",
        name->text);
  }
  if (name->kind != NAME_INPUT && token_is(&p->token, "[")) {
    return parse_fail(p, node.place, "'%s' is not an input: only inputs have offsets", name->text);
  }
  switch (name->kind) {
  case NAME_INPUT:
    node.kind = EXPR_TAP;
    if (token_is(&p->token, "[")) return parse_tap(p, name, node, out);
    return parse_fail(p, node.place, "the input '%s' needs offsets, such as %s[0%.*s]", name->text, name->text,
                      2 * (find_axes(p->scope, name, axes) - 1), ",0,0");
  case NAME_OUTPUT: return parse_fail(p, node.place, "the output '%s' cannot be read; use a temporary", name->text);
  case NAME_TEMPORARY: *out = name->index; return HALOTUNE_OK;
  case NAME_DEFINITION: return copy_definition(p, name, node.place, out);
  case NAME_LATER:
    return parse_fail(p, node.place, "'%s' is not defined yet: a definition uses only those above it", name->text);
  case NAME_COEFFICIENT: node.kind = EXPR_COEFFICIENT; break;
  case NAME_VARIABLE: node.kind = EXPR_VARIABLE; break;
  }
  return add_node(p, node, out);
}

/* Parse a name, a number, or an expression in parentheses. */
static halotune_status parse_primary(struct parser *p, int *out) {
  halotune_status status;
  if (p->token.kind == TOKEN_NAME) return parse_name(p, out);
  if (p->token.kind == TOKEN_NUMBER) {
    struct expr node = {.kind = EXPR_NUMBER, .number = p->token.number, .place = place_of_token(p)};
    if ((status = add_node(p, node, out)) != HALOTUNE_OK) return status;
    return next_token(p);
  }
  if (!token_is(&p->token, "(")) return fail_expected(p, "a number, a name or '('");
  if ((status = next_token(p)) != HALOTUNE_OK || (status = parse_expression(p, out)) != HALOTUNE_OK) return status;
  return skip_symbol(p, ")", "an operator or ')'");
}

static bool begins_sign(const struct parser *p) { return token_is(&p->token, "-") || token_is(&p->token, "!"); }

static halotune_status parse_factor(struct parser *p, int *out) {
  halotune_status status;
  if (p->nesting > MAX_NESTING) return parse_fail(p, place_of_token(p), "nested more than %d deep", MAX_NESTING);
  p->nesting++;
  if (begins_sign(p)) {
    struct expr node = {
        .kind = token_is(&p->token, "-") ? EXPR_NEGATE : EXPR_NOT, .arg_count = 1, .place = place_of_token(p)};
    if ((status = next_token(p)) == HALOTUNE_OK && (status = parse_factor(p, &node.args[0])) == HALOTUNE_OK) {
      status = add_node(p, node, out);
    }
  } else {
    status = parse_primary(p, out);
  }
  p->nesting--;
  return status;
}

/* Operators with two operands. A higher level binds more tightly. The scanner accepts % only in rules. */
enum { LEVEL_OR, LEVEL_AND, LEVEL_EQUAL, LEVEL_ORDER, LEVEL_SUM, LEVEL_PRODUCT };
static const struct joint {
  const char *symbol;
  enum expr_kind kind;
  int level;
} joints[] = {
    {"||", EXPR_OR, LEVEL_OR},
    {"&&", EXPR_AND, LEVEL_AND},
    {"==", EXPR_EQUAL, LEVEL_EQUAL},
    {"!=", EXPR_NOT_EQUAL, LEVEL_EQUAL},
    {"<", EXPR_LESS, LEVEL_ORDER},
    {"<=", EXPR_LESS_EQUAL, LEVEL_ORDER},
    {">", EXPR_GREATER, LEVEL_ORDER},
    {">=", EXPR_GREATER_EQUAL, LEVEL_ORDER},
    {"%", EXPR_REMAINDER, LEVEL_PRODUCT},
    {"+", EXPR_ADD, LEVEL_SUM},
    {"-", EXPR_SUBTRACT, LEVEL_SUM},
    {"*", EXPR_MULTIPLY, LEVEL_PRODUCT},
    {"/", EXPR_DIVIDE, LEVEL_PRODUCT},
};

/* The operator that this token is, if it binds at least as tightly as `level`; else NULL. */
static const struct joint *find_joint(const struct token *token, int level) {
  for (size_t i = 0; i < COUNT(joints); i++) {
    if (joints[i].level >= level && token_is(token, joints[i].symbol)) return &joints[i];
  }
  return NULL;
}

/* Whether the second of two operators compares the result of the first: a < b < c. In C it does so with 0 or 1. */
static bool is_chain(const struct joint *before, const struct joint *joint) {
  return before && before->level == joint->level && (joint->level == LEVEL_ORDER || joint->level == LEVEL_EQUAL);
}

/* Parse operands joined by operators that bind at least as tightly as `level`. Operators group from the left. */
static halotune_status parse_joined(struct parser *p, int level, int *out) {
  halotune_status status = parse_factor(p, out);
  const struct joint *joint, *before = NULL;
  for (; status == HALOTUNE_OK && (joint = find_joint(&p->token, level)); before = joint) {
    if (is_chain(before, joint))
      return parse_fail(p, place_of_token(p), "a comparison has two sides: write a < b < c as a < b && b < c");
    struct expr node = {.kind = joint->kind, .arg_count = 2, .place = place_of_token(p)};
    node.args[0] = *out;
    if ((status = next_token(p)) != HALOTUNE_OK) return status;
    struct place right = place_of_token(p);
    if ((status = parse_joined(p, joint->level + 1, &node.args[1])) != HALOTUNE_OK) return status;
    const struct expr *divisor = &p->exprs->nodes[node.args[1]];
    if ((node.kind == EXPR_DIVIDE || node.kind == EXPR_REMAINDER) && divisor->is_constant && divisor->number == 0) {
      return parse_fail(p, right, "division by zero");
    }
    status = add_node(p, node, out);
  }
  return status;
}

/* Parse a whole expression: operands joined by operators, or a choice: condition ? value : value. */
static halotune_status parse_expression(struct parser *p, int *out) {
  struct expr node = {.kind = EXPR_CHOOSE, .arg_count = 3};
  halotune_status status = parse_joined(p, LEVEL_OR, out);
  if (status != HALOTUNE_OK || !token_is(&p->token, "?")) return status;
  if (p->nesting >= MAX_NESTING) return parse_fail(p, place_of_token(p), "nested more than %d deep", MAX_NESTING);
  p->nesting++;
  node.place = place_of_token(p);
  node.args[0] = *out;
  if ((status = next_token(p)) != HALOTUNE_OK || (status = parse_expression(p, &node.args[1])) != HALOTUNE_OK)
    return status;
  if ((status = skip_symbol(p, ":", "an operator or ':'")) != HALOTUNE_OK) return status;
  if ((status = parse_expression(p, &node.args[2])) != HALOTUNE_OK) return status;
  p->nesting--;
  return add_node(p, node, out);
}

static halotune_status parse_alone(const struct snippet *snippet, bool is_rule, struct scope *scope,
                                   struct exprs *exprs, struct formula *out) {
  struct parser p = {.scanner = scanner_at_start(snippet), .scope = scope, .exprs = exprs};
  halotune_status status;
  p.scanner.is_rule = is_rule;
  out->first = exprs->count;
  if ((status = next_token(&p)) != HALOTUNE_OK || (status = parse_expression(&p, &out->root)) != HALOTUNE_OK)
    return status;
  return p.token.kind == TOKEN_END ? HALOTUNE_OK : fail_expected(&p, "an operator");
}

halotune_status parse_formula(const struct snippet *snippet, struct scope *scope, struct exprs *exprs,
                              struct formula *out) {
  return parse_alone(snippet, false, scope, exprs, out);
}

halotune_status parse_rule(const struct snippet *snippet, struct scope *scope, struct exprs *exprs,
                           struct formula *out) {
  return parse_alone(snippet, true, scope, exprs, out);
}

struct assignments {
  struct assignment *list; /* from malloc; moved to the arena at the end */
  int count, capacity;
};

/* Whether this token and the next one begin an assignment. */
static bool begins_assignment(const struct parser *p) {
  struct scanner ahead = p->scanner;
  struct token token;
  return p->token.kind == TOKEN_NAME && scan(&ahead, &token) == HALOTUNE_OK && token_is(&token, "=");
}

/* Whether the token after the name of an output is an offset, or the sign of `+=`. */
static bool is_odd_target(const struct parser *p) {
  struct scanner ahead = p->scanner;
  struct token token;
  if (token_is(&p->token, "[")) return true;
  const bool is_sign =
      token_is(&p->token, "+") || token_is(&p->token, "-") || token_is(&p->token, "*") || token_is(&p->token, "/");
  return is_sign && scan(&ahead, &token) == HALOTUNE_OK && token_is(&token, "=");
}

static halotune_status fail_target(const struct parser *p, const struct token *token, struct place place) {
  return parse_fail(p, place, "an assignment has a name alone before its '=': write %.*s = value", (int)token->length,
                    token->text);
}

/* Parse the left side of an assignment: an output that has no value yet, or a new temporary. */
static halotune_status parse_target(struct parser *p, struct arena *arena, struct assignment *out) {
  struct token token = p->token;
  int length = (int)token.length;
  if (token.kind != TOKEN_NAME) return fail_expected(p, "the name of an output or of a temporary");
  *out = (struct assignment){.output = -1, .place = place_of_token(p)};
  const struct name *name = scope_find(p->scope, token.text, token.length);
  if (name && name->kind == NAME_OUTPUT) {
    out->output = name->index;
    out->name = name->text;
  } else if (name && name->kind == NAME_TEMPORARY) {
    return parse_fail(p, out->place, "'%s' is assigned twice", name->text);
  } else if (name) {
    return parse_fail(p, out->place, "'%s' cannot be assigned: it is not an output", name->text);
  } else {
    const char *error = name_error(token.text, token.length);
    const char *remedy = error && !begins_assignment(p) ? find_remedy(&token) : NULL;
    if (remedy) return parse_fail(p, out->place, "'%.*s' has no meaning here: %s", length, token.text, remedy);
    if (error) return parse_fail(p, out->place, "'%.*s' cannot be a temporary: %s", length, token.text, error);
    out->name = arena_text(arena, token.text, token.length);
    if (!out->name) return fail_memory();
  }
  halotune_status status = next_token(p);
  if (status != HALOTUNE_OK) return status;
  if (is_odd_target(p)) return fail_target(p, &token, out->place);
  return skip_symbol(p, "=", "'='");
}

/* Fail for a token that neither continues the value of an assignment nor begins the next assignment. */
static halotune_status fail_behind_value(struct parser *p) {
  const struct token token = p->token;
  struct parser ahead = *p;
  const struct name *name = token.kind == TOKEN_NAME ? scope_find(p->scope, token.text, token.length) : NULL;
  if (name && name->kind == NAME_OUTPUT && next_token(&ahead) == HALOTUNE_OK && is_odd_target(&ahead))
    return fail_target(p, &token, place_of_token(p));
  return fail_expected(p, "an operator or a new assignment");
}

static halotune_status parse_assignment(struct parser *p, struct arena *arena, struct assignments *all) {
  struct assignment assignment = {.output = -1};
  if (all->count == MAX_ASSIGNMENTS)
    return parse_fail(p, place_of_token(p), "more than %d assignments", MAX_ASSIGNMENTS);
  halotune_status status = parse_target(p, arena, &assignment);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < all->count; i++) {
    if (assignment.output >= 0 && all->list[i].output == assignment.output) {
      return parse_fail(p, assignment.place, "'%s' is assigned twice", assignment.name);
    }
  }
  if ((status = parse_expression(p, &assignment.root)) != HALOTUNE_OK) return status;
  if (assignment.output < 0) {
    struct name name = {
        .text = assignment.name, .kind = NAME_TEMPORARY, .index = assignment.root, .place = assignment.place};
    if ((status = scope_add(p->scope, name)) != HALOTUNE_OK) return status;
  }
  struct assignment *list = array_grow(all->list, all->count, &all->capacity, sizeof *list);
  if (!list) return fail_memory();
  all->list = list;
  list[all->count++] = assignment;
  if (token_is(&p->token, ";")) return next_token(p);
  return p->token.kind == TOKEN_END || begins_assignment(p) ? HALOTUNE_OK : fail_behind_value(p);
}

halotune_status parse_update(const struct snippet *snippet, struct scope *scope, struct arena *arena,
                             struct exprs *exprs, struct update *out) {
  struct parser p = {.scanner = scanner_at_start(snippet), .scope = scope, .exprs = exprs};
  struct assignments all = {0};
  halotune_status status;
  *out = (struct update){.first = exprs->count};
  if ((status = next_token(&p)) != HALOTUNE_OK) goto done;
  do {
    if ((status = parse_assignment(&p, arena, &all)) != HALOTUNE_OK) goto done;
  } while (p.token.kind != TOKEN_END);
  out->assignments = arena_alloc(arena, (size_t)all.count * sizeof *all.list);
  if (!out->assignments) {
    status = fail_memory();
    goto done;
  }
  memcpy(out->assignments, all.list, (size_t)all.count * sizeof *all.list);
  out->count = all.count;
  out->end = exprs->count;
done:
  free(all.list);
  return status;
}
