/* cuda_tokens.h: splits CUDA text into tokens, and hashes its meaning. It does not preprocess and knows no grammar. */
#ifndef STENCIL_CUDA_CUDA_TOKENS_H
#define STENCIL_CUDA_CUDA_TOKENS_H

#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/identity/identity.h"

enum cuda_token_kind {
  CUDA_END,           /* end of the text; it has no bytes */
  CUDA_NAME,          /* identifiers and keywords */
  CUDA_NUMBER,        /* 16, 0.5f, 0x1p-3 */
  CUDA_LITERAL,       /* "text", 'c', R"(raw)" */
  CUDA_PUNCTUATION,   /* one operator or bracket: "(", "<<=", "::" */
  CUDA_COMMENT,       /* without the line break after it */
  CUDA_DIRECTIVE,     /* the # that begins a preprocessor line */
  CUDA_DIRECTIVE_END, /* end of a preprocessor line; it has no bytes */
};

struct cuda_token {
  enum cuda_token_kind kind;
  const char *at; /* in the text */
  size_t length;
  int line;             /* line number in the text, from 1 */
  bool follows_closely; /* no space stands before the token */
  bool is_joined;       /* only joined lines stand before it: a compiler may read it and the token before as one */
};

/* A position in a text. Start with cuda_reader_of. */
struct cuda_reader {
  const char *at, *end;
  int line;
  bool is_in_directive, is_line_begun;
};

struct cuda_reader cuda_reader_of(const char *text, size_t length);

/* Read the next token. At the end of the text every call returns CUDA_END. It accepts any bytes: text that is not CUDA
 * gives some tokens. */
struct cuda_token cuda_next(struct cuda_reader *reader);

/* Read the next token that is no comment. */
static inline struct cuda_token cuda_next_code(struct cuda_reader *reader) {
  struct cuda_token token = cuda_next(reader);
  while (token.kind == CUDA_COMMENT) token = cuda_next(reader);
  return token;
}

/* Skip a directive whose # was read if it is one of those #line that source_hash leaves out. Returns whether it is; if
 * so, the reader stands at the end of its line. */
bool cuda_skip_line_directive(struct cuda_reader *reader);

/* Whether a token has this spelling. */
static inline bool cuda_is(const struct cuda_token *token, const char *spelling) {
  /* most tokens differ in the first byte */
  return token->length > 0 && *token->at == *spelling && strlen(spelling) == token->length &&
         memcmp(token->at, spelling, token->length) == 0;
}

/* Whether a token is a number of digits alone. */
static inline bool cuda_is_digits(const struct cuda_token *token) {
  size_t digits = 0;
  while (digits < token->length && token->at[digits] >= '0' && token->at[digits] <= '9') digits++;
  return token->kind == CUDA_NUMBER && digits == token->length;
}

/* Hash the meaning of a template's CUDA text: its tokens and the ends of its preprocessor lines. Comments, layout and
 * #line directives do not count, unless a compiler may see them through something in the text: then all bytes count.
 * Examples are stringification, a literal without an end, a # within a line or a comment, and a word that makes a
 * compiler look at a file (includes.h), since a comment before it may decide what takes its place. This hash identifies
 * templates, so a compiler must never read the kernels of two texts with one hash differently. Returns HALOTUNE_OK or
 * HALOTUNE_MEMORY. */
halotune_status cuda_hash(const char *text, struct identity *out);

/* The same for a source that is compiled, which it identifies. Where blanks stand counts, and no other byte, if a
 * compiler may see no more than that: nothing removes tokens from a source. */
halotune_status source_hash(const char *text, struct identity *out);

/* Whether two tokens that touch may be read as other ones: two words as one word, / and a comment as a comment.
 *   last   byte of the left token
 *   first  byte of the right one */
static inline bool cuda_may_join(char last, char first) {
  static const char words[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.\"'";
  static const char operators[] = "+-*/%<>=!&|^:.#";
  return (strchr(words, last) && strchr(words, first)) || (strchr(operators, last) && strchr(operators, first));
}

/* Whether a text has a directive #line that source_hash leaves out. */
bool source_has_lines(const char *text);

/* Whether a word stands in one of the tokens by which source_hash identifies a text: two texts with one hash have one
 * answer. True if memory is out. */
bool source_mentions(const char *text, const char *word);

#endif
