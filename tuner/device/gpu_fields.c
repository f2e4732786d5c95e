/* gpu_fields.c: fills a problem's fields: from the program, or by a recipe on the GPU. */
#include "tuner/device/gpu_session.h"

/* Whether a part of a field lies in it. */
static halotune_status check_part(const struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                  size_t byte_count) {
  const struct gpu_problem *p = &s->problem;
  int most = kind == GPU_UPLOAD_START ? gpu_problem_buffers(p) : p->output_count;
  if (!s->has_problem || number < 0 || number >= most) return fail(HALOTUNE_ARGUMENT, "there is no field %d", number);
  size_t room =
      kind == GPU_UPLOAD_START ? p->buffer_bytes[number] : (size_t)domain_elements(&p->domain) * sizeof(double);
  if (offset_bytes <= room && byte_count <= room - offset_bytes) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "%zu bytes from %zu on do not fit field %d", byte_count, offset_bytes, number);
}

/* Find a part of a field. */
static halotune_status find_part(const struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                 size_t byte_count, CUdeviceptr *out) {
  halotune_status status = check_part(s, kind, number, offset_bytes, byte_count);
  if (status != HALOTUNE_OK) return status;
  CUdeviceptr to = kind == GPU_UPLOAD_START  ? s->starts[number]
                   : kind == GPU_UPLOAD_WANT ? s->want[number]
                                             : s->magnitudes[number];
  *out = to + offset_bytes;
  return to ? HALOTUNE_OK : fail(HALOTUNE_ARGUMENT, "field %d has no such content", number);
}

/* Read consecutive points of the reference, part by part. */
static halotune_status read_reference(struct gpu_session *s, enum gpu_upload kind, int output, long first, long count,
                                      double *values) {
  const struct box box = gpu_session_box(s);
  const struct box_pieces pieces = gpu_partial_pieces(&s->partial, &box);
  const struct gpu_place *place = &s->partial.places[0];
  const CUdeviceptr from = kind == GPU_UPLOAD_WANT ? place->values[output] : place->magnitudes[output];
  halotune_status status = HALOTUNE_OK;
  for (long done = 0, now; done < count && status == HALOTUNE_OK; done += now) {
    long point[MAX_DIMS];
    domain_point(&s->problem.domain, first + done, point);
    if (!box_contains(&box, point[0], point[1], point[2]))
      return fail(HALOTUNE_ARGUMENT, "the reference has no point (%ld, %ld, %ld)", point[0], point[1], point[2]);
    const struct box piece = box_piece_at(&pieces, point);
    now = piece.high[0] - point[0] < count - done ? piece.high[0] - point[0] : count - done;
    status = gpu_partial_move(&s->partial, &piece);
    if (status == HALOTUNE_OK) {
      const CUdeviceptr begin = from + (CUdeviceptr)gpu_partial_index(&s->partial, point) * sizeof *values;
      status = gpu_did(&s->gpu, s->cu.to_host(values + done, begin, (size_t)now * sizeof *values), "cuMemcpyDtoH");
    }
  }
  return status;
}

halotune_status gpu_session_download(struct gpu_session *s, enum gpu_upload kind, int number, size_t offset_bytes,
                                     void *bytes, size_t byte_count) {
  CUdeviceptr from = 0;
  if (!s->in_parts) {
    halotune_status status = find_part(s, kind, number, offset_bytes, byte_count, &from);
    return status == HALOTUNE_OK ? gpu_did(&s->gpu, s->cu.to_host(bytes, from, byte_count), "cuMemcpyDtoH") : status;
  }
  halotune_status status = check_part(s, kind, number, offset_bytes, byte_count);
  if (status != HALOTUNE_OK) return status;
  if (!s->partial.checker) return fail(HALOTUNE_ARGUMENT, "the fields are not made yet");
  if (kind != GPU_UPLOAD_START)
    return read_reference(s, kind, number, (long)(offset_bytes / sizeof(double)), (long)(byte_count / sizeof(double)),
                          bytes);
  return gpu_did(&s->gpu, s->cu.to_host(bytes, s->fields[number].data + offset_bytes, byte_count), "cuMemcpyDtoH");
}

/* Whether a recipe belongs to the session's problem, so that its kernels stay within the fields. */
static bool is_recipe_of(const struct gpu_problem *problem, const struct gpu_recipe *recipe) {
  bool fits = recipe->input_count == problem->input_count && recipe->input_count <= GPU_RECIPE_INPUTS &&
              recipe->output_count == problem->output_count;
  for (int axis = 0; axis < MAX_DIMS; axis++) fits = fits && recipe->n[axis] == problem->domain.grid.n[axis];
  for (int i = 0; i < problem->input_count && fits; i++) fits = recipe->sources[i] < problem->output_count;
  return fits && recipe->steps >= 1;
}

/* Compute the reference of the whole grid. */
static halotune_status make_reference(struct gpu_session *s, const struct gpu_steps *steps, struct gpu_found *found) {
  const struct gpu_problem *p = &s->problem;
  const struct grid *grid = &p->domain.grid;
  const struct box whole = {{0, 0, 0}, {grid->n[0], grid->n[1], grid->n[2]}};
  struct gpu_place places[2] = {{.values = {0}}};
  halotune_status status = HALOTUNE_OK;
  for (int o = 0; o < p->output_count; o++) {
    places[0].values[o] = s->want[o];
    places[0].magnitudes[o] = s->magnitudes[o];
  }
  if (steps->count > 1) status = gpu_place_make(&s->gpu, p->output_count, domain_elements(&p->domain), &places[1]);
  if (status == HALOTUNE_OK) status = gpu_steps_run(steps, &s->checker, s->starts, places, &whole, found);
  gpu_place_free(&s->gpu, &places[1]);
  return status;
}

static halotune_status make_whole(struct gpu_session *s, const struct gpu_steps *steps, struct gpu_made *out) {
  struct gpu_found found = gpu_found_nothing();
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < gpu_problem_buffers(&s->problem) && status == HALOTUNE_OK; i++) {
    if (s->starts[i]) status = gpu_fill(&s->checker, s->problem.dtype, s->starts[i], s->recipe, i);
  }
  if (status == HALOTUNE_OK) status = make_reference(s, steps, &found);
  out->bad_points = found.bad;
  out->first_bad = found.first_bad;
  return status;
}

/* Fill the fields, and compute the reference of all boxes that will be compared, to see that it is finite there. */
static halotune_status make_in_parts(struct gpu_session *s, const struct gpu_steps *steps, struct gpu_made *out) {
  enum { WINDOW_MOST_BYTES = 256 << 20, WINDOW_PART = 4 };
  const struct box box = gpu_session_box(s);
  size_t free_bytes = 0, total_bytes = 0;
  halotune_status status = gpu_did(&s->gpu, s->cu.mem_info(&free_bytes, &total_bytes), "cuMemGetInfo");
  if (status != HALOTUNE_OK) return status;
  const size_t most = free_bytes / WINDOW_PART < WINDOW_MOST_BYTES ? free_bytes / WINDOW_PART : WINDOW_MOST_BYTES;
  status = gpu_partial_open(&s->checker, steps, &box, most, &s->partial);
  if (status != HALOTUNE_OK) return status;
  gpu_session_make_roof(s);
  s->drawn_count = drawn_boxes(&box, s->problem.seed, s->drawn);
  for (int i = 0; i < s->drawn_count; i++) out->drawn_points += box_points(&s->drawn[i]);
  for (int i = 0; i < gpu_problem_buffers(&s->problem) && status == HALOTUNE_OK; i++) {
    if (gpu_problem_has_start(&s->problem, i)) status = gpu_session_restart(s, i, s->fields[i].data);
  }
  return status == HALOTUNE_OK ? gpu_partial_visit(&s->partial, s->drawn, s->drawn_count, NULL, NULL) : status;
}

static halotune_status make_recipe(struct gpu_session *s, const struct gpu_recipe *recipe) {
  halotune_status status = s->recipe ? HALOTUNE_OK : gpu_allocate(&s->gpu, sizeof *recipe, &s->recipe);
  if (status == HALOTUNE_OK)
    status = gpu_did(&s->gpu, s->cu.to_device(s->recipe, recipe, sizeof *recipe), "cuMemcpyHtoD");
  /* The session's stream does not wait for other streams. */
  return status == HALOTUNE_OK ? gpu_did(&s->gpu, s->cu.ctx_synchronize(), "cuMemcpyHtoD") : status;
}

halotune_status gpu_session_make_fields(struct gpu_session *s, const struct gpu_recipe *recipe, struct gpu_made *out) {
  const struct gpu_problem *p = &s->problem;
  *out = (struct gpu_made){0};
  if (!s->has_problem || !is_recipe_of(p, recipe)) return fail(HALOTUNE_ARGUMENT, "the recipe is of another problem");
  s->applications = -1;
  gpu_partial_close(&s->partial);
  halotune_status status = make_recipe(s, recipe);
  const struct gpu_steps steps = gpu_steps_make(recipe, p->dtype, s->recipe);
  if (status == HALOTUNE_OK && !s->in_parts) {
    status = make_whole(s, &steps, out);
    const bool lacks_memory = status != HALOTUNE_OK && s->gpu.failed == CUDA_ERROR_OUT_OF_MEMORY;
    if (lacks_memory && p->is_made_here) {
      gpu_session_drop_copies(s); /* several steps need more memory than one */
      status = HALOTUNE_OK;
    }
  }
  if (status == HALOTUNE_OK && s->in_parts) status = make_in_parts(s, &steps, out);
  if (!s->in_parts && s->recipe) {
    s->cu.mem_free(s->recipe); /* copies have all that it says */
    s->recipe = 0;
  }
  if (status == HALOTUNE_OK || s->gpu.failed != CUDA_ERROR_OUT_OF_MEMORY) return status;
  gpu_clear(&s->gpu);
  return fail(s->in_parts ? HALOTUNE_MEMORY : HALOTUNE_NOT_FOUND,
              "the GPU has no memory for making inputs and reference");
}

halotune_status gpu_session_restart(struct gpu_session *s, int buffer, CUdeviceptr to) {
  const struct gpu_problem *p = &s->problem;
  if (s->in_parts) return gpu_fill(&s->checker, p->dtype, to, s->recipe, buffer);
  return gpu_did(&s->gpu, s->cu.copy_async(to, s->starts[buffer], p->buffer_bytes[buffer], s->stream),
                 "cuMemcpyDtoDAsync");
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
