/* problem_set.h: gives a backend a problem, whose fields are made on the device where it can make them. */
#ifndef SEARCH_VARIANTS_PROBLEM_SET_H
#define SEARCH_VARIANTS_PROBLEM_SET_H

#include "base/text.h"
#include "tuner/measure/backends/backend.h"

/* Make a scene, and set it as a problem. On a device that makes fields itself, the scene has none, and takes no memory
 * here.
 *   scene    ended with scene_free after any outcome; must live as long as the problem
 *   problem  its scene is `scene`
 *   warnings a line is added where the device could not make the fields, and the CPU did
 * Returns what scene_make and set_problem return. */
halotune_status problem_make(struct backend_handle *backend, const struct scene_request *request, struct scene *scene,
                             const struct backend_problem *problem, struct text *warnings);

#endif
