/* gpu_session.c: opens the GPU, and makes and fills a problem's fields. */
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

static void free_problem(struct gpu_session *s) {
  for (int i = 0; i < GPU_SLOTS; i++) gpu_session_unload(s, i);
  gpu_session_unload(s, GPU_SLOT_EMPTY);
  gpu_session_unload(s, GPU_SLOT_MEMCPY);
  for (int i = 0; i < 2 * MAX_FIELDS; i++) {
    gpu_buffer_free(&s->gpu, &s->fields[i]);
    free_pointer(s, &s->starts[i]);
  }
  for (int i = 0; i < MAX_FIELDS; i++) {
    free_pointer(s, &s->want[i]);
    free_pointer(s, &s->magnitudes[i]);
  }
  gpu_rotation_free(&s->gpu, &s->rotation);
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

/* Whether a buffer's first content is kept. It is kept for inputs, and for outputs that become inputs. */
static bool has_start(const struct gpu_problem *problem, int buffer) {
  return buffer < problem->input_count || problem->phase_count > 1;
}

/* The number of sets of fields that are used in turn. */
static int rotation_sets(const struct gpu_session *s, const struct gpu_problem *problem, size_t set_bytes) {
  return problem->cache == CACHE_COLD ? gpu_rotation_sets(set_bytes, s->device.facts.l2_bytes) : 1;
}

static size_t bytes_needed(const struct gpu_session *s, const struct gpu_problem *problem) {
  const size_t points = (size_t)domain_elements(&problem->domain), set_bytes = gpu_problem_set_bytes(problem);
  size_t total = 0;
  int buffers = gpu_problem_buffers(problem);
  for (int i = 0; i < buffers; i++) {
    const size_t bytes = problem->buffer_bytes[i];
    total += gpu_buffer_total(bytes, problem->guard_bytes) + (has_start(problem, i) ? bytes : 0);
  }
  int sets = rotation_sets(s, problem, set_bytes);
  if (sets > 1) total += (size_t)sets * (set_bytes + (size_t)buffers * GPU_ALIGN_BYTES);
  return total + 2 * (size_t)problem->output_count * points * sizeof(double);
}

static halotune_status allocate_memory(struct gpu_session *s, size_t bytes, CUdeviceptr *out) {
  return gpu_did(&s->gpu, s->cu.mem_alloc(out, bytes), "cuMemAlloc");
}

static halotune_status make_fields(struct gpu_session *s, const struct gpu_problem *problem) {
  const size_t doubles = (size_t)domain_elements(&problem->domain) * sizeof(double);
  int buffers = gpu_problem_buffers(problem), sets = rotation_sets(s, problem, gpu_problem_set_bytes(problem));
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < buffers && status == HALOTUNE_OK; i++) {
    const size_t bytes = problem->buffer_bytes[i];
    status = gpu_buffer_make(&s->gpu, bytes, problem->guard_bytes, &s->fields[i]);
    if (status == HALOTUNE_OK && has_start(problem, i)) status = allocate_memory(s, bytes, &s->starts[i]);
  }
  for (int o = 0; o < problem->output_count && status == HALOTUNE_OK; o++) {
    status = allocate_memory(s, doubles, &s->want[o]);
    if (status == HALOTUNE_OK) status = allocate_memory(s, doubles, &s->magnitudes[o]);
  }
  if (status == HALOTUNE_OK && sets > 1)
    status = gpu_rotation_make(&s->gpu, sets, buffers, problem->buffer_bytes, s->stream, &s->rotation);
  return status;
}

/* Make the fields of the roof. If that fails, the run continues without a roof. */
static void make_roof(struct gpu_session *s, const struct gpu_problem *problem) {
  size_t bytes = (size_t)problem->roof_elements * dtype_bytes(problem->dtype);
  if (bytes == 0) return;
  const size_t both[] = {bytes, bytes};
  if (gpu_rotation_make(&s->gpu, rotation_sets(s, problem, 2 * bytes), 2, both, s->stream, &s->roof) != HALOTUNE_OK) {
    gpu_clear(&s->gpu);
  }
}

static halotune_status too_large(struct gpu_session *s, size_t needed) {
  size_t free_bytes = 0, total_bytes = 0;
  const double giga = 1e9;
  s->cu.mem_info(&free_bytes, &total_bytes);
  return fail(HALOTUNE_MEMORY, "the problem needs %.2f GB; %.2f GB of the GPU's %.2f GB are free",
              (double)needed / giga, (double)free_bytes / giga, (double)total_bytes / giga);
}

halotune_status gpu_session_problem(struct gpu_session *s, const struct gpu_problem *problem) {
  size_t needed = bytes_needed(s, problem), free_bytes = 0, total_bytes = 0;
  free_problem(s);
  gpu_clear(&s->gpu);
  halotune_status status = gpu_did(&s->gpu, s->cu.mem_info(&free_bytes, &total_bytes), "cuMemGetInfo");
  if (status != HALOTUNE_OK) return status;
  if (needed > free_bytes) return too_large(s, needed);
  status = make_fields(s, problem);
  if (status != HALOTUNE_OK) {
    bool memory = s->gpu.failed == CUDA_ERROR_OUT_OF_MEMORY;
    free_problem(s);
    return memory ? too_large(s, needed) : status;
  }
  make_roof(s, problem);
  s->problem = *problem;
  s->has_problem = true;
  s->phase = 0;
  s->applications = -1;
  for (int i = 0; i < gpu_problem_buffers(problem) && status == HALOTUNE_OK; i++) {
    status = gpu_buffer_poison(&s->gpu, &s->fields[i], s->stream);
  }
  return status;
}

/* Find a part of a field. */
static halotune_status find_part(const struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                 size_t byte_count, CUdeviceptr *out) {
  const struct gpu_problem *p = &s->problem;
  int most = kind == GPU_UPLOAD_START ? gpu_problem_buffers(p) : p->output_count;
  if (!s->has_problem || number < 0 || number >= most) return fail(HALOTUNE_ARGUMENT, "there is no field %d", number);
  size_t room =
      kind == GPU_UPLOAD_START ? p->buffer_bytes[number] : (size_t)domain_elements(&p->domain) * sizeof(double);
  CUdeviceptr to = kind == GPU_UPLOAD_START  ? s->starts[number]
                   : kind == GPU_UPLOAD_WANT ? s->want[number]
                                             : s->magnitudes[number];
  if (!to || offset_bytes > room || byte_count > room - offset_bytes) {
    return fail(HALOTUNE_ARGUMENT, "%zu bytes from %zu on do not fit field %d", byte_count, offset_bytes, number);
  }
  *out = to + offset_bytes;
  return HALOTUNE_OK;
}

halotune_status gpu_session_download(struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                     void *bytes, size_t byte_count) {
  CUdeviceptr from = 0;
  halotune_status status = find_part(s, kind, number, offset_bytes, byte_count, &from);
  return status == HALOTUNE_OK ? gpu_did(&s->gpu, s->cu.to_host(bytes, from, byte_count), "cuMemcpyDtoH") : status;
}

/* Whether a recipe belongs to the session's problem, so that its kernels stay within the fields. */
static bool is_recipe_of(const struct gpu_problem *problem, const struct gpu_recipe *recipe) {
  bool fits = recipe->input_count == problem->input_count && recipe->input_count <= GPU_RECIPE_INPUTS &&
              recipe->output_count == problem->output_count;
  for (int axis = 0; axis < MAX_DIMS; axis++) fits = fits && recipe->n[axis] == problem->domain.grid.n[axis];
  for (int i = 0; i < problem->input_count && fits; i++) fits = recipe->sources[i] < problem->output_count;
  return fits && recipe->steps >= 1;
}

/* The results of a step of the reference for each output. */
struct computed {
  CUdeviceptr values[MAX_FIELDS], magnitudes[MAX_FIELDS];
};

/* Compute all outputs of a step.
 *   before  results of the step before; NULL: this is the first step */
static halotune_status reference_step(struct gpu_session *s, const struct gpu_recipe *recipe, CUdeviceptr copy,
                                      const struct computed *before, const struct computed *to,
                                      struct gpu_found *found) {
  const struct gpu_problem *p = &s->problem;
  struct gpu_reference_inputs inputs = {{0}, {0}, {0}};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < p->input_count; i++) {
    inputs.starts[i] = s->starts[i];
    if (!before || recipe->sources[i] < 0) continue;
    inputs.values[i] = before->values[recipe->sources[i]];
    inputs.magnitudes[i] = before->magnitudes[recipe->sources[i]];
  }
  for (int o = 0; o < p->output_count && status == HALOTUNE_OK; o++) {
    struct gpu_found one;
    status = gpu_reference(&s->checker, p->dtype, copy, &inputs, o, to->values[o], to->magnitudes[o], &one);
    if (status == HALOTUNE_OK) gpu_found_add(found, &one);
  }
  return status;
}

/* Compute the reference. Steps take turns between its place and another one, so that the last one ends in its place. */
static halotune_status make_reference(struct gpu_session *s, const struct gpu_recipe *recipe, CUdeviceptr copy,
                                      struct gpu_found *found) {
  const struct gpu_problem *p = &s->problem;
  const size_t bytes = (size_t)domain_elements(&p->domain) * sizeof(double);
  struct computed places[2] = {{.values = {0}}};
  halotune_status status = HALOTUNE_OK;
  for (int o = 0; o < p->output_count && status == HALOTUNE_OK; o++) {
    places[0].values[o] = s->want[o];
    places[0].magnitudes[o] = s->magnitudes[o];
    if (recipe->steps == 1) continue;
    status = allocate_memory(s, bytes, &places[1].values[o]);
    if (status == HALOTUNE_OK) status = allocate_memory(s, bytes, &places[1].magnitudes[o]);
  }
  for (long long left = recipe->steps; left > 0 && status == HALOTUNE_OK; left--) {
    const struct computed *before = left < recipe->steps ? &places[left % 2] : NULL;
    status = reference_step(s, recipe, copy, before, &places[(left - 1) % 2], found);
  }
  for (int o = 0; o < p->output_count; o++) {
    free_pointer(s, &places[1].values[o]);
    free_pointer(s, &places[1].magnitudes[o]);
  }
  return status;
}

halotune_status gpu_session_make_fields(struct gpu_session *s, const struct gpu_recipe *recipe,
                                        struct gpu_found *found) {
  const struct gpu_problem *p = &s->problem;
  CUdeviceptr copy = 0;
  *found = gpu_found_nothing();
  if (!s->has_problem || !is_recipe_of(p, recipe)) return fail(HALOTUNE_ARGUMENT, "the recipe is of another problem");
  s->applications = -1;
  halotune_status status = allocate_memory(s, sizeof *recipe, &copy);
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.to_device(copy, recipe, sizeof *recipe), "cuMemcpyHtoD");
  /* The session's stream does not wait for other streams. */
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.ctx_synchronize(), "cuMemcpyHtoD");
  for (int i = 0; i < gpu_problem_buffers(p) && status == HALOTUNE_OK; i++) {
    if (s->starts[i]) status = gpu_fill(&s->checker, p->dtype, s->starts[i], copy, i);
  }
  if (status == HALOTUNE_OK) status = make_reference(s, recipe, copy, found);
  free_pointer(s, &copy);
  if (status == HALOTUNE_OK || s->gpu.failed != CUDA_ERROR_OUT_OF_MEMORY) return status;
  gpu_clear(&s->gpu);
  return fail(HALOTUNE_NOT_FOUND, "the GPU has no memory for making inputs and reference");
}

halotune_status gpu_session_upload(struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                   const void *bytes, size_t byte_count) {
  CUdeviceptr to = 0;
  halotune_status status = find_part(s, kind, number, offset_bytes, byte_count, &to);
  if (status != HALOTUNE_OK) return status;
  s->applications = -1;
  status = gpu_did(&s->gpu, s->cu.to_device(to, bytes, byte_count), "cuMemcpyHtoD");
  /* The call may return before the last bytes are copied, and the session's stream does not wait for other streams. */
  return status == HALOTUNE_OK ? gpu_did(&s->gpu, s->cu.ctx_synchronize(), "cuMemcpyHtoD") : status;
}

bool gpu_session_is_lost(const struct gpu_session *s) { return s->is_damaged || gpu_is_dead(&s->gpu); }
