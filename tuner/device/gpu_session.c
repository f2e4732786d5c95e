/* gpu_session.c: opens the GPU, and allocates a problem's fields. */
#include "tuner/device/gpu_session.h"

#include <string.h>

halotune_status gpu_session_open(int ordinal, struct gpu_session *out) {
  memset(out, 0, sizeof *out);
  out->gpu.cu = &out->cu;
  halotune_status status = cu_open(&out->cu);
  if (status == HALOTUNE_OK) status = device_open(&out->cu, ordinal, &out->device);
  if (status == HALOTUNE_OK)
    status = gpu_did(&out->gpu, out->cu.stream_create(&out->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (status == HALOTUNE_OK)
    status = gpu_did(&out->gpu, out->cu.event_create(&out->start, CU_EVENT_DEFAULT), "cuEventCreate");
  if (status == HALOTUNE_OK)
    status = gpu_did(&out->gpu, out->cu.event_create(&out->end, CU_EVENT_DEFAULT), "cuEventCreate");
  return status;
}

halotune_status gpu_session_prepare(struct gpu_session *s, const void *cubin) {
  enum { BLOCKS_PER_SM = 8 };
  int blocks = s->device.facts.sm_count * BLOCKS_PER_SM;
  if (blocks < 1) blocks = 1;
  if (blocks > GPU_CHECK_MAX_BLOCKS) blocks = GPU_CHECK_MAX_BLOCKS;
  gpu_checker_free(&s->checker);
  return gpu_checker_load(&s->gpu, cubin, s->stream, blocks, &s->checker);
}

static void free_pointer(struct gpu_session *s, CUdeviceptr *pointer) {
  if (*pointer) s->cu.mem_free(*pointer);
  *pointer = 0;
}

/* Free copies of inputs, and the reference. */
static void free_copies(struct gpu_session *s) {
  for (int i = 0; i < 2 * MAX_FIELDS; i++) free_pointer(s, &s->starts[i]);
  for (int i = 0; i < MAX_FIELDS; i++) {
    free_pointer(s, &s->want[i]);
    free_pointer(s, &s->magnitudes[i]);
  }
}

static void free_fields(struct gpu_session *s) {
  free_copies(s);
  for (int i = 0; i < 2 * MAX_FIELDS; i++) gpu_buffer_free(&s->gpu, &s->fields[i]);
  gpu_rotation_free(&s->gpu, &s->rotation);
}

static void free_problem(struct gpu_session *s) {
  for (int i = 0; i < GPU_SLOTS; i++) gpu_session_unload(s, i);
  gpu_session_unload(s, GPU_SLOT_EMPTY);
  gpu_session_unload(s, GPU_SLOT_MEMCPY);
  gpu_partial_close(&s->partial);
  free_pointer(s, &s->recipe);
  free_fields(s);
  gpu_rotation_free(&s->gpu, &s->roof);
  s->has_problem = false;
}

void gpu_session_close(struct gpu_session *s) {
  if (s->cu.library && s->device.context) {
    free_problem(s);
    gpu_checker_free(&s->checker);
    if (s->start) s->cu.event_destroy(s->start);
    if (s->end) s->cu.event_destroy(s->end);
    if (s->stream) s->cu.stream_destroy(s->stream);
    device_close(&s->device);
  }
  cu_close(&s->cu);
}

/* The number of sets of fields that are used in turn. */
static int rotation_sets(const struct gpu_session *s, const struct gpu_problem *problem, size_t set_bytes) {
  return problem->cache == CACHE_COLD ? gpu_rotation_sets(set_bytes, s->device.facts.l2_bytes) : 1;
}

/* The bytes of the fields, with guards and rotation. */
static size_t bytes_of_fields(const struct gpu_session *s, const struct gpu_problem *problem) {
  const size_t set_bytes = gpu_problem_set_bytes(problem);
  const int buffers = gpu_problem_buffers(problem), sets = rotation_sets(s, problem, set_bytes);
  size_t total = 0;
  for (int i = 0; i < buffers; i++) total += gpu_buffer_total(problem->buffer_bytes[i], problem->guard_bytes);
  if (sets > 1) total += (size_t)sets * (set_bytes + (size_t)buffers * GPU_ALIGN_BYTES);
  return total;
}

/* The bytes of copies of the first contents, and of the reference. */
static size_t bytes_of_copies(const struct gpu_problem *problem) {
  const size_t points = (size_t)domain_elements(&problem->domain);
  size_t total = 0;
  for (int i = 0; i < gpu_problem_buffers(problem); i++) {
    if (gpu_problem_has_start(problem, i)) total += problem->buffer_bytes[i];
  }
  return total + 2 * (size_t)problem->output_count * points * sizeof(double);
}

/* Allocate the fields.
 *   copies  also copies of the first contents, and the reference */
static halotune_status allocate_fields(struct gpu_session *s, const struct gpu_problem *problem, bool copies) {
  const size_t doubles = (size_t)domain_elements(&problem->domain) * sizeof(double);
  int buffers = gpu_problem_buffers(problem), sets = rotation_sets(s, problem, gpu_problem_set_bytes(problem));
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < buffers && status == HALOTUNE_OK; i++) {
    const size_t bytes = problem->buffer_bytes[i];
    status = gpu_buffer_make(&s->gpu, bytes, problem->guard_bytes, &s->fields[i]);
    if (status == HALOTUNE_OK && copies && gpu_problem_has_start(problem, i))
      status = gpu_allocate(&s->gpu, bytes, &s->starts[i]);
  }
  for (int o = 0; o < problem->output_count && copies && status == HALOTUNE_OK; o++) {
    status = gpu_allocate(&s->gpu, doubles, &s->want[o]);
    if (status == HALOTUNE_OK) status = gpu_allocate(&s->gpu, doubles, &s->magnitudes[o]);
  }
  if (status == HALOTUNE_OK && sets > 1)
    status = gpu_rotation_make(&s->gpu, sets, buffers, problem->buffer_bytes, s->stream, &s->rotation);
  return status;
}

/* Allocate all of a problem; or, where the GPU makes its fields and all does not fit, the fields alone. */
static halotune_status allocate_problem(struct gpu_session *s, const struct gpu_problem *problem, size_t free_bytes) {
  halotune_status status = HALOTUNE_OK;
  s->in_parts = problem->is_made_here && bytes_of_fields(s, problem) + bytes_of_copies(problem) > free_bytes;
  if (!s->in_parts) status = allocate_fields(s, problem, true);
  if (status != HALOTUNE_OK && problem->is_made_here && s->gpu.failed == CUDA_ERROR_OUT_OF_MEMORY) {
    free_fields(s);
    gpu_clear(&s->gpu);
    s->in_parts = true;
  }
  return s->in_parts ? allocate_fields(s, problem, false) : status;
}

void gpu_session_drop_copies(struct gpu_session *s) {
  free_copies(s);
  gpu_rotation_free(&s->gpu, &s->roof);
  gpu_clear(&s->gpu);
  s->in_parts = true;
}

void gpu_session_make_roof(struct gpu_session *s) {
  const struct gpu_problem *problem = &s->problem;
  size_t bytes = (size_t)problem->roof_elements * dtype_bytes(problem->dtype);
  if (bytes == 0) return;
  const size_t both[] = {bytes, bytes};
  if (gpu_rotation_make(&s->gpu, rotation_sets(s, problem, 2 * bytes), 2, both, s->stream, &s->roof) == HALOTUNE_OK)
    return;
  gpu_clear(&s->gpu);
  const struct gpu_buffer *from = &s->fields[0], *to = &s->fields[problem->input_count];
  if (s->in_parts && bytes <= from->bytes && bytes <= to->bytes) s->roof = gpu_rotation_borrow(from->data, to->data);
}

static halotune_status too_large(struct gpu_session *s, size_t needed) {
  size_t free_bytes = 0, total_bytes = 0;
  const double giga = 1e9;
  s->cu.mem_info(&free_bytes, &total_bytes);
  return fail(HALOTUNE_MEMORY, "the problem needs %.2f GB; %.2f GB of the GPU's %.2f GB are free",
              (double)needed / giga, (double)free_bytes / giga, (double)total_bytes / giga);
}

halotune_status gpu_session_problem(struct gpu_session *s, const struct gpu_problem *problem) {
  size_t needed = bytes_of_fields(s, problem) + (problem->is_made_here ? 0 : bytes_of_copies(problem));
  size_t free_bytes = 0, total_bytes = 0;
  free_problem(s);
  gpu_clear(&s->gpu);
  halotune_status status = gpu_did(&s->gpu, s->cu.mem_info(&free_bytes, &total_bytes), "cuMemGetInfo");
  if (status != HALOTUNE_OK) return status;
  if (needed > free_bytes) return too_large(s, needed);
  status = allocate_problem(s, problem, free_bytes);
  if (status != HALOTUNE_OK) {
    bool memory = s->gpu.failed == CUDA_ERROR_OUT_OF_MEMORY;
    free_problem(s);
    return memory ? too_large(s, needed) : status;
  }
  s->problem = *problem;
  s->has_problem = true;
  if (!s->in_parts) gpu_session_make_roof(s); /* otherwise the reference comes first */
  s->phase = 0;
  s->applications = -1;
  s->last = -1;
  for (int i = 0; i < gpu_problem_buffers(problem) && status == HALOTUNE_OK; i++) {
    status = gpu_buffer_poison(&s->gpu, &s->fields[i], s->stream);
  }
  return status;
}

bool gpu_session_is_lost(const struct gpu_session *s) { return s->is_damaged || gpu_is_dead(&s->gpu); }
