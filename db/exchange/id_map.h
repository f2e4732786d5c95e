/* id_map.h: for each table, which id a row of one database has got in another database. */
#ifndef DB_EXCHANGE_ID_MAP_H
#define DB_EXCHANGE_ID_MAP_H

#include <stdint.h>

#include "db/exchange/table.h"

struct id_pair {
  int64_t from, to;
};

/* Start with {0}; end with id_maps_free. */
struct id_maps {
  struct {
    struct id_pair *pairs; /* sorted by `from` */
    int count, capacity;
  } list[TABLE_COUNT];
};

/* Add a pair. `from` must be larger than in all earlier pairs. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status id_map_add(struct id_maps *maps, int table, int64_t from, int64_t to);

/* The id that belongs to `from`; 0 if there is no such pair. */
int64_t id_map_find(const struct id_maps *maps, int table, int64_t from);

void id_maps_free(struct id_maps *maps);

#endif
