/* pragma_numbers.c: replaces names in place. The number of an unrolled loop is hardly ever longer than its name.
 * Sources of others may have very many names, so their definitions are kept in a table. */
#include "stencil/cuda/pragma_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/texts.h"
#include "stencil/cuda/cuda_tokens.h"

/* What each name is defined as where the reader stands. */
struct definitions {
  struct texts names;
  struct cuda_token *numbers; /* by the number of the name; without a length: not a number, or not known */
  int capacity;
};

/* A source that is read, and the place up to which it was copied. */
struct copy {
  struct cuda_reader reader;
  struct definitions definitions;
  int conditions; /* that are open */
  const char *copied;
  char *to;
};

/* Note that a name is defined, or no longer. A definition that a condition may leave out is not known. */
static halotune_status note_definition(struct copy *c, bool is_undefined) {
  struct definitions *all = &c->definitions;
  const struct cuda_token name = cuda_next_code(&c->reader);
  if (name.kind != CUDA_NAME) return HALOTUNE_OK;
  const int count = all->names.count, number = texts_add(&all->names, name.at, name.length);
  if (number < 0 || !array_room(all->numbers, count, all->capacity)) return fail_memory();
  all->numbers[number] = (struct cuda_token){.kind = CUDA_END};
  if (is_undefined || c->conditions > 0) return HALOTUNE_OK;
  const struct cuda_token value = cuda_next_code(&c->reader);
  if (cuda_is_digits(&value) && cuda_next_code(&c->reader).kind == CUDA_DIRECTIVE_END) all->numbers[number] = value;
  return HALOTUNE_OK;
}

/* Copy up to a name, and its number in place of it. */
static void put_number(struct copy *c, const struct cuda_token *name, const struct cuda_token *number) {
  const size_t before = (size_t)(name->at - c->copied);
  memcpy(c->to, c->copied, before);
  memcpy(c->to + before, number->at, number->length);
  c->to += before + number->length;
  c->copied = name->at + name->length;
}

/* `#pragma pop_macro` and `_Pragma` may give any name its earlier definition. */
static void forget_definitions(struct copy *c) {
  for (int i = 0; i < c->definitions.names.count; i++) c->definitions.numbers[i].length = 0;
}

static void read_pragma(struct copy *c) {
  struct cuda_token token = cuda_next_code(&c->reader);
  if (cuda_is(&token, "pop_macro")) forget_definitions(c);
  if (!cuda_is(&token, "unroll")) return;
  const struct cuda_token name = cuda_next_code(&c->reader);
  const int number = name.kind == CUDA_NAME ? texts_find(&c->definitions.names, name.at, name.length) : -1;
  if (number < 0 || cuda_next_code(&c->reader).kind != CUDA_DIRECTIVE_END) return;
  const struct cuda_token *value = &c->definitions.numbers[number];
  if (value->length > 0 && value->length <= name.length) put_number(c, &name, value);
}

/* Read a directive, whose # was read. */
static halotune_status read_directive(struct copy *c) {
  const struct cuda_token word = cuda_next_code(&c->reader);
  if (cuda_is(&word, "define") || cuda_is(&word, "undef")) return note_definition(c, cuda_is(&word, "undef"));
  if (cuda_is(&word, "pragma")) read_pragma(c);
  c->conditions += cuda_is(&word, "if") || cuda_is(&word, "ifdef") || cuda_is(&word, "ifndef");
  c->conditions -= cuda_is(&word, "endif");
  return HALOTUNE_OK;
}

halotune_status pragma_numbers(char *source) {
  char *text = strdup(source);
  if (!text) return fail_memory();
  struct copy copy = {.reader = cuda_reader_of(text, strlen(text)), .copied = text, .to = source};
  halotune_status status = HALOTUNE_OK;
  for (struct cuda_token token; status == HALOTUNE_OK && (token = cuda_next(&copy.reader)).kind != CUDA_END;) {
    if (token.kind == CUDA_DIRECTIVE) status = read_directive(&copy);
    else if (cuda_is(&token, "_Pragma")) forget_definitions(&copy);
  }
  if (status == HALOTUNE_OK) memcpy(copy.to, copy.copied, strlen(copy.copied) + 1);
  else memcpy(source, text, strlen(text) + 1);
  texts_free(&copy.definitions.names);
  free(copy.definitions.numbers);
  free(text);
  return status;
}
