/* constants.h: names that a configuration gives a value, and expressions that are made of them; private to
 * stencil/. */
#ifndef STENCIL_CUDA_CONSTANTS_H
#define STENCIL_CUDA_CONSTANTS_H

#include "stencil/cuda/parts.h"

/* A whole number, or nothing that is known before the program runs. */
struct value {
  bool is_known;
  long long number;
};

enum constant_kind { CONSTANT_NONE, CONSTANT_MACRO, CONSTANT_CONSTEXPR, CONSTANT_UNCLEAR };

/* What a name stands for. */
struct constant {
  enum constant_kind kind;
  struct part *part;
  struct range body; /* of the part */
  struct value value;
  bool is_evaluated;
};

struct constants {
  const struct identifiers *names;
  struct constant *list; /* by the number of the name */
  int real_bytes;        /* of sizeof(real) */
};

/* Make a macro or a constexpr known. A name that is defined twice exists, but has no value. */
void constant_define(struct constants *constants, int name, enum constant_kind kind, struct part *part,
                     struct range body);

/* Where an expression stands. */
enum expression_place {
  EXPRESSION_CODE,
  EXPRESSION_DIRECTIVE, /* behind #if: only macros have a value, and `defined` asks for them */
};

/* The value of the expression that the whole range is. */
struct value expression_value(struct constants *constants, struct part *part, struct range range,
                              enum expression_place place);

/* Take out what is decided of the expression that begins at a token and ends before `end`: the branch of ?: that is not
 * taken, operands of && and || that change nothing. */
void expression_simplify(struct constants *constants, struct part *part, int begin, int end);

#endif
