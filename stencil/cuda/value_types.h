/* value_types.h: the types of the names in a definition, as far as its own declarations show them; private to
 * stencil/. */
#ifndef STENCIL_CUDA_VALUE_TYPES_H
#define STENCIL_CUDA_VALUE_TYPES_H

#include "stencil/cuda/constants.h"

/* Note the types of parameters and variables that a definition declares. They replace those of the definition before.
 * A name that it declares with several types has the widest of them. */
void value_types_note(struct constants *constants, const struct part *part, struct range definition);

/* Note the function whose name is the token at `name`, in a declaration that begins at `begin`. */
void value_types_note_function(struct constants *constants, const struct part *part, int begin, int name);

/* The type of a name in that definition; VALUE_ANY if it is neither declared there nor a constexpr. */
enum value_type value_type_of(const struct constants *constants, int name);

/* The type whose last word is at a token: `long` of `unsigned long`. A word that is not known may name a type of real
 * numbers. */
enum value_type value_type_named(const struct part *part, int at, int end);

/* The type of an operation on two operands; VALUE_ANY if it depends on what index_t is. */
enum value_type value_type_common(enum value_type a, enum value_type b);

#endif
