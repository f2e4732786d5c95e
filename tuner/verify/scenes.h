/* scenes.h: the scenes in which every variant is verified: different grids, padded rows, a box that cuts tiles, several
 * steps; and the orders of threads and blocks in each scene. */
#ifndef TUNER_VERIFY_SCENES_H
#define TUNER_VERIFY_SCENES_H

#include "tuner/verify/emulated_check.h"

enum { MAX_SCENES = 10, MAX_ORDERS = 3 };

struct staged_scene {
  char name[64]; /* its name in rows: "53x37x23 padded, 2 steps" */
  int domain;    /* scenes with the same number have the same domain, so they share a source with literal extents */
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
  const struct grid *grid; /* the only grid; NULL: use the default grids */
  uint64_t seed;
  int threads;          /* 0: one for each CPU */
  int launch_steps;     /* steps of a launch of the variants that the scenes are for; 0 counts as 1 */
  struct ending ending; /* asked often while references are computed, as long as the scenes live */
};

/* Make scenes. The default scenes are:
 *   - a regular grid without padding
 *   - a grid with prime extents, with padded rows and planes
 *   - a padded grid that is smaller than a tile and than some radii
 *   - the second one with a box that leaves out ghost layers: as wide as the reach at the low ends, one wider at the
 *     high ends, and several more planes in z
 *   - a grid with lines longer than a block processes at a time
 *   - in two and three dimensions, a grid whose strides need 64-bit indices, in three with many rows
 *   - the first three again with two launches, if the stencil can be iterated
 *   out  filled on success; after a failure scenes_free is harmless
 * Returns the errors of scene_make. */
halotune_status scenes_make(const struct scenes_request *request, struct scenes *out);

void scenes_free(struct scenes *scenes);

/* The scenes for variants whose launches make one number of steps. */
struct scene_set {
  int launch_steps;
  struct scenes scenes;
  /* hashes of the outputs of the first reproducible variant that passed; 0: none has passed yet */
  struct hash bits[MAX_SCENES];
  struct scene_set *next;
};

/* Start with {.request = ...}, end with scene_sets_free. */
struct scene_sets {
  struct scenes_request request;
  struct scene_set *first;
};

/* Find the scenes for launches of so many steps, or make them.
 *   out  receives a set that `sets` owns
 * Returns as scenes_make. */
halotune_status scene_sets_find(struct scene_sets *sets, int launch_steps, struct scene_set **out);

void scene_sets_free(struct scene_sets *sets);

#endif
