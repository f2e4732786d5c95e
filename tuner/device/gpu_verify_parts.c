/* gpu_verify_parts.c: moves the reference over boxes, and compares there. */
#include "tuner/device/gpu_verify_parts.h"

halotune_status gpu_parts_look_at_input(struct gpu_session *s, int buffer, const struct gpu_look *look,
                                        struct gpu_found *out) {
  const long long words = (long long)(dtype_bytes(s->problem.dtype) / sizeof gpu_poison_word);
  struct gpu_look elements = *look;
  elements.front /= words;
  elements.count /= words;
  elements.behind /= words;
  halotune_status status =
      gpu_check_start(&s->checker, s->problem.dtype, s->fields[buffer].memory, s->recipe, buffer, &elements, out);
  if (status != HALOTUNE_OK) return status;
  if (out->bad > 0) out->first_bad *= words;
  if (out->damaged > 0) out->first_damaged *= words;
  return HALOTUNE_OK;
}

/* Compare all outputs with the reference of a piece. */
struct comparing {
  struct gpu_session *s;
  const CUdeviceptr *outputs;
  const struct gpu_look *looks;
  struct gpu_look_back *out;
};

halotune_status gpu_read_bad(struct gpu_session *s, int output, CUdeviceptr got, CUdeviceptr want,
                             struct gpu_look_back *out) {
  const bool is_single = s->problem.dtype == DTYPE_F32;
  double *value = &out->got[output], *reference = &out->want[output];
  float single = 0;
  halotune_status status = gpu_did(
      &s->gpu, s->cu.to_host(is_single ? (void *)&single : value, got, dtype_bytes(s->problem.dtype)), "cuMemcpyDtoH");
  if (is_single) *value = (double)single;
  if (status != HALOTUNE_OK) return status;
  return gpu_did(&s->gpu, s->cu.to_host(reference, want, sizeof *reference), "cuMemcpyDtoH");
}

/* Read both numbers at a bad point of the present piece. */
static halotune_status read_bad(const struct comparing *c, int output, long long at) {
  struct gpu_session *s = c->s;
  long point[MAX_DIMS];
  domain_point(&s->problem.domain, (long)at, point);
  const CUdeviceptr got = c->outputs[output] + (CUdeviceptr)at * dtype_bytes(s->problem.dtype);
  const CUdeviceptr want =
      s->partial.places[0].values[output] + (CUdeviceptr)gpu_partial_index(&s->partial, point) * sizeof(double);
  return gpu_read_bad(s, output, got, want, c->out);
}

/* The part of a piece that an output's launch writes. Returns false if there is none. */
static bool cut_to_written(const struct gpu_look *written, const struct box *piece, struct gpu_look *out) {
  bool is_there = true;
  *out = *written;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (out->low[axis] < piece->low[axis]) out->low[axis] = piece->low[axis];
    if (out->high[axis] > piece->high[axis]) out->high[axis] = piece->high[axis];
    is_there = is_there && out->low[axis] < out->high[axis];
  }
  return is_there;
}

static halotune_status compare_piece(void *context, const struct box *piece) {
  const struct comparing *c = context;
  struct gpu_session *s = c->s;
  halotune_status status = HALOTUNE_OK;
  c->out->compared_points += box_points(piece);
  for (int o = 0; o < s->problem.output_count && status == HALOTUNE_OK; o++) {
    struct gpu_found *all = &c->out->buffers[s->problem.input_count + o], one;
    const struct gpu_place *place = &s->partial.places[0];
    struct gpu_look look;
    if (!cut_to_written(&c->looks[o], piece, &look)) continue;
    status = gpu_check_part(&s->checker, s->problem.dtype, c->outputs[o], place->values[o], place->magnitudes[o], &look,
                            piece, &one);
    if (status != HALOTUNE_OK) break;
    const bool is_first = all->bad == 0 && one.bad > 0;
    const long long first_bad = all->bad > 0 ? all->first_bad : one.first_bad;
    gpu_found_add(all, &one);
    all->first_bad = first_bad;
    if (is_first) status = read_bad(c, o, first_bad);
  }
  return status;
}

/* Read both numbers at an output's first bad point, which no comparison has found. */
static halotune_status read_first_bad(const struct comparing *c, int output) {
  struct gpu_session *s = c->s;
  const long at = (long)c->out->buffers[s->problem.input_count + output].first_bad;
  long point[MAX_DIMS];
  domain_point(&s->problem.domain, at, point);
  const struct box whole = gpu_session_box(s);
  const struct box_pieces pieces = gpu_partial_pieces(&s->partial, &whole);
  const struct box piece = box_piece_at(&pieces, point);
  halotune_status status = gpu_partial_move(&s->partial, &piece);
  return status == HALOTUNE_OK ? read_bad(c, output, at) : status;
}

halotune_status gpu_parts_compare(struct gpu_session *s, const CUdeviceptr outputs[], const struct gpu_look looks[],
                                  struct gpu_look_back *out) {
  struct comparing comparing = {s, outputs, looks, out};
  const struct box whole = gpu_session_box(s);
  halotune_status status = HALOTUNE_OK;
  bool is_wrong = false;
  for (int o = 0; o < s->problem.output_count && status == HALOTUNE_OK; o++) {
    if (out->buffers[s->problem.input_count + o].bad == 0) continue;
    is_wrong = true;
    status = read_first_bad(&comparing, o);
  }
  if (is_wrong) out->compared_points = box_points(&whole);
  if (is_wrong || status != HALOTUNE_OK) return status;
  return gpu_partial_visit(&s->partial, s->compares_all ? &whole : s->drawn, s->compares_all ? 1 : s->drawn_count,
                           compare_piece, &comparing);
}
