/* kernel_run.c: halotune_run advances a solver: launches of several steps, then launches of fewer, until no step is
 * left. Buffers exchange their roles between launches. */
#include <string.h>

#include "library/kernel/kernel_set.h"
#include "stencil/analysis/iterate.h"

/* The buffers of a solver, and the roles that they have at present. */
struct course {
  void *buffers[2 * MAX_FIELDS];
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS]; /* numbers of buffers */
};

static struct course course_begin(const halotune_kernel *kernel, void *const fields[]) {
  struct course course = {.inputs = {0}};
  memcpy(course.buffers, fields, (size_t)kernel->pointer_count * sizeof *fields);
  for (int i = 0; i < kernel->input_count; i++) course.inputs[i] = i;
  for (int i = 0; i < kernel->output_count; i++) course.outputs[i] = kernel->input_count + i;
  return course;
}

/* Write the buffers in the order of their roles. */
static void course_write(const halotune_kernel *kernel, const struct course *course, void *fields[]) {
  for (int i = 0; i < kernel->input_count; i++) fields[i] = course->buffers[course->inputs[i]];
  for (int i = 0; i < kernel->output_count; i++) fields[kernel->input_count + i] = course->buffers[course->outputs[i]];
}

/* Launch once. On success the buffers exchange their roles. */
static halotune_status course_launch(halotune_kernel *kernel, CUstream stream, struct course *course) {
  const void *inputs[MAX_FIELDS];
  void *outputs[MAX_FIELDS];
  for (int i = 0; i < kernel->input_count; i++) inputs[i] = course->buffers[course->inputs[i]];
  for (int i = 0; i < kernel->output_count; i++) outputs[i] = course->buffers[course->outputs[i]];
  halotune_status status = halotune_kernel_launch(kernel, stream, inputs, outputs);
  if (status == HALOTUNE_OK)
    iterate_advance(kernel->question.parsed->stencil, kernel->question.key.steps, course->inputs, course->outputs);
  return status;
}

/* Launch this kernel as often as its launches fit into the steps that are left. If no variant of so many steps takes
 * these pointers, kernels for fewer steps make them. */
static halotune_status run_kernel(halotune_kernel *kernel, CUstream stream, struct course *course, long long *left) {
  const int steps = kernel->question.key.steps;
  halotune_status status = HALOTUNE_OK;
  for (; *left >= steps && status == HALOTUNE_OK; *left -= steps) {
    status = course_launch(kernel, stream, course);
    if (status == HALOTUNE_NOT_FOUND && kernel->fewer) return HALOTUNE_OK;
  }
  return status;
}

/* Whether a field is only read: an input that takes no other field's value. */
static bool is_constant(const struct stencil *stencil, int field) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    if (stencil->iterate[i].to == field) return false;
  }
  return field < stencil->input_count;
}

static halotune_status check_fields(const halotune_kernel *kernel, void *const fields[]) {
  const struct stencil *stencil = kernel->question.parsed->stencil;
  const size_t element = dtype_bytes((enum dtype)kernel->question.key.dtype);
  const size_t bytes = (size_t)domain_elements(&kernel->question.domain) * element;
  for (int i = 0; i < kernel->pointer_count; i++) {
    const uintptr_t at = (uintptr_t)fields[i];
    if (!at) return fail(HALOTUNE_ARGUMENT, "halotune_run: fields[%d] (%s) is NULL", i, kernel_field_name(kernel, i));
    if (at % element)
      return fail(HALOTUNE_ARGUMENT,
                  "halotune_run: fields[%d] (%s) is not a multiple of %zu bytes, the size of an element", i,
                  kernel_field_name(kernel, i), element);
    for (int k = 0; k < i; k++) {
      const uintptr_t other = (uintptr_t)fields[k];
      if (at >= other + bytes || other >= at + bytes || (is_constant(stencil, i) && is_constant(stencil, k))) continue;
      return fail(HALOTUNE_ARGUMENT, "halotune_run: fields[%d] (%s) overlaps with fields[%d] (%s)", i,
                  kernel_field_name(kernel, i), k, kernel_field_name(kernel, k));
    }
  }
  return HALOTUNE_OK;
}

static halotune_status check_run(const halotune_kernel *kernel, void *const fields[], long long steps) {
  if (!kernel || !fields) return fail(HALOTUNE_ARGUMENT, "halotune_run: an argument is NULL");
  if (!kernel->question.parsed->analysis->can_iterate) {
    return fail(HALOTUNE_ARGUMENT,
                "halotune_run: %s makes one step only: it does not say in `iterate` which output becomes an input",
                kernel->question.parsed->stencil->name);
  }
  if (steps < 1 || steps > HALOTUNE_RUN_MOST_STEPS) {
    return fail(HALOTUNE_ARGUMENT, "halotune_run: %lld steps; a call makes 1 to %d", steps, HALOTUNE_RUN_MOST_STEPS);
  }
  return check_fields(kernel, fields);
}

halotune_status halotune_run(halotune_kernel *kernel, struct CUstream_st *stream, void **fields, long long steps) {
  halotune_status status = check_run(kernel, fields, steps);
  if (status != HALOTUNE_OK) return status;
  struct course course = course_begin(kernel, fields);
  for (halotune_kernel *with = kernel; with && steps > 0 && status == HALOTUNE_OK; with = with->fewer)
    status = run_kernel(with, stream, &course, &steps);
  course_write(kernel, &course, fields);
  return status;
}
