/* emulation_unroll.c: replaces the words of directives, and leaves comments, blanks and line breaks where they are. */
#include "tuner/emulate/emulation_unroll.h"

#include <string.h>

#include "stencil/cuda/cuda_tokens.h"

/* A text that is copied while it is read. */
struct copy {
  struct cuda_reader reader;
  const char *copied; /* up to here */
  struct text *out;
};

/* Copy up to a place, and `word` in front of it. */
static void put_before(struct copy *c, const char *place, const char *word) {
  text_add(c->out, c->copied, (size_t)(place - c->copied));
  text_printf(c->out, "%s", word);
  c->copied = place;
}

/* Copy a directive, whose # was read. */
static void copy_directive(struct copy *c) {
  struct cuda_token token = cuda_next_code(&c->reader);
  if (!cuda_is(&token, "pragma")) return;
  token = cuda_next_code(&c->reader);
  if (!cuda_is(&token, "unroll")) return;
  put_before(c, token.at, "GCC ");
  const struct cuda_token turns = cuda_next_code(&c->reader);
  if (turns.kind == CUDA_DIRECTIVE_END) {
    put_before(c, token.at + token.length, " 1024");
    return;
  }
  struct cuda_token rest = cuda_next_code(&c->reader);
  if (cuda_is_digits(&turns) && rest.kind == CUDA_DIRECTIVE_END) return;
  put_before(c, turns.at, turns.at == token.at + token.length ? " 1" : "1");
  c->copied += turns.length;
  for (; rest.kind != CUDA_DIRECTIVE_END && rest.kind != CUDA_END; rest = cuda_next_code(&c->reader)) {
    put_before(c, rest.at, "");
    c->copied += rest.length;
  }
}

void emulation_unroll(const char *text, struct text *out) {
  struct copy copy = {cuda_reader_of(text, strlen(text)), text, out};
  for (struct cuda_token token; (token = cuda_next(&copy.reader)).kind != CUDA_END;) {
    if (token.kind == CUDA_DIRECTIVE) copy_directive(&copy);
  }
  text_printf(out, "%s", copy.copied);
}
