/* scene.h: a test case for kernels: a stencil on a domain, with inputs and the reference's results. Any number of
 * variants and threads can use a scene. */
#ifndef TUNER_VERIFY_SCENE_H
#define TUNER_VERIFY_SCENE_H

#include "stencil/launch/domain.h"
#include "tuner/verify/box.h"
#include "tuner/verify/inputs.h"

struct scene_request {
  const struct stencil *stencil;
  const struct analysis *analysis; /* of this stencil */
  enum dtype dtype;
  struct domain domain;
  const double *coefficients; /* from scene_coefficients, or others */
  enum input_kind input;
  uint64_t seed;
  int steps;   /* above 1 only if the box contains all points that the boundary rules allow */
  int threads; /* 0: one for each CPU */
};

/* Fields are dense arrays of the domain's grid. The scene owns them; end with scene_free. */
struct scene {
  struct scene_request request;
  struct box box; /* the domain's box, which is computed and compared */
  double *inputs[MAX_FIELDS];
  double *outputs[MAX_FIELDS]; /* the content of output buffers before several steps */
  double *want[MAX_FIELDS], *magnitudes[MAX_FIELDS];
  double allowed_units; /* see compare.h */
};

/* Fill inputs and compute the reference.
 *   request  what it points to must outlive the scene
 *   out      filled on success; after a failure scene_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a grid or steps that the stencil cannot have, and if the reference is not
 * finite in the element type at some point, because no kernel can be compared with that; HALOTUNE_MEMORY. */
halotune_status scene_make(const struct scene_request *request, struct scene *out);

void scene_free(struct scene *scene);

/* Compute the stencil's default coefficients for a grid, each changed by a different small factor and rounded to the
 * type. Weights that are equal by default then differ, so that swapped axes show.
 *   values  receives coefficient_count numbers
 * Returns the errors of stencil_coefficients. */
halotune_status scene_coefficients(const struct stencil *stencil, const struct grid *grid, enum dtype dtype,
                                   double *values);

#endif
