/* host_check.c: buffers are filled, the kernel runs in them, and each element of them is looked at. */
#include "tuner/verify/host_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stencil/iterate.h"

#define AS_NAME(name, text) text,
static const char *const outcome_names[] = {CHECK_OUTCOME_LIST(AS_NAME)};

enum { SPARSE_ELEMENTS = 1 << 27 };

/* The buffers of a run; inputs first, then outputs. */
struct run {
  const struct scene *scene;
  const struct generated *generated;
  struct host_buffer *buffers[2 * MAX_FIELDS];
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS]; /* which buffer each field is in */
  int buffer_count;
  struct check_result *result;
};

static enum dtype dtype_of(const struct run *run) { return run->scene->request.dtype; }

/* Element `i` of a buffer. */
static double get(const struct run *run, int buffer, long i) {
  const void *data = host_buffer_data(run->buffers[buffer]);
  return dtype_of(run) == DTYPE_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void set(const struct run *run, int buffer, long i, double value) {
  void *data = host_buffer_data(run->buffers[buffer]);
  if (dtype_of(run) == DTYPE_F32) ((float *)data)[i] = (float)value;
  else ((double *)data)[i] = value;
}

/* Copy a dense field to a buffer with the domain's strides; what lies between stays poisoned. */
static void scatter(const struct run *run, int buffer, const double *values) {
  const struct domain *d = &run->scene->request.domain;
  for (long z = 0; z < d->grid.n[2]; z++) {
    for (long y = 0; y < d->grid.n[1]; y++) {
      for (long x = 0; x < d->grid.n[0]; x++) {
        set(run, buffer, z * d->plane + y * d->row + x, *values++);
      }
    }
  }
}

static void gather(const struct run *run, int buffer, double *values) {
  const struct domain *d = &run->scene->request.domain;
  for (long z = 0; z < d->grid.n[2]; z++) {
    for (long y = 0; y < d->grid.n[1]; y++) {
      for (long x = 0; x < d->grid.n[0]; x++) *values++ = get(run, buffer, z * d->plane + y * d->row + x);
    }
  }
}

/* Fields whose strides are so long that only a small part of them can be filled, poisoned and looked at. */
static bool is_sparse(const struct run *run) { return domain_elements(&run->scene->request.domain) > SPARSE_ELEMENTS; }

static halotune_status make_buffers(struct run *run) {
  halotune_status (*create)(size_t, int, struct host_buffer **) = is_sparse(run) ? host_buffer_create_sparse : host_buffer_create;
  const struct stencil *stencil = run->scene->request.stencil;
  size_t bytes = (size_t)domain_elements(&run->scene->request.domain) * dtype_bytes(dtype_of(run));
  int fields = stencil->input_count + stencil->output_count;
  for (; run->buffer_count < fields; run->buffer_count++) {
    int i = run->buffer_count, output = i - stencil->input_count;
    halotune_status status = create(bytes, (int)dtype_bytes(dtype_of(run)), &run->buffers[i]);
    if (status != HALOTUNE_OK) return status;
    if (output < 0) {
      run->inputs[i] = i;
      scatter(run, i, run->scene->inputs[i]);
    } else {
      run->outputs[output] = i;
      if (run->scene->request.steps > 1) scatter(run, i, run->scene->outputs[output]);
    }
  }
  return HALOTUNE_OK;
}

/* --- the launch --- */

enum { MAX_ARGUMENTS = 3 * MAX_FIELDS + 2 };

/* A linear texture over the whole field, or rows as a picture's. A double is two integers. */
static struct host_wire_texture texture_of(const struct run *run) {
  const struct domain *d = &run->scene->request.domain;
  uint32_t bytes = (uint32_t)dtype_bytes(dtype_of(run));
  uint64_t elements = (uint64_t)domain_elements(d), row = (uint64_t)d->row;
  if (run->generated->launch.passes_textures == 1) return (struct host_wire_texture){elements, 1, elements * bytes, bytes, 0};
  return (struct host_wire_texture){row, elements / row, row * bytes, bytes, 0};
}

static halotune_status launch(struct run *run, struct host_batch *batch, int variant, struct check_order order,
                              struct host_outcome *outcome) {
  const struct scene_request *request = &run->scene->request;
  const struct stencil *stencil = request->stencil;
  const struct generated *g = run->generated;
  struct host_argument arguments[MAX_ARGUMENTS];
  char geometry[GEOMETRY_BYTES];
  double coefficients[MAX_COEFFICIENTS];
  int count = 0;
  for (int i = 0; i < stencil->input_count; i++) {
    arguments[count++] = (struct host_argument){.kind = HOST_ARGUMENT_BUFFER, .buffer = run->buffers[run->inputs[i]]};
  }
  for (int i = 0; i < stencil->output_count; i++) {
    arguments[count++] = (struct host_argument){.kind = HOST_ARGUMENT_BUFFER, .buffer = run->buffers[run->outputs[i]]};
  }
  for (int i = 0; i < stencil->input_count && g->launch.passes_textures; i++) {
    arguments[count++] = (struct host_argument){
        .kind = HOST_ARGUMENT_TEXTURE, .buffer = run->buffers[run->inputs[i]], .texture = texture_of(run)};
  }
  size_t bytes = geometry_pack(&g->launch, &request->domain, geometry);
  arguments[count++] = (struct host_argument){.kind = HOST_ARGUMENT_BYTES, .bytes = geometry, .byte_count = bytes};
  bytes = coefficients_pack(&g->launch, stencil, request->dtype, request->coefficients, coefficients);
  if (bytes > 0) {
    arguments[count++] = (struct host_argument){.kind = HOST_ARGUMENT_BYTES, .bytes = coefficients, .byte_count = bytes};
  }
  struct host_launch how = {.kernel = g->launch.kernel,
                            .shared_bytes = (size_t)g->launch.shared_bytes,
                            .arguments = arguments,
                            .argument_count = count,
                            .threads = order.threads,
                            .blocks = order.blocks,
                            .seed = order.seed};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    how.grid[axis] = (unsigned)g->launch.grid[axis];
    how.block[axis] = (unsigned)g->launch.block[axis];
  }
  return host_run(batch, variant, &how, outcome);
}

/* --- what is found --- */

static void found(struct run *run, enum check_outcome outcome) {
  run->result->outcome = outcome;
  run->result->name = outcome_names[outcome];
}

/* Whether an element that nobody may write is as it was; padding and outputs are poisoned, or zero where they are sparse. */
static bool is_kept(const struct run *run, int buffer, long i, long x, long y, long z) {
  const struct domain *d = &run->scene->request.domain;
  int element_bytes = (int)dtype_bytes(dtype_of(run));
  bool point = x < d->grid.n[0] && y < d->grid.n[1];
  if (buffer < run->scene->request.stencil->input_count && point) {
    return get(run, buffer, i) == run->scene->inputs[buffer][grid_index(&d->grid, x, y, z)];
  }
  if (is_sparse(run)) return get(run, buffer, i) == 0;
  const char *data = host_buffer_data(run->buffers[buffer]);
  return host_poison_of(data + i * element_bytes, element_bytes) == HOST_POISON_BUFFER;
}

static bool is_computed(const struct domain *d, long x, long y, long z) {
  return x >= d->low[0] && x < d->high[0] && y >= d->low[1] && y < d->high[1] && z >= d->low[2] && z < d->high[2];
}

/* A plane of one buffer, with its padding; false, and said so, where something was written. */
static bool check_plane(struct run *run, int buffer, long z) {
  const struct domain *d = &run->scene->request.domain;
  const struct stencil *stencil = run->scene->request.stencil;
  bool input = buffer < stencil->input_count, sparse = is_sparse(run);
  long row = sparse ? d->grid.n[0] : d->row, rows = sparse ? d->grid.n[1] : (d->plane + d->row - 1) / d->row;
  for (long y = 0; y < rows; y++) {
    for (long x = 0; x < row && y * d->row + x < d->plane; x++) {
      if ((!input && is_computed(d, x, y, z)) || is_kept(run, buffer, z * d->plane + y * d->row + x, x, y, z)) continue;
      bool point = x < d->grid.n[0] && y < d->grid.n[1];
      found(run, input ? CHECK_CHANGED_INPUT : CHECK_WROTE_OUTSIDE);
      snprintf(run->result->text, sizeof run->result->text, "%s was written at (%ld, %ld, %ld), which is %s",
               input ? stencil->inputs[buffer] : stencil->outputs[buffer - stencil->input_count], x, y, z,
               input ? "an input" : point ? "not to be computed" : "padding");
      return false;
    }
  }
  return true;
}

/* The inputs of a single step are as they were; between rows, and in what was not computed, nothing was written. */
static bool check_untouched(struct run *run) {
  for (int b = 0; b < run->buffer_count; b++) {
    for (long z = 0; z < run->scene->request.domain.grid.n[2]; z++) {
      if (!check_plane(run, b, z)) return false;
    }
  }
  return true;
}

static void say_wrong(struct run *run, const char *output, const struct comparison *c) {
  snprintf(run->result->text, sizeof run->result->text,
           "%s: %ld of %ld points are wrong, the first (%ld, %ld, %ld): %.9g where %.9g is expected", output, c->bad_points,
           c->points, c->first_bad[0], c->first_bad[1], c->first_bad[2], c->got, c->want);
}

static halotune_status check_values(struct run *run) {
  const struct scene *scene = run->scene;
  const struct scene_request *request = &scene->request;
  double *got = malloc((size_t)grid_points(&request->domain.grid) * sizeof *got);
  if (!got) return fail_memory();
  for (int i = 0; i < request->stencil->output_count; i++) {
    gather(run, run->outputs[i], got);
    struct comparison c = compare_fields(&request->domain.grid, &scene->box, scene->want[i], scene->magnitudes[i], got,
                                         request->dtype, scene->allowed_units);
    if (c.points > 0 && !c.passed && run->result->outcome == CHECK_PASSED) {
      found(run, CHECK_WRONG);
      say_wrong(run, request->stencil->outputs[i], &c);
    }
    if (i == 0 || c.max_error_units > run->result->worst.max_error_units) run->result->worst = c;
  }
  free(got);
  return HALOTUNE_OK;
}

/* Where the outputs' last values are: the buffers do not change places after the last step. */
static halotune_status run_steps(struct run *run, struct host_batch *batch, int variant, struct check_order order) {
  const struct scene_request *request = &run->scene->request;
  for (int step = 0; step < request->steps; step++) {
    struct host_outcome outcome;
    if (step > 0) iterate_advance(request->stencil, run->inputs, run->outputs);
    halotune_status status = launch(run, batch, variant, order, &outcome);
    if (status != HALOTUNE_OK) return status;
    if (outcome.kind == HOST_OK) continue;
    found(run, CHECK_HOST);
    run->result->name = host_outcome_name(outcome.kind);
    snprintf(run->result->text, sizeof run->result->text, "%.1000s", outcome.text);
    return HALOTUNE_OK;
  }
  if (request->steps == 1 && !check_untouched(run)) return HALOTUNE_OK;
  return check_values(run);
}

halotune_status host_check(struct host_batch *batch, int variant, const struct generated *generated,
                           const struct scene *scene, struct check_order order, struct check_result *out) {
  struct run run = {.scene = scene, .generated = generated, .result = out};
  *out = (struct check_result){.outcome = CHECK_PASSED, .name = outcome_names[CHECK_PASSED]};
  if (box_points(&scene->box) == 0) {
    found(&run, CHECK_NOT_RUN);
    return HALOTUNE_OK;
  }
  halotune_status status = make_buffers(&run);
  if (status == HALOTUNE_OK) status = run_steps(&run, batch, variant, order);
  for (int i = 0; i < run.buffer_count; i++) host_buffer_free(run.buffers[i]);
  return status;
}
