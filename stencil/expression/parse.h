/* parse.h: text to expressions. The grammar, with C's precedences:
 *
 *   update  = { name '=' sum [';'] }           the next line that begins with "name =" begins the next assignment
 *   sum     = product { ('+' | '-') product }
 *   product = factor { ('*' | '/') factor }
 *   factor  = '-' factor | '(' sum ')' | number | name | function '(' sum { ',' sum } ')'
 *           | input '[' offset { ',' offset } ']'
 *   offset  = ['-' | '+'] whole number
 *
 * A rule of a template has no taps and more operators: || && == != < <= > >= % ! and condition ? value : value. */
#ifndef STENCIL_EXPRESSION_PARSE_H
#define STENCIL_EXPRESSION_PARSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "stencil/expression/expr.h"

/* A name means one of these; `index` counts within its kind, and for a temporary is the node that it stands for. */
enum name_kind {
  NAME_INPUT,
  NAME_OUTPUT,
  NAME_COEFFICIENT,
  NAME_VARIABLE,
  NAME_TEMPORARY,
  NAME_DEFINITION, /* its formula is copied to where the name stands */
  NAME_LATER,      /* a definition that stands below, and that a formula cannot use yet */
};

struct name {
  const char *text; /* not owned */
  enum name_kind kind;
  int index;
  bool is_used;       /* set by the parser */
  struct place place; /* where it was declared */
  struct formula definition;
};

/* The names that an expression may use. Start with {0}, end with scope_free. */
struct scope {
  struct name *names;
  int count, capacity;
  int dims; /* number of offsets in a tap; 0 where no taps can be */
};

/* Add a name. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status scope_add(struct scope *scope, struct name name);

/* The entry of a name, given by its first `length` bytes; NULL where it is unknown. Valid until the next scope_add. */
struct name *scope_find(const struct scope *scope, const char *text, size_t length);

void scope_free(struct scope *scope);

/* NULL if `text` can name an input, output, coefficient or temporary; else what is wrong with it: it must be an
 * identifier of at most 63 letters, digits and underscores, and no word that C, CUDA or this language uses itself. */
const char *name_error(const char *text, size_t length);

struct assignment {
  const char *name;
  int output; /* which output it defines; -1 for a temporary */
  int root;
  struct place place;
};

/* The assignments in the order in which they are written; their nodes stand from `first` up to and without `end`. */
struct update {
  struct assignment *assignments; /* from the arena */
  int count;
  int first, end;
};

/* Definitions are copied, so that short texts could make long formulas: a list of nodes has at most this many. */
enum { MAX_FORMULA_NODES = 1 << 16 };

/* Parse one expression that uses all of the snippet.
 *   scope   its names; those that are met are marked as used
 *   exprs   receives the nodes
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with file, line, column and what was expected; or HALOTUNE_MEMORY. */
halotune_status parse_formula(const struct snippet *snippet, struct scope *scope, struct exprs *exprs,
                              struct formula *out);

/* The same for a rule of a template. */
halotune_status parse_rule(const struct snippet *snippet, struct scope *scope, struct exprs *exprs,
                           struct formula *out);

/* Parse an update: assignments to outputs and temporaries.
 *   scope   its names; temporaries are added to it
 *   arena   receives the list of assignments and the names of temporaries
 * Errors as parse_formula's. */
halotune_status parse_update(const struct snippet *snippet, struct scope *scope, struct arena *arena,
                             struct exprs *exprs, struct update *out);

#endif
