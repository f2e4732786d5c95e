/* row_table.h: the rows of a catalog by the problem that each is the answer to, and by how far its grid is from another. A table
 * does not change once it is made: any number of threads may ask. */
#ifndef LIBRARY_LOOKUP_ROW_TABLE_H
#define LIBRARY_LOOKUP_ROW_TABLE_H

#include "library/lookup/catalog.h"

/* The problem that is asked about. Modes are those of the store plus 1; 0 is any mode. */
struct lookup_key {
  uint32_t n[MAX_DIMS];
  int stencil, model;
  unsigned char dtype, launch, cache;
  bool reproducible; /* only rows of problems that are; else of any */
};

/* The features of a grid on a GPU by which distances are measured; row_table.c says what each is and counts. */
enum { LOOKUP_FEATURES = 6 };

/* Rows of one stencil, model and element type stand together in the catalog. */
struct lookup_family {
  int stencil, model, first, end;
  unsigned char dtype;
};

/* Start with {0}, end with lookup_table_free. */
struct lookup_table {
  const struct catalog *catalog;
  struct set by_problem;
  struct lookup_family *families; /* by stencil */
  int family_count;
  int *first_family; /* of each stencil, and one behind the last */
  float *features;   /* LOOKUP_FEATURES lists of a number for each row */
};

/* Make the table of a catalog, which must live as long. HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status lookup_table_make(const struct catalog *catalog, struct lookup_table *out);
void lookup_table_free(struct lookup_table *table);

/* The row for exactly this; NULL where there is none. Of several modes steady comes before cold, stream before graph, and
 * one among all variants before one among those that are reproducible. */
const struct served *lookup_exact(const struct lookup_table *table, const struct lookup_key *key);

/* Rows in order of distance. Start with lookup_near_start. */
struct lookup_near {
  const struct lookup_table *table;
  struct lookup_key key;
  const struct known_device *device;
  float features[LOOKUP_FEATURES];
  bool other_models; /* rows of the device's architecture, but of other models; else those of its own model */
  bool emulated;     /* whether emulated ones count among these */
  float distance;    /* of the row that was found last */
  int row;
};

/* Start at the nearest row for a problem on a device.
 *   bytes_per_point  of compulsory traffic */
void lookup_near_start(const struct lookup_table *table, const struct lookup_key *key,
                       const struct known_device *device, double bytes_per_point, bool other_models,
                       struct lookup_near *out);

/* The next row; NULL after the last. */
const struct served *lookup_near_next(struct lookup_near *near);

#endif
