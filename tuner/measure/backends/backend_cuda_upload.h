/* backend_cuda_upload.h: gives a session the fields of a scene, in parts. */
#ifndef MEASURE_BACKENDS_BACKEND_CUDA_UPLOAD_H
#define MEASURE_BACKENDS_BACKEND_CUDA_UPLOAD_H

#include "tuner/device/gpu_session.h"
#include "tuner/verify/scene.h"

/* How parts of a field reach a session. */
struct cuda_upload {
  void *window; /* GPU_WINDOW_BYTES of memory, into which parts are written */
  /* Give the session the part of a field that is in the window.
   *   to  the member below */
  halotune_status (*send)(void *to, enum gpu_upload kind, int number, size_t offset_bytes, size_t byte_count);
  void *to;
};

/* Send inputs, references and magnitudes of a scene, and the outputs' first content where they become inputs.
 *   problem  the session's, made from the scene
 * Returns HALOTUNE_OK, HALOTUNE_MEMORY, or what `send` returned. */
halotune_status cuda_upload_scene(const struct cuda_upload *upload, const struct gpu_problem *problem,
                                  const struct scene *scene);

#endif
