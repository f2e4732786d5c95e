/* pieces.h: the definitions of a text, which a generated source contains or not; private to stencil/. */
#ifndef STENCIL_CUDA_PIECES_H
#define STENCIL_CUDA_PIECES_H

#include "stencil/cuda/constants.h"

/* A function, type, macro or file-scope constant, with the comment directly above it. Each constant of `constexpr int A
 * = 1, B = 2;` is a piece. The pieces of such a statement share its head and tail. */
struct piece {
  struct part *part;
  struct range head; /* the text before the first piece of a statement, "constexpr int"; else empty */
  struct range body;
  struct range tail; /* from the statement's end on: ";" and a comment; else empty */
  int macro;         /* the number of a macro's name; -1 for anything else */
  int statement;     /* number of the statement, from 0; pieces of one statement have the same number */
  bool is_needed;    /* needed even if nothing names it: a kernel, #pragma, an operator */
  bool is_reached;   /* the kernel needs it */
};

/* A name that a piece defines. Several pieces may define the same name: overloads, specialisations. */
struct definition {
  int piece, next; /* next: the next definition of the same name; -1 for none */
};

/* Start with {0}, end with pieces_free. */
struct pieces {
  struct piece *list;
  int count, capacity, statement_count;
  struct definition *definitions;
  int definition_count, definition_capacity;
  int *first; /* the first definition of each name; -1 for none */
  bool out_of_memory;
};

void pieces_free(struct pieces *pieces);

/* Cut a part into pieces, and define its constants. Its directives must be resolved.
 *   pieces->first  the caller's memory for all names, each -1 before the first part
 * If memory runs out, pieces->out_of_memory is set. */
void pieces_cut(struct pieces *pieces, struct constants *constants, struct part *part);

/* Report each piece that defines a name in a range of tokens. A member of a struct, after a dot, is not such a name.
 *   reach  receives the piece's number; it may be called twice for one piece */
void pieces_named(const struct pieces *pieces, const struct part *part, struct range range,
                  void (*reach)(void *context, int piece), void *context);

#endif
