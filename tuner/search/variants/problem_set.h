/* problem_set.h: gives a backend a problem, whose fields are made on the device where it can make them. */
#ifndef SEARCH_VARIANTS_PROBLEM_SET_H
#define SEARCH_VARIANTS_PROBLEM_SET_H

#include "base/text/text.h"
#include "tuner/measure/backends/backend.h"

/* Who is told about each part of the work for a problem. It can take long on large grids. */
struct problem_teller {
  void (*tell)(void *context, const char *what); /* "inputs and reference on the CPU"; NULL: nobody is told */
  void *context;
};

/* Make a scene, and set it as a problem. On a device that makes fields itself, the scene has none, and takes no memory
 * here.
 *   scene    ended with scene_free after any outcome; must live as long as the problem
 *   problem  its scene is `scene`
 *   warnings a line is added where the device failed to make the fields, and the CPU did. A device that cannot make
 *            the fields of such a scene at all adds none
 *   teller   told before each part of the work; NULL: nobody is
 * Returns what scene_make and set_problem return. */
halotune_status problem_make(struct backend_handle *backend, const struct scene_request *request, struct scene *scene,
                             const struct backend_problem *problem, struct text *warnings,
                             const struct problem_teller *teller);

/* Add a line to the warnings if variants of the present problem are not compared with the reference at all points. */
void problem_warn_of_drawing(const struct backend_handle *backend, const struct scene *scene, struct text *warnings);

/* Set a problem once more whose scene is already made. Where the device made the fields and now cannot, the CPU makes
 * them. Arguments and results are those of problem_make. */
halotune_status problem_set(struct backend_handle *backend, struct scene *scene, const struct backend_problem *problem,
                            struct text *warnings, const struct problem_teller *teller);

#endif
