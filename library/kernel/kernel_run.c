/* kernel_run.c: halotune_run advances a solver: launches of several steps, then launches of fewer, until no step is
 * left. Buffers exchange their roles between launches. */
#include <string.h>

#include "library/kernel/kernel_set.h"
#include "library/lookup/lookup.h"
#include "stencil/analysis/iterate.h"

/* The buffers of a solver, and the roles that they have at present. */
struct course {
  void *buffers[2 * MAX_FIELDS];
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS]; /* numbers of buffers */
};

static struct course course_begin(const halotune_kernel *kernel, void *const fields[]) {
  const struct stencil *stencil = kernel->question.parsed->stencil;
  struct course course = {.inputs = {0}};
  memcpy(course.buffers, fields, (size_t)kernel->pointer_count * sizeof *fields);
  for (int i = 0; i < kernel->input_count; i++) course.inputs[i] = i;
  for (int i = 0; i < kernel->output_count; i++) {
    const int below = stencil_in_place(stencil, i);
    const bool is_same = below >= 0 && fields[below] == fields[kernel->input_count + i];
    course.outputs[i] = is_same ? below : kernel->input_count + i;
  }
  return course;
}

/* Write the buffers in the order of their roles. */
static void course_write(const halotune_kernel *kernel, const struct course *course, void *fields[]) {
  for (int i = 0; i < kernel->input_count; i++) fields[i] = course->buffers[course->inputs[i]];
  for (int i = 0; i < kernel->output_count; i++) fields[kernel->input_count + i] = course->buffers[course->outputs[i]];
}

static void course_pointers(const halotune_kernel *kernel, const struct course *course, const void *inputs[],
                            void *outputs[]) {
  for (int i = 0; i < kernel->input_count; i++) inputs[i] = course->buffers[course->inputs[i]];
  for (int i = 0; i < kernel->output_count; i++) outputs[i] = course->buffers[course->outputs[i]];
}

/* Launch once. On success the buffers exchange their roles. */
static halotune_status course_launch(halotune_kernel *kernel, CUstream stream, struct course *course) {
  const void *inputs[MAX_FIELDS];
  void *outputs[MAX_FIELDS];
  course_pointers(kernel, course, inputs, outputs);
  halotune_status status = halotune_kernel_launch(kernel, stream, inputs, outputs);
  if (status == HALOTUNE_OK)
    iterate_advance(kernel->question.parsed->stencil, kernel->question.key.steps, course->inputs, course->outputs);
  return status;
}

/* How many launches make a graph: about 32, after which the buffers have the same roles again. Returns 0 if launches
 * are not gathered, or if the roles do not come back after a few launches. The number depends on which outputs lie in
 * the memory of inputs, because the program may pass some in place and others not. */
static int graph_launches(const halotune_kernel *kernel, const struct course *start) {
  enum { GATHERED = 32, MOST_LAUNCHES = 12 };
  struct course course = *start;
  for (int launches = 1; launches <= MOST_LAUNCHES && kernel->gathers; launches++) {
    iterate_advance(kernel->question.parsed->stencil, kernel->question.key.steps, course.inputs, course.outputs);
    if (memcmp(&course, start, sizeof course) == 0) return GATHERED / launches * launches;
  }
  return 0;
}

/* A run that is being recorded into a graph. */
struct recorded_run {
  halotune_kernel *kernel;
  struct course course;
  int launches;
};

static halotune_status submit_run(struct recorded_run *run, CUstream stream) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < run->launches && status == HALOTUNE_OK; i++)
    status = course_launch(run->kernel, stream, &run->course);
  return status;
}

/* Record the launches of a run into a graph that can be launched any number of times. They are captured on a stream of
 * their own, so that the caller's stream does not change. Nothing is executed.
 *   out  receives the graph, which cu->graph_exec_destroy ends; NULL on failure */
static halotune_status record_graph(struct recorded_run *run, CUgraphExec *out) {
  const struct cu *cu = run->kernel->cu;
  CUstream stream = NULL;
  CUgraph graph = NULL;
  *out = NULL;
  halotune_status status = cu_check(cu, cu->stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (status != HALOTUNE_OK) return status;
  status = cu_check(cu, cu->capture_begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
  if (status == HALOTUNE_OK) {
    status = submit_run(run, stream);
    const CUresult ended = cu->capture_end(stream, &graph); /* a capture must be ended after a failure, too */
    if (status == HALOTUNE_OK) status = cu_check(cu, ended, "cuStreamEndCapture");
  }
  if (status == HALOTUNE_OK) status = cu_check(cu, cu->graph_instantiate(out, graph, 0), "cuGraphInstantiate");
  if (status != HALOTUNE_OK) *out = NULL;
  if (graph) cu->graph_destroy(graph);
  cu->stream_destroy(stream);
  return status;
}

/* Whether launches on a stream are being captured, or are forbidden because another stream is being captured. */
static bool stream_is_capturing(const struct cu *cu, CUstream stream) {
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  return cu->stream_is_capturing(stream, &state) != CUDA_SUCCESS || state != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Whether earlier launches have used all pointers of a graph's launches: a capture allows no new ones. */
static bool knows_course(halotune_kernel *kernel, struct course course, int launches) {
  for (int i = 0; i < launches; i++) {
    const void *inputs[MAX_FIELDS];
    void *outputs[MAX_FIELDS];
    course_pointers(kernel, &course, inputs, outputs);
    if (!kernel_knows(kernel, inputs, outputs)) return false;
    iterate_advance(kernel->question.parsed->stencil, kernel->question.key.steps, course.inputs, course.outputs);
  }
  return true;
}

/* Find the graph of so many launches that begins with these roles, or record it. Returns NULL if there is none, which
 * is not an error. The caller holds the lock. */
static CUgraphExec find_graph(halotune_kernel *kernel, const struct course *course, int launches) {
  const void *pointers[2 * MAX_FIELDS] = {NULL};
  struct recorded_run run = {kernel, *course, launches};
  void *fields[2 * MAX_FIELDS] = {NULL};
  course_write(kernel, course, fields);
  for (int i = 0; i < kernel->pointer_count; i++) pointers[i] = fields[i];
  for (int i = 0; i < kernel->graph_count; i++) {
    if (memcmp(kernel->graphs[i].pointers, pointers, sizeof pointers) == 0) return kernel->graphs[i].exec;
  }
  if (kernel->graph_count == MOST_RUN_GRAPHS || !knows_course(kernel, *course, launches)) return NULL;
  struct run_graph *graph = &kernel->graphs[kernel->graph_count];
  struct fail_kept kept;
  fail_keep(&kept);
  const halotune_status recorded = record_graph(&run, &graph->exec);
  fail_put_back(&kept); /* without a graph the launches are made one by one, and report the error */
  if (recorded != HALOTUNE_OK) return NULL;
  memcpy(graph->pointers, pointers, sizeof pointers);
  graph->launches = launches;
  kernel->graph_count++;
  return graph->exec;
}

/* Launch graphs as long as whole ones fit into the steps that are left. Their launches leave the roles as they were. */
static halotune_status run_graphs(halotune_kernel *kernel, CUstream stream, const struct course *course, int launches,
                                  long long *left) {
  const long long steps = (long long)launches * kernel->question.key.steps;
  halotune_status status = HALOTUNE_OK;
  if (steps == 0 || *left < steps || stream_is_capturing(kernel->cu, stream)) return HALOTUNE_OK;
  pthread_mutex_lock(&kernel->lock);
  CUgraphExec graph = find_graph(kernel, course, launches);
  for (; graph && *left >= steps && status == HALOTUNE_OK; *left -= status == HALOTUNE_OK ? steps : 0)
    status = cu_check(kernel->cu, kernel->cu->graph_launch(graph, stream), "cuGraphLaunch");
  pthread_mutex_unlock(&kernel->lock);
  return status;
}

/* Launch this kernel as often as its launches fit into the steps that are left. If no variant of so many steps takes
 * these pointers, kernels for fewer steps make them. */
static halotune_status run_kernel(halotune_kernel *kernel, CUstream stream, struct course *course, long long *left) {
  const int steps = kernel->question.key.steps, gathered = graph_launches(kernel, course);
  struct fail_kept before;
  fail_keep(&before);
  halotune_status status = run_graphs(kernel, stream, course, gathered, left);
  for (int launches = 1; *left >= steps && status == HALOTUNE_OK; launches++) {
    status = course_launch(kernel, stream, course);
    if (status == HALOTUNE_NOT_FOUND && kernel->fewer) {
      fail_put_back(&before);
      return HALOTUNE_OK;
    }
    if (status == HALOTUNE_OK) *left -= steps;
    /* After the first launches, the pointers of a first run are known. */
    if (status == HALOTUNE_OK && launches == gathered) status = run_graphs(kernel, stream, course, gathered, left);
  }
  return status;
}

static bool is_constant_input(const struct stencil *stencil, int field) {
  return field < stencil->input_count && iterate_is_constant(stencil, field);
}

static bool is_in_place(const halotune_kernel *kernel, int field, int input) {
  const struct stencil *stencil = kernel->question.parsed->stencil;
  return field >= kernel->input_count && stencil_in_place(stencil, field - kernel->input_count) == input &&
         iterate_frees(stencil, input);
}

static halotune_status check_fields(const halotune_kernel *kernel, void *const fields[]) {
  const struct stencil *stencil = kernel->question.parsed->stencil;
  for (int i = 0; i < kernel->pointer_count; i++) {
    const uintptr_t at = (uintptr_t)fields[i];
    const size_t bytes = kernel_field_bytes(kernel, i), element = kernel_element_bytes(kernel, i);
    if (!at) return fail(HALOTUNE_ARGUMENT, "halotune_run: fields[%d] (%s) is NULL", i, kernel_field_name(kernel, i));
    if (at % element)
      return fail(HALOTUNE_ARGUMENT,
                  "halotune_run: fields[%d] (%s) is not a multiple of %zu bytes, the size of an element", i,
                  kernel_field_name(kernel, i), element);
    for (int k = 0; k < i; k++) {
      const uintptr_t other = (uintptr_t)fields[k];
      const bool is_apart = at >= other + kernel_field_bytes(kernel, k) || other >= at + bytes;
      if (is_apart || (is_constant_input(stencil, i) && is_constant_input(stencil, k))) continue;
      if (at == other && is_in_place(kernel, i, k)) continue;
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
    return fail(HALOTUNE_ARGUMENT, "halotune_run: steps is %lld; it must be 1 to %d", steps, HALOTUNE_RUN_MOST_STEPS);
  }
  const halotune_status status = forked_check(kernel->ctx->generation);
  return status == HALOTUNE_OK ? check_fields(kernel, fields) : status;
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
