/* backend_cuda_judge.c: turns what a session saw into outcomes and sentences. */
#include "tuner/measure/backends/backend_cuda_judge.h"

#include <math.h>
#include <stdio.h>

#include "tuner/device/finite_steps.h"

halotune_status cuda_problem_make(const struct backend_problem *problem, struct gpu_problem *out) {
  const struct scene *scene = problem->scene;
  const struct scene_request *r = &scene->request;
  if (scene->launches != 1) return fail(HALOTUNE_ARGUMENT, "the reference has to be of one launch");
  halotune_status status = gpu_problem_make(r->stencil, r->analysis, r->dtype, &r->domain, r->launch_steps, out);
  if (status != HALOTUNE_OK) return status;
  out->launch = problem->launch;
  out->cache = problem->cache;
  out->roof_elements = problem->roof_elements;
  out->is_made_here = !scene_has_fields(scene);
  out->seed = r->seed;
  out->rounding = compare_rounding(r->dtype);
  out->allowed_units = scene->allowed_units;
  return finite_steps(r, &out->finite_steps);
}

static struct input_layout layout_of(const struct scene *scene, const struct gpu_problem *problem, int input) {
  return input_layout_of(scene->request.stencil, input, problem->dtype, &problem->domain);
}

/* The point of an input's element; 0 along axes that the input does not have. */
static void input_point_of(const struct scene *scene, const struct gpu_problem *problem, int input, long long at,
                           long point[MAX_DIMS]) {
  const struct input_layout layout = layout_of(scene, problem, input);
  for (int axis = MAX_DIMS - 1; axis >= 0; axis--) {
    point[axis] = layout.strides[axis] > 0 ? (long)(at / layout.strides[axis]) : 0;
    at -= point[axis] * layout.strides[axis];
  }
}

static const char *name_of(const struct scene *scene, int buffer) {
  const struct stencil *stencil = scene->request.stencil;
  return buffer < stencil->input_count ? stencil->inputs[buffer]
                                       : scene_written_name(scene, buffer - stencil->input_count);
}

/* Say that something was written outside of the points that a variant may write.
 *   element  its index, counted from the field's first element */
static void say_outside(const struct scene *scene, const struct gpu_problem *problem, int buffer, long long element,
                        struct verdict *out) {
  long point[MAX_DIMS];
  const char *name = name_of(scene, buffer);
  const bool is_input = buffer < problem->input_count;
  const long long elements = is_input ? layout_of(scene, problem, buffer).elements : domain_elements(&problem->domain);
  out->outcome = OUTCOME_OUT_OF_BOUNDS;
  if (element < 0) {
    snprintf(out->reason, sizeof out->reason, "wrote in front of %s, at %lld element%s before its first", name,
             -element, PLURAL(-element));
  } else if (element >= elements) {
    const long long distance = element - elements + 1;
    snprintf(out->reason, sizeof out->reason, "wrote behind %s, at %lld element%s after its last", name, distance,
             PLURAL(distance));
  } else {
    if (is_input) input_point_of(scene, problem, buffer, element, point);
    else domain_point(&problem->domain, (long)element, point);
    snprintf(out->reason, sizeof out->reason, "wrote point (%ld, %ld, %ld) of %s, outside of the box", point[0],
             point[1], point[2], name);
  }
}

/* The index of the element that has this word of 32 bits. It is rounded down, because words in front of a field have
 * negative indexes. */
static long long element_of(const struct gpu_problem *problem, int input, long long word) {
  const long long unit = (long long)sizeof gpu_poison_word, bytes = (long long)problem->element_bytes[input];
  if (bytes < unit) return word * unit / bytes;
  const long long words = bytes / unit;
  return word >= 0 ? word / words : -((-word + words - 1) / words);
}

static struct comparison comparison_of(const struct gpu_problem *problem, const struct gpu_look_back *seen,
                                       int output) {
  const struct gpu_found *found = &seen->buffers[problem->input_count + output];
  struct comparison c = {.points = (long)seen->compared_points,
                         .bad_points = (long)found->bad,
                         .not_finite_points = (long)found->not_finite,
                         .max_error = found->max_error,
                         .max_error_units = found->max_units};
  if (c.points == 0) return c;
  c.rms_error = sqrt(found->sum_of_squares / (double)c.points);
  c.passed = found->bad == 0;
  if (found->bad == 0) return c;
  domain_point(&problem->domain, (long)found->first_bad, c.first_bad);
  c.want = seen->want[output];
  c.got = seen->got[output];
  return c;
}

static void say_wrong(const char *name, const struct comparison *c, struct verdict *out) {
  out->outcome = OUTCOME_WRONG;
  snprintf(out->reason, sizeof out->reason,
           "%s: %ld of %ld points %s wrong, the first (%ld, %ld, %ld): %.9g where %.9g is expected", name,
           c->bad_points, c->points, c->bad_points == 1 ? "is" : "are", c->first_bad[0], c->first_bad[1],
           c->first_bad[2], c->got, c->want);
}

static void judge_output(const struct scene *scene, const struct gpu_problem *problem, const struct gpu_look_back *seen,
                         int output, struct verdict *out) {
  const struct gpu_found *found = &seen->buffers[problem->input_count + output];
  struct comparison c = comparison_of(problem, seen, output);
  if (seen->compared_points > 0) {
    if (output == 0 || c.max_error_units > out->worst.max_error_units) out->worst = c;
    if (found->bad > 0 && out->outcome == OUTCOME_MEASURED) say_wrong(scene_written_name(scene, output), &c, out);
  } else if (found->bad > 0 && out->outcome == OUTCOME_MEASURED) {
    long point[MAX_DIMS];
    domain_point(&problem->domain, (long)found->first_bad, point);
    out->outcome = OUTCOME_WRONG;
    snprintf(out->reason, sizeof out->reason,
             "%s: after the samples %lld point%s not finite, the first (%ld, %ld, %ld)",
             scene_written_name(scene, output), (long long)found->bad, found->bad == 1 ? " is" : "s are", point[0],
             point[1], point[2]);
  }
}

void cuda_judge(const struct scene *scene, const struct gpu_problem *problem, const struct gpu_look_back *seen,
                struct verdict *out) {
  int buffers = gpu_problem_buffers(problem);
  *out = (struct verdict){.outcome = OUTCOME_MEASURED, .run_ms = seen->time_ms};
  for (int i = 0; i < buffers && out->outcome == OUTCOME_MEASURED; i++) {
    const struct gpu_found *found = &seen->buffers[i];
    long long first = i < problem->input_count ? element_of(problem, i, found->first_damaged) : found->first_damaged;
    if (found->damaged > 0) say_outside(scene, problem, i, first, out);
  }
  for (int i = 0; i < problem->input_count && out->outcome == OUTCOME_MEASURED; i++) {
    long point[MAX_DIMS];
    if (seen->buffers[i].bad == 0) continue;
    const long long element = element_of(problem, i, seen->buffers[i].first_bad);
    input_point_of(scene, problem, i, element, point);
    out->outcome = OUTCOME_WRONG;
    snprintf(out->reason, sizeof out->reason, "changed its input %s, first at (%ld, %ld, %ld)", name_of(scene, i),
             point[0], point[1], point[2]);
  }
  for (int o = 0; o < problem->output_count; o++) judge_output(scene, problem, seen, o, out);
  if (seen->differing_samples == 0 || out->outcome != OUTCOME_MEASURED) return;
  out->outcome = OUTCOME_WRONG;
  snprintf(out->reason, sizeof out->reason,
           "%lld of %lld samples gave another result than the sample before, with the same fields and number of steps",
           seen->differing_samples, seen->checked_samples);
}
