/* parts.c: splits texts into tokens, and answers the questions that all passes have about them. */
#include "stencil/cuda/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

void identifiers_free(struct identifiers *names) {
  free(names->list);
  free(names->slots);
  *names = (struct identifiers){0};
}

/* The slot of a name, or the free slot for it. */
static int *slot_of(const struct identifiers *names, const char *at, size_t length) {
  for (size_t i = (size_t)hash_bytes(at, length).low;; i++) {
    int *slot = &names->slots[i & (size_t)(names->slot_count - 1)];
    if (*slot == 0) return slot;
    const struct cuda_token *name = &names->list[*slot - 1];
    if (name->length == length && memcmp(name->at, at, length) == 0) return slot;
  }
}

int identifiers_find(const struct identifiers *names, const char *name) {
  return names->slot_count > 0 ? *slot_of(names, name, strlen(name)) - 1 : -1;
}

static bool identifiers_make_room(struct identifiers *names) {
  struct cuda_token *list = array_grow(names->list, names->count, &names->capacity, sizeof *list);
  if (!list) return false;
  names->list = list;
  if (2 * names->count < names->slot_count) return true;
  enum { FIRST_SLOTS = 2048 };
  free(names->slots);
  names->slot_count = names->slot_count > 0 ? 2 * names->slot_count : FIRST_SLOTS;
  names->slots = calloc((size_t)names->slot_count, sizeof *names->slots);
  if (!names->slots) return false;
  for (int i = 0; i < names->count; i++) *slot_of(names, list[i].at, list[i].length) = i + 1;
  return true;
}

/* The number of a name; a new name gets a new number; -1 when memory is out. */
static int identifier_number(struct identifiers *names, const struct cuda_token *token) {
  if (!identifiers_make_room(names)) return -1;
  int *slot = slot_of(names, token->at, token->length);
  if (*slot > 0) return *slot - 1;
  names->list[names->count] = *token;
  *slot = ++names->count;
  return names->count - 1;
}

halotune_status part_read(const char *file, const char *text, struct identifiers *names, struct part *out) {
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  int capacity = 0;
  *out = (struct part){.file = file, .text = text};
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) {
    bool is_name = token.kind == CUDA_NAME;
    struct part_token *tokens = array_grow(out->tokens, out->count, &capacity, sizeof *tokens);
    if (tokens) out->tokens = tokens;
    int name = is_name && tokens ? identifier_number(names, &token) : -1;
    if (!tokens || (is_name && name < 0)) {
      part_free(out);
      return fail_memory();
    }
    tokens[out->count++] = (struct part_token){.token = token, .name = name};
  }
  return HALOTUNE_OK;
}

void part_free(struct part *part) {
  free(part->tokens);
  *part = (struct part){0};
}

int part_skip(const struct part *part, int at, int end) {
  while (at < end && (part->tokens[at].is_gone || part->tokens[at].token.kind == CUDA_COMMENT)) at++;
  return at;
}

int part_skip_back(const struct part *part, int begin, int at) {
  do at--;
  while (at >= begin && (part->tokens[at].is_gone || part->tokens[at].token.kind == CUDA_COMMENT));
  return at;
}

bool part_is(const struct part *part, int at, int end, const char *spelling) {
  return at < end && cuda_is(&part->tokens[at].token, spelling);
}

bool part_is_name(const struct part *part, int at, int end) { return at < end && part->tokens[at].name >= 0; }

int part_close(const struct part *part, int open, int end) {
  int depth = 0;
  for (int i = open; i < end; i++) {
    const struct cuda_token *token = &part->tokens[i].token;
    if (part->tokens[i].is_gone || token->kind != CUDA_PUNCTUATION || token->length != 1) continue;
    if (strchr("([{", *token->at)) depth++;
    else if (strchr(")]}", *token->at) && --depth == 0) return i;
  }
  return end;
}

int part_skip_angles(const struct part *part, int open, int end) {
  int depth = 0;
  for (int i = open; i < end; i = part_skip(part, i + 1, end)) {
    if (part_is(part, i, end, "<")) depth++;
    else if (part_is(part, i, end, ">")) depth--;
    else if (part_is(part, i, end, ">>")) depth -= 2;
    else if (part_is(part, i, end, "(")) i = part_close(part, i, end);
    else if (part_is(part, i, end, ";") || part_is(part, i, end, "{") || part_is(part, i, end, ")") ||
             part_is(part, i, end, "&&") || part_is(part, i, end, "||")) {
      return open;
    }
    if (depth <= 0) return i + 1;
  }
  return open;
}

int part_breaks_before(const struct part *part, int at) {
  int breaks = 0;
  for (const char *c = part->tokens[at].token.at; c > part->text && strchr(" \t\r\n\\", c[-1]) && breaks < 2; c--) {
    breaks += c[-1] == '\n';
  }
  return breaks;
}

int part_column(const struct part *part, int at) {
  const char *token = part->tokens[at].token.at, *c = token;
  while (c > part->text && c[-1] != '\n') c--;
  while (*c == ' ' || *c == '\t') {
    if (c == token) break;
    c++;
  }
  const char *begin = c; /* the line's first token */
  while (c > part->text && c[-1] != '\n') c--;
  return (int)(begin - c);
}

void part_remove(struct part *part, int begin, int end) {
  for (int i = begin; i < end; i++) part->tokens[i].is_gone = true;
}
