/* gpu_verify.c: runs a variant once on fresh fields, and checks every element of them. If the reference exists in
 * parts, gpu_verify_parts.c compares it. */
#include <string.h>

#include "base/system/clock.h"
#include "tuner/device/gpu_verify_parts.h"

/* The input of a check; one element has `unit` bytes. */
static struct gpu_look look_at(const struct gpu_session *s, const struct gpu_buffer *buffer, size_t unit) {
  const struct domain *d = &s->problem.domain;
  struct gpu_look look = {.front = (long long)(buffer->front_bytes / unit),
                          .count = (long long)(buffer->bytes / unit),
                          .behind = (long long)(buffer->behind_bytes / unit),
                          .nx = d->grid.n[0],
                          .ny = d->grid.n[1],
                          .rounding = s->problem.rounding,
                          .allowed_units = s->problem.allowed_units};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    look.low[axis] = d->low[axis];
    look.high[axis] = d->high[axis];
  }
  return look;
}

/* The input of a check of an output. A launch writes a part of the box of it. */
static struct gpu_look look_at_written(const struct gpu_session *s, const struct gpu_buffer *buffer, int output) {
  struct gpu_look look = look_at(s, buffer, dtype_bytes(s->problem.dtype));
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    look.low[axis] = s->problem.written_low[output][axis];
    look.high[axis] = s->problem.written_high[output][axis];
  }
  return look;
}

/* Note a write outside of a field. It may have reached memory beyond the guards. */
static void note_damage(struct gpu_session *s, const struct gpu_buffer *buffer, const struct gpu_found *found,
                        size_t unit) {
  if (found->damaged == 0) return;
  if (found->first_damaged < 0 || found->first_damaged >= (long long)(buffer->bytes / unit)) s->is_damaged = true;
}

static halotune_status look_at_input(struct gpu_session *s, int buffer, bool compares, struct gpu_found *out) {
  const struct gpu_buffer *field = &s->fields[buffer];
  struct gpu_look look = look_at(s, field, sizeof gpu_poison_word);
  look.compares = compares;
  halotune_status status = s->in_parts ? gpu_parts_look_at_input(s, buffer, &look, out)
                                       : gpu_check_input(&s->checker, field->memory, s->starts[buffer], &look, out);
  if (status == HALOTUNE_OK) note_damage(s, field, out, sizeof gpu_poison_word);
  return status;
}

static halotune_status look_at_output(struct gpu_session *s, int output, bool compares, bool keeps_poison,
                                      struct gpu_found *out) {
  const struct gpu_problem *p = &s->problem;
  const struct gpu_buffer *buffer = &s->fields[p->input_count + output];
  struct gpu_look look = look_at_written(s, buffer, output);
  look.compares = compares;
  look.keeps_poison = keeps_poison;
  halotune_status status =
      gpu_check(&s->checker, p->dtype, buffer->memory, s->want[output], s->magnitudes[output], &look, out);
  if (status == HALOTUNE_OK) note_damage(s, buffer, out, dtype_bytes(p->dtype));
  return status;
}

/* Read the numbers at the first bad point of an output, if there is one.
 *   data  the output's first element */
static halotune_status fetch_bad(struct gpu_session *s, int output, CUdeviceptr data, struct gpu_look_back *out) {
  const struct gpu_found *found = &out->buffers[s->problem.input_count + output];
  if (found->bad == 0) return HALOTUNE_OK;
  const size_t bytes = dtype_bytes(s->problem.dtype), at = (size_t)found->first_bad;
  return gpu_read_bad(s, output, data + at * bytes, s->want[output] + at * sizeof(double), out);
}

/* Compare outputs at any addresses where the drawn boxes are, or everywhere; see gpu_parts_compare. */
static halotune_status compare_in_parts(struct gpu_session *s, const CUdeviceptr outputs[], struct gpu_look_back *out) {
  struct gpu_look looks[MAX_FIELDS];
  const struct gpu_buffer bare = {.bytes = gpu_problem_bytes(&s->problem)};
  for (int o = 0; o < s->problem.output_count; o++) looks[o] = look_at_written(s, &bare, o);
  return gpu_parts_compare(s, outputs, looks, out);
}

static long long points_compared(const struct gpu_session *s) {
  const struct box box = gpu_session_box(s);
  return box_points(&box);
}

/* Check all fields. In parts, each point of the outputs is checked first for what needs no reference. */
static halotune_status look_at_all(struct gpu_session *s, struct gpu_look_back *out) {
  const struct gpu_problem *p = &s->problem;
  CUdeviceptr outputs[MAX_FIELDS] = {0};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < p->input_count && status == HALOTUNE_OK; i++)
    status = look_at_input(s, i, true, &out->buffers[i]);
  for (int o = 0; o < p->output_count && status == HALOTUNE_OK; o++) {
    const int buffer = p->input_count + o;
    outputs[o] = s->fields[buffer].data;
    status = look_at_output(s, o, !s->in_parts, true, &out->buffers[buffer]);
    if (status == HALOTUNE_OK && !s->in_parts) status = fetch_bad(s, o, outputs[o], out);
  }
  if (s->in_parts) return status == HALOTUNE_OK ? compare_in_parts(s, outputs, out) : status;
  out->compared_points = points_compared(s);
  return status;
}

halotune_status gpu_session_compare(struct gpu_session *s, const CUdeviceptr outputs[], struct gpu_look_back *out) {
  const struct gpu_problem *p = &s->problem;
  const struct gpu_buffer bare = {.bytes = gpu_problem_bytes(p)};
  halotune_status status = HALOTUNE_OK;
  memset(out, 0, sizeof *out);
  for (int o = 0; o < p->output_count; o++) out->buffers[p->input_count + o] = gpu_found_nothing();
  if (s->in_parts) return compare_in_parts(s, outputs, out);
  for (int o = 0; o < p->output_count && status == HALOTUNE_OK; o++) {
    struct gpu_found *found = &out->buffers[p->input_count + o];
    struct gpu_look look = look_at_written(s, &bare, o);
    look.compares = true;
    status = gpu_check(&s->checker, p->dtype, outputs[o], s->want[o], s->magnitudes[o], &look, found);
    if (status == HALOTUNE_OK) status = fetch_bad(s, o, outputs[o], out);
  }
  out->compared_points = points_compared(s);
  return status;
}

static halotune_status make_ready(struct gpu_session *s) {
  const struct gpu_problem *p = &s->problem;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < p->input_count && status == HALOTUNE_OK; i++) {
    status = gpu_session_restart(s, i, s->fields[i].data);
  }
  for (int o = 0; o < p->output_count && status == HALOTUNE_OK; o++) {
    status = gpu_buffer_poison(&s->gpu, &s->fields[p->input_count + o], s->stream);
  }
  return status;
}

/* Fill the workspace with the leftovers of an earlier launch. A kernel that reads a flag without waiting for this
 * launch to set it then fails. */
static CUresult use_workspace(struct gpu_slot *slot, const struct kernel_fields *fields, CUstream stream) {
  struct kernel_fields poisoned = *fields;
  for (int i = 0; i < MAX_FIELDS; i++) poisoned.inputs[i] = fields->outputs[0];
  return kernel_launch(&slot->kernel, &poisoned, stream);
}

/* Find the memory of the outputs.
 *   in_place  where the stencil's file allows it, the memory of an input */
static void find_outputs(const struct gpu_session *s, bool in_place, CUdeviceptr outputs[MAX_FIELDS]) {
  const struct gpu_problem *p = &s->problem;
  for (int o = 0; o < p->output_count; o++) {
    const bool is_input = in_place && p->in_place[o] > 0;
    outputs[o] = s->fields[is_input ? p->in_place[o] - 1 : p->input_count + o].data;
  }
}

/* Run the variant on the first phase's fields, whatever its bindings are. */
static halotune_status run_once(struct gpu_session *s, struct gpu_slot *slot, bool in_place, double *time_ms) {
  const struct gpu_problem *p = &s->problem;
  CUdeviceptr inputs[MAX_FIELDS] = {0}, outputs[MAX_FIELDS] = {0};
  struct kernel_fields fields;
  float ms = 0;
  char call[KERNEL_CALL_BYTES];
  kernel_call_name(&slot->kernel, call);
  for (int i = 0; i < p->input_count; i++) inputs[i] = s->fields[i].data;
  find_outputs(s, in_place, outputs);
  halotune_status status = kernel_bind(&slot->kernel, inputs, outputs, &fields);
  if (status != HALOTUNE_OK) return status;
  if (fields.workspace) status = gpu_did(&s->gpu, use_workspace(slot, &fields, s->stream), call);
  if (fields.workspace && in_place && status == HALOTUNE_OK) status = make_ready(s); /* that launch wrote inputs */
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.event_record(s->start, s->stream), "cuEventRecord");
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, kernel_launch(&slot->kernel, &fields, s->stream), call);
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.event_record(s->end, s->stream), "cuEventRecord");
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.event_synchronize(s->end), "kernel");
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.event_time(&ms, s->start, s->end), "cuEventElapsedTime");
  s->ran_ms = clock_ms();
  kernel_fields_free(&slot->kernel, &fields);
  *time_ms = (double)ms;
  return status;
}

/* Run the variant once more, with outputs in the memory of inputs. Wrong outputs are added to the findings. Afterwards
 * the fields belong to no slot, because an inspection would take the overwritten inputs and the poisoned outputs for
 * damage. */
static halotune_status verify_in_place(struct gpu_session *s, int number, struct gpu_look_back *out) {
  CUdeviceptr outputs[MAX_FIELDS] = {0};
  struct gpu_look_back found;
  double time_ms;
  halotune_status status = make_ready(s);
  s->last = -1;
  if (status == HALOTUNE_OK) status = run_once(s, &s->slots[number], true, &time_ms);
  find_outputs(s, true, outputs);
  if (status == HALOTUNE_OK) status = gpu_session_compare(s, outputs, &found);
  for (int o = 0; o < s->problem.output_count && status == HALOTUNE_OK; o++) {
    const int buffer = s->problem.input_count + o;
    if (found.buffers[buffer].bad == 0 || out->buffers[buffer].bad > 0) continue;
    out->buffers[buffer] = found.buffers[buffer];
    out->want[o] = found.want[o], out->got[o] = found.got[o];
  }
  return status;
}

halotune_status gpu_session_verify(struct gpu_session *s, int number, struct gpu_look_back *out) {
  memset(out, 0, sizeof *out);
  gpu_clear(&s->gpu);
  if (number < 0 || number >= GPU_SLOTS || !s->slots[number].is_loaded || s->slots[number].is_roof) {
    return fail(HALOTUNE_ARGUMENT, "slot %d cannot be verified", number);
  }
  halotune_status status = make_ready(s);
  s->applications = -1;
  s->last = number;
  if (status == HALOTUNE_OK) status = run_once(s, &s->slots[number], false, &out->time_ms);
  if (status == HALOTUNE_OK) status = look_at_all(s, out);
  return status == HALOTUNE_OK && gpu_problem_allows_in_place(&s->problem) ? verify_in_place(s, number, out) : status;
}

halotune_status gpu_session_verify_all(struct gpu_session *s, int number, struct gpu_look_back *out) {
  s->compares_all = true;
  halotune_status status = gpu_session_verify(s, number, out);
  s->compares_all = false;
  return status;
}

/* Check the results of samples for which there is no reference. */
static halotune_status look_without_reference(struct gpu_session *s, struct gpu_look_back *out) {
  const struct gpu_problem *p = &s->problem;
  bool iterates = p->phase_count > 1 && s->applications > 0;
  bool judges = !iterates || s->applications <= p->finite_steps / p->launch_steps;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < p->input_count && status == HALOTUNE_OK; i++) {
    status = look_at_input(s, i, !gpu_problem_writes(p, i), &out->buffers[i]);
  }
  for (int o = 0; o < p->output_count && status == HALOTUNE_OK; o++) {
    struct gpu_found *found = &out->buffers[p->input_count + o];
    status = look_at_output(s, o, false, p->phase_count == 1, found);
    if (!judges) found->bad = found->not_finite = 0;
  }
  return status;
}

halotune_status gpu_session_inspect(struct gpu_session *s, int number, struct gpu_look_back *out) {
  bool rotates = s->problem.cache == CACHE_COLD && s->rotation.count > 0; /* samples then used other fields */
  halotune_status status = HALOTUNE_OK;
  memset(out, 0, sizeof *out);
  gpu_clear(&s->gpu);
  if (number < 0 || number >= GPU_SLOTS) return fail(HALOTUNE_ARGUMENT, "slot %d cannot be looked at", number);
  const struct gpu_results *results = &s->slots[number].results;
  if (results->has_wrong) *out = results->wrong;
  else if (number == s->last)
    status = s->problem.phase_count == 1 && !rotates ? look_at_all(s, out) : look_without_reference(s, out);
  out->checked_samples = results->samples;
  out->differing_samples = results->differing;
  return status;
}
