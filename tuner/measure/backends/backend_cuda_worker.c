/* backend_cuda_worker.c: starts worker processes, and gives them GPU, problem and the variants of live slots. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/system/trace.h"
#include "base/system/transfer.h"
#include "tuner/measure/backends/backend_cuda_parts.h"
#include "tuner/measure/backends/backend_cuda_upload.h"

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

/* Fill a part of a field from the window. */
static halotune_status send_part(void *to, enum gpu_upload kind, int number, size_t offset_bytes, size_t byte_count) {
  struct cuda *c = to;
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_UPLOAD);
  pack_u64(&request, kind);
  pack_u64(&request, (uint64_t)number);
  pack_u64(&request, offset_bytes);
  pack_u64(&request, byte_count);
  return cuda_ask(c, &request, UPLOAD_MS, &reply);
}

halotune_status cuda_allocate_problem(struct cuda *c) {
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_PROBLEM);
  pack_bytes(&request, &c->wire, sizeof c->wire);
  halotune_status status = cuda_ask(c, &request, CUDA_START_MS, &reply);
  cuda_trace("allocate fields", NULL, &reply, GPU_MARK_BEGIN, GPU_MARK_END);
  return status;
}

halotune_status cuda_send_problem(struct cuda *c) {
  const struct scene *scene = c->problem.scene;
  halotune_status status = cuda_allocate_problem(c);
  if (status == HALOTUNE_OK && !scene_has_fields(scene)) return cuda_make_fields(c);
  const struct cuda_upload upload = {c->link.window->bytes, send_part, c};
  return status == HALOTUNE_OK ? cuda_upload_scene(&upload, &c->wire, scene) : status;
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

void cuda_write_load(int slot, const struct candidate *candidate, bool verifies, const struct gpu_results *results,
                     struct text *request) {
  const struct variant_spec *spec = candidate->spec;
  struct kernel_plan plan;
  memset(&plan, 0, sizeof plan);
  kernel_plan_make(&candidate->generated->launch, spec->stencil, spec->dtype, &spec->domain, spec->coefficients, &plan);
  gpu_request_begin(request, GPU_REQUEST_LOAD);
  pack_u64(request, (uint64_t)slot);
  pack_u64(request, candidate->is_roof);
  pack_u64(request, verifies);
  pack_bytes(request, &plan, sizeof plan);
  pack_bytes(request, results, sizeof *results);
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
    cuda_write_load(i, &c->slots[i].candidate, false, &c->slots[i].results, &request);
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
  bool is_lost = true;
  halotune_status status = HALOTUNE_OK;
  /* An idle worker sends nothing, and the socket of a dead one is ready. */
  if (gpu_link_is_up(&c->link) && !ready_until(c->link.socket, POLLIN, clock_ms())) return HALOTUNE_OK;
  for (int i = 0; i < CUDA_START_ATTEMPTS && is_lost; i++) status = start_worker(c, &is_lost);
  return status;
}
