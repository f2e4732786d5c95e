/* scan.h: splits a text of the expression language into tokens: names, numbers, symbols. A '#' begins a comment that
 * ends with the line. */
#ifndef STENCIL_EXPRESSION_SCAN_H
#define STENCIL_EXPRESSION_SCAN_H

#include <stdbool.h>

#include "stencil/expression/source.h"

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_SYMBOL };

struct token {
  enum token_kind kind;
  const char *text; /* points into the snippet; not NUL-terminated */
  size_t length;
  double number; /* the value of a TOKEN_NUMBER */
  struct place place;
};

/* Start with scanner_at_start. */
struct scanner {
  const struct snippet *snippet;
  bool is_rule;       /* also accept the operator %, which only rules have */
  size_t offset;      /* in the snippet, where the search for the next token begins */
  struct place place; /* the same position as line and column */
  struct place end;   /* end of the last token: the place for an error at the end of the text */
};

struct scanner scanner_at_start(const struct snippet *snippet);

/* Read the next token. At the end of the text every call returns TOKEN_END, placed after the last token.
 * Returns HALOTUNE_OK, or HALOTUNE_PARSE for a character that the language does not have, and for a number that is
 * malformed or beyond the range of a double. */
halotune_status scan(struct scanner *scanner, struct token *token);

/* Whether the token is this word or symbol. */
bool token_is(const struct token *token, const char *text);

#endif
