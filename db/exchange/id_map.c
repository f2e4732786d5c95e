/* id_map.c: sorted pairs, found by binary search. */
#include "db/exchange/id_map.h"

#include <stdlib.h>

#include "base/memory/array.h"

halotune_status id_map_add(struct id_maps *maps, int table, int64_t from, int64_t to) {
  struct id_pair *pairs =
      array_grow(maps->list[table].pairs, maps->list[table].count, &maps->list[table].capacity, sizeof *pairs);
  if (!pairs) return fail_memory();
  maps->list[table].pairs = pairs;
  pairs[maps->list[table].count++] = (struct id_pair){from, to};
  return HALOTUNE_OK;
}

int64_t id_map_find(const struct id_maps *maps, int table, int64_t from) {
  const struct id_pair *pairs = maps->list[table].pairs;
  int low = 0, high = maps->list[table].count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (pairs[middle].from < from) low = middle + 1;
    else high = middle;
  }
  return low < maps->list[table].count && pairs[low].from == from ? pairs[low].to : 0;
}

void id_maps_free(struct id_maps *maps) {
  for (int i = 0; i < TABLE_COUNT; i++) free(maps->list[i].pairs);
  *maps = (struct id_maps){0};
}
