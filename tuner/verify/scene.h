/* scene.h: something for a kernel to compute, and what it must come to: a stencil on a domain, with inputs and the
 * reference's results. Variants are run in scenes; a scene serves any number of them, and any number of threads. */
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
  const double *coefficients; /* as scene_coefficients gives them, or others */
  enum input_kind input;
  uint64_t seed;
  int steps;   /* above 1 only where all points that the boundary rules allow are computed */
  int threads; /* 0 for one a CPU */
};

/* Fields are dense arrays of the domain's grid. Owns them; end with scene_free. */
struct scene {
  struct scene_request request;
  struct box box; /* the domain's: what is computed and compared */
  double *inputs[MAX_FIELDS];
  double *outputs[MAX_FIELDS]; /* what output buffers hold before several steps */
  double *want[MAX_FIELDS], *magnitudes[MAX_FIELDS];
  double allowed_units; /* see compare.h */
};

/* Fill inputs and compute the reference.
 *   request  what it points to must outlive the scene
 *   out      filled on success; after a failure scene_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a grid or steps that the stencil cannot have, and where the reference has a point that is not
 * finite in the element type: no kernel can be compared with that; HALOTUNE_MEMORY. */
halotune_status scene_make(const struct scene_request *request, struct scene *out);

void scene_free(struct scene *scene);

/* The stencil's default coefficients for a grid, each changed by another small factor and rounded to the type: weights that
 * are alike by default become different, so that swapped axes show.
 *   values  receives coefficient_count numbers
 * Returns as stencil_coefficients. */
halotune_status scene_coefficients(const struct stencil *stencil, const struct grid *grid, enum dtype dtype,
                                   double *values);

#endif
