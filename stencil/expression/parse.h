/* parse.h: parses text into expressions. The grammar has C's precedences:
 *
 *   update     = { name '=' value [';'] }      a line that begins with "name =" begins the next assignment
 *   value      = either ['?' value ':' value]
 *   either     = both { '||' both }
 *   both       = equality { '&&' equality }
 *   equality   = comparison [ ('==' | '!=') comparison ]
 *   comparison = sum [ ('<' | '<=' | '>' | '>=') sum ]
 *   sum        = product { ('+' | '-') product }
 *   product    = factor { ('*' | '/') factor }
 *   factor     = ('-' | '!') factor | '(' value ')' | number | name | function '(' value { ',' value } ')'
 *              | input '[' offset { ',' offset } ']'
 *   offset     = ['-' | '+'] whole number
 *
 * A rule of a template has no taps. It also has the remainder, %, which binds like a product. */
#ifndef STENCIL_EXPRESSION_PARSE_H
#define STENCIL_EXPRESSION_PARSE_H

#include <stdbool.h>

#include "base/memory/arena.h"
#include "base/memory/set.h"
#include "stencil/expression/expr.h"

/* What a name means. `index` counts the names of one kind; for a temporary it is the node that defines it. */
enum name_kind {
  NAME_INPUT,
  NAME_OUTPUT,
  NAME_COEFFICIENT,
  NAME_VARIABLE,
  NAME_TEMPORARY,
  NAME_DEFINITION, /* its formula is copied to each place that uses the name */
  NAME_LATER,      /* a definition that stands further below in the file; a formula must not use it yet */
};

struct name {
  const char *text; /* owned by the caller */
  enum name_kind kind;
  int index;
  unsigned axes;      /* for an input, the axes along which its taps have offsets, bit 0 for x; 0: all axes */
  bool is_used;       /* the parser sets it when an expression uses the name */
  struct place place; /* where it was declared */
  struct formula definition;
};

/* The names that an expression may use. Start with {0}, end with scope_free. */
struct scope {
  struct name *names;
  int count, capacity;
  struct set by_text; /* of scope_find: a text may use thousands of names very often */
  int dims;           /* number of offsets in a tap along all axes; 0 where expressions have no taps */
};

/* Add a name. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status scope_add(struct scope *scope, struct name name);

/* Put a name before others. It hides later names that are equal. This takes time for each name that is there.
 *   at  its place in the list */
halotune_status scope_insert(struct scope *scope, int at, struct name name);

/* Find a name, given by its first `length` bytes: of equal names, the first one in the list. Returns NULL for an
 * unknown name. The result is valid until the next scope_add. */
struct name *scope_find(const struct scope *scope, const char *text, size_t length);

void scope_free(struct scope *scope);

/* Check a name for an input, output, coefficient or temporary. It must be an identifier of at most 63 letters, digits
 * and underscores that C, CUDA and this language do not use themselves. Returns NULL for a good name, else a text that
 * says what is wrong. */
const char *name_error(const char *text, size_t length);

struct assignment {
  const char *name;
  int output; /* number of the output that it defines; -1 for a temporary */
  int root;
  struct place place;
};

/* The assignments, in the order of the file. Their nodes are in the list from `first` to `end` - 1. */
struct update {
  struct assignment *assignments; /* allocated in the arena */
  int count;
  int first, end;
};

/* The most nodes that a list may have. Definitions are copied, so a short text could otherwise make a very long
 * formula. */
enum { MAX_FORMULA_NODES = 1 << 16 };

/* Parse one expression, which must use the whole snippet.
 *   scope   the names that it may use; names that it does use are marked
 *   exprs   receives the nodes
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with file, line, column and what was expected; or HALOTUNE_MEMORY. */
halotune_status parse_formula(const struct snippet *snippet, struct scope *scope, struct exprs *exprs,
                              struct formula *out);

/* Like parse_formula, for a rule of a template. */
halotune_status parse_rule(const struct snippet *snippet, struct scope *scope, struct exprs *exprs,
                           struct formula *out);

/* Parse an update: assignments to outputs and temporaries.
 *   scope   the names that it may use; temporaries are added to it
 *   arena   receives the list of assignments and the names of temporaries
 * Returns the same errors as parse_formula. */
halotune_status parse_update(const struct snippet *snippet, struct scope *scope, struct arena *arena,
                             struct exprs *exprs, struct update *out);

#endif
