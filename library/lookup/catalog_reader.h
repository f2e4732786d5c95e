/* catalog_reader.h: what the files that read a database into a catalog share. */
#ifndef LIBRARY_LOOKUP_CATALOG_READER_H
#define LIBRARY_LOOKUP_CATALOG_READER_H

#include <sqlite3.h>

#include "library/lookup/catalog.h"

/* Ids of a table, ascending, and the place of each in the catalog. */
struct id_places {
  int64_t *ids;
  int *places;
  int count, id_room, place_room;
  int last; /* where the last id was found: rows mostly follow rows of the same stencil and device */
};

/* The ids that a row of this database refers to. */
struct reference {
  int64_t problem, variant, text;
  int row; /* number of the row, counted from the first one of this database */
};

struct reader {
  struct catalog *catalog;
  const char *path;
  sqlite3 *connection;
  struct id_places stencils, templates, devices, texts;
  const char **text_list; /* texts of the stencils; `texts` has their places */
  int text_count, text_room;
  struct reference *references; /* of the winners, in the order that a pass needs; by problem after all passes */
  int reference_count, reference_room, at;
  int64_t last_id;
  bool has_own, has_others;   /* whether this user measured anything in this database; whether others gave anything */
  bool has_imported;          /* whether documents of others did */
  int first_row;              /* the catalog's first row of this database, once all winners are read */
  const char *driver, *nvrtc; /* texts of the row before, which seldom change */
};

/* The place of an id; -1 if the map does not have it. */
int id_places_find(struct id_places *map, int64_t id);

/* Count the members of a configuration as a store writes it, which are its parameters. */
unsigned char count_members(const char *json);

/* An occupancy of 0 to 1 in 64ths; 0 for what is none. */
unsigned char occupancy_in_64ths(double share);

/* Read the finalists of this database whose problems' families have few winners in it. All winners have been read.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status catalog_read_finalists(struct reader *r);

#endif
