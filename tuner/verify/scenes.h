/* scenes.h: the scenes in which a variant proves itself: grids of several sorts, padded rows, a box that cuts tiles, several
 * steps; and the orders of threads and blocks in each. */
#ifndef TUNER_VERIFY_SCENES_H
#define TUNER_VERIFY_SCENES_H

#include "tuner/verify/emulated_check.h"

enum { MAX_SCENES = 10, MAX_ORDERS = 3 };

struct staged_scene {
  char name[64]; /* as rows say it: "53x37x23 padded, 2 steps" */
  int domain;    /* scenes with the same number have the same domain: a source with literal extents serves them all */
  struct scene scene;
  struct check_order orders[MAX_ORDERS];
  int order_count;
};

/* Owns its scenes; end with scenes_free. */
struct scenes {
  struct staged_scene list[MAX_SCENES];
  int count, domain_count;
  double *coefficients;
};

struct scenes_request {
  const struct stencil *stencil;
  const struct analysis *analysis;
  enum dtype dtype;
  const struct grid *grid; /* the only one; NULL for the default ones */
  uint64_t seed;
  int threads; /* 0 for one a CPU */
};

/* By default: a regular grid, dense; one whose extents are primes, with padded rows and planes; one smaller than a tile and
 * than some radii, padded; the second once more with a box that leaves out ghost layers as wide as the reach at the low
 * ends and by one more at the high ends, in z by some; one with lines longer than what a block takes of them at once; in
 * two and three dimensions one with strides that take 64-bit indices, in three of many rows; and the first three again
 * with two steps, where the stencil can be iterated.
 *   out  filled on success; after a failure scenes_free is harmless
 * Returns as scene_make. */
halotune_status scenes_make(const struct scenes_request *request, struct scenes *out);

void scenes_free(struct scenes *scenes);

#endif
