/* catalog_devices.c: decides whose facts about a model of GPU count, where several rows describe devices of it. */
#include <stdlib.h>
#include <string.h>

#include "library/lookup/catalog.h"
#include "library/lookup/device_names.h"

/* Who describes a device: the less, the more the facts count. A recording counts after a driver. Others who give no
 * result on it count last, because no answer shows such a row. */
static int rank_of(const struct known_device *device) {
  const bool is_recorded = strncmp(device->uuid, RECORDED_UUID, strlen(RECORDED_UUID)) == 0;
  const bool is_less = device->giver == GIVER_OTHERS ? !device->has_rows : is_recorded;
  return 2 * (int)device->giver + is_less;
}

static void take_facts(struct known_device *device, const struct known_device *from) {
  device->memory_gbs = from->memory_gbs;
  device->l2_bytes = from->l2_bytes;
  device->limits = from->limits;
}

/* Give a device the facts of the one of its model that counts. A GPU of the table has the facts of the table if only
 * others describe it. */
static void settle_device(struct known_device *device, int rank, const struct known_device *best, int best_rank) {
  if (best->giver == GIVER_OTHERS && best->is_known_gpu) {
    const struct known_device facts = device_of_row(gpu_row_named(best->name));
    take_facts(device, &facts);
  } else if (rank > best_rank) {
    take_facts(device, best);
  }
}

halotune_status catalog_settle_devices(struct catalog *c) {
  int *ranks = calloc(2 * (size_t)c->device_count + 1, sizeof *ranks);
  if (!ranks) return fail_memory();
  int *best = ranks + c->device_count; /* for the first device of each model: the one that counts */
  for (int i = 0; i < c->device_count; i++) {
    ranks[i] = rank_of(&c->devices[i]);
    c->devices[i].is_known_gpu = device_is_known_gpu(&c->devices[i]);
    const int model = c->devices[i].model;
    if (model == i || ranks[i] < ranks[best[model]]) best[model] = i;
  }
  for (int i = 0; i < c->device_count; i++) {
    const int chosen = best[c->devices[i].model];
    settle_device(&c->devices[i], ranks[i], &c->devices[chosen], ranks[chosen]);
  }
  free(ranks);
  return HALOTUNE_OK;
}
