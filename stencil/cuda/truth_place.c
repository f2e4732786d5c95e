/* truth_place.c: reads the tokens around an expression. */
#include "stencil/cuda/truth_place.h"

#include <string.h>

/* Whether a token, which may be beyond either end of the part, is one of these, separated by spaces. */
static bool is_one_of(const struct part *part, int at, const char *spellings) {
  if (at < 0 || at >= part->count) return false;
  const struct cuda_token *token = &part->tokens[at].token;
  for (size_t length; *spellings; spellings += length + strspn(spellings + length, " ")) {
    length = strcspn(spellings, " ");
    if (token->length == length && memcmp(token->at, spellings, length) == 0) return true;
  }
  return false;
}

static int token_before(const struct part *part, int at) { return part_skip_back(part, 0, at); }

/* The bracket that is open at a token, or that the token closes; -1 for none. */
static int open_bracket(const struct part *part, int at) {
  int depth = 0;
  for (at = token_before(part, at); at >= 0; at = token_before(part, at)) {
    if (is_one_of(part, at, ") ] }")) depth++;
    else if (is_one_of(part, at, "( [ {") && depth-- == 0) return at;
  }
  return -1;
}

/* Whether the statement of which the token at `at` is a part declares variables of type bool. */
static bool declares_bool(const struct part *part, int at) {
  bool is_before = false; /* in a declaration before that of the variable */
  for (at = token_before(part, at); at >= 0; at = token_before(part, at)) {
    is_before = is_before || is_one_of(part, at, ",");
    if (is_one_of(part, at, ") ]")) at = open_bracket(part, at);
    else if (is_one_of(part, at, "; { } ( [")) return false;
    else if (is_one_of(part, at, "=") && !is_before) return false; /* the value is assigned to another variable first */
    else if (is_one_of(part, at, "bool") && part_is_name(part, part_skip(part, at + 1, part->count), part->count))
      return true;
  }
  return false;
}

/* Whether the function around a token is declared as bool. */
static bool is_in_bool_function(const struct part *part, int at) {
  for (at = open_bracket(part, at); at >= 0; at = open_bracket(part, at)) {
    int behind = token_before(part, at);
    if (is_one_of(part, behind, "const")) behind = token_before(part, behind);
    if (is_one_of(part, token_before(part, behind), "->")) return is_one_of(part, behind, "bool");
    /* the bracket of an else or of a struct */
    if (!is_one_of(part, at, "{") || !is_one_of(part, behind, ")")) continue;
    const int name = token_before(part, open_bracket(part, behind));
    if (is_one_of(part, name, "if constexpr for while switch")) continue;
    return is_one_of(part, token_before(part, name), "bool");
  }
  return false;
}

/* Whether a token is an operator that computes with the expression beside it. */
static bool is_computing(const struct part *part, int at) {
  return is_one_of(part, at, "* / % + - < > <= >= == != << >> & | ^ ~");
}

bool is_truth_place(const struct part *part, int begin, int end) {
  for (;;) {
    const int left = token_before(part, begin), right = part_skip(part, end, part->count);
    if (is_one_of(part, left, "!")) return true;
    if (is_computing(part, left) || is_computing(part, right)) return false;
    if (is_one_of(part, left, "&& ||") || is_one_of(part, right, "&& || ?")) return true;
    if (is_one_of(part, right, ";") && is_one_of(part, left, "; { }")) return true;
    if (is_one_of(part, left, "=")) return declares_bool(part, left);
    if (is_one_of(part, left, "return")) return is_in_bool_function(part, left);
    if (!is_one_of(part, left, "(")) return false;
    const int name = token_before(part, left);
    if (is_one_of(part, name, "if while constexpr static_assert")) return true;
    const bool is_operand = name < 0 || !part_is_name(part, name, part->count) || is_one_of(part, name, "return");
    if (!is_one_of(part, right, ")") || !is_operand || is_one_of(part, name, ") ] >")) return false;
    begin = left, end = right + 1;
  }
}
