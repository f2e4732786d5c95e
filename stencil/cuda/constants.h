/* constants.h: names to which a configuration gives values, and expressions of such names; private to stencil/. */
#ifndef STENCIL_CUDA_CONSTANTS_H
#define STENCIL_CUDA_CONSTANTS_H

#include "stencil/cuda/parts.h"

/* An integer, or a value that is not known before the program runs. */
struct value {
  bool is_known;
  long long number;
};

enum constant_kind { CONSTANT_NONE, CONSTANT_MACRO, CONSTANT_CONSTEXPR, CONSTANT_UNCLEAR };

/* The meaning of a name. */
struct constant {
  enum constant_kind kind;
  struct part *part;
  struct range body; /* in the part */
  struct value value;
  bool is_evaluated;
};

struct constants {
  const struct identifiers *names;
  struct constant *list; /* indexed by the number of the name */
  int real_bytes;        /* sizeof(real) */
};

/* Define a macro or a constexpr. A name that is defined twice exists, but has no value. */
void constant_define(struct constants *constants, int name, enum constant_kind kind, struct part *part,
                     struct range body);

/* Where an expression stands. */
enum expression_place {
  EXPRESSION_CODE,
  EXPRESSION_DIRECTIVE, /* after #if: only macros have values, and `defined` is allowed */
};

/* The value of the expression that fills the whole range. */
struct value expression_value(struct constants *constants, struct part *part, struct range range,
                              enum expression_place place);

/* Remove what is decided in the expression that begins at `begin` and ends before `end`: the branch of ?: that is not
 * taken, and operands of && and || without effect. */
void expression_simplify(struct constants *constants, struct part *part, int begin, int end);

#endif
