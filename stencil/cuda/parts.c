/* parts.c: splits texts into tokens, and answers the questions that all passes have about them. */
#include "stencil/cuda/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

void identifiers_free(struct identifiers *names) {
  free(names->list);
  set_free(&names->set);
  *names = (struct identifiers){0};
}

/* The number of a name with this hash; -1 if there is none. */
static int number_of(const struct identifiers *names, uint64_t hash, const char *at, size_t length) {
  int number;
  for (struct set_walk walk = set_walk(&names->set, hash); set_next(&walk, &number);) {
    const struct cuda_token *name = &names->list[number];
    if (name->length == length && memcmp(name->at, at, length) == 0) return number;
  }
  return -1;
}

int identifiers_find(const struct identifiers *names, const char *name) {
  const size_t length = strlen(name);
  return number_of(names, set_hash(name, length), name, length);
}

/* The number of a name; a new name gets a new number; -1 when memory is out. */
static int identifier_number(struct identifiers *names, const struct cuda_token *token) {
  const uint64_t hash = set_hash(token->at, token->length);
  const int number = number_of(names, hash, token->at, token->length);
  if (number >= 0) return number;
  if (!array_room(names->list, names->count, names->capacity) || !set_add(&names->set, hash, names->count)) return -1;
  names->list[names->count] = *token;
  return names->count++;
}

struct part_work part_work_for(size_t bytes) {
  /* The templates of Halotune take less than a step for each byte, and have some 100 KB with what they share. */
  const long steps_always = 1L << 20, steps_a_byte = 4;
  return (struct part_work){.steps_left = steps_always + steps_a_byte * (long)bytes};
}

halotune_status part_work_check(const struct part_work *work) {
  if (work->steps_left >= 0) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE,
              "the CUDA text is nested more than %d deep, or repeats itself so often that reading it "
              "would take too long",
              PART_MOST_NESTED);
}

halotune_status part_read(const char *file, const char *text, struct identifiers *names, struct part_work *work,
                          struct part *out) {
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  int capacity = 0;
  *out = (struct part){.file = file, .text = text, .work = work};
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

int part_skip_back(const struct part *part, int begin, int at) {
  const int from = at;
  do at--;
  while (at >= begin && (part->tokens[at].is_gone || part->tokens[at].token.kind == CUDA_COMMENT));
  part_worked(part, from - at);
  return at;
}

int part_close(const struct part *part, int open, int end) {
  int depth = 0;
  for (int i = open; i < end && !part_is_over(part); i++) {
    const struct cuda_token *token = &part->tokens[i].token;
    part_worked(part, 1);
    if (part->tokens[i].is_gone || token->kind != CUDA_PUNCTUATION || token->length != 1) continue;
    if (strchr("([{", *token->at)) depth++;
    else if (strchr(")]}", *token->at) && --depth == 0) return i;
  }
  return end;
}

int part_skip_angles(const struct part *part, int open, int end) {
  int depth = 0;
  for (int i = open; i < end && !part_is_over(part); i = part_skip(part, i + 1, end)) {
    part_worked(part, 1);
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
  part_worked(part, (int)(token - begin));
  while (c > part->text && c[-1] != '\n') c--;
  return (int)(begin - c);
}

void part_remove(struct part *part, int begin, int end) {
  for (int i = begin; i < end; i++) {
    part->tokens[i].is_gone = true;
    part_worked(part, 1);
  }
}
