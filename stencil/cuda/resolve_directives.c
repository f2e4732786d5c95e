/* resolve_directives.c: resolves preprocessor lines whose conditions a configuration decides. */
#include "stencil/cuda/resolve.h"

#include "stencil/cuda/constant_expressions.h"

enum { MAX_DEPTH = PART_MOST_NESTED };

/* The state of a conditional after its last #if, #elif or #else. */
enum conditional {
  CONDITIONAL_KEPT,    /* its lines stay */
  CONDITIONAL_SKIPPED, /* no branch was taken yet */
  CONDITIONAL_DONE,    /* an earlier branch was taken */
  CONDITIONAL_OPEN,    /* it is undecided: the directives stay as well */
};

struct directives {
  struct constants *constants;
  struct part *part;
  enum conditional stack[MAX_DEPTH];
  int depth;
  int unknown; /* the first name after #if or #elif that nothing defines, as a token; -1 for none */
};

static bool is_skipping(const struct directives *d) {
  for (int i = 0; i < d->depth; i++) {
    if (d->stack[i] == CONDITIONAL_SKIPPED || d->stack[i] == CONDITIONAL_DONE) return true;
  }
  return false;
}

static bool is_undecided(const struct directives *d) {
  for (int i = 0; i < d->depth; i++) {
    if (d->stack[i] == CONDITIONAL_OPEN) return true;
  }
  return false;
}

/* The end of the directive that begins at `at`: the position after its CUDA_DIRECTIVE_END. */
static int directive_end(const struct part *part, int at) {
  while (at < part->count && part->tokens[at].token.kind != CUDA_DIRECTIVE_END) at++;
  return at < part->count ? at + 1 : at;
}

/* Whether no text defines a name, and neither the compiler nor an included file can. */
static bool is_undefined(const struct directives *d, const struct part_token *name) {
  if (d->constants->has_includes) return false;
  bool is_the_compilers = name->token.length > 1 && name->token.at[0] == '_' && name->token.at[1] == '_';
  return d->constants->list[name->name].kind == CONSTANT_NONE && !is_the_compilers;
}

/* Find a name in an undecided condition that nothing defines. */
static void find_undefined(struct directives *d, struct range condition) {
  const struct part *part = d->part;
  const int end = condition.end;
  for (int at = part_skip(part, condition.begin, end); at < end && d->unknown < 0; at = part_skip(part, at + 1, end)) {
    if (part_is(part, at, end, "defined")) {
      at = part_skip(part, at + 1, end);
      if (part_is(part, at, end, "(")) at = part_skip(part, at + 1, end);
    } else if (part_is(part, at, end, "__has_include")) {
      at = part_skip(part, at + 1, end); /* the name of a file, <cuda/std/version>, is not a name */
      if (part_is(part, at, end, "(")) at = part_close(part, at, end);
    } else if (part_is_name(part, at, end) && is_undefined(d, &part->tokens[at])) {
      bool is_word = part_is(part, at, end, "true") || part_is(part, at, end, "false");
      if (!is_word) d->unknown = at;
    }
  }
}

static struct value condition_value(struct directives *d, struct range line) {
  struct part *part = d->part;
  int keyword = line.begin + 1, last = line.end - 1;
  if (part_is(part, keyword, last, "if") || part_is(part, keyword, last, "elif")) {
    struct range condition = {keyword + 1, last};
    struct value value = expression_value(d->constants, part, condition, EXPRESSION_DIRECTIVE);
    if (!value.is_known) find_undefined(d, condition);
    return value;
  }
  const struct part_token *name = &part->tokens[part_skip(part, keyword + 1, last)];
  if (name->name < 0) return (struct value){0};
  bool wants = part_is(part, keyword, last, "ifdef");
  if (d->constants->list[name->name].kind == CONSTANT_MACRO) return (struct value){true, wants, VALUE_INT};
  return (struct value){is_undefined(d, name), !wants, VALUE_INT};
}

static enum conditional conditional_of(struct value condition) {
  if (!condition.is_known) return CONDITIONAL_OPEN;
  return condition.number ? CONDITIONAL_KEPT : CONDITIONAL_SKIPPED;
}

/* Resolve #if, #elif, #else and #endif. Returns whether the line is one of them. */
static bool resolve_conditional(struct directives *d, struct range line) {
  struct part *part = d->part;
  int keyword = line.begin + 1;
  bool skips = is_skipping(d);
  enum conditional *top = d->depth > 0 ? &d->stack[d->depth - 1] : NULL;
  if (part_is(part, keyword, line.end, "if") || part_is(part, keyword, line.end, "ifdef") ||
      part_is(part, keyword, line.end, "ifndef")) {
    enum conditional state = skips ? CONDITIONAL_DONE : conditional_of(condition_value(d, line));
    if (d->depth < MAX_DEPTH) d->stack[d->depth++] = state;
    else part->work->steps_left = -1; /* its #endif would end another conditional */
    if (state != CONDITIONAL_OPEN) part_remove(part, line.begin, line.end);
    return true;
  }
  bool is_elif = part_is(part, keyword, line.end, "elif"), is_else = part_is(part, keyword, line.end, "else");
  if (!top || (!is_elif && !is_else && !part_is(part, keyword, line.end, "endif"))) return false;
  if (*top == CONDITIONAL_OPEN) {
    if (is_elif && !skips) (void)condition_value(d, line); /* it finds names that nothing defines */
    if (!is_elif && !is_else) d->depth--;
    return true;
  }
  if (*top == CONDITIONAL_KEPT && (is_elif || is_else)) {
    *top = CONDITIONAL_DONE;
  } else if (*top == CONDITIONAL_SKIPPED && is_else) {
    *top = CONDITIONAL_KEPT;
  } else if (*top == CONDITIONAL_SKIPPED && is_elif) {
    *top = conditional_of(condition_value(d, line));
    if (*top == CONDITIONAL_OPEN) { /* the #elif becomes the #if of the branches after it */
      struct cuda_token *token = &part->tokens[keyword].token;
      token->at += 2, token->length -= 2, token->follows_closely = true;
      return true;
    }
  } else if (!is_elif && !is_else) {
    d->depth--;
  }
  part_remove(part, line.begin, line.end);
  return true;
}

/* Note a #define or #undef. */
static void note_macro(const struct directives *d, struct range line) {
  struct part *part = d->part;
  int keyword = line.begin + 1, name = part_skip(part, keyword + 1, line.end);
  if (!part_is_name(part, name, line.end)) return;
  int number = part->tokens[name].name;
  bool has_parameters = part_is(part, name + 1, line.end, "(") && part->tokens[name + 1].token.follows_closely;
  bool is_define = part_is(part, keyword, line.end, "define");
  if (!is_define && !part_is(part, keyword, line.end, "undef")) return;
  bool has_value = is_define && !has_parameters;
  struct range body = {has_value ? name + 1 : line.end - 1, line.end - 1};
  constant_define(d->constants, number, CONSTANT_MACRO, part, body, VALUE_ANY);
  if (!is_define || is_undecided(d)) constant_define(d->constants, number, CONSTANT_UNCLEAR, part, body, VALUE_ANY);
}

int resolve_directives(struct constants *constants, struct part *part) {
  struct directives d = {.constants = constants, .part = part, .unknown = -1};
  for (int at = 0; at < part->count;) {
    if (part->tokens[at].token.kind != CUDA_DIRECTIVE) {
      part->tokens[at].is_gone = is_skipping(&d);
      at++;
      continue;
    }
    struct range line = {at, directive_end(part, at)};
    at = line.end;
    if (resolve_conditional(&d, line)) continue;
    if (is_skipping(&d)) part_remove(part, line.begin, line.end);
    else if (part_is(part, line.begin + 1, line.end, "include")) constants->has_includes = true;
    else note_macro(&d, line);
  }
  return d.unknown;
}
