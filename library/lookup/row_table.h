/* row_table.h: finds rows of a catalog by their problem, and the families of rows of a stencil. Any number of threads
 * may use a table: only its atomic members change. */
#ifndef LIBRARY_LOOKUP_ROW_TABLE_H
#define LIBRARY_LOOKUP_ROW_TABLE_H

#include "library/lookup/catalog.h"

/* The problem to look up. A mode is the store's number plus 1; 0 is any mode. */
struct lookup_key {
  uint32_t n[MAX_DIMS];
  int stencil, model;
  int text_of; /* the stencil that was asked for, whose text is computed; `stencil` has the rows of its meaning */
  unsigned char dtype, launch, cache;
  unsigned char
      unsaid; /* bit i: the problem gives no points along axis i; only an axis that the stencil lacks may be so */
  bool reproducible;    /* only rows of reproducible problems; otherwise all */
  unsigned short steps; /* only launches of so many time steps */
};

struct priced_family;

/* The rows of one stencil, model, element type and number of steps, which are neighbours in the catalog. */
struct lookup_family {
  int stencil, model, first, end;
  unsigned char dtype;
  unsigned short steps;
};

/* Start with {0}, end with lookup_table_free. */
struct lookup_table {
  const struct catalog *catalog;
  struct set by_problem;
  struct lookup_family *families; /* by stencil */
  int family_count;
  int *first_family;                       /* for each stencil, and one behind the last */
  _Atomic(struct priced_family *) *priced; /* for each family; NULL before the first use: see pricing.h */
};

/* Make the table of a catalog, which must live as long as the table. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status lookup_table_make(const struct catalog *catalog, struct lookup_table *out);
void lookup_table_free(struct lookup_table *table);

/* Find the row for exactly this problem; NULL if there is none. Among several modes, steady is preferred to cold,
 * stream to graph, and a winner of all variants to a winner of the reproducible ones. */
const struct served *lookup_exact(const struct lookup_table *table, const struct lookup_key *key);

#endif
