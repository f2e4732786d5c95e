/* pieces.h: the definitions of a text, each of which a generated source has or has not; private to stencil/. */
#ifndef STENCIL_CUDA_PIECES_H
#define STENCIL_CUDA_PIECES_H

#include "stencil/cuda/constants.h"

/* A function, type, macro or constant of a whole file, with the comment directly above it. Each constant of
 * `constexpr int A = 1, B = 2;` is a piece: of one statement, whose head and tail they share. */
struct piece {
  struct part *part;
  struct range head; /* what stands before the first of a statement's pieces, "constexpr int"; else empty */
  struct range body;
  struct range tail; /* from the statement's end on, ";" and a comment; else empty */
  int macro;         /* the number of the name of a macro; -1 for anything else */
  int statement;     /* number of the statement, from 0; the same for pieces that share it */
  bool is_needed;    /* whatever is named: a kernel, #pragma, an operator */
  bool is_reached;   /* the kernel needs it */
};

/* A name that a piece defines. Several pieces may define one: overloads, specialisations. */
struct definition {
  int piece, next; /* the next definition of the same name; -1 for none */
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

/* Cut a part, whose directives are resolved, into pieces, and make its constants known.
 *   pieces->first  from the caller's memory for all names, each -1 before the first part
 * Lack of memory is told by pieces->out_of_memory. */
void pieces_cut(struct pieces *pieces, struct constants *constants, struct part *part);

/* Report each piece that defines a name of a range of tokens. A member of a struct, behind a dot, names none.
 *   reach  receives the piece's number; it may be called twice for one piece */
void pieces_named(const struct pieces *pieces, const struct part *part, struct range range,
                  void (*reach)(void *context, int piece), void *context);

#endif
