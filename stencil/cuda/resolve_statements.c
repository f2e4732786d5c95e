/* resolve_statements.c: resolves statements and expressions that a configuration decides, in the bodies of
 * functions. */
#include <string.h>

#include "base/memory/array.h"
#include "stencil/cuda/constant_expressions.h"
#include "stencil/cuda/resolve.h"
#include "stencil/cuda/value_types.h"

struct statements {
  struct constants *constants;
  struct part *part;
  struct range definition;
};

/* An `if` and its parts. `otherwise` is empty if there is no else. */
struct branch {
  int keyword, condition_end;
  struct range then, otherwise;
};

/* The end of a bracket that opens at a token; the token itself if none opens there. */
static int skip_bracket(const struct part *part, int at, int end) {
  bool opens = part_is(part, at, end, "(") || part_is(part, at, end, "[") || part_is(part, at, end, "{");
  return opens ? part_close(part, at, end) : at;
}

static int statement_end(const struct part *part, int at, int end);

/* Read the `if` at a token. */
static struct branch branch_read(const struct part *part, int at, int end) {
  struct branch branch = {.keyword = at};
  int open = part_skip(part, at + 1, end);
  if (part_is(part, open, end, "constexpr")) open = part_skip(part, open + 1, end);
  branch.condition_end = part_close(part, open, end);
  branch.then.begin = part_skip(part, branch.condition_end + 1, end);
  branch.then.end = statement_end(part, branch.then.begin, end);
  int behind = part_skip(part, branch.then.end, end);
  branch.otherwise = (struct range){branch.then.end, branch.then.end};
  if (part_is(part, behind, end, "else")) {
    int begin = part_skip(part, behind + 1, end);
    branch.otherwise = (struct range){begin, statement_end(part, begin, end)};
  }
  return branch;
}

/* The same for a statement of a level that is not too deep. */
static int statement_end_here(const struct part *part, int at, int end) {
  at = part_skip(part, at, end);
  if (at >= end) return end;
  if (part->tokens[at].token.kind == CUDA_DIRECTIVE) {
    while (at < end && part->tokens[at].token.kind != CUDA_DIRECTIVE_END) at++;
    return statement_end(part, at + 1, end);
  }
  if (part_is(part, at, end, "{")) {
    int close = part_close(part, at, end);
    return close < end ? close + 1 : end;
  }
  if (part_is(part, at, end, "if")) {
    struct branch branch = branch_read(part, at, end);
    return branch.otherwise.end;
  }
  if (part_is(part, at, end, "for") || part_is(part, at, end, "while") || part_is(part, at, end, "switch")) {
    return statement_end(part, part_close(part, part_skip(part, at + 1, end), end) + 1, end);
  }
  if (part_is(part, at, end, "do")) at = statement_end(part, at + 1, end);
  for (; at < end; at = part_skip(part, at + 1, end)) {
    part_worked(part, 1);
    if (part_is(part, at, end, ";")) return at + 1;
    at = skip_bracket(part, at, end);
  }
  return end;
}

/* The end of the statement that begins at a token or after it. Too deeply nested statements end the work. */
static int statement_end(const struct part *part, int at, int end) {
  if (!part_enter(part)) part->work->steps_left = -1;
  if (!part_is_over(part)) end = statement_end_here(part, at, end);
  part_leave(part);
  return end;
}

/* Whether a token begins a statement that leaves the block. */
static bool is_jump(const struct part *part, int at, int end) {
  return part_is(part, at, end, "return") || part_is(part, at, end, "continue") || part_is(part, at, end, "break");
}

static bool ends_with_jump(const struct part *part, struct range statement) {
  int at = part_skip(part, statement.begin, statement.end);
  if (!part_is(part, at, statement.end, "{")) return is_jump(part, at, statement.end);
  int close = part_close(part, at, statement.end), last = close;
  for (int s = part_skip(part, at + 1, close); s < close; s = part_skip(part, statement_end(part, s, close), close)) {
    last = s;
  }
  return is_jump(part, last, close);
}

/* Remove what follows a jump up to the end of its block, because it is never reached. */
static void remove_unreachable(const struct statements *s, int begin) {
  struct part *part = s->part;
  int at = begin, end = s->definition.end;
  for (; at < end; at = part_skip(part, at + 1, end)) {
    part_worked(part, 1);
    at = part_skip(part, at, end);
    if (part_is(part, at, end, "}") || part_is(part, at, end, "case") || part_is(part, at, end, "default")) break;
    at = skip_bracket(part, at, end);
  }
  if (part_is(part, at, end, "}")) part_remove(part, begin, at);
}

/* Whether a name stands in the definition outside a range. */
static bool is_named_outside(const struct statements *s, int name, struct range range) {
  part_worked(s->part, s->definition.end - s->definition.begin);
  for (int i = s->definition.begin; i < s->definition.end; i++) {
    bool is_outside = i < range.begin || i >= range.end;
    if (is_outside && !s->part->tokens[i].is_gone && s->part->tokens[i].name == name) return true;
  }
  return false;
}

/* Whether a token may follow the name in a declaration. */
static bool ends_declarator(const struct part *part, int at, int end) {
  static const char *const behinds[] = {"=", ";", "[", ",", "(", "{", ":"};
  for (size_t i = 0; i < COUNT(behinds); i++) {
    if (part_is(part, at, end, behinds[i])) return true;
  }
  return false;
}

/* Whether a statement declares a name that is also used outside its block. */
static bool declares_known(const struct statements *s, struct range statement, struct range block) {
  static const char *const befores[] = {">", "*", "&", ","};
  const struct part *part = s->part;
  int end = statement.end, before = statement.begin, at = part_skip(part, before + 1, end);
  bool declares = part_is_name(part, before, end) && !is_jump(part, before, end) &&
                  (part_is_name(part, at, end) || part_is(part, at, end, "<"));
  for (; at < end && declares; before = at, at = part_skip(part, skip_bracket(part, at, end) + 1, end)) {
    bool is_new = part_is_name(part, before, end);
    for (size_t k = 0; k < COUNT(befores); k++) is_new = is_new || part_is(part, before, end, befores[k]);
    is_new = is_new && part_is_name(part, at, end) && ends_declarator(part, part_skip(part, at + 1, end), end);
    if (is_new && is_named_outside(s, part->tokens[at].name, block)) return true;
  }
  return false;
}

/* Whether the brackets of a block may be removed: no name that it declares has another meaning around it. */
static bool can_unwrap(const struct statements *s, struct range block) {
  const struct part *part = s->part;
  int close = part_close(part, block.begin, block.end);
  for (int at = part_skip(part, block.begin + 1, close); at < close && !part_is_over(part);) {
    int end = statement_end(part, at, close);
    if (declares_known(s, (struct range){at, end}, block)) return false;
    at = part_skip(part, end, close);
  }
  return true;
}

/* Move lines that begin in a range left by this number of columns. */
static void move_left(struct part *part, struct range range, int columns) {
  for (int i = range.begin; i < range.end && columns > 0; i++) part->tokens[i].outdent += columns;
}

/* The first token of a statement after its directives, which begin in column 0. */
static int skip_directives(const struct part *part, int at, int end) {
  while (at < end && part->tokens[at].token.kind == CUDA_DIRECTIVE) {
    while (at < end && part->tokens[at].token.kind != CUDA_DIRECTIVE_END) at++;
    at = part_skip(part, at + 1, end);
  }
  return at;
}

static int column_now(const struct part *part, int at) { return part_column(part, at) - part->tokens[at].outdent; }

/* Move the statement of a branch that is taken, or of a loop with one iteration, to the place of the `if` or `for`. */
static void keep_statement(const struct statements *s, int keyword, struct range kept, bool is_listed) {
  struct part *part = s->part;
  int column = column_now(part, keyword), first = kept.begin;
  const int close = part_is(part, first, kept.end, "{") ? part_close(part, first, kept.end) : kept.end;
  if (is_listed && close < kept.end && can_unwrap(s, kept)) {
    int inner = part_skip(part, first + 1, kept.end);
    part_remove(part, first, first + 1);
    part_remove(part, close, close + 1);
    first = inner;
  }
  first = skip_directives(part, first, kept.end);
  if (first < kept.end) move_left(part, kept, column_now(part, first) - column);
}

/* Remove comments directly above a statement that is removed. */
static void remove_comments_above(const struct statements *s, int at) {
  struct part *part = s->part;
  while (at > s->definition.begin && part->tokens[at - 1].token.kind == CUDA_COMMENT &&
         part_breaks_before(part, at) == 1 && part_breaks_before(part, at - 1) > 0) {
    part->tokens[--at].is_gone = true;
  }
}

/* Whether a statement may follow a token of the definition as one of several. What stands before the definition, such
 * as a comment, does not count. */
static bool is_listed_behind(const struct statements *s, int before, int end) {
  const struct part *part = s->part;
  if (before < s->definition.begin) return false;
  return part_is(part, before, end, "{") || part_is(part, before, end, "}") || part_is(part, before, end, ";");
}

/* Resolve the `if` at a token if its condition is decided. */
static void resolve_if(const struct statements *s, int at) {
  struct part *part = s->part;
  int end = s->definition.end;
  struct branch branch = branch_read(part, at, end);
  int open = part_skip(part, at + 1, end);
  if (part_is(part, open, end, "constexpr")) open = part_skip(part, open + 1, end);
  struct value value =
      expression_value(s->constants, part, (struct range){open + 1, branch.condition_end}, EXPRESSION_CODE);
  int before = part_skip_back(part, s->definition.begin, at);
  bool is_listed = is_listed_behind(s, before, end);
  bool is_else = before >= s->definition.begin && part_is(part, before, end, "else");
  if (!value.is_known || (!is_listed && !is_else)) return;
  bool has_else = branch.otherwise.begin < branch.otherwise.end;
  int whole_end = has_else ? branch.otherwise.end : branch.then.end;
  if (!value.number && !has_else) {
    if (is_else) at = before;
    else remove_comments_above(s, at);
    part_remove(part, at, whole_end);
    return;
  }
  struct range kept = value.number ? branch.then : branch.otherwise;
  bool is_last = is_listed && ends_with_jump(part, kept);
  part_remove(part, at, kept.begin);
  part_remove(part, kept.end, whole_end);
  keep_statement(s, at, kept, is_listed);
  if (is_last) remove_unreachable(s, whole_end);
}

/* for (int NAME = FIRST; NAME < LIMIT; NAME++) BODY */
struct loop {
  int keyword, name; /* tokens */
  struct value first, limit;
  struct range body;
};

/* Whether the tokens from `at` on, without comments, have these spellings. NULL stands for the name at token `name`. */
static bool is_followed_by(const struct part *part, int at, int end, int name, const char *const *spellings,
                           size_t count) {
  for (size_t i = 0; i < count; i++, at = part_skip(part, at + 1, end)) {
    bool is_same = spellings[i] ? part_is(part, at, end, spellings[i])
                                : at < end && part->tokens[at].name == part->tokens[name].name;
    if (!is_same) return false;
  }
  return true;
}

/* The next semicolon in a loop's head. */
static int find_semicolon(const struct part *part, int at, int end) {
  for (; at < end && !part_is(part, at, end, ";"); at = part_skip(part, at + 1, end)) part_worked(part, 1);
  return at;
}

/* Whether an operator that binds no closer than `<` stands outside of brackets. The text after `<` is then not only
 * its right side. */
static bool has_looser_operator(const struct part *part, struct range range) {
  static const char *const looser[] = {"<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?", "=", ","};
  for (int i = range.begin; i < range.end; i = part_skip(part, skip_bracket(part, i, range.end) + 1, range.end)) {
    for (size_t k = 0; k < COUNT(looser); k++) {
      if (part_is(part, i, range.end, looser[k])) return true;
    }
  }
  return false;
}

/* Read the `for` at a token. Returns false if it is written in another way, or its bounds are unknown. */
static bool loop_read(const struct statements *s, int at, struct loop *out) {
  static const char *const heads[] = {"(", "int"}, *const counts[] = {NULL, "<"}, *const steps[] = {NULL, "++", ")"};
  struct part *part = s->part;
  int end = s->definition.end, open = part_skip(part, at + 1, end);
  if (!is_followed_by(part, open, end, open, heads, COUNT(heads))) return false;
  int name = part_skip(part, part_skip(part, open + 1, end) + 1, end), equals = part_skip(part, name + 1, end);
  if (!part_is_name(part, name, end) || !part_is(part, equals, end, "=")) return false;
  int first_end = find_semicolon(part, equals, end), test = part_skip(part, first_end + 1, end);
  if (!is_followed_by(part, test, end, name, counts, COUNT(counts))) return false;
  int less = part_skip(part, test + 1, end), limit_end = find_semicolon(part, less, end);
  int step = part_skip(part, limit_end + 1, end), close = part_close(part, open, end);
  if (!is_followed_by(part, step, end, name, steps, COUNT(steps)) || close == end) return false;
  if (has_looser_operator(part, (struct range){less + 1, limit_end})) return false;
  *out = (struct loop){.keyword = at, .name = name};
  out->first = expression_value(s->constants, part, (struct range){equals + 1, first_end}, EXPRESSION_CODE);
  out->limit = expression_value(s->constants, part, (struct range){less + 1, limit_end}, EXPRESSION_CODE);
  out->body.begin = part_skip(part, close + 1, end);
  out->body.end = statement_end(part, out->body.begin, end);
  return out->first.is_known && out->limit.is_known;
}

/* Whether a body declares the loop's variable again. */
static bool is_hidden_in_body(const struct part *part, const struct loop *loop) {
  part_worked(part, loop->body.end - loop->body.begin);
  const int begin = loop->body.begin, end = loop->body.end;
  for (int i = begin + 1; i < end; i++) {
    if (part->tokens[i].name != part->tokens[loop->name].name || !part_is_name_before(part, i)) continue;
    if (!part_is(part, part_skip_back(part, begin, i), end, "return")) return true;
  }
  return false;
}

/* Whether an expression may begin after a token. */
static bool opens_expression(const struct part_token *t) {
  static const char *const openers[] = {"(",      "[",  "{",  ",",  "=",  "?",  ":", ";",
                                        "return", "+=", "-=", "*=", "^=", "|=", "&="};
  if (t->is_gone || (t->token.kind != CUDA_PUNCTUATION && t->name < 0)) return false;
  for (size_t i = 0; i < COUNT(openers); i++) {
    if (cuda_is(&t->token, openers[i])) return true;
  }
  return false;
}

/* Whether a token is a name of its own: not that of a member, a[i].NAME, or of a namespace's, N::NAME. */
static bool is_variable(const struct part *part, int at, int end, int name) {
  static const char *const befores[] = {".", "->", "::"};
  int before = part_skip_back(part, 0, at);
  if (part->tokens[at].name != name || part->tokens[at].is_gone) return false;
  for (size_t i = 0; i < COUNT(befores) && before >= 0; i++) {
    if (part_is(part, before, end, befores[i])) return false;
  }
  return true;
}

/* Whether a body assigns to the loop's variable, or takes its address. */
static bool changes_variable(const struct part *part, const struct loop *loop) {
  static const char *const behinds[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
  int begin = loop->body.begin, end = loop->body.end;
  part_worked(part, end - begin);
  for (int i = begin; i < end; i++) {
    if (!is_variable(part, i, end, part->tokens[loop->name].name)) continue;
    int before = part_skip_back(part, begin, i), behind = part_skip(part, i + 1, end);
    for (size_t k = 0; k < COUNT(behinds); k++) {
      if (part_is(part, behind, end, behinds[k])) return true;
    }
    if (before < begin) continue;
    if (part_is(part, before, end, "++") || part_is(part, before, end, "--")) return true;
    int operand = part_skip_back(part, begin, before);
    if (part_is(part, before, end, "&") && (operand < begin || opens_expression(&part->tokens[operand]))) return true;
  }
  return false;
}

/* Whether a body leaves its loop by break or continue. */
static bool leaves_loop(const struct part *part, struct range body) {
  part_worked(part, body.end - body.begin);
  for (int i = body.begin; i < body.end; i++) {
    if (part->tokens[i].is_gone) continue;
    if (part_is(part, i, body.end, "break") || part_is(part, i, body.end, "continue")) return true;
    bool is_nested = part_is(part, i, body.end, "for") || part_is(part, i, body.end, "while");
    if (is_nested) i = statement_end(part, i, body.end) - 1;
  }
  return false;
}

/* Remove the pragma directly above a loop, or above the comments there. */
static void remove_pragma_above(const struct statements *s, int at) {
  struct part *part = s->part;
  int last = at - 1;
  while (last >= s->definition.begin && part->tokens[last].token.kind == CUDA_COMMENT) last--;
  int first = last;
  if (last < s->definition.begin || part->tokens[last].token.kind != CUDA_DIRECTIVE_END) return;
  while (first > s->definition.begin && part->tokens[first].token.kind != CUDA_DIRECTIVE) first--;
  if (part_is(part, first + 1, last, "pragma")) part_remove(part, first, last + 1);
}

static void resolve_range(const struct statements *s, struct range range);

/* Remove a loop without iterations. Of a loop with one iteration keep the body, with a number in place of the
 * variable. */
static void resolve_for(const struct statements *s, int at) {
  struct part *part = s->part;
  struct loop loop;
  int before = part_skip_back(part, s->definition.begin, at);
  while (before > s->definition.begin && part->tokens[before].token.kind == CUDA_DIRECTIVE_END) {
    while (before > s->definition.begin && part->tokens[before].token.kind != CUDA_DIRECTIVE) before--;
    before = part_skip_back(part, s->definition.begin, before);
  }
  bool is_listed = is_listed_behind(s, before, s->definition.end);
  if (!loop_read(s, at, &loop) || is_hidden_in_body(part, &loop) || loop.first.number != 0) return;
  if (loop.limit.number <= 0 && is_listed) {
    remove_pragma_above(s, at);
    remove_comments_above(s, at);
    part_remove(part, at, loop.body.end);
  }
  if (loop.limit.number != 1 || changes_variable(part, &loop)) return;
  for (int i = loop.body.begin; i < loop.body.end; i++) {
    if (is_variable(part, i, loop.body.end, part->tokens[loop.name].name)) part->tokens[i].number = "0";
  }
  if (part_enter(part)) resolve_range(s, loop.body);
  else part->work->steps_left = -1;
  part_leave(part);
  if (leaves_loop(part, loop.body)) return;
  remove_pragma_above(s, at);
  part_remove(part, at, loop.body.begin);
  keep_statement(s, at, loop.body, is_listed);
}

/* The closing bracket of the template arguments that open at a token; `end` if none open there. */
static int template_close(const struct part *part, int at, int end) {
  int behind = part_skip_angles(part, at, end), next = part_skip(part, behind, end);
  bool is_template = at > 0 && part_is(part, at, end, "<") && part_is_name_before(part, at) && behind > at &&
                     (part_is(part, next, end, "(") || part_is(part, next, end, "{") || part_is(part, next, end, "::"));
  return is_template ? behind - 1 : end;
}

/* Simplify the expressions of a definition. An expression in template arguments ends at their closing bracket, which is
 * not an operator. */
static void simplify_expressions(const struct statements *s) {
  struct part *part = s->part;
  int end = s->definition.end, close = end;
  for (int i = s->definition.begin; i + 1 < end && !part_is_over(part); i++) {
    if (i >= close) close = end;
    if (part->tokens[i].is_gone) continue;
    int inner = template_close(part, i, close);
    if (inner < close) close = inner;
    else if (!opens_expression(&part->tokens[i])) continue;
    expression_simplify(s->constants, part, i + 1, close);
  }
}

/* Resolve the statements in a range of the definition. */
static void resolve_range(const struct statements *s, struct range range) {
  struct part *part = s->part;
  bool is_directive = false;
  for (int i = range.begin; i < range.end && !part_is_over(part); i++) {
    enum cuda_token_kind kind = part->tokens[i].token.kind;
    is_directive = kind == CUDA_DIRECTIVE || (is_directive && kind != CUDA_DIRECTIVE_END);
    if (is_directive || part->tokens[i].is_gone) continue;
    if (part_is(part, i, range.end, "if")) resolve_if(s, i);
    else if (part_is(part, i, range.end, "for")) resolve_for(s, i);
  }
}

/* Remove a return at the end of a function without a value. */
static void remove_last_return(const struct statements *s) {
  struct part *part = s->part;
  int begin = s->definition.begin, close = part_skip_back(part, begin, s->definition.end);
  int semicolon = part_skip_back(part, begin, close), at = part_skip_back(part, begin, semicolon);
  if (at <= begin || !part_is(part, close, s->definition.end, "}") || !part_is(part, at, close, "return")) return;
  if (part_is(part, semicolon, close, ";") && is_listed_behind(s, part_skip_back(part, begin, at), close)) {
    part_remove(part, at, semicolon + 1);
  }
}

void resolve_definition(struct constants *constants, struct part *part, struct range definition) {
  struct statements s = {constants, part, definition};
  value_types_note(constants, part, definition);
  resolve_range(&s, definition);
  remove_last_return(&s);
  simplify_expressions(&s);
}
