/* priced_family.h: the rows of one stencil, GPU, element type and number of steps, with what predictions need of
 * them. */
#ifndef LIBRARY_LOOKUP_PRICED_FAMILY_H
#define LIBRARY_LOOKUP_PRICED_FAMILY_H

#include <stdbool.h>
#include <stdlib.h>

#include "library/lookup/rules_kept.h"
#include "library/predict/trend.h"
#include "stencil/template/template.h"

/* What decides whether a row is a candidate. It is short, because a lookup reads it of all rows. */
struct row_kind {
  int shape;          /* its configuration */
  int alike_end;      /* up to this row of the family, not included, all have the same mode */
  unsigned char mode; /* a sum of the first numbers below, or MODE_NONE */
};
enum {
  MODE_GRAPH = 1,
  MODE_COLD = 2,
  MODE_REPRODUCIBLE = 4,
  MODE_WINS =
      8, /* a row of its configuration is a winner; if all are finalists, they say too little about other stencils */
  MODE_NONE = 16, /* the template does not have the row's parameters, or there is no row */
  MODE_COUNT
};

/* One configuration among the rows of a family. Its rows follow each other in the list of priced_family. */
struct priced_shape {
  int template_at, first, end;
  const char *parameters; /* a text of the catalog, so that pointers can be compared */
  struct configuration configuration;
  struct predict_shape shape;
  bool is_usable; /* false: the template does not have these parameters */
  bool can_group; /* the template can group weights that repeat */
};

/* The numbers that the rank of a row needs. They are copied from the catalog, because a lookup mostly waits for
 * memory. */
struct priced_row {
  int row;                      /* in the catalog */
  float log_excess;             /* logarithm of the measured time over that of the model and the trend */
  struct predict_bounds shares; /* see predict_shares_of */
  struct predict_cost cost;     /* on the problem and GPU of its measurement */
};

/* The columns of a priced_row that ranks are computed from. */
enum priced_column {
  PRICED_EXCESS,
  PRICED_START,
  PRICED_WORK,
  PRICED_BYTES,
  PRICED_X,
  PRICED_Y,
  PRICED_Z,
  PRICED_UNALIGNED,
  PRICED_FACTOR,
  PRICED_FILL,
  PRICED_LAUNCH,
  PRICED_UNSTEADY,
  PRICED_TILE_X, /* from here on, members of the configuration's shape */
  PRICED_TILE_Y,
  PRICED_TILE_Z,
  PRICED_BLOCKS,
  PRICED_SM_BLOCKS,
  PRICED_CLUSTER,
  PRICED_COLUMNS
};

/* The rows of a family as predictions need them. It is made for the first question that needs it. */
struct priced_family {
  struct predict_model model; /* model of the GPU on which the rows were measured */
  int shape_count, row_count;
  struct priced_shape *shapes;
  struct rules_again *rules[DTYPE_COUNT]; /* of each configuration, for questions about this stencil in each element
                                             type */
  struct priced_row *rows;                /* shape after shape */
  struct row_kind *kinds;                 /* of the same rows */
  int column_length;                      /* a column ends with zeros, so that it fills whole vectors */
  float *columns[PRICED_COLUMNS]; /* the same rows, column by column, so that a processor ranks several at a time */
  bool follows[MODE_COUNT];       /* whether rows of a mode follow the trend, since it was found from such times */
  struct trend trend;             /* trend of the family's rows */
  bool blocks_cost;               /* predict_blocks_cost() of the model */
  float least_excess[2];          /* the least log_excess of rows that do not follow the trend, and of those that do */
};

static inline void priced_family_free(struct priced_family *family) {
  if (!family) return;
  free(family->shapes);
  free(family->rules[0]);
  free(family->rows);
  free(family->kinds);
  free(family->columns[0]);
  free(family);
}

#endif
