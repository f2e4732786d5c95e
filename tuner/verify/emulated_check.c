/* emulated_check.c: runs a kernel on the fields of a scene, and checks each of their elements. */
#include "tuner/verify/emulated_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/iterate.h"

#define AS_NAME(name, text) text,
static const char *const outcome_names[] = {CHECK_OUTCOME_LIST(AS_NAME)};

const char *check_outcome_name(enum check_outcome outcome) { return outcome_names[outcome]; }

struct run {
  struct emulated_fields fields;
  const struct scene *scene;
  struct check_result *result;
};

static enum dtype dtype_of(const struct run *run) { return run->scene->request.dtype; }

static double element_of(const struct run *run, int buffer, long i) {
  return emulated_fields_get(&run->fields, buffer, i);
}

static void gather_field(const struct run *run, int buffer, double *values) {
  const struct domain *d = &run->scene->request.domain;
  for (long z = 0; z < d->grid.n[2]; z++) {
    for (long y = 0; y < d->grid.n[1]; y++) {
      for (long x = 0; x < d->grid.n[0]; x++) *values++ = element_of(run, buffer, z * d->plane + y * d->row + x);
    }
  }
}

static void set_outcome(struct run *run, enum check_outcome outcome) {
  run->result->outcome = outcome;
  run->result->name = outcome_names[outcome];
}

/* Whether an element that no kernel may write is unchanged. Padding and outputs hold poison, or zero in sparse
 * fields. */
static bool is_kept(const struct run *run, int buffer, long i, long x, long y, long z) {
  const struct domain *d = &run->scene->request.domain;
  int element_bytes = (int)dtype_bytes(dtype_of(run));
  bool point = x < d->grid.n[0] && y < d->grid.n[1];
  if (buffer < run->scene->request.stencil->input_count && point) {
    return element_of(run, buffer, i) == run->scene->inputs[buffer][grid_index(&d->grid, x, y, z)];
  }
  if (emulated_fields_are_sparse(&run->fields)) return element_of(run, buffer, i) == 0;
  const char *data = emulation_buffer_data(run->fields.buffers[buffer]);
  return emulation_poison_of(data + i * element_bytes, element_bytes) == EMULATION_POISON_BUFFER;
}

/* Check a plane of one buffer and its padding. Returns false, with the reason in the result, if something was
 * written. */
static bool check_plane(struct run *run, int buffer, long z) {
  const struct domain *d = &run->scene->request.domain;
  const struct stencil *stencil = run->scene->request.stencil;
  bool input = buffer < stencil->input_count, sparse = emulated_fields_are_sparse(&run->fields);
  const struct box *box = input ? NULL : &run->scene->written[buffer - stencil->input_count];
  long row = sparse ? d->grid.n[0] : d->row, rows = sparse ? d->grid.n[1] : (d->plane + d->row - 1) / d->row;
  for (long y = 0; y < rows; y++) {
    for (long x = 0; x < row && y * d->row + x < d->plane; x++) {
      if ((box && box_contains(box, x, y, z)) || is_kept(run, buffer, z * d->plane + y * d->row + x, x, y, z)) continue;
      bool point = x < d->grid.n[0] && y < d->grid.n[1];
      set_outcome(run, input ? CHECK_CHANGED_INPUT : CHECK_WROTE_OUTSIDE);
      snprintf(run->result->text, sizeof run->result->text, "%s was written at (%ld, %ld, %ld), which is %s",
               input ? stencil->inputs[buffer] : scene_written_name(run->scene, buffer - stencil->input_count), x, y, z,
               input   ? "an input"
               : point ? "not to be computed"
                       : "padding");
      return false;
    }
  }
  return true;
}

/* Check that an input that is not whole has its values. */
static bool check_beside(struct run *run, int input) {
  const struct input_layout *layout = &run->fields.layouts[input];
  const struct grid *grid = &run->scene->request.domain.grid;
  long n[MAX_DIMS];
  input_layout_points(layout, grid, n);
  for (long z = 0; z < n[2]; z++) {
    for (long y = 0; y < n[1]; y++) {
      for (long x = 0; x < n[0]; x++) {
        const double want = run->scene->inputs[input][grid_index(grid, x, y, z)];
        if (element_of(run, input, input_layout_index(layout, x, y, z)) == want) continue;
        set_outcome(run, CHECK_CHANGED_INPUT);
        snprintf(run->result->text, sizeof run->result->text, "%s was written at (%ld, %ld, %ld), which is an input",
                 run->scene->request.stencil->inputs[input], x, y, z);
        return false;
      }
    }
  }
  return true;
}

/* Check that a single step changed no input, and wrote nothing between rows or outside the box. */
static bool check_untouched(struct run *run) {
  const struct stencil *stencil = run->scene->request.stencil;
  for (int b = 0; b < run->fields.buffer_count; b++) {
    if (b < stencil->input_count && !input_is_whole(stencil, b)) {
      if (!check_beside(run, b)) return false;
      continue;
    }
    for (long z = 0; z < run->scene->request.domain.grid.n[2]; z++) {
      if (!check_plane(run, b, z)) return false;
    }
  }
  return true;
}

static void say_wrong(struct run *run, const char *output, const struct comparison *c) {
  snprintf(run->result->text, sizeof run->result->text,
           "%s: %ld of %ld points %s wrong, the first (%ld, %ld, %ld): %.9g where %.9g is expected", output,
           c->bad_points, c->points, c->bad_points == 1 ? "is" : "are", c->first_bad[0], c->first_bad[1],
           c->first_bad[2], c->got, c->want);
}

/* Hash the outputs. Elements of f32 convert to doubles exactly. */
static void add_bits(struct run *run, const double *values) {
  size_t count = (size_t)grid_points(&run->scene->request.domain.grid);
  const struct hash both[] = {run->result->outputs, hash_bytes(values, count * sizeof *values)};
  run->result->outputs = hash_bytes(both, sizeof both);
}

static halotune_status check_values(struct run *run) {
  const struct scene *scene = run->scene;
  const struct scene_request *request = &scene->request;
  double *got = malloc((size_t)grid_points(&request->domain.grid) * sizeof *got);
  if (!got) return fail_memory();
  for (int i = 0; i < scene->written_count; i++) {
    gather_field(run, run->fields.outputs[i], got);
    add_bits(run, got);
    struct comparison c = compare_fields(&request->domain.grid, &scene->written[i], scene->want[i],
                                         scene->magnitudes[i], got, request->dtype, scene->allowed_units);
    if (c.points > 0 && !c.passed && run->result->outcome == CHECK_PASSED) {
      set_outcome(run, CHECK_WRONG);
      say_wrong(run, scene_written_name(scene, i), &c);
    }
    if (i == 0 || c.max_error_units > run->result->worst.max_error_units) run->result->worst = c;
  }
  free(got);
  return HALOTUNE_OK;
}

/* Check that the launch ended well. Returns false, with the reason in the result, if it did not. */
static bool check_outcome(struct run *run, const struct emulation_outcome *outcome) {
  if (outcome->kind == EMULATION_OK) return true;
  set_outcome(run, CHECK_HOST);
  run->result->name = emulation_outcome_name(outcome->kind);
  snprintf(run->result->text, sizeof run->result->text, "%.1000s", outcome->text);
  return false;
}

/* Run all launches. The outputs hold the last values, since buffers do not change places after the last launch. A
 * workspace is used twice, as in a program. */
static halotune_status run_steps(struct run *run, struct emulation_batch *batch, int variant,
                                 struct check_order order) {
  const struct scene_request *request = &run->scene->request;
  struct emulation_outcome outcome;
  if (run->fields.workspace) {
    halotune_status status = emulated_fields_rehearse(&run->fields, batch, variant, order, &outcome);
    if (status != HALOTUNE_OK || !check_outcome(run, &outcome)) return status;
  }
  for (int i = 0; i < run->scene->launches; i++) {
    if (i > 0) iterate_advance(request->stencil, request->launch_steps, run->fields.inputs, run->fields.outputs);
    halotune_status status = emulated_fields_launch(&run->fields, batch, variant, order, &outcome);
    if (status != HALOTUNE_OK || !check_outcome(run, &outcome)) return status;
  }
  if (run->scene->launches == 1 && !check_untouched(run)) return HALOTUNE_OK;
  return check_values(run);
}

/* Launch once more, with outputs in the memory of inputs as the stencil's file allows. */
static halotune_status run_in_place(struct run *run, struct emulation_batch *batch, int variant,
                                    const struct generated *generated, struct check_order order) {
  struct emulation_outcome outcome;
  emulated_fields_free(&run->fields);
  halotune_status status = emulated_fields_make_in_place(run->scene, generated, &run->fields);
  if (status == HALOTUNE_OK) status = emulated_fields_launch(&run->fields, batch, variant, order, &outcome);
  if (status != HALOTUNE_OK || !check_outcome(run, &outcome)) return status;
  const struct hash outputs = run->result->outputs; /* outputs of separate arrays, with poison around the box */
  const size_t length = strlen(run->result->text);
  status = check_values(run);
  run->result->outputs = outputs;
  if (run->result->outcome != CHECK_PASSED && length == 0) {
    const size_t used = strlen(run->result->text);
    snprintf(run->result->text + used, sizeof run->result->text - used, ", in place");
  }
  return status;
}

halotune_status emulated_check(struct emulation_batch *batch, int variant, const struct generated *generated,
                               const struct scene *scene, struct check_order order, struct check_result *out) {
  struct run run = {.scene = scene, .result = out};
  *out = (struct check_result){.outcome = CHECK_PASSED, .name = outcome_names[CHECK_PASSED]};
  if (box_points(&scene->box) == 0) {
    set_outcome(&run, CHECK_NOT_RUN);
    return HALOTUNE_OK;
  }
  halotune_status status = emulated_fields_make(scene, generated, &run.fields);
  if (status == HALOTUNE_OK) status = run_steps(&run, batch, variant, order);
  const bool is_in_place = scene->request.stencil->in_place_count > 0 && scene->launches == 1;
  if (status == HALOTUNE_OK && is_in_place && out->outcome == CHECK_PASSED)
    status = run_in_place(&run, batch, variant, generated, order);
  emulated_fields_free(&run.fields);
  return status;
}
