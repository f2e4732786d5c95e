/* scene.h: a test case for kernels: a stencil on a domain, with inputs and the reference's results. Any number of
 * variants and threads can use a scene. */
#ifndef TUNER_VERIFY_SCENE_H
#define TUNER_VERIFY_SCENE_H

#include "base/system/ending.h"
#include "stencil/launch/domain.h"
#include "tuner/verify/box.h"
#include "tuner/verify/inputs.h"

struct scene_request {
  const struct stencil *stencil;
  const struct analysis *analysis; /* analysis of this stencil */
  enum dtype dtype;
  struct domain domain;
  const double *coefficients; /* from scene_coefficients, or others */
  enum input_kind input;
  uint64_t seed;
  int steps;            /* points outside of the domain's box keep their values */
  int launch_steps;     /* steps of one launch; `steps` is a multiple. 0 counts as 1 */
  int threads;          /* 0: one for each CPU */
  struct ending ending; /* asked often while the reference is computed, as long as the scene lives */
};

/* Fields are dense arrays of the domain's grid. The scene owns them; end with scene_free. */
struct scene {
  struct scene_request request;
  struct box box;                 /* the domain's box */
  struct box written[MAX_FIELDS]; /* the part of the box in which a launch writes each field; it is compared */
  int launches;                   /* steps over launch_steps */
  double *inputs[MAX_FIELDS];
  /* number of fields that a launch writes: outputs, then the arrays that it carries; see iterate.h */
  int written_count;
  double *outputs[MAX_FIELDS]; /* content of these fields before several launches */
  double *want[MAX_FIELDS], *magnitudes[MAX_FIELDS];
  double allowed_units; /* see compare.h */
};

/* The name of a field that a launch writes: an output's name, or for a carried array the name of the input that takes
 * it next. */
const char *scene_written_name(const struct scene *scene, int written);

/* The rule of a scene's fields. */
struct inputs scene_inputs(const struct scene_request *request);

/* Make a scene without fields. The GPU may make them. All other members are filled. Returns HALOTUNE_OK, or
 * HALOTUNE_ARGUMENT for a grid or steps that the stencil cannot have. */
halotune_status scene_plan(const struct scene_request *request, struct scene *out);

/* Whether the scene has fields. */
static inline bool scene_has_fields(const struct scene *scene) { return scene->want[0]; }

/* Fill inputs and compute the reference.
 *   request  what it points to must outlive the scene
 *   out      filled on success; after a failure scene_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a grid or steps that the stencil cannot have, and if the reference is not
 * finite in the element type at some point, because no kernel can be compared with that; HALOTUNE_CANCELLED if the
 * ending came; HALOTUNE_MEMORY. */
halotune_status scene_make(const struct scene_request *request, struct scene *out);

void scene_free(struct scene *scene);

/* Compute the stencil's default coefficients for a grid, each changed by a different small factor and rounded to the
 * type. Weights that are equal by default then differ, so that swapped axes show.
 *   values  receives coefficient_count numbers
 * Returns the errors of stencil_coefficients. */
halotune_status scene_coefficients(const struct stencil *stencil, const struct grid *grid, enum dtype dtype,
                                   double *values);

/* Collect the elements of an input that is not whole, in the order of memory.
 *   out  receives the elements of input_layout_of, as doubles, which the caller frees; padding is 0
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status scene_collect_input(const struct scene *scene, int input, double **out);

#endif
