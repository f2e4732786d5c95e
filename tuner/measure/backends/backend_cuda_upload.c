/* backend_cuda_upload.c: converts the scene's doubles to the elements that the GPU has. */
#include "tuner/measure/backends/backend_cuda_upload.h"

#include <stdlib.h>
#include <string.h>

#include "base/system/parallel.h"
#include "base/system/trace.h"
#include "tuner/device/gpu_worker.h"

struct conversion {
  const double *from;
  void *to;
};

static void convert_bytes(void *context, int thread, long first, long end) {
  const struct conversion *conversion = context;
  unsigned char *to = conversion->to;
  (void)thread;
  for (long i = first; i < end; i++) to[i] = (unsigned char)conversion->from[i];
}

static void convert_values(void *context, int thread, long first, long end) {
  const struct conversion *conversion = context;
  float *to = conversion->to;
  (void)thread;
  for (long i = first; i < end; i++) to[i] = (float)conversion->from[i];
}

/* Send an array of doubles.
 *   element_bytes  size of an element on the GPU: 1, 4 or 8 */
static halotune_status upload_elements(const struct cuda_upload *upload, enum gpu_upload kind, int number,
                                       const double *values, long count, size_t element_bytes) {
  enum { GRAIN = 1 << 16 };
  const long part = (long)(GPU_WINDOW_BYTES / element_bytes);
  const double begin_ms = trace_now_ms();
  halotune_status status = HALOTUNE_OK;
  for (long done = 0; done < count && status == HALOTUNE_OK; done += part) {
    const long now = count - done < part ? count - done : part;
    struct conversion conversion = {values + done, upload->window};
    if (element_bytes == 1) parallel_for(now, GRAIN, parallel_threads(0), convert_bytes, &conversion);
    else if (element_bytes == sizeof(float)) parallel_for(now, GRAIN, parallel_threads(0), convert_values, &conversion);
    else memcpy(upload->window, values + done, (size_t)now * sizeof *values);
    status = upload->send(upload->to, kind, number, (size_t)done * element_bytes, (size_t)now * element_bytes);
  }
  trace_end(TRACE_PHASES, "upload a field", begin_ms, NULL, NULL);
  return status;
}

/* Send a field that lies along all axes. References and magnitudes stay doubles. */
static halotune_status upload_field(const struct cuda_upload *upload, const struct gpu_problem *problem,
                                    enum gpu_upload kind, int number, const double *values) {
  const size_t element_bytes = kind == GPU_UPLOAD_START ? dtype_bytes(problem->dtype) : sizeof *values;
  return upload_elements(upload, kind, number, values, domain_elements(&problem->domain), element_bytes);
}

static halotune_status upload_input(const struct cuda_upload *upload, const struct gpu_problem *problem,
                                    const struct scene *scene, int input) {
  const struct scene_request *r = &scene->request;
  double *values = NULL;
  if (input_is_whole(r->stencil, input))
    return upload_field(upload, problem, GPU_UPLOAD_START, input, scene->inputs[input]);
  const struct input_layout layout = input_layout_of(r->stencil, input, r->dtype, &r->domain);
  halotune_status status = scene_collect_input(scene, input, &values);
  if (status == HALOTUNE_OK)
    status = upload_elements(upload, GPU_UPLOAD_START, input, values, layout.elements, layout.element_bytes);
  free(values);
  return status;
}

halotune_status cuda_upload_scene(const struct cuda_upload *upload, const struct gpu_problem *problem,
                                  const struct scene *scene) {
  const int input_count = problem->input_count;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < input_count && status == HALOTUNE_OK; i++) status = upload_input(upload, problem, scene, i);
  for (int o = 0; o < scene->written_count && status == HALOTUNE_OK; o++) {
    if (problem->phase_count > 1)
      status = upload_field(upload, problem, GPU_UPLOAD_START, input_count + o, scene->outputs[o]);
    if (status == HALOTUNE_OK) status = upload_field(upload, problem, GPU_UPLOAD_WANT, o, scene->want[o]);
    if (status == HALOTUNE_OK) status = upload_field(upload, problem, GPU_UPLOAD_MAGNITUDE, o, scene->magnitudes[o]);
  }
  return status;
}
