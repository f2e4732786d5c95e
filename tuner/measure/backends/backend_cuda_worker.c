/* backend_cuda_worker.c: starts worker processes, and gives them GPU, problem and the variants of live slots. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/trace.h"
#include "tuner/measure/backends/backend_cuda_parts.h"

enum { UPLOAD_MS = 60000 };

halotune_status cuda_ask(struct cuda *c, struct text *request, double deadline_ms, struct gpu_reply *reply) {
  *reply = (struct gpu_reply){.status = HALOTUNE_OK};
  gpu_message_end(request);
  enum gpu_link_end end = text_ok(request) ? gpu_link_call(&c->link, request, deadline_ms, reply) : GPU_LINK_DIED;
  bool complete = text_ok(request);
  text_free(request);
  if (!complete) return fail_memory();
  if (end == GPU_LINK_HUNG)
    return fail(HALOTUNE_IO, "the GPU's worker process did not answer in %.0f s", deadline_ms / 1000);
  if (end == GPU_LINK_DIED) return fail(HALOTUNE_IO, "the GPU's worker is gone: %s", c->link.death);
  if (reply->status == HALOTUNE_OK) return HALOTUNE_OK;
  halotune_status status = fail(reply->status, "%s", reply->detail);
  if (reply->is_lost) gpu_link_stop(&c->link);
  return status;
}

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

/* Fill a field of the worker from an array of doubles, in parts through the window.
 *   element_bytes  what an element has on the GPU: 1, 4 or 8 */
static halotune_status upload_elements(struct cuda *c, enum gpu_upload kind, int number, const double *values,
                                       long count, size_t element_bytes) {
  enum { GRAIN = 1 << 16 };
  long part = (long)(GPU_WINDOW_BYTES / element_bytes);
  const double begin_ms = trace_now_ms();
  halotune_status status = HALOTUNE_OK;
  for (long done = 0; done < count && status == HALOTUNE_OK; done += part) {
    long now = count - done < part ? count - done : part;
    struct conversion conversion = {values + done, c->link.window->bytes};
    struct text request = {0};
    struct gpu_reply reply;
    if (element_bytes == 1) parallel_for(now, GRAIN, parallel_threads(0), convert_bytes, &conversion);
    else if (element_bytes == sizeof(float)) parallel_for(now, GRAIN, parallel_threads(0), convert_values, &conversion);
    else memcpy(c->link.window->bytes, values + done, (size_t)now * sizeof *values);
    gpu_request_begin(&request, GPU_REQUEST_UPLOAD);
    pack_u64(&request, kind);
    pack_u64(&request, (uint64_t)number);
    pack_u64(&request, (uint64_t)done * element_bytes);
    pack_u64(&request, (uint64_t)now * element_bytes);
    status = cuda_ask(c, &request, UPLOAD_MS, &reply);
  }
  trace_end(TRACE_PHASES, "upload a field", begin_ms, NULL, NULL);
  return status;
}

static halotune_status upload_field(struct cuda *c, enum gpu_upload kind, int number, const double *values) {
  const size_t element_bytes = kind == GPU_UPLOAD_START ? dtype_bytes(c->wire.dtype) : sizeof *values;
  return upload_elements(c, kind, number, values, domain_elements(&c->wire.domain), element_bytes);
}

static halotune_status upload_input(struct cuda *c, const struct scene *scene, int input) {
  const struct scene_request *r = &scene->request;
  double *values = NULL;
  if (input_is_whole(r->stencil, input)) return upload_field(c, GPU_UPLOAD_START, input, scene->inputs[input]);
  const struct input_layout layout = input_layout_of(r->stencil, input, r->dtype, &r->domain);
  halotune_status status = scene_collect_input(scene, input, &values);
  if (status == HALOTUNE_OK)
    status = upload_elements(c, GPU_UPLOAD_START, input, values, layout.elements, layout.element_bytes);
  free(values);
  return status;
}

halotune_status cuda_send_problem(struct cuda *c) {
  const struct scene *scene = c->problem.scene;
  const struct stencil *stencil = scene->request.stencil;
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_PROBLEM);
  pack_bytes(&request, &c->wire, sizeof c->wire);
  halotune_status status = cuda_ask(c, &request, CUDA_START_MS, &reply);
  cuda_trace("allocate fields", NULL, &reply, GPU_MARK_BEGIN, GPU_MARK_END);
  if (status == HALOTUNE_OK && !scene_has_fields(scene)) return cuda_make_fields(c);
  for (int i = 0; i < stencil->input_count && status == HALOTUNE_OK; i++) status = upload_input(c, scene, i);
  for (int o = 0; o < scene->written_count && status == HALOTUNE_OK; o++) {
    if (c->wire.phase_count > 1)
      status = upload_field(c, GPU_UPLOAD_START, stencil->input_count + o, scene->outputs[o]);
    if (status == HALOTUNE_OK) status = upload_field(c, GPU_UPLOAD_WANT, o, scene->want[o]);
    if (status == HALOTUNE_OK) status = upload_field(c, GPU_UPLOAD_MAGNITUDE, o, scene->magnitudes[o]);
  }
  return status;
}

size_t cuda_write_cubin(struct cuda *c, const struct compiled *compiled, size_t done, struct text *request) {
  size_t left = compiled->cubin_bytes - done, part = left < GPU_WINDOW_BYTES ? left : GPU_WINDOW_BYTES;
  memcpy(c->link.window->bytes, (const char *)compiled->cubin + done, part);
  gpu_request_begin(request, GPU_REQUEST_CUBIN);
  pack_u64(request, done);
  pack_u64(request, part);
  return part;
}

static halotune_status send_cubin(struct cuda *c, const struct compiled *compiled) {
  halotune_status status = HALOTUNE_OK;
  for (size_t done = 0; done < compiled->cubin_bytes && status == HALOTUNE_OK;) {
    struct text request = {0};
    struct gpu_reply reply;
    done += cuda_write_cubin(c, compiled, done, &request);
    status = cuda_ask(c, &request, UPLOAD_MS, &reply);
  }
  return status;
}

void cuda_write_load(int slot, const struct candidate *candidate, bool verifies, struct text *request) {
  const struct variant_spec *spec = candidate->spec;
  struct kernel_plan plan;
  memset(&plan, 0, sizeof plan);
  kernel_plan_make(&candidate->generated->launch, spec->stencil, spec->dtype, &spec->domain, spec->coefficients, &plan);
  gpu_request_begin(request, GPU_REQUEST_LOAD);
  pack_u64(request, (uint64_t)slot);
  pack_u64(request, candidate->is_roof);
  pack_u64(request, verifies);
  pack_bytes(request, &plan, sizeof plan);
  pack_u64(request, candidate->compiled->cubin_bytes);
}

halotune_status cuda_open_gpu(struct cuda *c) {
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_OPEN);
  pack_u64(&request, (uint64_t)c->ordinal);
  halotune_status status = cuda_ask(c, &request, CUDA_START_MS, &reply);
  if (status != HALOTUNE_OK) return status;
  if (reply.payload_bytes != sizeof c->opened) return fail(HALOTUNE_IO, "the GPU's worker sent an invalid answer");
  memcpy(&c->opened, reply.payload, sizeof c->opened);
  return HALOTUNE_OK;
}

halotune_status cuda_prepare(struct cuda *c) {
  struct text request = {0};
  struct gpu_reply reply;
  halotune_status status = send_cubin(c, &c->checks);
  if (status != HALOTUNE_OK) return status;
  gpu_request_begin(&request, GPU_REQUEST_PREPARE);
  pack_u64(&request, c->checks.cubin_bytes);
  return cuda_ask(c, &request, CUDA_START_MS, &reply);
}

/* Give a new worker the problem and the variants of live slots. */
static halotune_status restore_worker(struct cuda *c) {
  halotune_status status = c->has_problem ? cuda_send_problem(c) : HALOTUNE_OK;
  for (int i = 0; i < BACKEND_SLOTS && status == HALOTUNE_OK; i++) {
    struct text request = {0};
    struct gpu_reply reply;
    if (!c->slots[i].is_live) continue;
    if ((status = send_cubin(c, c->slots[i].candidate.compiled)) != HALOTUNE_OK) break;
    cuda_write_load(i, &c->slots[i].candidate, false, &request);
    status = cuda_ask(c, &request, CUDA_START_MS, &reply);
  }
  return status;
}

/* Start a worker and give it all that the program knows.
 *   is_lost  receives whether it died, hung or lost its GPU meanwhile; false if it said that something is impossible */
static halotune_status start_worker(struct cuda *c, bool *is_lost) {
  *is_lost = false;
  halotune_status status = gpu_link_start(&c->link);
  if (status != HALOTUNE_OK) return status;
  status = cuda_open_gpu(c);
  if (status == HALOTUNE_OK) status = cuda_prepare(c);
  if (status == HALOTUNE_OK) status = restore_worker(c);
  if (status == HALOTUNE_OK) return HALOTUNE_OK;
  *is_lost = !gpu_link_is_up(&c->link);
  gpu_link_stop(&c->link);
  return status;
}

halotune_status cuda_ensure_worker(struct cuda *c) {
  struct pollfd idle = {.fd = c->link.socket, .events = POLLIN};
  bool is_lost = true;
  halotune_status status = HALOTUNE_OK;
  if (gpu_link_is_up(&c->link) && poll(&idle, 1, 0) == 0) return HALOTUNE_OK; /* an idle worker sends nothing */
  for (int i = 0; i < CUDA_START_ATTEMPTS && is_lost; i++) status = start_worker(c, &is_lost);
  return status;
}
