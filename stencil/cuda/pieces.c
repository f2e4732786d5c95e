/* pieces.c: finds where definitions begin and end, and which names they define. It knows no grammar of C++; it uses
 * brackets, semicolons, and the keyword with which a definition begins. */
#include "stencil/cuda/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/cuda/value_types.h"

/* The state of the cutting. */
struct cutter {
  struct pieces *pieces;
  struct constants *constants;
  struct part *part;
};

void pieces_free(struct pieces *pieces) {
  free(pieces->list);
  free(pieces->definitions);
  free(pieces->first);
  *pieces = (struct pieces){0};
}

static void add_piece(struct cutter *c, const struct piece *piece) {
  struct pieces *pieces = c->pieces;
  struct piece *list = array_grow(pieces->list, pieces->count, &pieces->capacity, sizeof *list);
  if (!list) {
    pieces->out_of_memory = true;
    return;
  }
  pieces->list = list;
  list[pieces->count] = *piece;
  list[pieces->count].part = c->part;
  list[pieces->count].macro = -1;
  list[pieces->count++].statement = pieces->statement_count;
}

/* Note that the last piece defines the name at a token. */
static void add_name(struct cutter *c, int at) {
  struct pieces *pieces = c->pieces;
  int name = at < c->part->count ? c->part->tokens[at].name : -1;
  if (name < 0 || pieces->count == 0) return;
  struct definition *list =
      array_grow(pieces->definitions, pieces->definition_count, &pieces->definition_capacity, sizeof *list);
  if (!list) {
    pieces->out_of_memory = true;
    return;
  }
  pieces->definitions = list;
  list[pieces->definition_count] = (struct definition){pieces->count - 1, pieces->first[name]};
  pieces->first[name] = pieces->definition_count++;
}

static int find_token(const struct part *part, struct range range, const char *spelling) {
  int at = range.begin;
  while (at < range.end && (part->tokens[at].is_gone || !part_is(part, at, range.end, spelling))) at++;
  return at;
}

/* The end of a definition, including a comment after it in its last line. */
static int with_comment_behind(const struct part *part, int end) {
  while (end < part->count && part->tokens[end].token.kind == CUDA_COMMENT && !part->tokens[end].is_gone &&
         part_breaks_before(part, end) == 0) {
    end++;
  }
  return end;
}

/* --- directives */

/* The end of an #if that stays: the position after its #endif. */
static int conditional_end(const struct part *part, int at) {
  int depth = 0;
  for (; at < part->count; at++) {
    if (part->tokens[at].token.kind != CUDA_DIRECTIVE || part->tokens[at].is_gone) continue;
    if (part_is(part, at + 1, part->count, "endif")) depth--;
    else if (part_is(part, at + 1, part->count, "if") || part_is(part, at + 1, part->count, "ifdef") ||
             part_is(part, at + 1, part->count, "ifndef")) {
      depth++;
    }
    if (depth == 0) break;
  }
  while (at < part->count && part->tokens[at].token.kind != CUDA_DIRECTIVE_END) at++;
  return at < part->count ? at + 1 : at;
}

static int cut_directive(struct cutter *c, int begin, int at) {
  const struct part *part = c->part;
  bool is_define = part_is(part, at + 1, part->count, "define");
  int end = conditional_end(part, at);
  add_piece(c, &(struct piece){.body = {begin, end}, .is_needed = !is_define});
  int name = part_skip(part, at + 2, end);
  if (!is_define || !part_is_name(part, name, end)) return end;
  add_name(c, name);
  if (!c->pieces->out_of_memory) c->pieces->list[c->pieces->count - 1].macro = part->tokens[name].name;
  return end;
}

/* --- declarations */

static bool is_one_of(const struct part *part, int at, int end, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (part_is(part, at, end, words[i])) return true;
  }
  return false;
}

/* The first token after template <...>. */
static int skip_template(const struct part *part, int at, int end) {
  while (part_is(part, at, end, "template")) {
    at = part_skip(part, part_skip_angles(part, part_skip(part, at + 1, end), end), end);
  }
  return at;
}

static bool is_type(const struct part *part, int at, int end) {
  static const char *const keywords[] = {"struct", "class", "union", "enum", "typedef", "using"};
  return is_one_of(part, at, end, keywords, COUNT(keywords));
}

/* The end of a declaration: the position after its semicolon, or after the bracket that closes a function. */
static int declaration_end(const struct part *part, int at) {
  int end = part->count;
  /* or the brackets of an initialiser are inside */
  bool is_body_inside = is_type(part, skip_template(part, at, end), end);
  for (; at < end; at = part_skip(part, at + 1, end)) {
    if (part_is(part, at, end, ";")) return at + 1;
    if (part_is(part, at, end, "=")) is_body_inside = true;
    if (part_is(part, at, end, "(") || part_is(part, at, end, "[")) at = part_close(part, at, end);
    if (!part_is(part, at, end, "{")) continue;
    at = part_close(part, at, end);
    if (!is_body_inside) return at < end ? at + 1 : end;
  }
  return end;
}

/* Name the type of struct __align__(16) NAME, or enum NAME { A, B }. */
static void name_type(struct cutter *c, int at, int end) {
  const struct part *part = c->part;
  bool is_enum = part_is(part, at, end, "enum");
  at = part_skip(part, at + 1, end);
  if (part_is(part, at, end, "class") || part_is(part, at, end, "struct")) at = part_skip(part, at + 1, end);
  while (part_is(part, part_skip(part, at + 1, end), end, "(")) {
    at = part_skip(part, part_close(part, part_skip(part, at + 1, end), end) + 1, end);
  }
  add_name(c, at);
  int open = is_enum ? find_token(part, (struct range){at, end}, "{") : end;
  for (int i = part_skip(part, open + 1, end); i < end;) {
    add_name(c, i);
    while (i < end && !part_is(part, i, end, ",")) i++;
    i = part_skip(part, i + 1, end);
  }
}

/* Name the alias of typedef TYPE NAME; or using NAME = TYPE; */
static void name_alias(struct cutter *c, int at, int end) {
  const struct part *part = c->part;
  if (part_is(part, at, end, "using")) {
    add_name(c, part_skip(part, at + 1, end));
    return;
  }
  int last = at;
  for (; at < end; at = part_skip(part, at + 1, end)) last = part_is_name(part, at, end) ? at : last;
  add_name(c, last);
}

/* The name before a function's parameters; `end` if there is none. */
static int function_name(const struct part *part, int at, int end) {
  static const char *const attributes[] = {"__launch_bounds__", "__align__", "__attribute__", "alignas"};
  while (at < end && !part_is(part, at, end, "=") && !part_is(part, at, end, ";")) {
    int next = part_skip(part, at + 1, end);
    bool is_call = part_is_name(part, at, end) && part_is(part, next, end, "(");
    if (is_call && !is_one_of(part, at, end, attributes, COUNT(attributes))) return at;
    if (part_is(part, at, end, "<")) next = part_skip_angles(part, at, end);
    at = part_skip(part, is_call ? part_close(part, next, end) + 1 : next > at ? next : at + 1, end);
  }
  return end;
}

/* The end of a constant's initialiser: its comma or semicolon. */
static int initialiser_end(const struct part *part, int at, int end) {
  for (; at < end; at = part_skip(part, at + 1, end)) {
    if (part_is(part, at, end, ",") || part_is(part, at, end, ";")) return at;
    if (part_is(part, at, end, "(") || part_is(part, at, end, "{") || part_is(part, at, end, "[")) {
      at = part_close(part, at, end);
      continue;
    }
    if (!part_is_name(part, at, end)) continue;
    int open = part_skip(part, at + 1, end), behind = part_skip(part, part_skip_angles(part, open, end), end);
    if (part_is(part, open, end, "<") && behind > open && part_is(part, behind, end, "(")) at = behind - 1;
  }
  return end;
}

/* Whether a name may be a constant: constants are in capitals, unlike variables of functions. */
static bool is_in_capitals(const struct cuda_token *token) {
  for (size_t i = 0; i < token->length; i++) {
    if (token->at[i] >= 'a' && token->at[i] <= 'z') return false;
  }
  return true;
}

/* Cut constexpr int A = 1, B = 2; into pieces. Returns false if it is written in another way.
 *   end  of the declaration, which is behind its semicolon */
static bool cut_constants(struct cutter *c, struct range statement, int at, int end) {
  struct part *part = c->part;
  const int stop = part_skip_back(part, at, end); /* a text without a closing bracket may end with a comment */
  int name = find_token(part, (struct range){at, end}, "=");
  if (!part_is(part, at, end, "constexpr") || !part_is(part, stop, end, ";") || name >= stop ||
      function_name(part, at, end) < name)
    return false;
  name = part_skip_back(part, at, name);
  if (!part_is_name(part, name, end)) return false;
  struct range head = {statement.begin, name}, tail = {stop, statement.end};
  const int word = part_skip_back(part, at, name);
  const enum value_type type = value_type_named(part, word, end);
  while (name < stop) {
    int equals = part_skip(part, name + 1, end);
    bool is_usual = part_is_name(part, name, end) && part_is(part, equals, end, "=");
    int close = is_usual ? initialiser_end(part, equals + 1, end) : stop;
    if (close > stop) close = stop;
    add_piece(c, &(struct piece){.head = head, .body = {name, close}, .tail = tail});
    add_name(c, name);
    if (!is_usual) return true;
    enum constant_kind kind = is_in_capitals(&part->tokens[name].token) ? CONSTANT_CONSTEXPR : CONSTANT_UNCLEAR;
    if (type == VALUE_REAL) kind = CONSTANT_UNCLEAR;
    constant_define(c->constants, part->tokens[name].name, kind, part, (struct range){equals + 1, close}, type);
    c->constants->list[part->tokens[name].name].is_bool = part_is(part, word, end, "bool");
    name = part_skip(part, close + 1, end);
  }
  return true;
}

/* Name the variables of extern __shared__ unsigned char NAME[]; or __constant__ T NAME = {...}; */
static void name_variables(struct cutter *c, int at, int end) {
  const struct part *part = c->part;
  while (at < end) {
    int behind = part_skip(part, at + 1, end);
    bool is_last = part_is(part, behind, end, "=") || part_is(part, behind, end, "[") ||
                   part_is(part, behind, end, ",") || part_is(part, behind, end, ";");
    if (part_is_name(part, at, end) && is_last) {
      add_name(c, at);
      at = part_skip(part, initialiser_end(part, behind, end) + 1, end);
    } else if (part_is(part, behind, end, "(")) {
      at = part_skip(part, part_close(part, behind, end) + 1, end);
    } else {
      at = behind;
    }
  }
}

/* Find names that are also declared elsewhere, in a function or as a parameter of a template. They are not
 * constants. */
static void find_shadowed(struct cutter *c, struct range range) {
  static const char *const keywords[] = {"return", "else", "case", "do", "new", "sizeof", "throw"};
  const struct part *part = c->part;
  bool is_directive = false;
  for (int i = range.begin + 1; i < range.end; i++) {
    const struct part_token *token = &part->tokens[i];
    if (token[-1].token.kind == CUDA_DIRECTIVE) is_directive = true;
    if (token->token.kind == CUDA_DIRECTIVE_END) is_directive = false;
    if (is_directive || token->name < 0 || token->is_gone) continue;
    const int before = part_skip_back(part, range.begin, i);
    if (!part_is_name(part, before, i)) continue;
    struct constant *constant = &c->constants->list[token->name];
    if (constant->kind != CONSTANT_NONE && constant->kind != CONSTANT_CONSTEXPR) continue;
    if (is_one_of(part, before, range.end, keywords, COUNT(keywords))) continue;
    constant->kind = CONSTANT_UNCLEAR;
  }
}

/* Cut one declaration. `begin` is the position of its comment. */
static int cut_declaration(struct cutter *c, int begin, int at) {
  const struct part *part = c->part;
  int end = declaration_end(part, at), inner = skip_template(part, at, end);
  struct range statement = {begin, with_comment_behind(part, end)};
  if (cut_constants(c, statement, at, end)) return statement.end;
  find_shadowed(c, (struct range){at, end});
  bool is_alias = part_is(part, inner, end, "typedef") || part_is(part, inner, end, "using");
  bool is_kernel = find_token(part, (struct range){at, end}, "__global__") < end;
  bool is_operator = !is_type(part, inner, end) && find_token(part, (struct range){at, end}, "operator") < end;
  add_piece(c, &(struct piece){.body = statement, .is_needed = is_kernel || is_operator});
  int function = function_name(part, inner, end);
  if (is_alias) name_alias(c, inner, end);
  else if (is_type(part, inner, end)) name_type(c, inner, end);
  else if (function < end) {
    add_name(c, function);
    value_types_note_function(c->constants, part, at, function);
  } else name_variables(c, inner, end);
  return statement.end;
}

void pieces_cut(struct pieces *pieces, struct constants *constants, struct part *part) {
  struct cutter c = {pieces, constants, part};
  int comment = -1; /* the first of the comments directly above the next declaration */
  for (int at = 0; at < part->count && !pieces->out_of_memory;) {
    const struct part_token *token = &part->tokens[at];
    const bool is_empty = !token->is_gone && cuda_is(&token->token, ";"); /* an empty declaration, with its comment */
    if (is_empty) comment = -1;
    if (token->is_gone || is_empty) {
      at++;
      continue;
    }
    if (part_breaks_before(part, at) > 1) comment = -1;
    if (token->token.kind == CUDA_COMMENT) {
      comment = comment < 0 ? at : comment;
      at++;
      continue;
    }
    int begin = comment < 0 ? at : comment;
    at = token->token.kind == CUDA_DIRECTIVE ? cut_directive(&c, begin, at) : cut_declaration(&c, begin, at);
    pieces->statement_count++;
    comment = -1;
  }
}

void pieces_named(const struct pieces *pieces, const struct part *part, struct range range,
                  void (*reach)(void *context, int piece), void *context) {
  for (int i = range.begin; i < range.end && !part_is_over(part); i++) {
    const struct part_token *token = &part->tokens[i];
    part_worked(part, 1);
    if (token->name < 0 || token->is_gone) continue;
    const int before = part_skip_back(part, range.begin, i);
    if (before >= range.begin && (part_is(part, before, i, ".") || part_is(part, before, i, "->"))) continue;
    for (int d = pieces->first[token->name]; d >= 0; d = pieces->definitions[d].next) {
      part_worked(part, 1);
      reach(context, pieces->definitions[d].piece);
    }
  }
}
