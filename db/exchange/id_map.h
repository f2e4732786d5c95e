/* id_map.h: which row of one database a row of another has become, table by table. */
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
    struct id_pair *pairs; /* in rising order of `from` */
    int count, capacity;
  } list[TABLE_COUNT];
};

/* Add a pair; `from` is larger than all before it. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status id_map_add(struct id_maps *maps, int table, int64_t from, int64_t to);

/* What became of a row; 0 for one that was not added. */
int64_t id_map_find(const struct id_maps *maps, int table, int64_t from);

void id_maps_free(struct id_maps *maps);

#endif
