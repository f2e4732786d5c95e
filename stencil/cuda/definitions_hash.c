/* definitions_hash.c: follows names from one text into the definitions of another. */
#include "stencil/cuda/definitions_hash.h"

#include <stdlib.h>
#include <string.h>

#include "stencil/cuda/pieces.h"
#include "stencil/cuda/resolve.h"

enum { MACROS, LIBRARY, USER, TEXTS };

struct use {
  struct identifiers names;
  struct part_work work;
  struct part parts[TEXTS];
  struct constants constants;
  struct pieces pieces;
  int *reached, reached_count; /* pieces of the library, in the order in which they were found */
  struct identity *meanings;   /* identities of these pieces */
};

static void use_free(struct use *use) {
  for (int i = 0; i < TEXTS; i++) part_free(&use->parts[i]);
  identifiers_free(&use->names);
  free(use->constants.list);
  pieces_free(&use->pieces);
  free(use->reached);
  free(use->meanings);
}

/* Read the three texts, and cut the library into pieces. */
static halotune_status use_read(struct use *use, const char *const texts[TEXTS]) {
  halotune_status status = HALOTUNE_OK;
  use->work = part_work_for(strlen(texts[MACROS]) + strlen(texts[LIBRARY]) + strlen(texts[USER]));
  for (int i = 0; i < TEXTS && status == HALOTUNE_OK; i++) {
    status = part_read(NULL, texts[i], &use->names, &use->work, &use->parts[i]);
  }
  if (status != HALOTUNE_OK) return status;
  size_t names = (size_t)use->names.count + 1;
  use->constants.names = &use->names;
  use->constants.list = calloc(names, sizeof *use->constants.list);
  use->pieces.first = malloc(names * sizeof *use->pieces.first);
  if (!use->constants.list || !use->pieces.first) return fail_memory();
  for (size_t i = 0; i < names; i++) use->pieces.first[i] = -1;
  resolve_directives(&use->constants, &use->parts[MACROS]);
  resolve_directives(&use->constants, &use->parts[LIBRARY]);
  pieces_cut(&use->pieces, &use->constants, &use->parts[LIBRARY]);
  if (use->pieces.out_of_memory) return fail_memory();
  use->reached = malloc(((size_t)use->pieces.count + 1) * sizeof *use->reached);
  use->meanings = malloc(((size_t)use->pieces.count + 1) * sizeof *use->meanings);
  return use->reached && use->meanings ? HALOTUNE_OK : fail_memory();
}

static void reach_piece(void *context, int number) {
  struct use *use = context;
  if (use->pieces.list[number].is_reached) return;
  use->pieces.list[number].is_reached = true;
  use->reached[use->reached_count++] = number;
}

static void add_tokens(struct identity_maker *maker, const struct part *part, struct range range) {
  for (int i = range.begin; i < range.end && !part_is_over(part); i++) {
    const struct cuda_token *token = &part->tokens[i].token;
    part_worked(part, 1);
    if (token->kind != CUDA_COMMENT && !part->tokens[i].is_gone) identity_add(maker, token->at, token->length);
  }
}

static struct identity meaning_of(const struct piece *piece) {
  struct identity_maker maker;
  identity_begin(&maker, "definition");
  add_tokens(&maker, piece->part, piece->head);
  add_tokens(&maker, piece->part, piece->body);
  add_tokens(&maker, piece->part, piece->tail);
  return identity_end(&maker);
}

static struct identity use_hash(struct use *use) {
  struct identity_maker maker;
  pieces_named(&use->pieces, &use->parts[USER], (struct range){0, use->parts[USER].count}, reach_piece, use);
  for (int i = 0; i < use->reached_count; i++) {
    const struct piece *piece = &use->pieces.list[use->reached[i]];
    pieces_named(&use->pieces, piece->part, piece->head, reach_piece, use);
    pieces_named(&use->pieces, piece->part, piece->body, reach_piece, use);
    use->meanings[i] = meaning_of(piece);
  }
  qsort(use->meanings, (size_t)use->reached_count, sizeof *use->meanings, identity_compare_items);
  identity_begin(&maker, "definitions");
  for (int i = 0; i < use->reached_count; i++) identity_add_identity(&maker, use->meanings[i]);
  return identity_end(&maker);
}

halotune_status used_definitions_hash(const char *macros, const char *library, const char *user, struct identity *out) {
  const char *const texts[TEXTS] = {[MACROS] = macros, [LIBRARY] = library, [USER] = user};
  struct use use = {0};
  halotune_status status = use_read(&use, texts);
  if (status == HALOTUNE_OK) *out = use_hash(&use);
  if (status == HALOTUNE_OK) status = part_work_check(&use.work);
  use_free(&use);
  return status;
}
