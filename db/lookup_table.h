/* lookup_table.h: the rows of a catalog by what they are the answer to, and by how far their grids are from another. Immutable once it is
 * made; any number of threads may ask. */
#ifndef DB_LOOKUP_TABLE_H
#define DB_LOOKUP_TABLE_H

#include "db/lookup_catalog.h"

/* What is asked for. Modes are those of the store plus 1; 0 is any. */
struct table_key {
  uint32_t n[MAX_DIMS];
  int stencil, model;
  unsigned char dtype, launch, cache;
};

/* The features of a grid on a GPU by which distances are measured; lookup_table.c says what each is and counts. */
enum { TABLE_FEATURES = 6 };

struct table_slot {
  struct table_key key; /* modes of the store, plus 1 */
  int row;              /* plus 1; 0: free */
};

/* Rows of one stencil, model and element type stand together in the catalog. */
struct table_family {
  int stencil, model, first, end;
  unsigned char dtype;
};

/* Start with {0}, end with table_free. */
struct table {
  const struct catalog *catalog;
  struct table_slot *slots;
  size_t mask;
  struct table_family *families; /* by stencil */
  int family_count;
  int *first_family; /* of each stencil, and one behind the last */
  float *features;   /* TABLE_FEATURES lists of a number for each row */
};

/* Make the table of a catalog, which must live as long. HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status table_make(const struct catalog *catalog, struct table *out);
void table_free(struct table *table);

/* The row for exactly this; NULL where there is none. Of several modes steady comes before cold, stream before graph. */
const struct served *table_find(const struct table *table, const struct table_key *key);

/* Rows in order of distance. Start with table_near. */
struct table_near {
  const struct table *table;
  struct table_key key;
  const struct known_device *device;
  float features[TABLE_FEATURES];
  bool other_models; /* rows of the device's architecture, but of other models; else those of its own model */
  bool emulated;     /* whether emulated ones count among these */
  float distance;    /* of the row that was found last */
  int row;
};

/* Start at the nearest row for a problem on a device.
 *   bytes_per_point  of compulsory traffic */
void table_near(const struct table *table, const struct table_key *key, const struct known_device *device, double bytes_per_point,
                bool other_models, struct table_near *out);

/* The next row; NULL after the last. */
const struct served *table_next(struct table_near *near);

#endif
