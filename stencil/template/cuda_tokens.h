/* cuda_tokens.h: CUDA text as a row of tokens, and the hash of what it means. It preprocesses nothing and knows no grammar. */
#ifndef STENCIL_TEMPLATE_CUDA_TOKENS_H
#define STENCIL_TEMPLATE_CUDA_TOKENS_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/hash.h"

enum cuda_token_kind {
  CUDA_END,           /* of the text; it has no bytes */
  CUDA_NAME,          /* identifiers and keywords */
  CUDA_NUMBER,        /* 16, 0.5f, 0x1p-3 */
  CUDA_LITERAL,       /* "text", 'c', R"(raw)" */
  CUDA_PUNCTUATION,   /* one operator or bracket: "(", "<<=", "::" */
  CUDA_COMMENT,       /* without the line break behind it */
  CUDA_DIRECTIVE,     /* the # that begins a preprocessor line */
  CUDA_DIRECTIVE_END, /* the end of that line; it has no bytes */
};

struct cuda_token {
  enum cuda_token_kind kind;
  const char *at; /* in the text */
  size_t length;
  int line;             /* its number in the text, from 1 */
  bool follows_closely; /* no space stands before it */
};

/* A place in a text. Start with cuda_reader_of. */
struct cuda_reader {
  const char *at, *end;
  int line;
  bool is_in_directive, is_line_begun;
};

struct cuda_reader cuda_reader_of(const char *text, size_t length);

/* The next token; CUDA_END again and again behind the last. Any bytes are read: what is no CUDA gives some tokens. */
struct cuda_token cuda_next(struct cuda_reader *reader);

/* Whether a token is spelled like this. */
bool cuda_is(const struct cuda_token *token, const char *spelling);

/* The hash of what CUDA text means: its tokens and the ends of its preprocessor lines. Comments, layout and #line directives
 * do not count. Templates and generated sources are identified by it.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status source_hash(const char *text, struct hash *out);

#endif
