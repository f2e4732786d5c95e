/* reference.c: checks the request, and advances the fields from one time step to the next. */
#include "tuner/verify/reference.h"

#include <math.h>

#include "base/system/parallel.h"
#include "tuner/verify/box.h"
#include "tuner/verify/field.h"
#include "tuner/verify/prefix_sum.h"
#include "tuner/verify/sweep.h"

/* A place holds a field and its magnitudes. There are as many places as inputs. Between steps the inputs change places,
 * and no data moves. A place that no input uses any more receives a copy of an output. */
struct run {
  const struct reference *reference;
  struct layout layout;
  int threads;
  struct field values[MAX_FIELDS], magnitudes[MAX_FIELDS]; /* for each place */
  int place[MAX_FIELDS];                                   /* the place of each input */
  struct result_row outputs[MAX_FIELDS];
};

halotune_status reference_check(const struct reference *reference) {
  const struct stencil *stencil = reference->stencil;
  struct layout layout;
  if (reference->steps < 1)
    return fail(HALOTUNE_ARGUMENT, "the number of steps must be at least 1, not %d", reference->steps);
  if (reference->steps > 1 && !reference->analysis->can_iterate) {
    return fail(HALOTUNE_ARGUMENT,
                "'%s' makes one step only: it does not say in `iterate` which output becomes an input", stencil->name);
  }
  return layout_make(stencil, reference->analysis, &reference->grid, NULL, &layout);
}

static halotune_status check_arrays(const struct stencil *stencil, const double *const inputs[],
                                    double *const outputs[], double *const magnitudes[]) {
  for (int i = 0; i < stencil->output_count; i++) {
    for (int k = 0; k < stencil->input_count; k++) {
      if (inputs[k] != outputs[i] && !(magnitudes && inputs[k] == magnitudes[i])) continue;
      return fail(HALOTUNE_ARGUMENT, "the input '%s' and the output '%s' are the same array", stencil->inputs[k],
                  stencil->outputs[i]);
    }
  }
  return HALOTUNE_OK;
}

static void take_absolute(void *context, long first, long count) {
  const struct result_row *output = context;
  for (long i = first; i < first + count; i++) output->magnitudes[i] = fabs(output->values[i]);
}

static bool is_taken(const struct run *run, int place) {
  for (int i = 0; i < run->reference->stencil->input_count; i++) {
    if (run->place[i] == place) return true;
  }
  return false;
}

/* Fill the ghosts of a field that was another input in the step before. */
static void refill_ghosts(struct run *run, int input) {
  const int place = run->place[input];
  if (!run->layout.has_ghosts) return;
  field_refill(&run->values[place], &run->layout, input, false, run->threads);
  if (run->magnitudes[place].own) field_refill(&run->magnitudes[place], &run->layout, input, true, run->threads);
}

/* Make the inputs of the next step, as `iterate` says. */
static halotune_status advance_fields(struct run *run) {
  enum { NOWHERE = -1 };
  const struct stencil *stencil = run->reference->stencil;
  int old[MAX_FIELDS] = {0};
  for (int i = 0; i < stencil->input_count; i++) old[i] = run->place[i];
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    run->place[entry->to] = entry->from_output ? NOWHERE : old[entry->from];
    if (!entry->from_output) refill_ghosts(run, entry->to);
  }
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    if (!entry->from_output) continue;
    int place = 0;
    while (is_taken(run, place)) place++;
    run->place[entry->to] = place;
    const struct result_row *from = &run->outputs[entry->from];
    halotune_status status =
        field_copy(&run->values[place], &run->layout, entry->to, from->values, false, run->threads);
    if (status == HALOTUNE_OK && from->magnitudes) {
      status = field_copy(&run->magnitudes[place], &run->layout, entry->to, from->magnitudes, true, run->threads);
    }
    if (status != HALOTUNE_OK) return status;
  }
  return HALOTUNE_OK;
}

static halotune_status run_steps(struct run *run, struct sweep *sweep) {
  for (int step = 0; step < run->reference->steps; step++) {
    struct row inputs[MAX_FIELDS];
    halotune_status status = step > 0 ? advance_fields(run) : HALOTUNE_OK;
    if (status != HALOTUNE_OK) return status;
    for (int i = 0; i < run->reference->stencil->input_count; i++) {
      int place = run->place[i];
      inputs[i] = (struct row){run->values[place].values, run->magnitudes[place].values};
    }
    const struct reference *reference = run->reference;
    if (!sweep_run(sweep, inputs, run->outputs, &reference->ending))
      return fail(HALOTUNE_CANCELLED, "stopped in step %d of %d of the reference", step + 1, reference->steps);
    if (step + 1 < reference->steps && reference->goes_on && !reference->goes_on(reference->context, step + 1))
      return fail(HALOTUNE_CANCELLED, "stopped after %d of %d steps", step + 1, reference->steps);
  }
  return HALOTUNE_OK;
}

static halotune_status run_update(struct run *run, const double *const inputs[], bool magnitudes) {
  const struct stencil *stencil = run->reference->stencil;
  const struct analysis *analysis = run->reference->analysis;
  struct box box = run->reference->box ? *run->reference->box : box_computed(stencil, analysis, &run->layout.grid);
  struct sweep *sweep = NULL;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < stencil->input_count && status == HALOTUNE_OK; i++) {
    run->place[i] = i;
    status = field_borrow(&run->values[i], &run->layout, i, inputs[i], run->threads);
    if (status == HALOTUNE_OK && magnitudes) {
      status = field_copy(&run->magnitudes[i], &run->layout, i, inputs[i], true, run->threads);
    }
  }
  if (status != HALOTUNE_OK) goto done;
  for (int i = 0; i < stencil->output_count && magnitudes; i++) {
    box_outside(&box, &run->layout.grid, take_absolute, &run->outputs[i]);
  }
  const struct kernel_run kernel = {run->reference->dtype, run->layout.grid, run->reference->steps,
                                    run->reference->doubt};
  status = sweep_make(stencil, analysis, &box, run->reference->coefficients, &run->layout, run->threads, magnitudes,
                      &kernel, &sweep);
  if (status == HALOTUNE_OK) status = run_steps(run, sweep);
done:
  sweep_free(sweep);
  for (int i = 0; i < stencil->input_count; i++) {
    field_free(&run->values[i]);
    field_free(&run->magnitudes[i]);
  }
  return status;
}

double reference_bytes(const struct reference *reference) {
  const struct stencil *stencil = reference->stencil;
  struct layout layout = {.points = 0};
  const double fields = stencil->input_count + stencil->output_count;
  const bool is_laid_out = stencil->kind == STENCIL_STENCIL &&
                           layout_make(stencil, reference->analysis, &reference->grid, NULL, &layout) == HALOTUNE_OK;
  const bool copies = is_laid_out && (layout.has_ghosts || reference->steps > 1);
  return sizeof(double) *
         (fields * (double)grid_points(&reference->grid) + (copies ? stencil->input_count * (double)layout.points : 0));
}

halotune_status reference_run(const struct reference *reference, const double *const inputs[], double *const outputs[],
                              double *const magnitudes[]) {
  const struct stencil *stencil = reference->stencil;
  struct run run = {.reference = reference, .threads = parallel_threads(reference->threads)};
  halotune_status status = reference_check(reference);
  if (status == HALOTUNE_OK) status = check_arrays(stencil, inputs, outputs, magnitudes);
  if (status == HALOTUNE_OK)
    status = layout_make(stencil, reference->analysis, &reference->grid, reference->coefficients, &run.layout);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < stencil->output_count; i++) {
    run.outputs[i] = (struct result_row){outputs[i], magnitudes ? magnitudes[i] : NULL};
  }
  if (stencil->kind == STENCIL_STENCIL) return run_update(&run, inputs, magnitudes != NULL);
  prefix_sum(&reference->grid, stencil->axis, false, run.threads, inputs[0], outputs[0]);
  if (magnitudes) prefix_sum(&reference->grid, stencil->axis, true, run.threads, inputs[0], magnitudes[0]);
  return HALOTUNE_OK;
}
