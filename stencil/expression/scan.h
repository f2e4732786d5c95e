/* scan.h: the words of the expression language: names, numbers, operators; '#' comments out the rest of a line. */
#ifndef STENCIL_EXPRESSION_SCAN_H
#define STENCIL_EXPRESSION_SCAN_H

#include <stdbool.h>

#include "stencil/expression/source.h"

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_SYMBOL };

struct token {
  enum token_kind kind;
  const char *text; /* into the snippet; not NUL-terminated */
  size_t length;
  double number; /* of a TOKEN_NUMBER */
  struct place place;
};

/* Start with scanner_at_start. */
struct scanner {
  const struct snippet *snippet;
  bool is_rule;       /* knows the operators of rules, too */
  size_t offset;      /* where the next token is looked for */
  struct place place; /* the same, as line and column */
  struct place end;   /* behind the last token: where a text that is too short lacks something */
};

struct scanner scanner_at_start(const struct snippet *snippet);

/* Read the next token; at the end of the text TOKEN_END, again and again, placed behind the last word.
 * Returns HALOTUNE_OK, or HALOTUNE_PARSE for a character that the language does not have and for a number that is
 * malformed or beyond the range of a double. */
halotune_status scan(struct scanner *scanner, struct token *token);

/* Whether the token is this word or symbol. */
bool token_is(const struct token *token, const char *text);

#endif
