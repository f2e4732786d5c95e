/* constants.h: names to which a configuration gives values; private to stencil/. */
#ifndef STENCIL_CUDA_CONSTANTS_H
#define STENCIL_CUDA_CONSTANTS_H

#include "stencil/cuda/parts.h"

/* What is known about the type of a value. value_type_common says which type an operation has. */
enum value_type {
  VALUE_ANY, /* unknown: it may be a pointer, an integer or a real number */
  VALUE_INT,
  VALUE_INDEX,         /* index_t: int or long long */
  VALUE_UNSIGNED,      /* 32 bits */
  VALUE_LONG,          /* 64 bits */
  VALUE_UNSIGNED_LONG, /* 64 bits */
  VALUE_REAL,          /* a real number, or a type that may contain real numbers */
};

/* An integer, or a value that is not known before the program runs. */
struct value {
  bool is_known;
  long long number;
  enum value_type type; /* if the integer is known, neither VALUE_ANY nor VALUE_REAL */
};

enum constant_kind { CONSTANT_NONE, CONSTANT_MACRO, CONSTANT_CONSTEXPR, CONSTANT_UNCLEAR };

/* The meaning of a name. */
struct constant {
  enum constant_kind kind;
  struct part *part;
  struct range body; /* its tokens in the part */
  struct value value;
  bool is_evaluated;
  bool is_bool;         /* a constexpr of this type: its value is the truth of its body */
  enum value_type type; /* type of a constexpr, or of a variable of the definition number `typed_in` */
  int typed_in;
  bool is_function;
  /* type that a call of the constexpr function returns; VALUE_ANY: a call may have effects */
  enum value_type call_type;
};

struct constants {
  const struct identifiers *names;
  struct constant *list; /* indexed by the number of the name */
  bool has_includes;     /* a file was included whose macros are not known */
  int real_bytes;        /* sizeof(real) */
  int definition;        /* number of the definition that is being resolved, from 1 */
};

/* Define a macro or a constexpr. A name that is defined twice exists, but has no value.
 *   type  the type of a constexpr; VALUE_ANY: the type of its value */
static inline void constant_define(struct constants *constants, int name, enum constant_kind kind, struct part *part,
                                   struct range body, enum value_type type) {
  struct constant *constant = &constants->list[name];
  if (constant->kind != CONSTANT_NONE) kind = CONSTANT_UNCLEAR;
  *constant = (struct constant){.kind = kind, .part = part, .body = body, .type = type};
}

#endif
